#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 long=long
"""nfsreplay on connections that break, and on a server that dies.

A relay between nfsreplay and ftnfsd ends the connection at every k-th call: before the call is
executed, after that, or in the middle of the reply.  After each such end, the calls without a reply
must come again: all of them, once, first, from the same port, with the same bytes.  Nothing may be
executed twice, which ftnfsd counts, and every operation must end as in the trace.

If the server has lost its cache of replies, an error that only this explains is "uncertain", and no other
is.  A server that is killed ends no replay: if it comes back with another memory, or not at all, the
report says so.

    nfsreplay_dropped.py [long]     environment: BUILD, CAPTURES

long: more distances k, more traces, and NFS-Ganesha (back end VFS), which is killed and started again.
"""
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import ganesha  # noqa: E402
import nfsreplay_faults  # noqa: E402
import replay_run  # noqa: E402
from live_client import Ftnfsd  # noqa: E402
from nfsreplay_orders import GANESHA  # noqa: E402
from replay_oracle import AS_RECORDED, UNCERTAIN, exchanges  # noqa: E402
from wire_relay import CUT_AFTER, CUTS  # noqa: E402
from messages import NFS  # noqa: E402
from model_xdr import (CREATE, LINK, MKDIR, MKNOD, NAMES, REMOVE, RENAME, RMDIR, SETATTR,  # noqa: E402
                       SYMLINK, WRITE)

