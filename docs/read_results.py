"""Results files as one pandas table, a row for each comparison and implementation: read_results.py FILE..."""

import json
import sys

import pandas


def read_results(path):
    rows = []
    with open(path, encoding="utf-8") as file:
        header = json.loads(file.readline())
        if header["schema_version"] != 2:
            raise ValueError(f"{path}: expected schema_version 2, found {header['schema_version']}")
        for line in file:
            if not line.endswith("\n"):
                break  # was cut off
            result = json.loads(line)
            for row in result["implementations"]:
                time, speedup = row.get("time") or {}, row.get("speedup") or {}
                interval = speedup.get("interval") or {}
                rows.append({
                    "commit": header["environment"].get("commit"), "comparison": result["name"],
                    "implementation": row["name"], "outcome": row["outcome"], "median_ns": time.get("median_ns"),
                    "speedup": speedup.get("median"), "low": interval.get("low"), "high": interval.get("high"),
                    "verdicts": [each["verdict"] for each in row.get("expectations", [])],
                })
    return pandas.DataFrame(rows)


if __name__ == "__main__":
    print(pandas.concat([read_results(path) for path in sys.argv[1:]], ignore_index=True).to_string())
