#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""nfstee run: relay and shadow with one command.  Exit codes say what the shadow found, signals end both,
and clients do not notice that a shadow is killed."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from model_xdr import CREATE, GUARDED, LOOKUP, OK, READ, WRITE  # noqa: E402
from tee_traffic import Shadow, mounted, servers, settle  # noqa: E402

USER = 1234


class Run(Shadow):
    """nfstee run, and by its control socket the shadow of it."""

    def __init__(self, folder, reference, sut, *options, log="log"):
        super().__init__(folder, reference, sut, *options, log=log)
        self.temporary = self.folder / ("temporary." + log)
        self.temporary.mkdir()
        self.lines, self.said = [], []
        place = "nfs://127.0.0.1/a?nfsport=%d&mountport=%d"
        self.command = [self.program, "run", "--listen", "127.0.0.1:0", "--to",
                        place % (reference.port, reference.port), "--sut", place % (sut.port, sut.port),
                        "--log", str(self.log), "--shadow-control", self.control, "--for", "60s", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "TMPDIR": str(self.temporary)})
        line = (self.process.stderr if "--json" in self.command else self.process.stdout).readline()
        found = re.match(r"NFS: 127\.0\.0\.1:(\d+) to ", line)
        if not found:
            raise RuntimeError("nfstee run: %s%s" % (line, self.process.communicate()))
        self.port = int(found[1])
        reader = threading.Thread(target=lambda: self.said.extend(iter(self.process.stderr.readline, "")),
                                  daemon=True)
        reader.start()
        self.wait_for(lambda: os.path.exists(self.control), "its control socket")
        return self

    def children(self):
        """{command: process id}"""
        pid = self.process.pid
        found = {}
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            found[words[1].decode()] = int(child)  # the janitor has the command line of its parent
        return found

    def end(self, how=signal.SIGTERM):
        """(exit code, standard output)"""
        self.process.send_signal(how)
        out = self.process.stdout.read()
        code = self.process.wait(timeout=60)
        expect("what is left in the temporary folder", list(self.temporary.iterdir()), [])
        return code, out


def files(client, root, count):
    handles = []
    for i in range(count):
        status, made = client.nfs(CREATE, {"object": root, "name": b"f%d" % i, "how": GUARDED,
                                           "settings": {"mode": 0o644}})
        expect("CREATE", status, OK)
        client.nfs(WRITE, {"object": made["handle"], "offset": 0, "count": 5000, "stable": 2,
                           "data": [(5000, 65 + i)]})
        handles.append(made["handle"])
    return handles


def read(client, handle, *who):
    status, _ = client.nfs(READ, {"object": handle, "offset": 0, "count": 5000}, *who)
    expect("READ", status, OK)


def equal():
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, Run(folder, reference, sut) as run:
        client, root = mounted(run)
        for handle in files(client, root, 3):
            read(client, handle, USER)
        settle(run)
        expect("processes", {"relay", "shadow"} <= set(run.children()), True)
        code, out = run.end(signal.SIGINT)
        expect("exit code of equal servers", code, 0)
        expect("differences", re.findall(r"(\d+) differ", out), ["0"])
        expect("totals of the relay", len(re.findall(r"\d+ connections, ", out)), 1)
        expect("said", run.said, ["synchronized\n"])


def different():
    """The fault is one of a user, so the shadow's own requests do not meet it."""
    reference, sut = servers(sut=("--fault", "READ:uid=%d:eof" % USER))
    with tempfile.TemporaryDirectory() as folder, reference, sut, \
            Run(folder, reference, sut, "--json", "--html", folder + "/tee.html") as run:
        client, root = mounted(run)
        handles = files(client, root, 4)
        settle(run)
        for handle in handles:
            read(client, handle)
        for handle in handles[:3]:
            read(client, handle, USER)
        settle(run)
        code, out = run.end()
        expect("exit code with differences", code, 1)
        expect("differences", json.loads(out)["verdicts"]["differ"], 3)
        for name in "tee.html", "tee.js":
            expect(name, "3 of " in (pathlib.Path(folder) / name).read_text(), True)
        groups = json.loads((run.log / "summary.json").read_text())["groups"]
        expect("what differs", ({g["operation"] for g in groups}, max(g["count"] for g in groups)),
               ({"READ"}, 3))


