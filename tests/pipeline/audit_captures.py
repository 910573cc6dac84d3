#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""Real traffic: every capture anonymized under every policy is clean; against itself, against
another one, and with one of its own secrets put back, it is not.
Environment: NFSDIGEST, CAPTURES.  Arguments: the captures to look at."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import capfile  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
POLICIES = "public", "lab", "strict"
# enough for the policies other than the first
SMALL = {"vfs-libnfs-all22", "mem-libnfs-all22", "knfsd-netem-tcp", "knfsd-netem-udp",
         "knfsd-nlm-locks", "knfsd-snap256"}
PLANTED = "knfsd-tcp-mtu1500"
breaches = []


def expect(good, *words):
    if not good:
        breaches.append(" ".join(str(w) for w in words)[:1500])


def run(*arguments):
    done = subprocess.run([NFSDIGEST, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    if done.returncode > 1:
        raise RuntimeError("%s: %d: %s" % (arguments, done.returncode, done.stderr))
    return done.returncode, done.stdout


def audit(original, other):
    code, out = run("audit", "--json", original, other)
    report = json.loads(out)
    expect(code == (0 if report["clean"] else 1), original, other, "exit code", code)
    return report


def found(report):
    return {(c["kind"], c["class"]) for c in report["finding_counts"]}


def fields(capture, name):
    """Values of a field, as stock tshark shows them, of those that are plain words."""
    out = subprocess.run(["tshark", "-o", "tcp.reassemble_out_of_order:TRUE", "-r", capture, "-T",
                          "fields", "-e", name, "-Y", name], capture_output=True, check=True).stdout
    words = {w for line in out.decode("ascii", "replace").split() for w in line.split(",")}
    return sorted(w for w in words if w.isprintable() and "\ufffd" not in w)


def plain(capture, folder):
    """Without zstd, which capfile.py cannot read."""
    path = folder / "plain.pcap"
    path.write_bytes(subprocess.run(["zstd", "-dc", capture], capture_output=True,
                                    check=True).stdout)
    return path


def put_back(original, anonymized, folder):
    """Overwrites the zeros of file contents in the anonymized file with secrets of the original."""
    packets = capfile.read(plain(original, folder))
    name = max((n for n in fields(original, "nfs.name") if len(n) < 40), key=len).encode()
    handle = bytes.fromhex(max(fields(original, "nfs.fhandle"), key=len).replace(":", ""))
    call = next(p.data for p in packets if p.data[12:14] == b"\x08\x00" and p.data[23] == 6)
    hardware = call[:6]
    texts = [p.data[-64:] for p in packets if len(p.data) > 1400 and p.data[-64:].isascii()]
    secrets = {("leak", "name"): name, ("leak", "handle"): handle, ("leak", "hardware"): hardware,
               ("leak", "data"): texts[len(texts) // 2]}
    data = anonymized.read_bytes()
    for expected, secret in secrets.items():
        room = data.find(bytes(1000))
        changed = folder / "changed.pcapng"
        changed.write_bytes(data[:room + 300] + secret + data[room + 300 + len(secret):])
        report = audit(original, changed)
        expect(expected in found(report), expected, secret, "was not found:", found(report))
        offsets = [f.get("offset") for f in report["findings"] if f["kind"] == "leak"]
        expect(any(o is not None and room + 300 <= o < room + 300 + len(secret) for o in offsets),
               expected, "at another place:", offsets, room + 300)
    frames = capfile.read(anonymized)
    for i in range(10, 13):
        frames[i] = frames[i]._replace(data=frames[i].data[:26] + call[26:30] + frames[i].data[30:])
    changed = folder / "changed.pcapng"
    capfile.write_pcapng(changed, frames)
    report = audit(original, changed)
    expect({("same_field", "address"), ("identity", "address")} & found(report),
           "an address in a header:", found(report))


def main():
    only = sys.argv[1:]
    captures = sorted(pathlib.Path(os.environ["CAPTURES"]).glob("*.zst"))
    expect(len(captures) >= 12, "captures:", len(captures))
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        folder = pathlib.Path(scratch)
        run("key", "new", folder / "key")
        run("key", "new", folder / "other")
        for capture in captures:
            name = capture.name.split(".")[0]
            if only and name not in only:
                continue
            for policy in POLICIES if name in SMALL else POLICIES[:1]:
                out = folder / ("%s.%s.pcapng" % (name, policy))
                run("anonymize", "--policy", policy, "--key", folder / "key", "-o", out, capture)
                report = audit(capture, out)
                messages = report["original"]["calls"] + report["original"]["replies"]
                expect(report["clean"], name, policy, json.dumps(report["findings"][:4]))
                counts = report["messages"]
                expect(counts["compared"] + counts["missing"] == messages > 0 and
                       counts["missing"] == counts["stated_as_dropped"], name, policy, counts)
                expect(not counts["missing"] or policy == "strict", name, policy, counts)
                expect(report["anonymized"]["policy"] == policy, name, report["anonymized"])
                if name != PLANTED:
                    out.unlink()
        expect(("identity", "handle") in found(audit(captures[0], captures[0])), "against itself")
        planted = next(c for c in captures if c.name.startswith(PLANTED))
        clean = folder / (PLANTED + ".public.pcapng")
        report = audit(captures[-1], clean)
        expect(("missing", "message") in found(report) and ("surplus", "message") in found(report),
               "against another capture:", found(report))
        put_back(planted, clean, folder)
    for line in breaches:
        print(line)
    print("%d captures, %d wrong" % (len(captures), len(breaches)))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
