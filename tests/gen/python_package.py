# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of the Python package: runs the calling script again with the Python that has pyarrow, DuckDB and
so on (./check makes it: build/python), and finds the package and the library."""
import os
import pathlib
import subprocess
import sys

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
BUILD = pathlib.Path(os.environ.get("BUILD") or SRC / "build")


def sanitizers():
    """The environment in which Python can load a sanitized library.  Python itself frees little at its end."""
    def found(name):
        return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
    return dict(os.environ, LD_PRELOAD=" ".join(found(f"lib{name}.so").strip() for name in ("asan", "ubsan")),
                ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")


def use(name="python"):
    """|name| of the virtual environment: python, or spark (only ./check --all makes it)."""
    sanitized = os.environ.get("SANITIZED")
    folder = (SRC / "build" if sanitized else BUILD) / name
    if pathlib.Path(sys.prefix) != folder:
        if not (folder / "requirements.txt").exists():
            print(f"NOT RUN: there is no Python with packages in build/{name}: ./check makes it")
            sys.exit(77)
        os.execve(folder / "bin/python", [folder / "bin/python"] + sys.argv,
                  sanitizers() if sanitized else os.environ)
    os.environ.setdefault("NFSDIGEST_LIBRARY", str(BUILD / "lib/libnfsdigest.so"))
    sys.path.insert(0, str(SRC / "python"))


def module(name, *arguments, **options):
    """Runs "python -m nfsdigest.NAME"."""
    return subprocess.run([sys.executable, "-m", f"nfsdigest.{name}", *map(str, arguments)],
                          env=dict(os.environ, PYTHONPATH=str(SRC / "python")), capture_output=True, text=True,
                          check=False, **options)
