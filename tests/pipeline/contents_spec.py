#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of docs/contents.md are what a second implementation computes."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests", "gen"))
from fill import PERIOD, fill  # noqa: E402

with open(os.path.join(os.environ["SRC"], "docs", "contents.md")) as file:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| `([0-9a-f]+)` \|$", file.read(), re.M)
assert len(rows) == 9, rows
for key, offset, sample in rows:
    assert fill(int(key), int(offset), 16).hex() == sample, (key, offset)
assert all(PERIOD % n for n in range(2, 1025)) and not any(
    all(p % n for n in range(2, 1025)) for p in range(PERIOD + 1, 1 << 20))
assert len(fill(1, PERIOD - 1, 3 * PERIOD)) == 3 * PERIOD
