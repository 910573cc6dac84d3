#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""nfsdigest lint on made traces. What a strict model server answers breaks no rule: nothing is found, in
traffic with overlapping operations, over UDP, with losses. Then replies lie, and each kind of lie is found
by its rule, in the frames where the lies are."""
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path[:0] = [str(SRC / "tests"), str(SRC / "tests/gen")]

import database  # noqa: E402
import messages  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import model_xdr as x  # noqa: E402
import packets  # noqa: E402
import traffic  # noqa: E402
from messages import NOENT, OK  # noqa: E402
from model_status import ACCES  # noqa: E402

BLOCKS = "--block-digests"
SERIAL = dict(order=model_world.SERIAL)
CLEAN = [
    (dict(seed=1, operations=1500), {}),
    (dict(seed=2, operations=1500, hosts=6, processes=3, exports=3, share=0.3), dict(connections=3)),
    (dict(seed=3, operations=1200), dict(transport=packets.UDP)),
    (dict(seed=4, operations=2500, **SERIAL), {}),
    (dict(seed=5, operations=1500, share=0.02, weights={"read_file": 200}), {}),
    (dict(seed=6, operations=1500), dict(loss=model_capture.Loss(0.02, 0.03, seed=6))),
]
Lie = collections.namedtuple("Lie", "rule also procedures tell share weights", defaults=(0.2, None))
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def lint(folder, capture, *options):
    path = folder / "made.db"
    path.unlink(missing_ok=True)
    subprocess.run([database.program(), "ingest", "-q", *options, "-o", path, capture], check=True)
    done = subprocess.run([database.program(), "lint", "--json", "--top", "100000", path], capture_output=True, text=True,
                          check=False)
    check(done.returncode in (0, 1) and not done.stderr, "exit code %d: %s" % (done.returncode, done.stderr))
    result = json.loads(done.stdout)
    check(done.returncode == (1 if result["errors"] + result["suspects"] else 0), "exit code")
    return result


def rules(result):
    return {r["rule"]: r["shown"] for r in result["rules"] if r["level"] != "note"}


def ok(op):
    return op.result.status == OK


def zeros(op):
    if not ok(op) or not any(x.data_bytes(op.result.fields["data"])):
        return False
    op.result.fields["data"] = [(op.result.fields["count"], 0)]
    return True


def no_name(op):
    if not ok(op) or op.arguments["name"] in (b".", b".."):
        return False
    op.result.status = NOENT
    op.result.fields = {"dir_attributes": op.result.fields.get("dir_attributes")}
    return True


def fewer(op):
    entries = op.result.fields.get("entries") or []
    if not ok(op) or len(entries) < 4:
        return False
    op.result.fields["entries"] = entries[:-1]  # the cookie of the last one: the next call goes on behind it
    return op.result.fields["eof"]


def doubled(op):
    entries = op.result.fields.get("entries") or []
    if not ok(op) or len(entries) < 4:
        return False
    op.result.fields["entries"] = entries + [entries[2]]
    return True


def attributes(change):
    def tell(op):
        a = op.result.fields.get("attributes")
        if not ok(op) or not a:
            return False
        op.result.fields["attributes"] = change(a)
        return True
    return tell


def wcc(change):
    def tell(op):
        both = op.result.fields.get("wcc")
        if not ok(op) or not both or not both[1]:
            return False
        op.result.fields["wcc"] = (both[0], change(both[1]))
        return True
    return tell


def field(name, change):
    def tell(op):
        if not ok(op):
            return False
        value = change(op.result.fields[name])
        if value < 0:
            return False
        op.result.fields[name] = value
        return True
    return tell


def refused(op):
    if not ok(op):
        return False
    op.result.status = ACCES
    op.result.fields = {"dir_attributes": op.result.fields.get("dir_attributes")}
    return True


LIES = [
    Lie("read-contents", (), (x.READ,), zeros, 1.0),
    Lie("read-differs", ("read-contents",), (x.READ,), zeros, 0.3, {"read_file": 60}),
    Lie("name-lost", ("name-returned", "make-exists"), (x.LOOKUP,), no_name),
    Lie("listing-loss", ("listing-again",), (x.READDIR, x.READDIRPLUS), fewer, 0.5),
    Lie("listing-double", ("listing-size",), (x.READDIR, x.READDIRPLUS), doubled, 0.5),
    Lie("type-changed", ("type-wrong",), (x.GETATTR,), attributes(lambda a: a._replace(type=x.LNK))),
    Lie("fileid-changed", ("fileid-shared",), (x.GETATTR,), attributes(lambda a: a._replace(fileid=a.fileid ^ 1 << 40))),
    Lie("changed-unseen", ("size-set",), (x.GETATTR,), attributes(lambda a: a._replace(mtime=a.mtime + 1))),
    Lie("link-count", (), (x.GETATTR,), attributes(lambda a: a._replace(nlink=a.nlink + 2))),
    Lie("link-count", (), (x.LINK,), attributes(lambda a: a._replace(nlink=a.nlink - 1)), 0.5),
    Lie("size-written", ("changed-unseen",), (x.WRITE,), wcc(lambda a: a._replace(size=0))),
    Lie("write-committed", (), (x.WRITE,), field("committed", lambda how: how - 1), 0.5),
    Lie("access-granted", (), (x.LOOKUP,), refused),
    Lie("access-denied", (), (x.ACCESS,), field("access", lambda granted: 0)),
    Lie("read-eof", (), (x.READ,), field("eof", lambda eof: not eof)),
]


def told(lie, folder, seed):
    """A capture in which replies lie, and the frames of the replies that do."""
    world = model_world.World(seed=seed, operations=2500, hosts=2, weights=lie.weights, **SERIAL)
    rng, liars = random.Random(seed), []
    writer = model_capture.Writer(folder / "made.pcap", world)
    for event, op in world.run():
        true = None
        if event == model_world.REPLY and op.procedure in lie.procedures and rng.random() < lie.share:
            true = op.result.status, op.result.fields
            op.result.fields = dict(true[1])
            if lie.tell(op):
                liars.append(op)
        writer.take(event, op)
        if true:
            op.result.status, op.result.fields = true
    writer.close()
    return {op.reply_frame for op in liars}


def lies_are_found(lie, folder, seed, *options):
    liars = told(lie, folder, seed)
    found = rules(lint(folder, folder / "made.pcap", *options))
    mine = {shown[key] for shown in found.get(lie.rule, ()) for key in ("reply_frame", "earlier_frame") if key in shown}
    check(mine & liars, "%s: none of %d lies is found" % (lie.rule, len(liars)))
    # behind a lie about a state, the truth contradicts it
    for rule, shown in found.items():
        wrong = [s for s in shown if s["reply_frame"] not in liars and s.get("earlier_operation") is None]
        check(rule == lie.rule or rule in lie.also, "%s: also %s: %s" % (lie.rule, rule, shown[:2]))
        check(not wrong, "%s: %s is found where nobody lied: %s" % (lie.rule, rule, wrong[:2]))
    print("%s: %d of %d lies" % (lie.rule, len(mine & liars), len(liars)))


def sent_again(folder):
    """Calls whose reply was lost on its way to the capture, and that were executed once more; and replies that
    differ."""
    directory, file = messages.handle(1), messages.handle(2)
    gone = messages.u32(NOENT) + messages.wcc()
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.1.0.1", 800)
    flow.pair(1, x.LOOKUP, messages.lookup_args(directory, "a"), messages.lookup_res(file, 2))
    removed = flow.call(2, x.REMOVE, messages.remove_args(directory, "a"))
    trace.wait(10**9)
    flow.repeat_call(removed)
    flow.reply(removed, gone)
    flow.pair(3, x.LOOKUP, messages.lookup_args(directory, "b"), messages.lookup_res(file, 2))
    removed = flow.call(4, x.REMOVE, messages.remove_args(directory, "b"))
    flow.reply(removed, messages.remove_res())
    trace.wait(10**9)
    flow.repeat_call(removed)
    flow.reply(removed, gone)
    flow.pair(5, x.LOOKUP, messages.lookup_args(directory, "c"), messages.lookup_res(file, 2))
    removed = flow.call(6, x.REMOVE, messages.remove_args(directory, "c"))
    flow.reply(removed, messages.remove_res())
    trace.wait(10**9)
    flow.repeat_call(removed)
    flow.repeat_reply(removed)
    trace.write(folder / "made.pcap")
    found = rules(lint(folder, folder / "made.pcap", BLOCKS))
    check({rule: len(shown) for rule, shown in found.items()} == {"executed-twice": 1, "answers-differ": 1},
          "sent again: %s" % found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder, again = pathlib.Path(folder), 0
        for number, (world, capture) in enumerate(CLEAN):
            model_capture.record(model_world.World(**world), folder / "made.pcap", **capture)
            result = lint(folder, folder / "made.pcap", BLOCKS)
            check(not rules(result), "clean trace %d: %s" % (number, {
                rule: shown[:2] for rule, shown in rules(result).items()}))
            check(result["reads_compared"] and result["reads_with_blocks"] == result["reads"], "clean trace %d: %d READs" % (number, result["reads_compared"]))
            again += result["reads_compared_with_reads"]
            check("weights" not in world or not rules(lint(folder, folder / "made.pcap")), "clean trace %d without blocks" % number)
        check(again > 50, "only %d READs were compared with earlier READs" % again)
        sent_again(folder)
        for number, lie in enumerate(LIES):
            lies_are_found(lie, folder, 10 + number, BLOCKS)
        lies_are_found(next(lie for lie in LIES if lie.rule == "read-differs"), folder, 5)
    if failures:
        sys.exit(1)


if __name__ == "__main__":
    main()
