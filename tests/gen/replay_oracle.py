# SPDX-License-Identifier: GPL-2.0-or-later
"""What nfsreplay must say of a dump that it played one operation at a time (--order trace
--outstanding 1 -c 1), from the dump and the messages that a relay saw: which calls it must send, and the
class of each operation.  Made from schemas/rdump.md and the manual page, without the player's code.

    oracle = Oracle(dump, tree_handles(dump, client, root), exchanges(wires))
    oracle.run()
    oracle.ends          # [End] in the order of the dump
    oracle.mistakes      # calls that should not be, or are missing

    spread(dump, failed) # {operation: the one because of which it is skipped}
"""
import collections
import dataclasses

from fill import fill
from live_client import RpcError, parse_reply
from messages import NFS, NFSACL, OK
from model_status import BADHANDLE, EXIST, JUKEBOX
from model_xdr import (CREATE, DIR, GETACL, GETATTR, LINK, LOOKUP, MKDIR, MKNOD, READ, READDIRPLUS, REG,
                       REMOVE, RENAME, RMDIR, SETACL, SETATTR, SYMLINK, WRITE, Cursor, decode_arguments,
                       decode_result)
from rdump_values import (BEHIND, BESIDE, EXTENT, IDENTITY, LISTED, LISTINGS, MAKING, SOME, Names,
                          bits_of, groups, hash64, mismatch, recorded_names, split_values, u32)

NOENT, STALE = 2, 70
CHANGES = (SETATTR, WRITE, REMOVE, RENAME, RMDIR, LINK, SETACL) + MAKING
LINK_BITS = sum(1 << bit for bit in bits_of(BESIDE) if bit != SOME)

AS_RECORDED, SKIPPED, UNANSWERED = "as recorded", "skipped", "unanswered"
NEW, VANISHED, OTHER = "new error", "vanished error", "different error"
RESULT, UNCERTAIN, UNPLAYABLE = "different result", "uncertain", "unplayable"
FAILED = (NEW, VANISHED, OTHER, UNANSWERED)


@dataclasses.dataclass
class End:
    index: int
    kind: str = AS_RECORDED
    because: int = None
    status: int = None
    why: str = ""
    calls: int = 0


Exchange = collections.namedtuple("Exchange", "xid program procedure arguments reply resent")


def exchanges(wires):
    """Each call once, in the order of their first sending, with the first reply to it."""
    calls, replies, times = {}, {}, collections.Counter()
    for wire in wires:
        for call in wire.calls:
            calls.setdefault(call[:4], call)
            times[call[:4]] += 1
        for reply in wire.replies:
            replies.setdefault(reply[:4], reply)
    out = []
    for xid, call in calls.items():
        c = Cursor(call, 12)
        program, _, procedure = c.u32(), c.u32(), c.u32()
        for _ in range(2):
            c.u32()
            c.opaque()
        out.append(Exchange(xid, program, procedure, call[c.at:], replies.get(xid), times[xid] - 1))
    return out


def tree_handles(dump, client, root):
    """({number: handle}, whether link counts of directories are those of the dump) of a tree that is
    not played on yet"""
    handles, counted, same = {}, 0, True

    def find(directory, name, number):
        nonlocal counted, same
        _, fields = client.nfs(LOOKUP, {"object": directory, "name": name})
        handles[number] = fields["handle"]
        o = dump.objects[number - 1]
        if o.type == DIR and o.knows & 128:
            counted += 1
            same &= fields["attributes"].nlink == o.nlink

    below = collections.defaultdict(list)
    for entry in dump.entries:
        below[entry.parent].append(entry)
    inside = {entry.object for entry in dump.entries}
    ready = []
    for o in dump.objects:
        if o.number not in inside:
            find(root, b"root-%d" % o.number, o.number)
            ready.append(o.number)
    while ready:
        parent = ready.pop()
        for entry in below[parent]:
            if entry.object not in handles:
                find(handles[parent], entry.name, entry.object)
                ready.append(entry.object)
    return handles, bool(counted) and same


def spread(dump, failed):
    """|failed|: indexes of operations that failed.  An operation is skipped because of the first of
    those that it needs, directly or not."""
    why = {}
    for op in dump.operations:
        if op.unplayable:
            continue
        found = set()
        for back in op.dependencies:
            other = op.index - back
            if other in why:
                found.add(why[other])
            elif other in failed:
                found.add(other)
        if found:
            why[op.index] = min(found)
    return why


