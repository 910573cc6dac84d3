#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: long=all timeout=3600
"""The captures of the pairing tests (losses, copies, strays, connections that begin again, messages
sent together), anonymized with a fresh key each, are clean under each policy.
Environment: NFSDIGEST.  Argument: "all", or words of which the cases' names have one."""
import pathlib
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "gen"), str(SRC / "tests" / "pipeline")]

import audit_lib  # noqa: E402
import capfile  # noqa: E402
import cases  # noqa: E402
import cases_pairing  # noqa: E402,F401
import cases_stream  # noqa: E402,F401
import cases_strays  # noqa: E402,F401

# what once raised false alarms: of like messages at one time each is like each; sequence numbers
# that look like an address; an end that is later than the last packet that was written; replies that wait for their calls
SAMPLE = "many_messages_in_one_segment", "calls_and_replies_lost", "stray_rst_0_server_0", \
    "reply_before_call_udp_1us"


def main():
    words = sys.argv[1:] or SAMPLE
    wrong, runs = [], 0
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        original = pathlib.Path(scratch) / "original.pcap"
        for name, make in cases.CASES.items():
            if words != ["all"] and not any(word in name for word in words):
                continue
            capfile.write_pcap(original, make().trace.packets())
            for policy in audit_lib.POLICIES:
                runs += 1
                wrong += audit_lib.alarms(name, original, policy, pathlib.Path(scratch))
    for line in wrong:
        print(line[:700])
    print("%d runs, %d wrong" % (runs, len(wrong)))
    return 1 if wrong or runs < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
