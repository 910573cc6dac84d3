#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""Real traffic: every capture becomes a package that --verify finds nothing wrong with, and whose
members the tools that its README names can read.  Environment: NFSDIGEST, CAPTURES."""
import os
import pathlib
import subprocess
import tempfile

import package_lib as p
from package_lib import expect

OTHER_POLICIES = {"knfsd-nlm-locks": "strict", "knfsd-netem-tcp": "lab", "pair-ganesha-vfs": "lab"}


def tool(*arguments, folder):
    done = subprocess.run(list(map(str, arguments)), cwd=folder, capture_output=True, check=False)
    expect(done.returncode == 0 and done.stdout, *arguments, ":", done.returncode,
           done.stderr[:300])
    return done.stdout.decode("utf-8", "replace")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.environ["TMPDIR"] = str(folder)
        key = p.new_key(folder / "k.key")
        captures = sorted(pathlib.Path(os.environ["CAPTURES"]).glob("*.pcap*"))
        expect(len(captures) >= 12, "captures:", captures)
        for capture in captures:
            name = capture.name.split(".")[0]
            archive = folder / (name + ".tar.zst")
            data = p.made(archive, key, "--policy", OTHER_POLICIES.get(name, "public"), capture)
            code, out, said = p.run("--verify", archive)
            expect(code == 0 and "nothing wrong" in out and not said, name, "verify:", code,
                   out[:600], said)
            print("%-20s %9d bytes  %s" % (name, len(data), out.split(": ", 1)[-1].strip()))
            subprocess.run(["tar", "--zstd", "--warning=no-timestamp", "-xf", archive], cwd=folder,
                           check=True)
            inside = folder / name
            tool("sha256sum", "-c", "SHA256SUMS", folder=inside)
            tool("sqlite3", "trace.db", "SELECT * FROM op LIMIT 20", folder=inside)
            tool("tshark", "-r", "captures/001.pcapng", "-c", "50", folder=inside)
            tool(p.NFSDIGEST, "info", "trace.db", folder=inside)
            tool(p.NFSDIGEST, "tree", "trace.db", folder=inside)
            tool(p.NFSDIGEST, "check", "trace.db", folder=inside)
            tool(p.NFSDIGEST, "rdump", "--check", "trace.rdump", folder=inside)
            subprocess.run(["rm", "-rf", inside, archive], check=True)
    p.finish()


main()
