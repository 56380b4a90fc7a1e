"""Fills a database with a million rows and prints how long a trend takes: bazel run //tests/tools/history:million_rows"""

import os
import sys
import tempfile
import time

import made_up
from history import database, results, trends

RUNS, COMPARISONS, CANDIDATES = 1000, 200, 4


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pace.db")
        values = [
            made_up.result(
                f"case/{i}",
                implementations=[made_up.row("eager", 1000.0)]
                + [made_up.row(f"candidate {j}", 500.0 + j, 1000.0) for j in range(CANDIDATES)],
            )
            for i in range(COMPARISONS)
        ]
        file = results.read(made_up.write(folder, "a.json", made_up.header(), *values))
        start = time.monotonic()
        with database.opened(path, 0, create=True) as connection:
            for day in range(RUNS):
                file.content = file.first = str(day)
                file.header["environment"]["date_utc"] = made_up.header(day)["environment"]["date_utc"]
                database.add(connection, file)
        print(f"filled in {time.monotonic() - start:.1f} s, {os.path.getsize(path) / 1e6:.0f} MB")
        with database.opened(path, 0) as connection:
            rows = connection.execute("select count(*) from row").fetchone()[0]
            for title, read in (
                ("names of all comparisons", lambda: trends.names(connection, "*")),
                ("the trends of one comparison", lambda: trends.trends_of(connection, "case/77")),
                (
                    "one trend by the view",
                    lambda: connection.execute(
                        "select date_utc, speedup from trend where comparison = 'case/77' and implementation = 'candidate 1' order by 1"
                    ).fetchall(),
                ),
            ):
                start = time.monotonic()
                found = len(read())
                print(f"{rows} rows: {title}: {time.monotonic() - start:.3f} s, {found} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
