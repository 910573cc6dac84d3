#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""What --help says of each option of each command, the command's manual page says, too: its name and
letter, what it takes, and its default.  The options of the engine have the same words in both.

The page of the library has the prototypes of its header."""
import os
import pathlib
import re
import subprocess
import sys

PROGRAM = os.environ["NFSDIGEST"]
SERVER = os.path.join(os.environ["BUILD"], "bin", "ftnfsd")
PLAYER = os.path.join(os.environ["BUILD"], "bin", "nfsreplay")
TEE = os.path.join(os.environ["BUILD"], "bin", "nfstee")
SRC = pathlib.Path(os.environ["SRC"])
PAGES = SRC / "man"
OPTION = re.compile(r" {2}(?:-(\w), | {4})--([a-z][a-z-]*)(?: (\S+))?(?: +(.*))?$")


def program_help(*command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True,
                          check=True).stdout


def help_of(*command):
    return program_help(PROGRAM, *command)


def commands(text, before):
    return re.findall(r"^  %s([a-z]+) {2,}" % before, text, re.M)


def options_of_help(text):
    """(letter, name, value, text, whether it is the engine's) of each option."""
    found, engine = [], False
    for line in text.splitlines():
        option = OPTION.match(line)
        if re.match(r"[A-Z].*:$", line):
            engine = line.startswith("How captures are read")
        elif option:
            letter, name, value, words = option.groups()
            found.append([letter or "", name, value or "", words or "", engine])
        elif found and line.startswith(" " * 28):
            found[-1][3] = (found[-1][3] + " " + line.strip()).strip()
    return found


def options_of_page(text):
    """The same of a page: a list, since an option may stand there for several commands."""
    found = []
    text = re.sub(r"\\f.|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")
    text = re.sub(r"^\.(?:B|I|BR|BI|IR|RB|RI) (.*)", lambda m: m[1].replace('"', ""), text, flags=re.M)
    for item in re.split(r"^\.(?:TP|SS|SH|PP?|RE)\b.*\n", text, flags=re.M):
        head, _, words = item.partition("\n")
        option = re.match(r"(?:-(\w), *)?--([a-z][a-z-]*)(?: (\S+))?$", head.strip())
        if option:
            letter, name, value = option.groups()
            found.append((letter or "", name, value or "", " ".join(words.split())))
    return found


def defaults(words):
    """Those that the help has in parentheses."""
    return set(re.findall(r"\(([^\s(),/]+)\)", words)) - {"default"}


def sentence(words):
    """The first one that the page has: help adds the default and more behind a semicolon."""
    words = re.sub(r" \([^\s(),/]+\)|;.*", "", words)
    return words[:1].upper() + words[1:] + "."


def faults(page, help_options, page_options):
    for letter, name, value, words, engine in help_options:
        same = [o for o in page_options if o[1] == name]
        if not same:
            yield "%s: no --%s" % (page, name)
            continue
        if not any((letter, value) == (o[0], o[2]) for o in same):
            yield "%s: --%s: %s, and in the help %s" % (page, name, [(o[0], o[2]) for o in same],
                                                        (letter, value))
        for default in defaults(words):
            if not any(default in re.findall(r"[^\s(),;\"]+(?<!\.)", o[3]) for o in same):
                yield "%s: --%s: not a word of the default, %s" % (page, name, default)
        if engine and not any(o[3].startswith(sentence(words)) for o in same):
            yield "%s: --%s: begins with other words than the help: %s" % (page, name,
                                                                          sentence(words))
    for name in sorted({o[1] for o in page_options} - {o[1] for o in help_options}):
        yield "%s: --%s is not in the help" % (page, name)


def formerly(options):
    return {name for o in options for name in re.findall(r"formerly --([a-z-]+)", o[3])}


def prototypes_of_header(text):
    return {" ".join(p.split()) for p in re.findall(r"^NFSDIGEST_API ([^;]*;)", text, re.M)}


def prototypes_of_page(text):
    """.BI alternates between two fonts: the words follow each other without spaces."""
    text = re.search(r"^\.SH SYNOPSIS\n(.*?)^\.SH", text, re.M | re.S)[1]
    words = "".join("".join(w.strip('"') for w in re.findall(r'"[^"]*"|\S+', line)) + " "
                    for line in re.findall(r"^\.BI (.*)", text, re.M))
    return {" ".join(p.split()) for p in re.findall(r"((?:int|void|const char \*) *nfs[^;]*;)", words)}


def faults_of_library():
    header = SRC / "postproc/columns/nfsdigest.h"
    wanted = prototypes_of_header(header.read_text())
    found = prototypes_of_page((PAGES / "libnfsdigest.3").read_text())
    if len(wanted) < 10:
        yield "only %d functions in nfsdigest.h" % len(wanted)
    for prototype in sorted(wanted ^ found):
        yield "libnfsdigest.3: %s %s" % ("no" if prototype in wanted else "not in nfsdigest.h:",
                                         prototype)


def main():
    found, seen, engines = [], 0, 0
    known, named = {"help", "version"}, []
    for command in commands(help_of(), ""):
        if command == "help":
            continue
        page = PAGES / ("nfsdigest-%s.1" % command)
        text = help_of(command)
        listed = options_of_help(text)
        for sub in commands(text, command + " "):
            listed += options_of_help(help_of(command, sub))
        if not page.exists():
            found.append("%s: there is no such page" % page.name)
            continue
        found += faults(page.name, listed, options_of_page(page.read_text()))
        known |= {o[1] for o in listed} | formerly(listed)
        named.append(page)
        seen += len(listed)
        engines += sum(o[4] for o in listed)
    page, listed = PAGES / "ftnfsd.8", options_of_help(program_help(SERVER))
    found += faults(page.name, listed, options_of_page(page.read_text()))
    seen += len(listed)
    for name, program, without in ("nfsreplay.1", PLAYER, ()), ("nfstee.8", TEE, ("ctl",)):
        page, of_it = PAGES / name, commands(program_help(program), "")
        listed = [o for command in of_it if command not in without
                  for o in options_of_help(program_help(program, command))]
        found += faults(page.name, listed, options_of_page(page.read_text()))
        found += ["%s: nothing of %s" % (page.name, command) for command in of_it
                  if not re.search(r"^\.SS %s$" % command, page.read_text(), re.M)]
        if len(of_it) < 2:
            found.append("commands of %s: %r" % (program, of_it))
        seen += len(listed)
    for page in named:
        words = set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", page.read_text().replace("\\-", "-")))
        found += ["%s: no command has --%s" % (page.name, word) for word in sorted(words - known)]
    found += faults_of_library()
    if seen < 100 or engines < 40:
        found.append("only %d options were found, %d of the engine" % (seen, engines))
    for fault in found:
        print(fault)
    print("%d options, %d of the engine, %d faults" % (seen, engines, len(found)))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
