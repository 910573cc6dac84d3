# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of programs under way: what was expected, and what came instead."""
import tempfile
import time

failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(what)
        print("%s: %.900r, not %.900r" % (what, got, wanted))


def run_each(tests):
    """Each with a folder of its own.  Returns the exit code."""
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            test(folder)
            print("%s: %.1f s" % (test.__name__, time.monotonic() - begun))
    return 1 if failures else 0
