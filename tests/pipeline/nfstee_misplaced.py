#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""nfstee shadow that cannot begin: its --relay is not the relay that it is attached to, or the reference does not answer
what it asks first.  It says so, and leaves nothing on the SUT."""
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from tee_ring import Relay  # noqa: E402
from tee_traffic import Shadow, attached, mounted, servers, tree  # noqa: E402


def is_untouched(what, sut):
    expect("what is on the SUT, " + what, list(tree(*mounted(sut))), [b""])


def other_relays():
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference), \
            Relay(reference.port) as other, Shadow(folder, reference, sut, log="reference") as beside, \
            Shadow(folder, other, sut, log="other") as behind:
        for name, shadow in ("the reference itself", beside), ("another relay", behind):
            said = shadow.process.communicate(timeout=60)[1]
            expect("%s: %s" % (name, said), (shadow.process.returncode, "--relay: what is asked there" in said),
                   (2, True))
        is_untouched("behind another relay", sut)


def silent_reference():
    reference, sut = servers(("--fault", "LOOKUP:drop"))
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        watcher, root = mounted(sut)
        process = subprocess.Popen(Shadow(folder, relay, sut).command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        while process.poll() is None and len(tree(watcher, root)) < 2:
            pass  # it makes a file on the SUT, and looks for it on the reference
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        expect("the end: " + said, process.returncode, 4)
        is_untouched("after SIGINT", sut)


def main():
    other_relays()
    silent_reference()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
