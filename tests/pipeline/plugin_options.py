#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: plugin
"""What tshark -z nfspair,help and -z nfsanon,help say, the plugins' READMEs say, too: each option, and
of those of the engine the same words with the same default, which are also those of the program."""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import manuals

SRC, TSHARK = pathlib.Path(os.environ["SRC"]), pathlib.Path(os.environ["BUILD"]) / "bin" / "tshark"


def help_of(plugin):
    """{option: (value, text)}"""
    with tempfile.NamedTemporaryFile() as empty:
        empty.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        empty.flush()
        os.chmod(empty.name, 0o644)  # tshark is not root
        text = subprocess.run([TSHARK, "-r", empty.name, "-q", "-z", plugin + ",help"],
                              capture_output=True, text=True, check=True).stdout
    found = {}
    for word, words in re.findall(r"^  (\S+) +(.*)$", text, re.M):
        name, _, value = word.partition("=")
        found[name] = (value, words)
    return found


def rows(plugin):
    """The rows of the README's tables: {option: (value, text)}"""
    found = {}
    text = (SRC / "plugins" / plugin / "README.md").read_text()
    for words, meaning in re.findall(r"^\| (`[a-z-]+=?.*?) \| (.*) \|$", text, re.M):
        for word in re.findall(r"`([^`]+)`", words):
            name, _, value = word.partition("=")
            found[name] = (value, meaning)
    return found


def old_names(words):
    return re.sub(r"; formerly \S+", "", words)


def faults():
    engine = {o[1]: (o[2], o[3]) for o in manuals.options_of_help(manuals.help_of("record")) if o[4]}
    if len(engine) < 8:
        yield "record: only %d options of the engine" % len(engine)
    for plugin in ("nfspair", "nfsanon"):
        helped, readme = help_of(plugin), rows(plugin)
        if len(helped) < 10:
            yield "%s: only %d options in the help" % (plugin, len(helped))
        for name, (value, words) in helped.items():
            if name not in readme and name != "help":
                yield "%s: README has no %s=" % (plugin, name)
            elif name in engine and plugin == "nfspair":
                if readme[name] != (value, words.replace("port=", "`port=`")):
                    yield "%s: README: %s: %s, and in the help %s" % (plugin, name, readme[name],
                                                                     (value, words))
            if name in engine and old_names(words) != old_names(engine[name][1]):
                yield "%s: %s: other words than in the program: %s" % (plugin, name, words)
        for name in set(engine) - set(helped) - ({"same-server"} if plugin == "nfsanon" else set()):
            yield "%s: no %s=" % (plugin, name)


def main():
    found = list(faults())
    for fault in found:
        print(fault)
    print("%d faults" % len(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
