#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real servers as an oracle of the model's: the calls of recorded captures, played in their order
on the model server from the simplest tree before, must have the recorded statuses, and show the
recorded objects, attributes, names and lengths.

    model_captures.py [CAPTURE...]     shows what differs in these
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
import model_recorded  # noqa: E402
import model_xdr as x  # noqa: E402
from model_play import Player, with_ids  # noqa: E402

GANESHA_MODE = 0o600  # of a file whose CREATE gives none
# What may differ from knfsd, in how many operations: modes that NFSACL's SETACL has set, which is
# not played; the size that a WRITE shows beside others under way, which were done in another order.
BY_ACL, BY_ORDER = (".mode", "entry"), ("wcc.size",)
Case = collections.namedtuple("Case", "capture default_mode operations may_differ most")
CASES = [
    Case("vfs-libnfs-all22", GANESHA_MODE, 200, (), 0),
    Case("pair-ganesha-vfs", GANESHA_MODE, 8703, (), 0),
    Case("knfsd-tcp-mtu1500", 0, 7347, BY_ACL + BY_ORDER, 35),
    Case("pair-knfsd", 0, 8639, BY_ACL + BY_ORDER, 25),
]


def play(case, directory):
    """(operations, {key: count} of differing statuses, of other differences, examples)"""
    path = directory / case.capture
    with open(path, "wb") as out:
        subprocess.run(["zstd", "-dc", CAPTURES / (case.capture + ".pcap.zst")], stdout=out,
                       check=True)
    ops = model_recorded.operations(capfile.read(path))
    before = model_recorded.Before(ops)
    player = Player(before.tree(), default_mode=case.default_mode)
    statuses, others, examples = collections.Counter(), collections.Counter(), {}
    for op in ops:
        made = op.fields.get("handle") if op.procedure in model_recorded.MAKING else None
        new = before.ids.get(made)
        if new in player.server.by_handle:
            new = None
        found = player.play(op.procedure, with_ids(op.arguments, before.id_of), op.who, op.status,
                            with_ids(op.fields, before.id_of), new)
        for what, recorded, played in found:
            key = x.NAMES[op.procedure], what
            (statuses if what == "status" else others)[key] += 1
            examples.setdefault(key, (op.frame, recorded, played))
    print("%-18s %5d operations, %d other statuses, %d other differences" % (
        case.capture, len(ops), sum(statuses.values()), sum(others.values())))
    return len(ops), statuses, others, examples


def main():
    wrong = 0
    cases = CASES if not sys.argv[1:] else [Case(n, 0, None, (), 0) for n in sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="model.") as directory:
        for case in cases:
            count, statuses, others, examples = play(case, pathlib.Path(directory))
            beyond = [k for k in others if not k[1].endswith(case.may_differ)]
            many = sum(others.values()) > case.most
            if case.operations not in (None, count) or statuses or beyond or many:
                wrong += 1
                for key in list(statuses) + list(others):
                    print("    %4d %s %s, first in frame %d: recorded %r, played %r" % (
                        ((statuses[key] or others[key],) + key) + examples[key]))
    print("%d captures differ" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
