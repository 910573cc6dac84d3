# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of programs under way: what was expected, and what came instead."""

failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(what)
        print("%s: %.900r, not %.900r" % (what, got, wanted))
