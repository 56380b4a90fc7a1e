"""Results files as one pandas table, a row for each comparison and implementation: read_results.py FILE..."""

import json
import sys

import pandas


def read_results(path):
    """Throws ValueError, which names file and line. A last line that was cut off is left out: `attrs["cut_off"]`."""
    header, rows, cut_off = None, [], False
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if cut_off := not line.endswith("\n"):
                break
            try:
                value = json.loads(line)
                if header is None:
                    if value["schema_version"] != 3:
                        raise ValueError(f"expected schema_version 3, found {value['schema_version']}")
                    header = value
                    continue
                for row in value["implementations"]:
                    time, speedup = row.get("time") or {}, row.get("speedup") or {}
                    interval = speedup.get("interval") or {}
                    rows.append({
                        "commit": header["environment"].get("commit"), "comparison": value["name"],
                        "implementation": row["name"], "outcome": row["outcome"], "median_ns": time.get("median_ns"),
                        "speedup": speedup.get("median"), "low": interval.get("low"), "high": interval.get("high"),
                        "verdicts": [each["verdict"] for each in row.get("expectations", [])],
                    })
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}:{number}: is no line of results: {error!r}") from None
    if not rows:
        raise ValueError(f"{path}: holds no results: it is empty, or was cut off")
    table = pandas.DataFrame(rows)
    table.attrs["cut_off"] = cut_off
    return table


def main(paths):
    try:
        if not paths:
            raise ValueError("expected results files, such as results.json")
        tables = [read_results(path) for path in paths]
    except (OSError, ValueError) as error:
        return f"read_results.py: {error}"
    print(pandas.concat(tables, ignore_index=True).to_string())
    cut = [path for path, table in zip(paths, tables) if table.attrs["cut_off"]]
    return f"read_results.py: the last line was cut off, and is left out, of: {', '.join(cut)}" if cut else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
