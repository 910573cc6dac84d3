# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs nfsdigest's anonymizer."""
import os
import subprocess

import database


def run(*arguments):
    return subprocess.run([database.program()] + [str(a) for a in arguments], capture_output=True,
                          text=True, check=False)


def checked(*arguments):
    """Raises when the program does not end well; returns what it printed."""
    done = run(*arguments)
    if done.returncode != 0:
        raise RuntimeError("nfsdigest %s ended with %d: %s" % (
            " ".join(map(str, arguments)), done.returncode, done.stderr.strip()))
    return done.stdout


def new_key(path):
    checked("key", "new", path)
    return path


def known_key(path, seed=1):
    """The same key each time, so that what a test found can be found again."""
    new_key(path)
    with open(path, encoding="ascii") as file:
        text = file.read()
    os.chmod(path, 0o600)
    hexadecimal = max(text.replace("=", " ").replace(":", " ").split(), key=len)
    secret = b"".join((seed * 0x9E3779B97F4A7C15 + i * 0xD6E8FEB86659FD93 & (1 << 64) - 1)
                      .to_bytes(8, "big") for i in range(4))
    with open(path, "w", encoding="ascii") as file:
        file.write(text.replace(hexadecimal, secret.hex()))
    return path


def anonymize(output, policy, key, *captures):
    return checked("anonymize", "--policy", policy, "--key", key, "-o", output, *captures)
