# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of the Python package: runs the calling script again with the Python that has pyarrow, DuckDB and
so on (./check makes it: build/python), and finds the package and the library."""
import os
import pathlib
import subprocess
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


def module(name, *arguments, **options):
    """Runs "python -m nfsdigest.NAME"."""
    return subprocess.run([sys.executable, "-m", f"nfsdigest.{name}", *map(str, arguments)],
                          env=dict(os.environ, PYTHONPATH=str(SRC / "python")), capture_output=True, text=True,
                          check=False, **options)
