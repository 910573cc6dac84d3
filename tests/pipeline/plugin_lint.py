#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: plugin
"""What breaks RFC 1813, as expert infos of the plugin: the same findings, in the same frames, as those of
nfsdigest lint; and none without the preference."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
BUILD = pathlib.Path(os.environ.get("BUILD") or SRC / "build")
sys.path[:0] = [str(SRC / "tests"), str(SRC / "tests/gen")]

import database  # noqa: E402

LEVELS = ("error", "suspect", "note")
NAMES = ["mem-libnfs-all22", "vfs-libnfs-all22", "load-ganesha-mem", "knfsd-netem-udp"]


def expert_infos(capture, *options):
    """{(frame, text)} of each expert info of lint, in the second pass."""
    shown = subprocess.run(
        [str(BUILD / "bin/tshark"), "-2", "-r", str(capture), *options, "-Y", " or ".join("nfspair.expert.lint." + level for level in LEVELS), "-T", "json"],
        capture_output=True, text=True, check=True).stdout
    found = set()

    def walk(frame, tree):
        for key, value in tree.items() if isinstance(tree, dict) else ():
            if key.startswith("_ws.expert") and isinstance(value, dict) and any("nfspair.expert.lint" in name for name in value):
                found.add((frame, value["_ws.expert.message"]))
            elif isinstance(value, dict):
                walk(frame, value)

    def pairs_to_dict(pairs):
        """Keys come several times."""
        out = {}
        for key, value in pairs:
            while key in out:
                key += "'"
            out[key] = value
        return out

    for packet in json.loads(shown, object_pairs_hook=pairs_to_dict):
        layers = packet["_source"]["layers"]
        walk(int(layers["frame"]["frame.number"]), layers)
    return found


def main():
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o777)  # tshark may run as another user
        for name in NAMES:
            capture = SRC / "captures" / (name + ".pcap.zst")
            path = folder / (name + ".db")
            subprocess.run([database.program(), "ingest", "-q", "--block-digests", "-o", path, capture], check=True)
            done = subprocess.run([database.program(), "lint", "--json", "--top", "100000", path],
                                  capture_output=True, text=True, check=False)
            wanted = {(s["reply_frame"] or s["call_frame"], "%s: %s%s. %s" % (
                rule["rule"], s["text"], " (frame %d)" % s["earlier_frame"] if "earlier_frame" in s else "",
                rule["rfc"])) for rule in json.loads(done.stdout)["rules"] for s in rule["shown"]}
            found = expert_infos(capture, "-o", "nfspair.lint:TRUE")
            assert found == wanted, (name, sorted(found - wanted), sorted(wanted - found))
            assert not expert_infos(capture), name
            total += len(found)
    assert total >= 10, total
    print("%d expert infos" % total)


if __name__ == "__main__":
    main()
