#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""The audit must be able to fail: one leak of each kind is planted into an anonymized capture that
is clean without it, and each must be found as what it is.  Environment: NFSDIGEST."""
import ipaddress
import json
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_lib  # noqa: E402
import audit_twin as t  # noqa: E402
from audit_lib import anonymizer  # noqa: E402
from audit_twin import World, digest  # noqa: E402

PLANTS = {}


def plant(*expected):
    """A function that makes the planted twin; |expected|: (kind, class) that must be found."""
    def wrap(function):
        PLANTS[function.__name__] = (function, expected)
        return function
    return wrap


def changed(**plants):
    return World(True, plants)


def packed(text):
    return ipaddress.ip_address(text).packed


def in_data(*pieces):
    """Contents that are zeros but for |pieces|, each in surroundings of its own."""
    out = b"".join(bytes(24) + digest("around", i, p)[:9] + b" " + p + b" "
                   + digest("behind", i, p)[:9] for i, p in enumerate(pieces))
    return World(True, {("data", t.CONTENTS[1:1502]): out + bytes(1501 - len(out))})


def twin_with(function):
    """The clean twin, its frames changed by |function|."""
    world = World(True)
    frames = world.packets()
    function(frames)
    world.packets = lambda: frames
    return world


def replace(frames, before, after, which=0):
    """In the |which|th frame that has it."""
    found = [i for i, p in enumerate(frames) if before in p.data]
    at = found[which]
    frames[at] = frames[at]._replace(data=frames[at].data.replace(before, after, 1))


# --- values left as they were ---

@plant(("identity", "name"), ("leak", "name"), ("function", "name"))
def name_left():
    return World(True, {("name", "quarterly-report"): None})


@plant(("identity", "name"), ("function", "name"))
def short_name_left():
    return World(True, {("name", "ann"): None})


@plant(("identity", "name"))
def name_of_two_left():
    return World(True, {("name", "zz"): None})


@plant(("identity", "name"), ("leak", "path"))
def path_component_left():
    return World(True, {("path", t.DIRECTORY): "/export/" + World(True).token("projects")})


@plant(("identity", "name"), ("leak", "symlink"))
def symlink_target_left():
    return World(True, {("path", t.TARGET): None})


@plant(("identity", "host"), ("leak", "host"))
def machine_left():
    return World(True, {("host", t.MACHINE): None})


@plant(("identity", "host"), ("leak", "host"))
def mounting_host_left():
    return World(True, {("host", t.OTHER_HOST): None})


@plant(("identity", "uid"))
def uid_left():
    return World(True, {("uid", t.UID): None})


@plant(("identity", "gid"))
def gid_left():
    return World(True, {("gid", 6007): None})


@plant(("identity", "fileid"), ("leak", "number"))
def fileid_left():
    return changed(fileid=None)


@plant(("identity", "fsid"), ("leak", "number"))
def fsid_left():
    return changed(fsid=None)


@plant(("identity", "cookie"), ("leak", "number"))
def cookie_left():
    return changed(cookie=None)


@plant(("identity", "verifier"), ("leak", "number"))
def verifier_left():
    return changed(verifier=None)


@plant(("identity", "stamp"))
def stamp_left():
    return changed(stamp=None)


@plant(("identity", "handle"), ("leak", "handle"))
def handle_left():
    return changed(handle=None)


@plant(("identity", "lock_owner"), ("leak", "opaque"))
def lock_owner_left():
    return changed(owner=None)


@plant(("identity", "cookie"))
def nlm_cookie_left():
    return World(True, {"nlm cookie": None})


@plant(("identity", "address"))
def address_left_in_frames():
    return World(True, {("address", t.CLIENT): None})


@plant(("identity", "address"), ("leak", "address_text"))
def address_left_in_exports():
    return World(True, {("address", t.THIRD): None})


@plant(("identity", "address"), ("leak", "address"))
def ipv6_left_in_frames():
    return World(True, {("address", t.CLIENT6): None})


@plant(("contents", "data"), ("leak", "data"))
def contents_left():
    return changed(data=None)


# --- secrets where they do not belong ---

@plant(("leak", "address"))
def ipv4_in_bytes():
    return in_data(*[packed(t.CLIENT)] * 4)


@plant(("leak", "address"))
def ipv4_reversed():
    return in_data(*[packed(t.THIRD)[::-1]] * 4)


@plant(("leak", "address_text"))
def ipv4_text():
    return in_data(t.SERVER.encode())


@plant(("leak", "address_text"))
def ipv4_reversed_text():
    return in_data(b"41.30.20.10.in-addr.arpa")


@plant(("leak", "address"))
def ipv6_in_bytes():
    return in_data(packed(t.SERVER6))


@plant(("leak", "address"))
def ipv6_reversed():
    return in_data(packed(t.SERVER6)[::-1])


@plant(("leak", "address_text"))
def ipv6_text():
    return in_data(t.CLIENT6.encode())


@plant(("leak", "handle"))
def handle_window():
    window = digest("an original handle", 102)[7:15]
    made = digest("handle", 103)[:24]
    return World(True, {("handle", digest("an original handle", 103)[:24]):
                        made[:5] + window + made[13:]})


@plant(("leak", "stamp"))
def stamp_in_bytes():
    return in_data(*[struct.pack(">I", t.STAMP)] * 4)


@plant(("leak", "data"))
def shingle_of_contents():
    return in_data(t.CONTENTS[160:200])


@plant(("leak", "name"))
def name_in_bytes():
    return in_data(b"quarterly-report")


@plant(("leak", "name"))
def name_that_segments_tear():
    """The reply that holds the name is sent in two segments with a border in the name."""
    twin = World(True, {("name", "a-much-longer-name-of-a-file.c"):
                        "a-much-longer-name-of-a-file.c"}, count=0)
    send = t.traffic.TcpFlow.send

    def torn(flow, from_client, batch, lost=False, segments=()):
        data = b"".join(m.wire for m in batch)
        at = data.find(b"a-much-longer-name")
        return send(flow, from_client, batch, lost, (at + 6,) if at > 0 else segments)
    t.traffic.TcpFlow.send = torn
    for turn in range(3):
        twin.run(turn)
    t.traffic.TcpFlow.send = send
    return twin


@plant(("leak", "string"))
def string_of_another_protocol():
    return in_data(b"salaries-2025.html")


@plant(("leak", "string"), ("surplus", "frames"))
def frame_of_another_protocol():
    def add(frames):
        segment = t.packets.tcp("100.64.1.2", "100.64.1.3", 50001, 80, 1, 1, 24, t.HTTP)
        packet = t.packets.internet("100.64.1.2", "100.64.1.3", t.packets.TCP, segment)
        frames.insert(50, frames[50]._replace(
            data=frames[50].data[:12] + b"\x08\x00" + packet,
            wire_len=14 + len(packet)))
    return twin_with(add)


@plant(("leak", "hardware"), ("same_field", "hardware"))
def hardware_address():
    world = World(True)
    world.macs = (t.MACS[0], b"\x02\x04\x55\x66\x77\x88")
    return world


@plant(("leak", "metadata"))
def pcapng_comment():
    world = World(True)
    world.comment += "\n" + t.COMMENT
    return world


@plant(("leak", "metadata"))
def pcapng_interface():
    world = World(True)
    world.comment += "\ninterface " + t.INTERFACE
    return world


@plant(("leak", "name"))
def name_in_statistics():
    world = World(True)
    world.totals += "quarterly-report 1\n"
    return world


# --- mappings ---

@plant(("collision", "name"))
def two_names_become_one():
    token = World(True).token("ledger2025")
    return World(True, {("name", "Makefile"): token})


@plant(("collision", "uid"))
def two_uids_become_one():
    return World(True, {("uid", t.UID + 1): World(True).number("uid", t.UID, 32)})


class Fickle(World):
    """One value gets another pseudonym at its second sight."""
    count = 0

    def value(self, kind, original, pseudonym):
        if kind == self.fickle[0] and original == self.fickle[1]:
            self.count += 1
            if self.count == 2:
                return self.fickle[2]
        return super().value(kind, original, pseudonym)


def fickle(kind, original, pseudonym):
    made = type("Made", (Fickle,), {"fickle": (kind, original, pseudonym)})
    return made(True)


@plant(("function", "name"))
def name_becomes_two():
    return fickle("name", "Makefile", "0123456789abcdef")


@plant(("function", "handle"))
def handle_becomes_two():
    return fickle("handle", digest("an original handle", 102)[:24], bytes(range(100, 124)))


@plant(("same_field", "uid"))
def uids_exchanged():
    return World(True, {("uid", t.UID): t.UID + 1, ("uid", t.UID + 1): t.UID + 2,
                        ("uid", t.UID + 2): t.UID})


@plant(("value", "size"))
def size_changed():
    return World(True, {("size", 3000 + 102 * 977): 4242})


@plant(("length", "name"))
def lengths_of_names():
    return World(True, lengths=True)


@plant(("length", "name"))
def length_of_one_name():
    return World(True, {("name", "quarterly-report"): "fedcba98765432"})


# --- messages ---

@plant(("missing", "message"))
def message_missing():
    """The last reply, a datagram: TCP would have a hole, which is found for itself."""
    def drop(frames):
        del frames[-1]
    return twin_with(drop)


@plant(("surplus", "message"))
def message_invented():
    class Extra(World):
        def run(self, turn):
            super().run(turn)
            if turn == 2:
                flow = t.traffic.UdpFlow(self.trace, self.address(t.CLIENT6), 711,
                                         self.address(t.SERVER6))
                flow.call(0x77777777, 0)
    return Extra(True)


@plant(("time", "message"))
def time_of_one_message():
    def move(frames):
        frames[61] = frames[61]._replace(time=frames[61].time + 7)
    return twin_with(move)


@plant(("padding", "name"))
def padding_not_zero():
    token = World(True).token("main.c").encode()

    def change(frames):
        replace(frames, token + b"\0\0", token + b"\0p")
    return twin_with(change)


@plant(("surplus", "bytes"))
def bytes_behind_a_message():
    """Of a UDP datagram, whose length is changed with it; no checksum, which nobody asks for."""
    def change(frames):
        last = frames[-1]
        data = bytearray(last.data + b"tail")
        ip = 14
        struct.pack_into(">H", data, ip + 4, struct.unpack_from(">H", data, ip + 4)[0] + 4)
        struct.pack_into(">H", data, ip + 44, struct.unpack_from(">H", data, ip + 44)[0] + 4)
        frames[-1] = last._replace(data=bytes(data), wire_len=last.wire_len + 4)
    return twin_with(change)


# --- twins that must be clean ---

CLEAN = {
    "plain": lambda: World(True),
    "times shifted": lambda: under_another(World(True, shift=-86400 * 777 * 10**9), "time = keep",
                                           "time = shift", "[time]\nshift-days = 1000\n"),
    "XIDs mapped": lambda: under_another(World(True, xids=True), "xid = keep", "xid = keyed"),
    "a message dropped and stated": lambda: stated_drop(),
}


def under_another(world, rule, other, more=""):
    """A policy of one's own, which the audit is given."""
    text = anonymizer.checked("policy", "show", "public").replace("name = public", "name = our-own")
    with tempfile.NamedTemporaryFile("w", prefix="audit.", suffix=".conf", delete=False) as file:
        file.write(text.replace("\n%s\n" % rule, "\n%s\n" % other) + more)
    world.comment, world.policy = t.stated(file.name), file.name
    return world