def killed():
    """The same connection of a client goes on."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut:
        with Run(folder, reference, sut, log="first") as run:
            client, root = mounted(run)
            handle, = files(client, root, 1)
            settle(run)
            os.kill(run.children()["shadow"], signal.SIGKILL)
            run.wait_for(lambda: any("signal 9" in line for line in run.said), "word of the end")
            read(client, handle)
            expect("exit code after the shadow was killed", run.end()[0], 4)
        with Run(folder, reference, sut, "--overwrite", "--restart", "--log", folder + "/second/",
                 log="second") as run:
            client, root = mounted(run)
            settle(run)
            os.kill(run.children()["shadow"], signal.SIGKILL)
            os.unlink(run.control)
            read(client, handle)
            run.wait_for(lambda: os.path.exists(run.control), "second shadow")
            settle(run)
            read(client, client.nfs(LOOKUP, {"object": root, "name": b"f0"})[1]["handle"])
            settle(run)
            code, out = run.end()
            expect("exit code after a restart", code, 0)
            expect("requests compared by the second shadow",
                   int(re.search(r"(\d+) of them compared", out)[1]) >= 2, True)
            expect("logs", sorted(p.name for p in run.folder.glob("second*") if p.is_dir()),
                   ["second", "second.2"])


def refused():
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut:
        run = Run(folder, reference, sut)
        for words, why in ((("--restart",), "--overwrite"), (("--to", "127.0.0.1:1"), "--to nfs://"),
                           (("--in-flight", "5000"), "4096"),
                           (("--in-flight", "0"), "--in-flight: 0"), (("--queue", "0"), "--queue: 0"),
                           (("--timeout", "0s"), "--timeout: 0"), (("--transparent",), "not an option"),
                           (("--seed", "1"), "--seed needs rules"), (("--ring", "x"), "--ring"),
                           (("--listen", "127.0.0.1"), "nfstee: --listen: 127"),
                           (("--sut", "nfs://127.0.0.1"), "--sut: "),
                           (("--log", folder), "--log: %s: is not empty" % folder),
                           (("--metrics", "70000"), "--metrics: 127.0.0.1:70000: the port"),
                           (("--shadow-metrics", "x"), "--shadow-metrics: x: the port"),
                           (("--rules", folder + "/none.rules"), "none.rules")):
            done = subprocess.run([*run.command, *words], capture_output=True, text=True, check=False)
            expect(words, (done.returncode, done.stdout, why in done.stderr), (2, "", True))
        for option, name in ("--html", "none/page.html"), ("--log", "none/log/"):
            done = subprocess.run([*run.command, option, "%s/%s" % (folder, name)], capture_output=True,
                                  text=True, check=False)
            expect("no folder for " + option, (done.returncode, done.stdout, done.stderr),
                   (4, "", "nfstee: %s: %s/none: No such file or directory\n" % (option, folder)))
        done = subprocess.run([*run.command, "--control", folder + "/none/control"], capture_output=True, text=True,
                              check=False)
        expect("no folder for a socket", (done.returncode, done.stdout, done.stderr.splitlines()[:1]),
               (4, "", ["nfstee: --control: %s/none/control: No such file or directory" % folder]))
        done = subprocess.run([*run.command, "--listen", "127.0.0.1:%d" % sut.port], capture_output=True,
                              text=True, check=False)
        expect("a port that is used", (done.returncode, "the relay ended" in done.stderr), (4, True))


def main():
    equal()
    different()
    killed()
    refused()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
