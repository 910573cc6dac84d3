# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a test works: a folder that goes again, or with --keep one that stays."""
import argparse
import contextlib
import os
import pathlib
import tempfile


@contextlib.contextmanager
def folder():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", "--keep", type=pathlib.Path, help="work here, and leave it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = arguments.keep or pathlib.Path(temporary)
        path.mkdir(exist_ok=True)
        os.chmod(path, 0o777)  # tshark may run as another user
        yield path
