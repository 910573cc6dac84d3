#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest who: the life of a file that the generator knows, through a rename and a link, until its handle
is stale; and that of a file in a real capture, against stock tshark."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
import database  # noqa: E402
import messages as m  # noqa: E402
import packets  # noqa: E402

MS = 1_000_000
START = 1_700_000_000_000 * MS
SERVER = "10.0.0.1"
ANN, BOB = ("10.0.0.2", 1000, "ann"), ("10.0.0.3", 1001, "bob")
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments):
    return subprocess.run([database.program()] + [str(a) for a in arguments], capture_output=True,
                          text=True, check=False)


def who(*arguments):
    done = run("who", *arguments)
    if done.returncode:
        raise RuntimeError("who %s: %s" % (" ".join(map(str, arguments)), done.stderr))
    return done.stdout


def lives(db, what):
    """{object: (its names, its events, its summary)}"""
    out = {}
    for line in who("--json", db, what).splitlines():
        row = json.loads(line)
        if "names" in row:
            out[row["object"]] = [row, [], None]
        elif "what" in row:
            out[row["object"]][1].append(row)
        else:
            out[row["object"]][2] = row
    return out


class Capture:
    """Calls and replies over UDP, 10 ms apart, the reply 1 ms after its call: frames 2n+1 and 2n+2."""

    def __init__(self):
        self.packets = []

    def add(self, caller, procedure, arguments, result, program=m.NFS):
        number = len(self.packets) // 2
        client, uid, machine = caller
        credential = m.auth_sys(uid=uid, machine=machine)
        call = m.call(100 + number, procedure, arguments, program, credential=credential)
        for time, source, destination, ports, message in (
                (0, client, SERVER, (700, 2049), call),
                (MS, SERVER, client, (2049, 700), m.reply(100 + number, result))):
            payload = packets.udp(source, destination, *ports, message)
            data = packets.ethernet(packets.internet(source, destination, packets.UDP, payload,
                                                     len(self.packets) + 1))
            self.packets.append(capfile.Packet(START + number * 10 * MS + time, data, len(data),
                                               packets.ETHERNET))
        return number


def sattr3(mode=None, size=None):
    def optional(value, pack):
        return m.u32(0) if value is None else m.u32(1) + pack(value)
    return (optional(mode, m.u32) + m.u32(0) + m.u32(0) + optional(size, m.u64) + m.u32(0)
            + m.u32(0))


