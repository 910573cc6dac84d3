#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare, of servers with several exports whose times are not equally fine, or that tell times
from before an operation less finely: what is rounded is no difference, and a true one is found where
times are fine."""

import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
from comparing import check, compare, failures, run  # noqa: E402
from made_side import Side, attributes, before, wcc_data  # noqa: E402
from messages import *  # noqa: E402,F403

SECOND, ODD = 10**9, 1_234_567_891
FILES = {"coarse": handle(2), "fine": handle(3)}


def play(coarse=1, coarse_before=1, fine=1, off=0, rounds=8):
    """Two exports, each with a file that is written. |coarse|, |fine|: ns, of their clocks;
    |coarse_before|: of times from before, on the first one; |off|: the fine one's mtime is so wrong in
    the sixth round, and told again."""
    side = Side(step=ODD)
    for number, (name, fh) in enumerate(FILES.items(), 10):
        side.ask(1, opaque(f"/{name}"), u32(0) + opaque(handle(number)) + u32(1, 1), program=MOUNT,
                 port=20048)
        side.ask(LOOKUP, lookup_args(handle(number), "f"), u32(OK) + opaque(fh) + u32(0, 0))
    last = dict.fromkeys(FILES, (side.now - 5 * ODD,) * 2)
    for i in range(rounds):
        for number, (name, fh) in enumerate(FILES.items(), 1):
            step = coarse if name == "coarse" else fine
            step_before = max(step, coarse_before if name == "coarse" else 1)
            now = side.now // step * step
            wrong = off if name == "fine" and i == 5 else 0
            after = attributes(number + 50, fsid=number, atime=now, mtime=now - wrong, ctime=now)
            old = (t // step_before * step_before for t in last[name])
            side.ask(WRITE, write_args(fh, 4 * i, b"abcd"),
                     u32(OK) + wcc_data(before(4096, *old), after) + u32(4, 2) + u64(7))
            side.ask(GETATTR, opaque(fh), u32(OK) + after)
            last[name] = now - wrong, now
    return side


def differences(folder, one, other):
    """{(operation, time)}, the same ones whichever side is the reference."""
    sides = [side.ingest(folder / f"{name}.db", run) for name, side in (("one", one), ("other", other))]
    told = []
    for pair in sides, sides[::-1]:
        groups = compare(*pair, code=None)["groups"]
        told.append({(g["operation"][4:], g["field"].rsplit(".", 1)[1],
                      g["count"]) for g in groups})
        for g in groups:
            check(all(e["path"] == "/fine/f" for e in g["examples"]), f"not of the fine one: {g}")
    check(told[0] == told[1], f"swapped: {told}")
    return {t[:2] for t in told[0]}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, how in {"an export": {"coarse": SECOND}, "both": {"coarse": SECOND, "fine": SECOND},
                          "before": {"coarse_before": SECOND},
                          "both kinds": {"coarse": SECOND, "coarse_before": SECOND}}.items():
            found = differences(folder, play(), play(**how))
            check(found == set(), f"{name}: {found}")
            if how.get("fine"):
                continue
            # both ways at once: what is coarse on the one side says nothing of the other export
            found = differences(folder, play(), play(off=800_000_000, **how))
            check(("GETATTR", "mtime") in found and ("WRITE", "mtime") in found
                  and all(g[1] == "mtime" for g in found), f"{name}, wrong: {found}")
            found = differences(folder, play(**how), play(off=800_000_000, **how))
            check(("GETATTR", "mtime") in found and ("WRITE", "mtime") in found,
                  f"{name}, both, wrong: {found}")
        out, again = folder / "out.db", folder / "again.db"
        sides = [s.ingest(folder / f"{n}.db", run) for n, s in (("one", play()),
                                                                ("other", play(coarse=SECOND)))]
        compare("-o", out, *sides, code=0)
        compare("-o", again, out, code=0)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
