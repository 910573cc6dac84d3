# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of captures that differ in more than the value of a field, and what must be told of them.
Each function takes the messages and exchanges of a capture (mutate.py) and yields Cases."""
import collections
import dataclasses

import messages as rpc
import model_recorded
import mutate
from injection import Found, Places, check
from messages import (COMMIT, CREATE, GETATTR, LOOKUP, MKDIR, MKNOD, READ, READDIR, READDIRPLUS,
                      SYMLINK, WRITE)
from model_xdr import NAMES, decode_arguments, encode_arguments

IO, JUKEBOX = 5, 10008


def insert(messages, after, *new):
    """A copy with |new| behind the message |after|."""
    at = messages.index(after) + 1
    return messages[:at] + list(new) + messages[at:]


def whole_listing(e):
    """Whether it is in one reply, and has some entries."""
    items = e.items()
    return (e.procedure in (READDIR, READDIRPLUS) and not items[0].value and items[-1].value
            and len(entries(items)) > 4
            and not decode_arguments(e.procedure, e.arguments)["cookie"])


def entries(items):
    """[(first, end)] of each, with the flag before it."""
    flags = [i for i, item in enumerate(items) if item.path.endswith(".entries")]
    return list(zip(flags, flags[1:]))


def pick(exchanges, procedure, nth=2, fits=lambda e: not e.items()[0].value):
    """The |nth| that fits, or the last before."""
    some = [e for e in exchanges if e.procedure == procedure and fits(e)]
    return some[min(nth, len(some) - 1)]


class Case:
    """Two captures and what must be told of them: Found, and how many operations of the reference
    and of the other server are alone. |also|: further checks, of a Result."""

    def __init__(self, name, altered, *wanted, alone=(0, 0), original=None, also=None, ways=2,
                 reconnect=()):
        self.name, self.original, self.altered, self.ways = name, original, altered, ways
        self.wanted, self.alone, self.also = collections.Counter(wanted), alone, also
        self.reconnect = reconnect


def root(e):
    return NAMES[e.procedure] + "3res."


def statuses(messages, exchanges):
    """Success becomes failure, failure another one."""
    for procedure in mutate.RESULTS:
        for failing in False, True:
            some = [e for e in exchanges if e.procedure == procedure
                    and bool(e.items()[0].value) == failing
                    and not (procedure in (READDIR, READDIRPLUS) and not failing
                             and not whole_listing(e))]
            if not some:
                continue
            e = some[len(some) // 2]
            items = e.items()
            if failing:
                items[0].value = IO
            else:
                items = mutate.failed(procedure, items, JUKEBOX)
            yield Case("status of %s%s" % (NAMES[procedure], ", failing" if failing else ""),
                       mutate.with_results(messages, {e: mutate.encode(items)}),
                       Found("status", root(e) + "status", *e.key))


def messages_of_rpc(messages, exchanges):
    e = pick(exchanges, GETATTR)
    told = Found("rpc", "rpc-status", *e.key)
    for accept in 1, 2, 3, 4, 5:
        yield Case("accept_stat %d" % accept, mutate.with_bodies(
            messages, {e.reply: rpc.reply(e.reply.xid, rpc.u32(2, 3) if accept == 2 else b"",
                                          accept)}), told)
    yield Case("denied", mutate.with_bodies(messages, {e.reply: rpc.denied(e.reply.xid)}), told)
    later = [dataclasses.replace(m, time=m.time + 3600 * 10**9,
                                 body=rpc.u32(e.call.xid ^ 0x55555555) + m.body[4:])
             for m in (e.call, e.reply)]
    yield Case("no reply", mutate.with_bodies(messages, {e.reply: None}) + later,
               Found("missing reply", "missing-reply", *e.key), original=messages + later)
    yield Case("no reply, but to later calls", mutate.with_bodies(messages, {e.reply: None}),
               Found("missing reply", "missing-reply", *e.key))
    ended = messages[:messages.index(e.reply) + 1]
    yield Case("no reply, then the capture ends", mutate.with_bodies(ended, {e.reply: None}),
               original=ended)
    yield Case("reply not captured", [dataclasses.replace(m, lost=m is e.reply)
                                      for m in messages] + later, original=messages + later)
    yield Case("too long", mutate.with_bodies(messages, {e.reply: e.reply.body + bytes(4)}),
               Found("malformed", "malformed", *e.key))
    yield Case("too short", mutate.with_bodies(messages, {e.reply: e.reply.body[:-4]}),
               Found("malformed", "malformed", *e.key))
    yield Case("not asked", mutate.with_bodies(messages, {e.call: None, e.reply: None}),
               alone=(1, 0))
    again = dataclasses.replace(e.call, time=e.call.time + 1000)
    yield Case("asked twice", insert(messages, e.call, again),
               Found("retransmissions", "retransmissions", *e.key))
    yield Case("asked three times", insert(messages, e.call, again, again),
               Found("retransmissions", "retransmissions", *e.key))
    yield Case("reconnected", messages, Found("disconnects", "disconnects", None, None),
               reconnect=(e.call,))


def listings(messages, exchanges):
    for procedure in READDIR, READDIRPLUS:
        e = pick(exchanges, procedure, fits=whole_listing)
        items = e.items()
        parts = entries(items)
        head, tail = items[:parts[0][0]], items[parts[-1][1]:]
        told = Found("entry", root(e) + "resok.reply.entries", *e.key)

        def altered(new):
            return mutate.with_results(messages, {e: mutate.encode(new)})

        def named(i, change):
            new = e.items()
            for item in new[parts[i][0]:parts[i][1]]:
                if item.path.endswith("entries.name"):
                    item.value = change(item.value)
            return new

        name = NAMES[procedure]
        reordered = [item for a, b in parts[-2::-1] + parts[-1:] for item in items[a:b]]
        yield Case(name + ": other order", altered(head + reordered + tail))
        yield Case(name + ": an entry less", altered(items[:parts[3][0]] + items[parts[3][1]:]),
                   told)
        more = [dataclasses.replace(i, value=b"new") if i.path.endswith("entries.name") else i
                for i in items[parts[3][0]:parts[3][1]]]
        yield Case(name + ": an entry more", altered(items[:parts[3][0]] + more
                                                     + items[parts[3][0]:]), told)
        yield Case(name + ": a name changed", altered(named(3, lambda n: n + b"x")), told, told)
        yield Case(name + ": case changed", altered(named(3, bytes.swapcase)), told, told)
        unfinished = e.items()
        unfinished[-1].value = 0
        less = unfinished[:parts[3][0]] + unfinished[parts[3][1]:]
        yield Case(name + ": no end", altered(unfinished),
                   Found("value", root(e) + "resok.reply.eof", *e.key))
        yield Case(name + ": an entry less, incomplete", altered(less),
                   original=altered(unfinished),
                   also=lambda r, f=root(e) + "resok.reply.entries": check(
                       r.withheld[f], "an incomplete listing was not withheld"))
        # the same in two replies
        cookie = [i.value for i in items[parts[2][0]:parts[2][1]] if i.path.endswith("cookie")]
        first = items[:parts[3][0]] + [mutate.Item("", "u32", 0)] * 2
        a = decode_arguments(procedure, e.arguments)
        a["cookie"] = cookie[0]
        xid = 0x12345678
        call = rpc.u32(xid) + e.call.body[4:len(e.call.body) - len(e.arguments)] \
            + encode_arguments(procedure, a)
        second = rpc.reply(xid, mutate.encode(head + items[parts[3][0]:]))
        split = altered(first)
        reply = [m for m in split if m.is_reply and m.key == e.key][0]
        split = insert(split, reply, dataclasses.replace(e.call, time=reply.time + 1000, body=call),
                       dataclasses.replace(e.reply, time=reply.time + 2000, body=second))
        yield Case(name + ": in two replies", split)
        fewer = rpc.reply(xid, mutate.encode(head + items[parts[4][0]:]))
        yield Case(name + ": in two replies, an entry less", mutate.with_bodies(
            split, {m: fewer for m in split if m.is_reply and m.xid == xid}), told)
        yield Case(name + ": the second reply is missing", [
            dataclasses.replace(m, lost=m.is_reply and m.xid == xid) for m in split])
        begun = [dataclasses.replace(m, lost=m.lost or m.key == e.key) for m in split]
        yield Case(name + ": the first request is missing", begun, original=split, alone=(1, 1))
        yield Case(name + ": begun before the capture, an entry less", mutate.with_bodies(
            begun, {m: fewer for m in begun if m.is_reply and m.xid == xid}), original=begun,
                   also=lambda r, f=root(e) + "resok.reply.entries": check(
                       r.withheld[f], "a listing without its beginning was not withheld"))
        refused = rpc.reply(xid, mutate.encode(mutate.failed(procedure, e.items(), JUKEBOX)))
        yield Case(name + ": begun before the capture, refused", mutate.with_bodies(
            begun, {m: refused for m in begun if m.is_reply and m.xid == xid}),
                   Found("status", root(e) + "status", e.key[0], xid), original=begun)
        verifier = mutate.decode(procedure, model_recorded.result_of(second))
        verifier[mutate.find(verifier, root(e) + "resok.cookieverf")[0]].value = b"verifier"
        other = mutate.with_bodies(split, {m: rpc.reply(xid, mutate.encode(verifier))
                                           for m in split if m.is_reply and m.xid == xid})
        yield Case(name + ": another verifier", other, original=split,
                   *[Found("pattern", root(e) + "resok.cookieverf", e.key[0], xid)])


def handles(messages, exchanges):
    def changed(e, path, change):
        items = e.items()
        at = mutate.find(items, path)
        if not at or not items[at[0]].value:
            return None
        change(items, at[0])
        return mutate.with_results(messages, {e: mutate.encode(items)})

    def other(items, at):
        items[at].value = items[at].value[:-1] + b"\x7f"

    for procedure, field in ((LOOKUP, "object"), (CREATE, "obj.handle"), (MKDIR, "obj.handle"),
                             (SYMLINK, "obj.handle"), (MKNOD, "obj.handle")):
        e = pick(exchanges, procedure, 5)
        path = root(e) + "resok." + field
        if field == "object":
            # a name that was looked up before
            known = set()
            for x in exchanges:
                seen = mutate.find(x.items(), path) if x.procedure == LOOKUP else []
                if seen and x.items()[seen[0]].value in known:
                    e = x
                known.update(i.value for i in x.items() if i.kind == "opaque")
            yield Case("another handle, LOOKUP", changed(e, path, other),
                       Found("pattern", path, *e.key))
        else:
            yield Case("no handle, " + NAMES[procedure], changed(e, path[:-7], mutate.drop),
                       Found("presence", path[:-7], *e.key))
    e = pick(exchanges, READDIRPLUS, fits=whole_listing)
    path = root(e) + "resok.reply.entries.name_handle"
    yield Case("no handle in a listing", changed(e, path, mutate.drop),
               Found("presence", path, *e.key))


def values(messages, exchanges):
    """What is not in the table of single fields."""
    def changed(e, path, value):
        items = e.items()
        item = items[mutate.find(items, root(e) + path)[0]]
        item.value = value(item.value)
        return mutate.with_results(messages, {e: mutate.encode(items)})

    e = pick(exchanges, GETATTR)
    yield Case("mode bits that mean nothing", changed(e, "resok.obj_attributes.mode",
                                                      lambda v: v ^ 0o100000))
    e = pick(exchanges, READ, fits=lambda e: not e.items()[0].value and e.items()[-1].value)
    yield Case("contents shorter than their count", changed(e, "resok.data", lambda v: v[:-4]),
               Found("value", "READ3res.resok.data", *e.key))
    items = e.items()
    items[-1].value = items[-1].value[:-4]
    items[mutate.find(items, "READ3res.resok.count")[0]].value -= 4
    yield Case("a short read", mutate.with_results(messages, {e: mutate.encode(items)}),
               Found("value", "READ3res.resok.count", *e.key))
    # a server that was started anew: one report, at the first verifier that differs
    writes = [x for x in exchanges if x.procedure in (WRITE, COMMIT) and not x.items()[0].value]
    results = {}
    for x in writes[len(writes) // 2:]:
        items = x.items()
        items[-1].value = b"rebooted"
        results[x] = mutate.encode(items)
    x = writes[len(writes) // 2]
    yield Case("another verifier from now on", mutate.with_results(messages, results),
               Found("pattern", root(x) + "resok.verf", *x.key))


def whole_servers(messages, exchanges):
    """Everything of a server is different, as between any two."""
    def slow(m, late):
        return dataclasses.replace(m, time=m.time + late)

    reads = {e.reply for e in exchanges if e.procedure == READ}
    spread = [slow(m, i * 4 * 10**7) for i, m in enumerate(messages)]  # so that nothing overtakes
    delayed = [slow(m, 3 * 10**7 if old in reads else 0) for m, old in zip(spread, messages)]

    def latency(result):
        for operation, (ref, sut, _) in result.performance.items():
            longer = abs(sut - ref)
            check(longer == (3 * 10**7 if operation == "NFS READ" else 0),
                  "latency of %s: %d and %d" % (operation, ref, sut))

    yield Case("slow READs", delayed, original=spread, also=latency)

    # times that a client gave stay as they are
    given = set()
    for e in exchanges:
        a = decode_arguments(e.procedure, e.arguments).get("settings", {})
        given.update(v for v in (a.get("atime"), a.get("mtime")) if isinstance(v, int))

    def with_times(change):
        results = {}
        for e in exchanges:
            items = e.items()
            for at, item in enumerate(items):
                if item.path.endswith(".seconds") and "time_delta" not in item.path:
                    time = item.value * 10**9 + items[at + 1].value
                    new = change(time) if time not in given else time
                    item.value, items[at + 1].value = divmod(new, 10**9)
            results[e] = mutate.encode(items)
        return mutate.with_results(messages, results)

    def offset(result):
        ref, sut = result.sides[1], result.sides[2]
        check(abs(abs(sut[0] - ref[0]) - 3 * 3600 * 10**9) <= ref[1] + sut[1],
              "offset of clocks: %s %s" % (ref, sut))

    yield Case("a clock three hours ahead", with_times(lambda t: t + 3 * 3600 * 10**9),
               also=offset)
    for step in 10**3, 10**6, 10**7, 10**9:
        yield Case("times in steps of %d ns" % step, with_times(lambda t, s=step: t - t % s),
                   also=lambda r, s=step: check({r.sides[1][2], r.sides[2][2]} >= {s},
                                                "granularity %d: %s" % (s, r.sides)))
    yield Case("a server's own values", mutate.another_server(messages, exchanges))