def stated_drop():
    world = message_missing()
    world.totals = "messages.whole 1\nmessages.dropped 1\n"
    return world


def check(name, original, folder, make, expected):
    """Lines that say what is wrong."""
    path = str(folder / "twin.pcapng")
    world = make()
    world.write(path)
    own = getattr(world, "policy", None)
    code, out, error = audit_lib.audit(original, path, "--json", *(("-p", own) if own else ()))
    if own:
        os.unlink(own)
    if code not in (0, 1):
        return ["%s: exit code %d: %s" % (name, code, error)]
    report = json.loads(out)
    found = audit_lib.found(report)
    wrong = ["%s: %s %s was not found; there is %s" % (name, *e, sorted(found))
             for e in expected if e not in found]
    if code != (1 if expected else 0):
        wrong.append("%s: exit code %d, %s" % (name, code, sorted(found)))
    if not expected and found:
        wrong.append("%s: not clean: %s" % (name, json.dumps(report["findings"][:3])))
    for finding in report["findings"]:
        if finding["kind"] == "leak" and "offset" not in finding and "frame" not in finding:
            wrong.append("%s: a leak without a place" % name)
    return wrong


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        folder = pathlib.Path(scratch)
        original = str(folder / "original.pcapng")
        World(False).write(original)
        for name, make in CLEAN.items():
            wrong += check(name, original, folder, make, ())
        for name, (make, expected) in PLANTS.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            wrong += check(name, original, folder, make, expected)
    for line in wrong:
        print(line)
    print("%d plants, %d clean twins, %d wrong" % (len(PLANTS), len(CLEAN), len(wrong)))
    return 1 if wrong or len(PLANTS) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
