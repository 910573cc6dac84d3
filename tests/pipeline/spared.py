#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A command does not replace a file that it reads: a capture, a key, a piece; not by another name either.  What stands
on standard output is the stream alone."""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(os.environ.get("NFSDIGEST", "build/bin/nfsdigest"))
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=False)


def contents():
    return {path.name: path.read_bytes() for path in pathlib.Path().iterdir() if path.is_file()}


def spared(option, output, *arguments):
    before = contents()
    done = run(*arguments)
    check(done.returncode == 2 and f"{option}: {output} would replace the input".encode() in done.stderr,
          f"{' '.join(arguments)}: {done.returncode} {done.stderr}")
    now = contents()
    check(now == before, f"{' '.join(arguments)}: {[name for name in now if now[name] != before.get(name)]}")


def made(*arguments):
    done = run(*arguments)
    check(done.returncode == 0, f"{' '.join(arguments)}: {done.stderr}")
    return done


def captures():
    """Of one file or several; --force replaces others."""
    for output in "a.pcap", "link.pcap", "./a.pcap":
        spared("--output", output, "record", "-o", output, "b.pcap", "a.pcap")
        for command in "anonymize", "package":
            spared("--output", output, command, "--force", "-k", "key", "-o", output, "b.pcap", "a.pcap")
    for command in "anonymize", "package":
        spared("--output", "key", command, "--force", "-k", "key", "-o", "key", "a.pcap")
        spared("--output", "own", command, "--force", "-k", "key", "-p", "./own", "-o", "own", "a.pcap")
    made("anonymize", "--force", "-k", "key", "-o", "old.pcap", "a.pcap")


def pieces():
    half = str(pathlib.Path("a.pcap").stat().st_size // 2)
    pathlib.Path("c.nfsr").write_bytes(pathlib.Path("a.pcap").read_bytes())
    spared("--output", "c.nfsr", "piece", "-o", "c", "c.nfsr")
    spared("--output", "c.nfsr", "piece", "-o", "c", "--before", "c.nfsr", "--last", "b.pcap")
    made("piece", "-o", "0", "--to", half, "a.pcap")
    made("piece", "-o", "1", "--from", half, "--last", "a.pcap")
    spared("--output", "./0.nfsr", "piece", "-o", "./0", "--continue", "0", "--from", half, "a.pcap")
    spared("--output", "1.border", "join", "-o", "1", "0", "1")
    for name in "0.nfsr", "1.border", "0.order":
        spared("--output", name, "names", "-o", name, "0", "1")
        spared("--state", name, "names", "--state", name, "-o", "new.nfsr", "0", "1")
    done = run("names", "--state", "new", "-o", "./new", "0", "1")
    check(done.returncode == 2 and b"would be one file" in done.stderr, f"one file: {done.stderr}")
    made("record", "-o", "run.nfsr", "a.pcap")
    spared("--output", "run.nfsr", "names", "--canonical", "-o", "run.nfsr", "run.nfsr")
    made("join", "-o", "all", "0", "1")
    for _ in range(2):
        made("names", "--state", "state", "-o", "day.nfsr", "0", "1")
        pathlib.Path("state").unlink()


def standard_output():
    made("names", "-o", "out.nfsr", "0", "1")
    done = made("names", "-o", "-", "0", "1")
    check(done.stdout == pathlib.Path("out.nfsr").read_bytes(), "names -o -: something else than the stream")
    check(b" operations, " in done.stderr, f"names -o -: {done.stderr}")
    done = run("names", "--json", "-o", "-", "0", "1")
    check(done.returncode == 2 and not done.stdout and b"--json" in done.stderr, f"--json -o -: {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name in "a.pcap", "b.pcap":
        subprocess.run(["zstd", "-dqf", CAPTURES / "mem-libnfs-all22.pcap.zst", "-o", name], check=True)
    os.symlink("a.pcap", "link.pcap")
    pathlib.Path("old.pcap").touch()
    made("key", "new", "key")
    pathlib.Path("own").write_bytes(made("policy", "show", "lab").stdout)
    captures()
    pieces()
    standard_output()
    os.chdir("/")
sys.exit(1 if failures else 0)
