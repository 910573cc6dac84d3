#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""top: what it counts is what the makers of made traffic know, and what the database has of real traffic; live
on the loopback interface, what the client has done.  On a terminal it obeys keys, and leaves the terminal as it
was."""
import collections
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(os.environ["SRC"]) / "tests/gen"))
import capfile  # noqa: E402
import messages  # noqa: E402
import traffic  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import GETATTR  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
MS = 1_000_000
TABLES = "client", "path", "procedure", "user", "export"
SUMS = "operations", "errors", "unanswered", "read", "written", "resent", "waiting"
failures = []
checks = 0


def expect(good, *words):
    global checks
    checks += 1
    if not good:
        failures.append(" ".join(str(w) for w in words)[:800])


def run(*words, code=0, **how):
    done = subprocess.run([NFSDIGEST, *map(str, words)], capture_output=True, text=True, check=False, timeout=120,
                          **how)
    expect(done.returncode == code, *words, "exit", done.returncode, done.stderr)
    return done


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def top(*words, **how):
    return objects(run("top", "--json", *words, **how).stdout)


def rows(shown, table):
    return {row[table]: row for row in shown[table]}


def check_sums(name, shown):
    """All rows of each table together are the whole."""
    for table in TABLES:
        for key in SUMS:
            if shown[key] is not None:
                found = sum(row[key] for row in shown[table])
                expect(found == shown[key], name, table, key, found, "not", shown[key])


def check_made(scratch):
    """Two clients, three files, four users: latencies, failures, calls sent again and calls that wait are known."""
    trace = traffic.Trace()
    tcp = traffic.TcpFlow(trace, "10.0.0.1", 900)
    udp = traffic.UdpFlow(trace, "10.0.0.2", 901)
    tcp.open()
    root, xid = messages.handle(1), 1

    def user(uid):
        return {"credential": messages.auth_sys(uid)}

    tcp.pair(xid, messages.LOOKUP, messages.lookup_args(root, b"a"), messages.lookup_res(messages.handle(2), 2))
    for number in range(100):  # 1 ms, and each tenth 50 ms
        xid += 1
        tcp.pair(xid, messages.READ, messages.read_args(messages.handle(2), 0, 1000),
                 messages.read_res(b"x" * 1000, 2), after=50 * MS if number % 10 == 0 else MS, **user(7))
    for number in range(20):
        xid += 1
        tcp.pair(xid, messages.LOOKUP, messages.lookup_args(root, b"none%d" % number), messages.lookup_fail(),
                 **user(8))
    for number in range(5):  # sent again; answered after 100 ms
        xid += 1
        op = udp.call(xid, messages.WRITE, messages.write_args(messages.handle(3), 0, b"y" * 500), **user(9))
        trace.wait(50 * MS)
        udp.repeat_call(op)
        trace.wait(50 * MS)
        udp.reply(op, messages.write_res(500, 3))
    for number in range(3):  # never answered
        xid += 1
        udp.call(xid, messages.GETATTR, messages.getattr_args(messages.handle(3)), **user(10))
    path = scratch / "made.pcap"
    trace.write(path)

    shown, = top(path)
    check_sums("made", shown)
    expect({key: shown[key] for key in SUMS} == {"operations": 129, "errors": 20, "unanswered": 3, "read": 100_000,
                                                "written": 2500, "resent": 5, "waiting": 0}, "made:", shown)
    clients, users, procedures = rows(shown, "client"), rows(shown, "user"), rows(shown, "procedure")
    expect(clients["10.0.0.1"]["operations"] == 121 and clients["10.0.0.2"]["resent"] == 5, "clients:", clients)
    expect(users["7"]["read"] == 100_000 and users["8"]["errors"] == 20 and users["9"]["written"] == 2500 and
           users["10"]["unanswered"] == 3, "users:", users)
    reads, writes = procedures["NFS READ"], procedures["NFS WRITE"]
    expect(abs(reads["p50_ns"] / MS - 1) < 0.09 and abs(reads["p99_ns"] / MS - 50) < 4, "latency of READ:", reads)
    expect(writes["resent"] == 5 and abs(writes["p50_ns"] / MS - 100) < 9, "WRITE:", writes)
    path_rows = rows(shown, "path")
    expect(any(p and p.endswith("/a") and row["read"] == 100_000 for p, row in path_rows.items()), "paths:", path_rows)

    # the same through a pipe, in an interval that ends while calls wait
    process = subprocess.Popen([NFSDIGEST, "top", "--json", "--every", "1s", "--metrics", "0", "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.write(process.stdin.fileno(), path.read_bytes())
    first = json.loads(process.stdout.readline())
    expect(first["waiting"] == 3 and first["operations"] == 126 and rows(first, "procedure")["NFS GETATTR"]["waiting"] == 3
           and rows(first, "user")["10"]["waiting"] == 3, "waiting:", first)
    check_sums("waiting", first)
    second = json.loads(process.stdout.readline())
    expect(second["waiting"] == 3 and second["operations"] == 0, "still waiting:", second)
    check_metrics(process.stderr.readline())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    expect(process.returncode == 0, "exit after SIGINT:", process.returncode)

    # filters, and operations one by one
    for words, count in ((["--client", "10.0.0.2"], 8), (["--uid", "7"], 100), (["-P", "WRITE"], 5), (["-P", "6"], 100),
                         (["--path", "/nothing"], 0), (["--server", "10.0.0.9"], 129), (["--client", "10.0.0.9"], 0)):
        shown, = top(*words, path)
        expect(shown["operations"] == count, *words, shown["operations"], "not", count)
        check_sums(words, shown)
    slow = top("--slower", "20ms", path)
    expect(collections.Counter(o["procedure"] for o in slow) ==
           {"NFS READ": 10, "NFS LOOKUP": 20, "NFS WRITE": 5, "NFS GETATTR": 3}, "slower:",
           collections.Counter(o["procedure"] for o in slow))
    lines = run("top", "--slower", "20ms", path).stdout.splitlines()
    expect(len(lines) == 38 and sum("NFS3ERR_NOENT" in l for l in lines) == 20 and
           sum("no reply" in l for l in lines) == 3 and sum("READ" in l and " 0+1000 " in l for l in lines) == 10,
           "slower:", lines[:2])
    expect("no procedure is called" in run("top", "-P", "WRIET", path, code=2).stderr, "-P: a name that is none")
    return path


def check_statuses(scratch):
    """Operations have the statuses that ops shows, also those without one: of NULL, and of a reply that was cut."""
    trace = traffic.Trace()
    udp = traffic.UdpFlow(trace, "10.0.0.2", 901)
    for number, (procedure, arguments, results, cut) in enumerate((
            (0, b"", b"", 0), (messages.GETATTR, messages.getattr_args(messages.handle(3)), messages.getattr_res(3), 0),
            (messages.GETATTR, messages.getattr_args(messages.handle(3)), messages.getattr_res(3), 88),
            (messages.GETATTR, messages.getattr_args(messages.handle(3)), None, 0))):
        op = udp.call(number + 1, procedure, arguments)
        if results is not None:
            udp.reply(op, results)
            frame = trace.frames[-1]
            frame.data = frame.data[:len(frame.data) - cut]
    path, database = scratch / "statuses.pcap", scratch / "statuses.db"
    trace.write(path)
    run("ingest", "-o", database, path)
    wanted = [re.search(r" NFS \S+ \S+ (\S+)", line)[1] for line in run("ops", database).stdout.splitlines()]
    told = [t["status"] for t in top("--slower", "0", path)]
    expect(wanted == ["ok", "NFS3_OK", "ok", "-"], "statuses of ops:", wanted)
    expect(told == ["ok", "NFS3_OK", "ok", "no reply"], "--slower: statuses:", told)


def check_unopened(scratch):
    """Packets that are not opened are in no number: a message says so, as in other commands."""
    path = scratch / "802.11.pcap"
    capfile.write_pcap(path, [capfile.Packet(MS * i, bytes(80), 80, 105) for i in range(7)], link_type=105)
    said = run("top", path).stderr
    expect("802.11.pcap: 7 packets in encapsulations (802.11 7) are not opened here" in said, "not opened:", said)
    expect(said == run("info", path).stderr, "not opened: as info says it:", said)


def check_early(scratch):
    """A reply that was captured before its call by another clock: as ops shows it, not 0."""
    trace = traffic.Trace()
    udp = traffic.UdpFlow(trace, "10.0.0.2", 901)
    op = udp.call(1, messages.GETATTR, messages.getattr_args(messages.handle(3)))
    trace.wait(-5 * MS)
    udp.reply(op, messages.getattr_res(3))
    path = scratch / "early.pcap"
    trace.write(path)
    database = scratch / "early.db"
    run("ingest", "-o", database, path)
    latency = objects(run("ops", "--json", database).stdout)[0]["latency"]
    expect(latency < -4 * MS, "ops: negative latency:", latency)
    shown, = top(path)
    expect([shown[key] for key in ("p50_ns", "p99_ns", "max_ns")] == [latency] * 3, "negative latency:", shown)
    told = top("--slower", "0", path)
    expect([t["latency_ns"] for t in told] == [latency], "--slower 0: negative latency:", told)
    expect(not top("--slower", "1us", path), "--slower 1us: negative latency")
    expect(" -4.9" in run("top", "--slower", "0", path).stdout, "text: negative latency")


def check_metrics(line):
    """The page for Prometheus has the counts of check_made, without doubles."""
    with urllib.request.urlopen(line.split()[-1], timeout=20) as page:
        samples = [l.rsplit(" ", 1) for l in page.read().decode().splitlines() if not l.startswith("#")]
    found = {name: float(value) for name, value in samples}
    expect(len(found) == len(samples) > 60, "metrics: samples", len(samples), "names", len(found))
    for name, value in (('client_operations_total{client="10.0.0.1"}', 121), ('user_errors_total{user="8"}', 20),
                        ('procedure_written_bytes_total{procedure="NFS WRITE"}', 2500),
                        ('client_waiting_calls{client="10.0.0.2"}', 3), ('client_resent_calls_total{client="10.0.0.2"}', 5),
                        ('latency_seconds_count{procedure="NFS READ"}', 100), ("names_forgotten_total", 0),
                        ('latency_seconds_bucket{procedure="NFS READ",le="0.005"}', 90)):
        expect(found.get("nfsdigest_" + name) == value, "metrics:", name, found.get("nfsdigest_" + name))
    expect(abs(found['nfsdigest_latency_seconds_sum{procedure="NFS READ"}'] - 0.59) < 0.02, "metrics: sum")


def check_many(scratch):
    """More paths than rows: the sums stay right."""
    trace = traffic.Trace()
    flow = traffic.TcpFlow(trace, "10.0.0.1", 900)
    flow.open()
    for number in range(1500):
        flow.pair(number, messages.LOOKUP, messages.lookup_args(messages.handle(1), b"f%d" % number),
                  messages.lookup_res(messages.handle(number + 2), number + 2))
    path = scratch / "many.pcap"
    trace.write(path)
    shown, = top(path)
    check_sums("many", shown)
    expect(len(shown["path"]) == 1001 and shown["path"][-1]["path"] is None and
           shown["path"][-1]["operations"] == 500, "many:", len(shown["path"]), shown["path"][-1])
    shown, = top("-n", "3", path)
    check_sums("limit", shown)
    expect(len(shown["path"]) == 4, "limit:", len(shown["path"]))


def check_real(scratch):
    """Against the database, which counts by itself."""
    capture = next(CAPTURES.glob("knfsd-netem-udp*"))
    database, stream = scratch / "real.db", scratch / "real.nfsr"
    run("ingest", "-q", "-o", database, capture)
    run("record", "-o", stream, capture)
    with sqlite3.connect(database) as db:
        paths = dict(db.execute("SELECT p.text, count(*) FROM operation o JOIN path p ON p.id = o.path GROUP BY 1"))
        resent = dict(db.execute("SELECT o.program * 100 + o.procedure, count(*) FROM retransmission r"
                                 " JOIN operation o ON o.id = r.operation WHERE r.kind = 1 GROUP BY 1"))
        whole = db.execute("SELECT count(*), sum(status <> 0 OR rpc_status <> 0), sum(reply_frame IS NULL),"
                           " (SELECT count(*) FROM retransmission WHERE kind = 1) FROM operation").fetchone()
        users = dict(db.execute("SELECT ifnull(c.uid, '-'), count(*) FROM operation o LEFT JOIN credential c"
                                " ON c.id = o.credential GROUP BY 1"))
    for source in (capture, stream):
        shown, = top(source)
        check_sums(source, shown)
        expect((shown["operations"], shown["errors"], shown["unanswered"], shown["resent"]) == whole, source, whole,
               {key: shown[key] for key in SUMS})
        expect(sorted(r["resent"] for p, r in rows(shown, "procedure").items() if r["resent"]) == sorted(resent.values())
               and len(resent) > 3, source, "resent:", resent, rows(shown, "procedure"))
        found = {p: r["operations"] for p, r in rows(shown, "path").items() if p not in ("-", None)}
        expect(found == paths, source, "paths", set(found.items()) ^ set(paths.items()))
        expect({u: r["operations"] for u, r in rows(shown, "user").items()} ==
               {str(u): n for u, n in users.items()}, source, "users", rows(shown, "user"), users)
    text = run("top", "--by", "path", "--sort", "errors", "-n", "2", stream).stdout.splitlines()
    expect("*failed" in text[4] and len([l for l in text[5:] if l]) == 3, "text:", text)


def check_live():
    """Packets of the loopback interface.  Returns whether that is allowed here."""
    with Ftnfsd("--export", "/a") as server:
        process = subprocess.Popen([NFSDIGEST, "top", "--json", "-i", "lo", "--every", "500ms", "--rpc-port",
                                    str(server.port), "--packets", f"port {server.port}"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        if not line:
            said = process.communicate()[1]
            expect("not allowed to capture" in said and "tcpdump" in said and process.returncode == 4, said)
            return False
        client = Client(server)
        root = client.mount(b"/a")
        for _ in range(300):
            client.nfs(GETATTR, {"object": root}, uid=77)
        time.sleep(1.2)
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=30)
        expect(process.returncode == 0 and not said, "live: exit", process.returncode, said)
        intervals = [json.loads(line), *objects(out)]
        for shown in intervals:
            check_sums("live", shown)
        got = sum(row["operations"] for shown in intervals for row in shown["user"] if row["user"] == "77")
        expect(got == 300, "live:", got, "of 300 operations")
        expect(intervals[-1]["packets"] > 300 and intervals[-1]["packets_lost"] == 0, intervals[-1])
        client.close()
    for words, text in ((["-i", "nosuch0"], "no such interface"), (["-i", "lo", "--packets", "por 1"], "por 1"),
                        ([], "top takes"), (["-i", "lo", "x"], "top takes")):
        done = run("top", *words, code=2)
        expect(text in done.stderr, *words, done.stderr)
    if os.getuid() == 0:  # as somebody who may not
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all",
                               NFSDIGEST, "top", "-i", "lo"], capture_output=True, text=True, check=False)
        expect(done.returncode == 4 and "not allowed to capture" in done.stderr and "top -" in done.stderr,
               "not allowed:", done.returncode, done.stderr)
    return True


class Terminal:
    """A program on a pseudo-terminal of 100 columns and 20 lines."""

    def __init__(self, *words, columns=100):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "xterm"
            os.execv(NFSDIGEST, [NFSDIGEST, *map(str, words)])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))
        self.text = ""

    def wait(self, pattern, seconds=20):
        """Reads until the pattern is there; what comes before it is forgotten."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text, re.S)
            if found:
                self.text = self.text[found.end():]
                return True
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        return bool(re.search(pattern, self.text, re.S))

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def modes(self):
        return termios.tcgetattr(self.fd)[3]

    def end(self):
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