CAPTURES = pathlib.Path(os.environ.get("CAPTURES", HERE.parent.parent / "captures"))
ONCE = (SETATTR, WRITE, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.300r, not %.300r" % (what, found, wanted))


def every(k, how):
    """The relay's |cut|: at every k-th call that is new."""
    seen = set()

    def cut(_, call):
        if call[:4] in seen:
            return None
        seen.add(call[:4])
        return how if len(seen) % k == 0 else None
    return cut


def check_wires(what, wires):
    """The wires of one port, which are one client of the trace.  Returns how many calls came again."""
    waiting, again = {}, 0
    for wire in wires:
        check(what + ": what comes first", [c[:4] for c in wire.calls[:len(waiting)]],
              list(waiting))
        check(what + ": its bytes", wire.calls[:len(waiting)], list(waiting.values()))
        xids = collections.Counter(c[:4] for c in wire.calls)
        check(what + ": twice on a connection", [x for x, n in xids.items() if n > 1], [])
        again += len(waiting)
        answered = wire.answered()
        waiting = {c[:4]: c for c in wire.calls if c[:4] not in answered}
        if len(failures) > 20:
            break
    check(what + ": without a reply", len(waiting), 0)
    return again


def check_once(what, played):
    """Calls that ftnfsd executed, with those that were sent."""
    sent = collections.Counter(NAMES[e.procedure] for e in exchanges(played.all_wires)
                               if e.program == NFS and e.procedure in ONCE)
    counts = [{p["procedure"]: p["calls"] for p in s["procedures"] if p["program"] == "NFS"}
              for s in played.statistics]
    done = {NAMES[p]: counts[1].get(NAMES[p], 0) - counts[0].get(NAMES[p], 0) for p in ONCE}
    check(what + ": executed", {p: n for p, n in done.items() if n}, dict(sent))


def dropped(scratch, name, dump, usual, options, k, how):
    what = "%s, %s, every %d calls %s" % (name, " ".join(options), k, how)
    played = replay_run.play(scratch, what, dump, (), ("--pace", "asap", *options), every(k, how))
    ports, again = collections.defaultdict(list), 0
    for wire in played.wires:
        ports[wire.port].append(wire)
    for wires in ports.values():
        again += check_wires(what, wires)
    cut = [w for w in played.wires if w.cut]
    run = played.kept.report["run"]
    check(what + ": cuts", {w.cut for w in cut}, {how})
    check(what + ": one port for each", len(ports), len(played.wires) - len(cut))
    check(what + ": classes", played.kept.classes, usual)
    check(what + ": lost connections", run["lost_connections"], len(cut))
    check(what + ": outages", 0 < run["outages"] <= len(cut), True)
    # what the client has sent and the relay did not read counts, too
    check(what + ": sent again", again > 0 and run["resent"] >= again, True)
    check_once(what, played)


def sweep(scratch, name, dump, lone, many):
    """|lone|: distances with one call at a time."""
    usual = replay_run.play(scratch, name, dump, (), ("--pace", "asap")).kept.classes
    for how in CUTS:
        for k in lone:
            dropped(scratch, name, dump, usual, ("-c", "1", "--outstanding", "1"), k, how)
        for k in many:
            dropped(scratch, name, dump, usual, ("-c", "1", "--outstanding", "16"), k, how)
        dropped(scratch, name, dump, usual, (), many[-1], how)


def uncertain(scratch, name, dump):
    """Each call is executed twice.  The oracle says what that explains."""
    what = name + ", a server without a cache of replies"
    played = replay_run.play(scratch, what, dump, ["*:forget"], replay_run.LOCKSTEP, every(1, CUT_AFTER))
    nfsreplay_faults.compare(what, dump, played)
    failures.extend(nfsreplay_faults.failures)
    nfsreplay_faults.failures.clear()
    check(what + ": uncertain", played.kept.classes.get(UNCERTAIN, 0) > 20, True)


def writes(socket):
    counts = {p["procedure"]: p["calls"] for p in replay_run.ctl(socket, "statistics")["procedures"]}
    return counts.get("WRITE", 0)


class Playing:
    """nfsreplay, until the server has executed |after| WRITEs."""

    def __init__(self, server, dump, kept, socket, after, *options):
        self.kept = kept
        self.process = subprocess.Popen(
            [replay_run.BIN / "nfsreplay", "play", "--rate", "500", "-o", kept, *options, dump,
             server.urls[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(500):
            if writes(socket) >= after or self.process.poll() is not None:
                return
            time.sleep(0.02)

    def end(self):
        out, err = self.process.communicate(timeout=100)
        return replay_run.Kept(self.kept), out + err


def kill(server):
    server.process.kill()
    server.process.communicate()


def died(scratch, dump, operations):
    socket = os.path.join(scratch, "control")
    # it comes back, and has the tree as it was at the beginning
    with Ftnfsd("--export", "/a", "--control", socket, "--image", dump) as server:
        playing = Playing(server, dump, os.path.join(scratch, "back"), socket, 10)
        kill(server)
        time.sleep(0.3)
        with Ftnfsd("--export", "/a", "--image", dump, "--port", str(server.port)):
            kept, text = playing.end()
    run = kept.report["run"]
    check("a server that lost its memory: exit", playing.process.returncode, 1)
    check("a server that lost its memory: operations", sum(kept.classes.values()), operations)
    check("a server that lost its memory: connections", run["lost_connections"] >= 1, True)
    check("a server that lost its memory: outage", run["outages"] >= 1 and
          run["outages_ns"] > 200e6, True)
    check("a server that lost its memory: words", "127.0.0.1" in text and "new error" in text, True)
    check("a server that lost its memory: before", kept.classes[AS_RECORDED] > 10, True)
    first = min(m["number"] for m in kept.mismatches)
    check("a server that lost its memory: not played", kept.classes.get("not played", 0), 0)
    check("a server that lost its memory: what was before is right", first > 10, True)
    # it does not come back
    with Ftnfsd("--export", "/a", "--control", socket, "--image", dump) as server:
        playing = Playing(server, dump, os.path.join(scratch, "gone"), socket, 10, "--give-up", "1s")
        kill(server)
        kept, text = playing.end()
    check("a server that is gone: exit", playing.process.returncode != 0, True)
    check("a server that is gone: operations", sum(kept.classes.values()), operations)
    check("a server that is gone: the report", kept.report["run"]["note"],
          "the server answered no more")
    run = kept.report["run"]
    check("a server that is gone: outage", run["outages"] >= 1 and run["outages_ns"] > 900e6, True)
    check("a server that is gone: words", bool(re.search(
        r"127\.0\.0\.1:%d answers no more: the run ends" % server.port, text)), True)
    check("a server that is gone: the rest", kept.classes.get("not played", 0) > operations // 2, True)
    check("a server that is gone: no errors", [n for n in kept.classes if "error" in n], [])


def died_in_a_round(scratch, dump, operations):
    """No further round asks for its tree."""
    socket = os.path.join(scratch, "control")
    with Ftnfsd("--export", "/a", "--control", socket) as server:
        check("rounds: populate", replay_run.run("populate", dump, server.urls[0]).returncode, 0)
        playing = Playing(server, dump, os.path.join(scratch, "rounds"), socket, writes(socket) + 10, "--give-up", "1s",
                          "--loop", "3")
        kill(server)
        kept, text = playing.end()
    check("rounds: exit", playing.process.returncode, 1)
    check("rounds: operations", sum(kept.classes.values()), operations)
    check("rounds: note", kept.report["run"]["note"], "1 of 3 rounds; the server answered no more")
    check("rounds: words", "MOUNT" in text, False)


def beside_ganesha():
    why = ganesha.obstacle()
    if why:
        print("NOT RUN: on Ganesha: %s" % why)
        return 0
    return subprocess.run([GANESHA, "vfs", sys.executable, __file__, "inside"],
                          env={**os.environ, "LIMIT": "600", "ON_TMPFS": "1"}, check=False).returncode


def killed_ganesha(scratch, name, dump):
    """It comes back with its files, and without its cache of replies."""
    url, kept = "nfs://127.0.0.1" + os.environ["EXPORT"], os.path.join(scratch, "kept " + name)
    done = replay_run.run("populate", "-q", dump, url)
    check(name + ": populate", done.returncode, 0)
    count = len(replay_run.parsed(dump).operations)
    with subprocess.Popen([replay_run.BIN / "nfsreplay", "play", "--rate", str(count // 4), "-o", kept,
                           dump, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(2)
        os.kill(int(pathlib.Path("/run/ganesha.pid").read_text()), signal.SIGKILL)
        time.sleep(1)
        scratch_of_server = os.environ["SCRATCH"]
        server = subprocess.Popen(["ganesha.nfsd", "-F", "-L", scratch_of_server + "/again.log", "-f",
                                   scratch_of_server + "/ganesha.conf", "-p", "/run/ganesha.pid"])
        out, err = process.communicate(timeout=200)
    result = replay_run.Kept(kept)
    run = result.report["run"]
    print("%s: %s, outages of %.1f s, %d calls again" % (name, result.classes, run["outages_ns"] / 1e9,
                                                        run["resent"]))
    check(name + ": exit", process.returncode in (0, 1), True)
    check(name + ": words", "127.0.0.1:2049" in err, True)
    check(name + ": operations", sum(result.classes.values()), count)
    check(name + ": outage", run["lost_connections"] >= 1 and run["outages_ns"] > 5e8, True)
    check(name + ": nothing but what a lost cache explains", [
        m for m in result.mismatches if m["class"] not in (UNCERTAIN, "unplayable")][:3], [])
    check(name + ": the rest", out.count("not played"), 0)
    check(name + ": clean", replay_run.run("clean", "-q", dump, url).returncode, 0)
    return server


def inside(scratch, captured):
    """Of the captures whose operations end on Ganesha as in the trace."""
    for name in "load-ganesha-vfs", "knfsd-netem-tcp", "load-ganesha-mem":
        killed_ganesha(scratch, name, captured(name))


def main(arguments):
    more = arguments == ["long"]
    with tempfile.TemporaryDirectory() as scratch:
        def captured(name):
            path = next(CAPTURES.glob(name + ".pcap*.zst"))
            return replay_run.make_dump(path, os.path.join(scratch, name + ".rdump"))
        if arguments == ["inside"]:
            inside(scratch, captured)
            return report()
        load = captured("load-ganesha-vfs")
        world = replay_run.make_world(os.path.join(scratch, "world.rdump"), seed=5, operations=500)
        sweep(scratch, "load", load, range(1, 30) if more else (1, 7),
              range(3, 120, 7) if more else (17, 150))
        sweep(scratch, "world", world, range(1, 30) if more else (3,),
              range(3, 120, 7) if more else (40,))
        if more:
            for name in "mem-libnfs-all22", "knfsd-netem-tcp", "pair-knfsd", "knfsd-snap256":
                sweep(scratch, name, captured(name), (1, 2, 11), (17, 150))
            if beside_ganesha():
                failures.append("Ganesha: see above")
        died(scratch, load, len(replay_run.parsed(load).operations))
        died_in_a_round(scratch, load, len(replay_run.parsed(load).operations))
        uncertain(scratch, "load", load)
        uncertain(scratch, "world", world)
    return report()


def report():
    for failure in failures[:30]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