def read_lists(results):
    """Raises an error if they are cut (Sun's nfs_acl.x)."""
    c = Cursor(results, 4)
    c.optional(c.attributes)
    c.u32()
    for _ in range(2):
        c.u32()
        for _ in range(c.u32()):
            c.u32(), c.u32(), c.u32()
    c.end()


class Oracle:
    def __init__(self, dump, handles, links, log):
        self.dump, self.log, self.at = dump, log, 0
        self.handles = dict(handles)  # {number: handle}
        self.numbers = {h: n for n, h in handles.items()}
        self.maker = {}
        self.ignore = 0 if links else LINK_BITS
        self.failed, self.why = set(), {}
        self.places = {}  # {operation: ([(entries, cookie, Names)], verifier)}
        self.ends, self.mistakes = [], []
        self.filled = {}  # {number: [(from, to)] of its bytes that are no hole}

    def run(self):
        for op in self.dump.operations:
            end = End(op.index)
            self.ends.append(end)
            self.one(op, end)
            if end.kind in FAILED and op.procedure in CHANGES:
                self.failed.add(op.index)
            for number in op.forget:
                handle = self.handles.pop(number, None)
                if self.numbers.get(handle) == number:
                    del self.numbers[handle]
            if len(self.mistakes) > 10:
                return
        if self.at != len(self.log):
            self.mistakes.append("%d calls more than there should be" % (len(self.log) - self.at))

    def one(self, op, end):
        if op.unplayable:
            end.kind = UNPLAYABLE
            return
        because = self.kept_back(op)
        if because is not None:
            end.kind, end.because = SKIPPED, because
            self.why[op.index] = because
            if op.made:
                self.maker[op.made] = because
            return
        if op.made:
            self.maker[op.made] = op.index
        if op.procedure == SETATTR and self.next_is(GETATTR, op):
            self.at += 1
        self.judge(op, end)

    def kept_back(self, op):
        found = {self.why.get(op.index - back, op.index - back) for back in op.dependencies
                 if op.index - back in self.failed or op.index - back in self.why}
        if found:
            return min(found)
        for key in "object", "object2":
            number = op.arg.get(key)
            if isinstance(number, int) and number and number not in self.handles:
                return self.maker.get(number, -1)
        if op.procedure in LISTINGS and op.arg["cookie"] and op.cookie_from:
            source = op.index - op.cookie_from
            if not self.places.get(source, ((), 0))[0]:
                return self.why.get(source, source)
        return None

    # --- calls

    def next_is(self, procedure, op):
        if self.at == len(self.log):
            return False
        e = self.log[self.at]
        return e.program == NFS and e.procedure == procedure and e.procedure != op.procedure

    def next_call(self, op, procedure=None):
        """The next call must be the operation's; None: it is not."""
        program, number = NFS, op.procedure
        if op.procedure >= 100:
            program, number = NFSACL, op.procedure - 100
        if procedure is not None:
            program, number = NFS, procedure
        if self.at == len(self.log):
            self.mistakes.append("operation %d was not sent" % op.index)
            return None
        e = self.log[self.at]
        self.at += 1
        if (e.program, e.procedure) != (program, number):
            self.mistakes.append("operation %d, procedure %d, was sent as %d of program %d" % (
                op.index, op.procedure, e.procedure, e.program))
            return None
        self.compare_arguments(op, e, op.procedure if procedure is None else procedure)
        return e

    def compare_arguments(self, op, e, procedure):
        sent = decode_arguments(procedure, e.arguments)
        for key, value in op.arg.items():
            if key not in sent or key in ("cookie", "verifier", "guard") and procedure != CREATE:
                continue
            if key in ("object", "object2"):
                if not isinstance(value, int) or not value:
                    continue
                value = self.handles.get(value)
            elif key == "data":
                number = op.arg["object"] if isinstance(op.arg["object"], int) else 0
                value = fill(number, op.arg["offset"], sum(n for n, _ in value))
                if e.arguments[-len(value) - -len(value) % 4:][:len(value)] == value:
                    continue
            if sent[key] != value:
                self.mistakes.append("operation %d: %s is sent as %.60r, not %.60r" % (
                    op.index, key, sent[key], value))

    def answer(self, op, end, procedure=None):
        """(status, fields), or None: there is none, and |end| says so."""
        e = self.next_call(op, procedure)
        if e is None:
            return None
        end.calls += 1
        if procedure is None:
            procedure = op.procedure
        try:
            if e.reply is None:
                raise ValueError("no reply")
            results = parse_reply(e.reply)[1]
            if procedure == GETACL and results[:4] == u32(OK):
                read_lists(results)
            return decode_result(procedure, results, procedure != GETACL) + (e,)
        except (ValueError, RpcError, OSError) as why:
            end.why = "no answer: %s" % why
        except Exception as why:  # pylint: disable=broad-except
            end.why = "cut: %s" % why  # struct.error
        return None

    # --- replies

    def judge(self, op, end):
        tries, listing = 0, None
        while True:
            answer = self.answer(op, end)
            if answer is None:
                end.kind = UNANSWERED
                return
            status, fields, e = answer
            end.status = status
            if status != op.status:
                if status == JUKEBOX or op.status == STALE and status == OK and tries < 100:
                    tries += 1
                    continue
                end.kind = NEW if op.status == OK else VANISHED if status == OK else OTHER
                if end.kind == NEW and e.resent and self.may_be_done(op, status):
                    end.kind = UNCERTAIN
                    if op.made:
                        self.look_up(op, end)
                if status == OK:
                    self.learn(op, fields)
                return
            values = groups(op.procedure, status, fields, lambda h: 0)
            values.pop(LISTED, None)
            values.pop(BEHIND, None)
            wrong = self.learn(op, fields) if status == OK else None
            if op.procedure in LISTINGS and status == OK:
                listing = listing or Listing(self, op)
                listing.check_place(decode_arguments(op.procedure, e.arguments))
                if listing.take(fields):
                    continue
                values.update(listing.values())
                wrong = listing.wrong
            self.compare(op, end, values, fields, wrong)
            return

    @staticmethod
    def may_be_done(op, status):
        return status == EXIST and op.procedure in MAKING + (LINK, RENAME) or \
            status == NOENT and op.procedure in (REMOVE, RMDIR, RENAME)

    def set_handle(self, number, handle):
        self.handles[number] = handle
        self.numbers[handle] = number

    def learn(self, op, fields):
        handle = fields.get("handle")
        if op.procedure == WRITE:
            self.filled_of(op.arg["object"]).append((op.arg["offset"], op.arg["offset"] + fields["count"]))
        elif op.procedure == SETATTR:
            self.resized(op, op.arg["object"])
        elif op.procedure == CREATE and not op.made and handle in self.numbers:
            self.resized(op, self.numbers[handle])
        if handle is None:
            return
        if op.made:
            self.set_handle(op.made, handle)
        elif op.status == OK and handle not in self.numbers:
            expected = self.expected(op)
            if expected and expected not in self.handles:
                self.set_handle(expected, handle)

    def expected(self, op):
        if not op.mask >> IDENTITY & 1 or not op.results:
            return 0
        return int.from_bytes(split_values(op)[IDENTITY], "big")

    def look_up(self, op, end):
        """The handle that a reply lacks.  Returns it, or None."""
        answer = self.answer(op, end, LOOKUP)
        handle = answer[1].get("handle") if answer and answer[0] == OK else None
        if handle is not None:
            self.learn(op, {"handle": handle})
        return handle

    def compare(self, op, end, values, fields, wrong):
        if op.status == OK and op.procedure in MAKING + (LOOKUP,):
            handle = fields.get("handle")
            if handle is None and (op.made or self.expected(op)):
                handle = self.look_up(op, end)
                if handle is None:
                    wrong = "no handle, and no name"
            if op.mask >> IDENTITY & 1:
                number = op.made or self.numbers.get(handle, 0)
                values[IDENTITY] = u32(number if handle is not None else self.expected(op))
        if op.procedure in LISTINGS:  # absent ones are not compared; what is wrong with them is known
            for bit in LISTED, BEHIND:
                if op.mask >> bit & 1 and bit not in values:
                    values[bit] = split_values(op)[bit]
        if op.procedure == READ and op.status == OK:
            wrong = wrong or self.contents(op, fields)
        wrong = wrong or mismatch(op, values, self.ignore)
        if wrong:
            end.kind, end.why = RESULT, wrong

    # --- contents

    def filled_of(self, number):
        if number not in self.filled:
            o = self.dump.objects[number - 1] if 0 < number <= len(self.dump.objects) else None
            self.filled[number] = [(0, o.size)] if o is not None and o.type in (0, REG) else []
        return self.filled[number]

    def resized(self, op, number):
        """What is cut off does not come back when the file grows again."""
        size = (op.arg.get("settings") or {}).get("size")
        if size is not None:
            self.filled[number] = [(a, min(b, size)) for a, b in self.filled_of(number)]

    def contents(self, op, fields):
        """Of the relay's bytes: they must be those of the file, or zeros of a hole."""
        length = sum(n for n, _ in fields["data"])
        if length != fields["count"]:
            return "%d bytes, not %d" % (length, fields["count"])
        raw = parse_reply(self.log[self.at - 1].reply)[1]
        data = raw[len(raw) - length - -length % 4:][:length]
        offset, number = op.arg["offset"], op.arg["object"]
        if data == fill(number, offset, length):
            return None
        wanted = fill(number, offset, length)
        filled = self.filled_of(number)
        for i in range(length):
            place = offset + i
            if data[i] != wanted[i] and (data[i] or any(a <= place < b for a, b in filled)):
                return "byte %d" % place
        return None