def made_life(path):
    """Returns the events that who must show: (what, caller, operation numbers, bytes)."""
    root, fh, other, c = m.handle(1), m.handle(2), m.handle(3), Capture()
    ok = m.u32(0)
    c.add(ANN, 1, m.opaque("/export"), ok + m.opaque(root) + m.u32(1, 1), m.MOUNT)
    wanted = [("made", ANN, [c.add(ANN, m.CREATE, m.create_args(root, "a"),
                                   m.create_res(fh, 2))], 0)]
    data = m.pattern(500)
    wanted.append(("written", ANN, [c.add(ANN, m.WRITE, m.write_args(fh, at, data),
                                          m.write_res(500, 2)) for at in (0, 500, 1000)], 1500))
    c.add(ANN, m.READ, m.read_args(fh, 0, 500), m.read_res(data, 2))
    wanted.append(("written", BOB, [c.add(BOB, m.WRITE, m.write_args(fh, 0, data),
                                          m.write_res(500, 2))], 500))
    c.add(BOB, m.WRITE, m.write_args(fh, 0, data), m.u32(13) + m.wcc())  # refused
    # another file in the same directory is not part of it
    c.add(BOB, m.CREATE, m.create_args(root, "other"), m.create_res(other, 3))
    c.add(BOB, m.WRITE, m.write_args(other, 0, data), m.write_res(500, 3))
    for what, values in (("set size 0", {"size": 0}), ("set mode 0640", {"mode": 0o640}),
                         ("set size 7, mode 0600", {"size": 7, "mode": 0o600})):
        wanted.append((what, BOB, [c.add(BOB, m.SETATTR, m.opaque(fh) + sattr3(**values) + m.u32(0),
                                         ok + m.wcc())], 0))
    wanted.append(("renamed", ANN, [c.add(
        ANN, m.RENAME, m.lookup_args(root, "a") + m.lookup_args(root, "b"),
        ok + m.wcc() + m.wcc())], 0))
    link = c.add(ANN, m.LINK, m.opaque(fh) + m.lookup_args(root, "c"), ok + m.u32(0) + m.wcc())
    wanted.append(("linked", ANN, [link], 0))
    wanted.append(("removed", BOB, [c.add(BOB, m.REMOVE, m.remove_args(root, "b"),
                                          m.remove_res())], 0))
    worked = c.add(ANN, m.GETATTR, m.getattr_args(fh), m.getattr_res(2))
    ended = c.add(BOB, m.RENAME, m.lookup_args(root, "other") + m.lookup_args(root, "c"),
                  ok + m.wcc() + m.wcc())
    wanted.append(("replaced by the rename of", BOB, [ended], 0))
    stale = [c.add(ANN, m.GETATTR, m.getattr_args(fh), m.u32(m.STALE)) for _ in range(3)]
    c.add(ANN, m.WRITE, m.write_args(other, 0, data), b"")
    del c.packets[-1]
    capfile.write_pcap(path, c.packets)
    return wanted, {"worked": worked, "ended": ended, "stale": stale}


def frames(numbers):
    return [2 * numbers[0] + 1, 2 * numbers[-1] + 2]


def against_generator(folder):
    capture, db = folder / "made.pcap", folder / "made.db"
    wanted, end = made_life(capture)
    database.ingest(db, capture)
    handle = None
    for name in ("/export/a", "/export/b", "/export/c"):
        found = lives(db, name)
        mine = [life for life in found.values() if life[1][0]["path"] == "/export/a"]
        check(len(mine) == 1 and len(found) == (2 if name == "/export/c" else 1),
              "%s: objects %s" % (name, list(found)))
        head, events, summary = mine[0]
        handle = head["handle"]
        check([(e["what"], (e["client"], e["uid"], e["machine"]), e["count"], e["bytes"],
                [e["call_frame"], e["reply_frame"]]) for e in events]
              == [(what, caller, len(numbers), size, frames(numbers))
                  for what, caller, numbers, size in wanted],
              "%s: events %s" % (name, [(e["what"], e["client"]) for e in events]))
        check([(e["time"], e["last_time"]) for e in events]
              == [(START + n[0] * 10 * MS, START + n[-1] * 10 * MS) for _, _, n, _ in wanted],
              "%s: times" % name)
        check(summary["stale"] == 3 and summary["failed"] == 4
              and summary["first_stale"]["call_frame"] == 2 * end["stale"][0] + 1
              and summary["last_worked"]["call_frame"] == 2 * end["worked"] + 1
              and summary["ended_by"]["call_frame"] == 2 * end["ended"] + 1,
              "%s: how it ended: %s" % (name, summary))
        text = who(db, name)
        check("ann: written 3 times, 1.5 KiB /export/a [5-10]" in text
              and "3 got NFS3ERR_STALE; the first one:" in text and ": stale at GETATTR " in text
              and "bob: replaced by the rename of /export/other to /export/c" in text,
              "%s: text: %s" % (name, text))
    same = who(db, "/export/a")
    check(who(db, handle) == same and who(db, "0x" + handle.upper()) == same, "by handle")
    number = "#%d" % next(iter(found))
    check(who(db, number) == who(db, "[%s]" % number) != "", "by number")
    check("/export/a: made 2023-11-14 22:13:20.010000000 [3-4]; ended " in same, "times of calls: " + same)
    check("  /export/a: made 2" in same and "; ended 2" in same and "operation " not in same, "names: %s" % same)
    check(who(db, "/export/a//") == same, "a slash at the end")
    line, = (line for line in same.splitlines() if "nfsdigest ops --object" in line)
    pasted = run(*line.split("nfsdigest ")[1].split())
    check(pasted.returncode == 0 and line.endswith(str(db)) and "GETATTR" in pasted.stdout,
          "the command that shows its operations: %s" % pasted)
    stale = run("ops", "--status", "STALE", db).stdout
    check(run("ops", "--status", "ESTALE", db).stdout == run("ops", "--status", "estale", db).stdout == stale != "",
          "--status ESTALE")
    for status in ("EMOON", "E", "OSTALE"):
        check("no status is called" in run("ops", "--status", status, db).stderr, status)
    done = run("ops", "--from", "+1s", "--to", "+0.5s", db)
    check(done.returncode == 2 and "--to (2023-11-14 22:13:20.5" in done.stderr
          and "is before --from (2023-11-14 22:13:21" in done.stderr, "--to before --from: %s" % done.stderr)
    other = lives(db, "/export/other")
    check([e["what"] for life in other.values() for e in life[1]]
          == ["made", "written", "renamed", "written (no answer seen)"], "the other file")
    root = lives(db, "/export")
    check([[e["what"] for e in life[1]] for life in root.values()]
          == [["renamed in it", "removed in it", "renamed in it"]], "what happened in a directory")
    for pattern, what in (('no object with the path "/moon"', "/moon"),
                          ('no object with the handle "00ff"', "00ff"),
                          ("neither a path", "moon"), ("no such object: 99999", "#99999"),
                          ("the trace has /export/a\n", "/mnt/a"), ("the trace has /export/a\n", "a"),
                          ('no object with the path "[#1]/x"', "[#1]/x"), ("neither a path", "#"), ("neither a path", "0x"),
                          ("type '#123'", "123"), ("type '#49'", "49"), ("neither a path", "")):
        done = run("who", db, what)
        check(done.returncode == 2 and pattern in done.stderr, "%s: %s" % (what, done.stderr))


