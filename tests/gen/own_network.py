# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests that need a network of their own, where they are root: ports below 1024, and nobody else's packets."""
import shutil
import subprocess
import sys

INSIDE = "inside"


def exit_code(main, *programs):
    """Runs the test again in a network namespace, where main() makes the exit code.  77: it cannot run here."""
    if sys.argv[1:2] == [INSIDE]:
        del sys.argv[1]
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return main()
    missing = [program for program in programs if not shutil.which(program)]
    if missing or subprocess.run(["unshare", "-Urn", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("NOT RUN: needs", " and ".join(missing or ["a system that allows network namespaces"]))
        return 77
    return subprocess.run(["unshare", "-Urn", sys.executable, sys.argv[0], INSIDE, *sys.argv[1:]],
                          check=False).returncode