RESTORED = r"\033\[\?7h\033\[\?25h\033\[\?1049l"


def check_narrow(capture):
    """Names are read whole on 80 columns; the column of the order stays."""
    terminal = Terminal("top", capture, columns=80)
    expect(terminal.wait(r"\*ops/s +read/s +written/s +p99 +failed  client\033.*10\.0\.0\.1\033"), "80 columns:",
           terminal.text[-300:])
    terminal.press("<<")
    expect(terminal.wait(r"p99 +\*resent  client\033.*10\.0\.0\.2\033"), "by resent:", terminal.text[-300:])
    terminal.press("q")
    expect(terminal.end() == 0, "80 columns: exit")


def check_terminal(capture):
    for last, code in (("q", 0), (signal.SIGTERM, 0), ("\x03", 0), (signal.SIGKILL, None)):
        terminal = Terminal("top", capture)
        before = terminal.modes()
        expect(terminal.wait(r"\033\[\?1049h.*129 operations.*\*ops/s.*  client\033.*10\.0\.0\.1\033"), "the table:",
               terminal.text[-300:])
        expect(not terminal.modes() & (termios.ICANON | termios.ECHO), "keys are not read one by one")
        terminal.press("u")
        expect(terminal.wait(r"  user\033.*  7\033"), "by user:", terminal.text[-300:])
        terminal.press("\t")
        expect(terminal.wait(r"  export\033"), "by export:", terminal.text[-300:])
        terminal.press("\t>")
        expect(terminal.wait(r"ops/s +\*read/s.*  client\033"), "keys:", terminal.text[-300:])
        terminal.press("o")
        expect(terminal.wait(r"  procedure\033.*NFS READ\033"), "by procedure:", terminal.text[-300:])
        if last == signal.SIGKILL:
            os.kill(terminal.pid, last)
            terminal.end()
            continue
        if isinstance(last, str):
            terminal.press(last)
        else:
            os.kill(terminal.pid, last)
        expect(terminal.wait(RESTORED), repr(last), "does not restore the screen")
        expect(terminal.modes() == before, repr(last), "does not restore the terminal")
        found = terminal.end()
        expect(found == code, repr(last), "exit", found)


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        made = check_made(scratch)
        check_early(scratch)
        check_statuses(scratch)
        check_unopened(scratch)
        check_many(scratch)
        check_real(scratch)
        check_terminal(made)
        check_narrow(made)
        if not check_live():
            print("capturing is not allowed here: only the message about that was tested")
    for failure in failures:
        print("FAILED", failure)
    print(checks, "checks,", len(failures), "failures")
    return bool(failures) or checks < 60


sys.exit(main())
