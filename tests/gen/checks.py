# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of nfsdigest's answers: runs it, and collects what is wrong."""
import subprocess

import database

failures = []


def check(truth, what):
    if not truth:
        failures.append(what)
        print("FAILED", what)


def run(*arguments):
    return subprocess.run([database.program()] + [str(a) for a in arguments], capture_output=True,
                          text=True, check=False)


def good(*arguments):
    """What it prints.  Raises unless it ends with 0."""
    done = run(*arguments)
    if done.returncode:
        raise RuntimeError("%s: %s" % (" ".join(map(str, arguments)), done.stderr))
    return done.stdout


def exit_code():
    print("%d failures" % len(failures))
    return 1 if failures else 0