class Listing:
    """What an operation lists, until it may stop."""

    def __init__(self, oracle, op):
        self.oracle, self.op, self.wrong, self.first = oracle, op, None, True
        self.again, self.handles = False, True
        self.all = bool(op.mask >> LISTED & 1 or op.mask >> BEHIND & 1)
        self.missing = {name for name, _ in recorded_names(op)} if op.mask >> SOME & 1 else set()
        self.names, self.known = Names(), True
        self.unknown = False
        if op.arg["cookie"] and op.cookie_from:
            places = oracle.places.get(op.index - op.cookie_from, ([], 0))[0]
            fit = [p for p in places if p[0] <= op.cookie_entries]
            self.known = bool(places)
            if fit:
                self.names = Names(fit[-1][2])
        elif op.arg["cookie"]:
            self.known = False
        self.continues = bool(op.arg["cookie"])
        self.complete = False
        self.next = 0, bytes(8)  # what to send
        if op.arg["cookie"] and op.cookie_from and self.known:
            places, verifier = oracle.places[op.index - op.cookie_from]
            self.next = (fit[-1] if fit else places[0])[1], verifier

    def check_place(self, sent):
        place = sent["cookie"], sent["verifier"]
        if place != self.next and (place[0] or self.next[0]):
            self.oracle.mistakes.append("operation %d: it goes on at %r, not at %r" % (
                self.op.index, place, self.next))

    def take(self, fields):
        """True: it goes on."""
        op, entries = self.op, fields["entries"]
        places, wanted = [], list(op.cookies) if self.first else []
        for count, entry in enumerate(entries, 1):
            self.add(entry)
            self.missing.discard(entry[1])
            if count in wanted:
                places.append((count, entry[2], Names(self.names)))
        if wanted and (not places or places[-1][0] < wanted[-1]):
            cookie = entries[-1][2] if entries else self.begun()
            places.append((len(entries), cookie, Names(self.names)))
        if self.first and wanted:
            self.oracle.places[op.index] = (places, fields["verifier"])
        self.first = False
        open_ = self.all and self.known or self.missing
        if open_ and not fields["eof"]:
            if not entries:
                self.wrong = "it stops without an entry"
                return False
            self.next = entries[-1][2], fields["verifier"]
            return True
        if self.missing and self.continues and not self.again:
            self.again, self.next = True, (0, bytes(8))
            return True
        if self.missing:
            self.wrong = "%d names are missing" % len(self.missing)
        self.complete = self.all and self.known
        return False

    def begun(self):
        places = self.oracle.places.get(self.op.index - self.op.cookie_from, ([], 0))[0]
        return places[-1][1] if self.op.cookie_from and places else 0

    def add(self, entry):
        if entry[1] in (b".", b".."):
            return
        if self.op.procedure != READDIRPLUS or entry[4] is None:
            self.handles = False
            self.names.add(entry[1], None)
            return
        number = self.oracle.numbers.get(entry[4])
        self.unknown |= number is None
        self.names.add(entry[1], number)

    def values(self):
        if not self.complete or self.wrong:
            return {}
        out = self.names.values()
        if BEHIND not in out and self.handles:
            out[BEHIND] = b"another object"
        return out
