#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""Numbers that a policy keeps (root, nobody) stay under each policy, which is clean, and one that
became another number is found: everywhere, and in one place.  The same of a policy of one's own
that keeps others.  Of names of networks, the well-known ones stay, and others become tokens.  Environment: NFSDIGEST."""
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_lib  # noqa: E402
import messages  # noqa: E402
import remade  # noqa: E402
import traffic  # noqa: E402
from audit_lib import anonymizer  # noqa: E402
from audit_twin import World  # noqa: E402

KEPT = 0, 65534, 4294967294, 4294967295  # schemas/policies
OTHER = 0x51e6a7c4
OWN = 77
IDENTITY = {("identity", "uid"), ("identity", "gid")}  # of what one's own policy keeps


class One(World):
    """All ids of users and groups are one number."""
    same = 0

    def number(self, kind, value, bits):
        return self.same if kind in ("uid", "gid") else super().number(kind, value, bits)


def changed(path, out, cls, one):
    """Another number in the credentials of calls; returns in how many."""
    count = 0

    def change(message):
        nonlocal count
        if len(message) < 40 or message[4:8] != bytes(4) or message[24:28] != b"\0\0\0\1" or (
                one and count):
            return message
        count += 1
        machine = struct.unpack_from(">I", message, 36)[0]
        at = 40 + machine + -machine % 4 + (4 if cls == "gid" else 0)
        return message[:at] + struct.pack(">I", OTHER) + message[at + 4:]
    capture = remade.Capture(path)
    capture.messages(change)
    capture.write(out)
    return count


def ask_rpcbind(path, netids):
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.0.0.1", 900, server_port=111)
    for xid, netid in enumerate(netids):
        flow.pair(xid, 3, messages.u32(messages.NFS, 3) + messages.opaque(netid) + messages.opaque("")
                  + messages.opaque("superuser"), messages.opaque(""), program=messages.PORTMAP, version=4)
    trace.write(path)


def check_words(policy, folder):
    """Lines of what is wrong with names of networks: one that stays, and one that becomes a token."""
    own, original, bad = b"network-of-mine9", folder / "words.pcap", folder / "bad.pcapng"
    ask_rpcbind(original, [b"tcp", own])
    wrong = audit_lib.alarms("names of networks", original, policy, folder)
    for name, other, kind in ((b"tcp", b"udp", ("policy", "none")), (own, own, ("identity", "opaque"))):
        before = messages.u32(messages.NFS, 3, len(name))

        def change(message, before=before, other=other):
            head, found, rest = message.partition(before)
            return head + found + other + rest[len(other):] if found else message
        capture = remade.Capture(folder / "out.pcapng")
        capture.messages(change)
        capture.write(bad)
        found = audit_lib.found(audit_lib.report(original, bad))
        if kind not in found:
            wrong.append("%s, %s in place of %s: %s" % (policy, other, name, sorted(found)))
    return wrong


def own_policy(folder):
    text = anonymizer.checked("policy", "show", "public").replace("name = public", "name = mine")
    for cls in "uid", "gid":
        text = text.replace("\n%s = 0;" % cls, "\n%s = 0;%d;" % (cls, OWN))
    path = folder / "mine.conf"
    path.write_text(text)
    return path


def main():
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        folder = pathlib.Path(scratch)
        original, bad = folder / "original.pcapng", folder / "bad.pcapng"
        for policy in audit_lib.POLICIES:
            wrong += check_words(policy, folder)
        cases = [(p, v, ()) for p in audit_lib.POLICIES for v in KEPT]
        cases.append((own_policy(folder), OWN, ("-p", own_policy(folder))))
        for policy, value, options in cases:
            One.same = value
            One(False).write(original)
            out, _ = audit_lib.fresh(original, policy, folder)
            found = audit_lib.found(audit_lib.report(original, out, *options))
            if found - (IDENTITY if value == OWN else set()):
                wrong.append("%s, %d is not clean: %s" % (policy, value, sorted(found)))
            for cls in "uid", "gid":
                for one in True, False:
                    count = changed(out, bad, cls, one)
                    found = audit_lib.found(audit_lib.report(original, bad, *options))
                    tried += 1
                    if ("policy", cls) not in found or count < 1 or one != (count == 1):
                        wrong.append("%s, %s %d in %d places: %s" % (policy, cls, value, count,
                                                                     sorted(found)))
    for line in wrong:
        print(line)
    print("%d tried, %d wrong" % (tried, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
