# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of the Python package: runs the calling script again with the Python that has pyarrow, DuckDB and
so on (./check makes it: build/python), and finds the package and the library."""
import os
import pathlib
import sys

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
BUILD = pathlib.Path(os.environ.get("BUILD") or SRC / "build")


def use():
    folder = BUILD / "python"
    if pathlib.Path(sys.prefix) != folder:
        if not (folder / "requirements.txt").exists():
            print("NOT RUN: there is no Python with pyarrow in build/python: ./check makes it")
            sys.exit(0)
        os.execv(folder / "bin/python", [folder / "bin/python"] + sys.argv)
    os.environ.setdefault("NFSDIGEST_LIBRARY", str(BUILD / "lib/libnfsdigest.so"))
    sys.path.insert(0, str(SRC / "python"))
