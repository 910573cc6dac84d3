# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of the Python package: runs the calling script again with the Python that has pyarrow, DuckDB and
so on (./check makes it: build/python), and finds the package and the library."""
import os
import pathlib
import sys

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
BUILD = pathlib.Path(os.environ.get("BUILD") or SRC / "build")


def use(name="python"):
    """|name| of the virtual environment: python, or spark (only ./check --all makes it)."""
    folder = BUILD / name
    if pathlib.Path(sys.prefix) != folder:
        if not (folder / "requirements.txt").exists():
            print(f"NOT RUN: there is no Python with packages in build/{name}: ./check makes it")
            sys.exit(77)
        os.execv(folder / "bin/python", [folder / "bin/python"] + sys.argv)
    os.environ.setdefault("NFSDIGEST_LIBRARY", str(BUILD / "lib/libnfsdigest.so"))
    sys.path.insert(0, str(SRC / "python"))