def against_tshark(folder):
    capture, db = folder / "real.pcap", folder / "real.db"
    subprocess.run(["zstd", "-dqf", CAPTURES / "vfs-libnfs-all22.pcap.zst", "-o", capture],
                   check=True)
    database.ingest(db, capture)
    done = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "nfs.procedure_v3 in {2, 7}", "-T", "fields", "-e",
         "frame.number", "-e", "rpc.msgtyp", "-e", "nfs.procedure_v3", "-e", "nfs.fhandle", "-e",
         "nfs.status3", "-e", "rpc.repframe"], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    # the frames of calls: that is what tshark 4.0 shows under this name in replies
    good = {r[5] for r in rows if r[1] == "1" and r[4] == "0"}
    calls = {}
    for number, kind, procedure, handle, _, _ in rows:
        if kind == "0" and number in good:
            calls.setdefault(handle, {}).setdefault(procedure, []).append(int(number))
    compared = 0
    for handle, known in calls.items():
        (_, events, _), = lives(db, handle).values()
        sets = [e["call_frame"] for e in events if e["what"].startswith("set ")]
        writes = [e for e in events if e["what"] == "written"]
        check(sets == known.get("2", []), "SETATTR of %s: %s" % (handle, sets))
        check(sum(e["count"] for e in writes) == len(known.get("7", []))
              and {e["call_frame"] for e in writes} <= set(known.get("7", [])),
              "WRITE of %s: %s" % (handle, writes))
        compared += len(sets) + sum(e["count"] for e in writes)
    check(compared > 8, "%d events were compared" % compared)


def main():
    with tempfile.TemporaryDirectory() as folder:
        against_generator(pathlib.Path(folder))
        if not os.environ.get("SANITIZED"):
            against_tshark(pathlib.Path(folder))
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
