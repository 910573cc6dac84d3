#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""nfstee shadow whose --relay is not the relay that it is attached to: it says so, and does not run for ever without
copying anything."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from tee_ring import Relay  # noqa: E402
from tee_traffic import Shadow, attached, mounted, servers, tree  # noqa: E402


def main():
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference), \
            Relay(reference.port) as other, Shadow(folder, reference, sut, log="reference") as beside, \
            Shadow(folder, other, sut, log="other") as behind:
        for name, shadow in ("the reference itself", beside), ("another relay", behind):
            said = shadow.process.communicate(timeout=60)[1]
            expect("%s: %s" % (name, said), (shadow.process.returncode, "--relay: what is asked there" in said),
                   (2, True))
        expect("what was made on the SUT", list(tree(*mounted(sut))), [b""])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
