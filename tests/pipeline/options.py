#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of all programs and commands, from the tables that the programs print: one letter has one
meaning everywhere, the tables have what --help has, and completion in bash and zsh offers all of it."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from manuals import options_of_help

BIN = pathlib.Path(os.environ["BUILD"]) / "bin"
SCRIPTS = pathlib.Path(os.environ["SRC"]) / "scripts/completion"
PROGRAMS = ("nfsdigest", "nfsreplay", "nfstee", "ftnfsd")
# Different words for one meaning: how much is shown, and where the result goes.
SAME = ({"limit", "top"}, {"output", "database"})
breaches = []


def expect(good, *words):
    if not good:
        breaches.append(" ".join(str(w) for w in words)[:1000])


def run(*command, **how):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **how)
    expect(done.returncode == 0, command[:3], "exit", done.returncode, done.stderr)
    return done.stdout


def tables():
    """Program to commands, "-" or as "key new", with their options (letter, name, value)."""
    programs = {}
    for program in PROGRAMS:
        commands = programs[program] = {"-": []}
        for line in run(BIN / program, "--complete-table").splitlines():
            kind, command, *row = line.split("\t")
            if kind == "command":
                commands[command] = []
                expect(len(row) == 1 and row[0], "row", line)
            else:
                commands[command].append(row[:3])
                expect(kind == "option" and len(row) == 4 and all(row), "row", line)
    return programs


def check_letters(programs):
    meanings = collections.defaultdict(lambda: collections.defaultdict(list))
    for program, commands in programs.items():
        for command, options in commands.items():
            own = [letter for letter, _, _ in options if letter != "-"]
            expect(len(own) == len(set(own)), program, command, "has a letter twice:", own)
            for letter, name, value in options:
                if letter != "-":
                    meaning = next((min(s) for s in SAME if name in s), name), value != "-"
                    meanings[letter][meaning].append(f"{program} {command} --{name}")
    for letter, found in meanings.items():
        expect(len(found) == 1, f"-{letter} has {len(found)} meanings:", dict(found))
    for program, commands in programs.items():
        for command, options in commands.items():
            for letter, name, _ in options:
                expect(letter == {"json": "j", "help": "h", "quiet": "q"}.get(name, letter), program, command,
                       f"--{name} lacks its letter")
    expect(len(meanings) > 20, "few letters:", sorted(meanings))


def check_help(programs):
    """--help is the oracle for the tables: the commands of each program, and the options of each command."""
    count = 0
    for program, commands in programs.items():
        if program != "ftnfsd":
            text = run(BIN / program, "--help")
            words = re.findall(r"^  ([a-z]+) {2,}", text.partition("\nCommands:\n")[2], re.M)
            expect(sorted(words) == sorted(c for c in commands if c != "-" and " " not in c), program,
                   "commands", words)
        for command, options in commands.items():
            group = any(c.startswith(command + " ") for c in commands)
            if command in ("help", "ctl") or (command == "-" and program != "ftnfsd"):
                continue
            text = run(BIN / program, *command.replace("-", "").split(), "--help")
            if group:
                words = re.findall(r"^  %s ([a-z]+) {2,}" % command, text, re.M)
                expect(sorted(words) == sorted(c.split()[1] for c in commands if c.startswith(command + " ")),
                       program, command, words)
                continue
            want = sorted((letter or "-", name, value or "-")
                          for letter, name, value, _, _ in options_of_help(text))
            # the help shows "FILE..." up to a blank
            got = sorted((letter, name, value.split(" ")[0]) for letter, name, value in options)
            expect(got == want and len(got) > 0, program, command, "table", got, "help", want)
            count += len(got)
    expect(count > 300, "few options:", count)


# They tell nothing, or answer in JSON anyway (ctl), or their programs' peers do (a server's control socket).
WITHOUT_JSON = {"nfsdigest help", "nfsdigest phase", "nfstee ctl", "ftnfsd -"}


def check_json(programs):
    for program, commands in programs.items():
        for command, options in commands.items():
            name = program + " " + command
            group = any(c.startswith(command + " ") for c in commands)
            if group or (command == "-" and program != "ftnfsd"):
                continue
            expect(any(o[1] == "json" for o in options) != (name in WITHOUT_JSON), name, "--json")


def cases_of(programs):
    """(words before the cursor, the word there, what must be offered; None: files or nothing)"""
    for program, commands in programs.items():
        tops = [c for c in commands if c != "-" and " " not in c]
        if tops:
            yield (program,), "", tops
            yield (program,), tops[0][:2], [t for t in tops if t.startswith(tops[0][:2])]
        for command, options in commands.items():
            words = (program, *(() if command == "-" else command.split()))
            subs = [c.split()[1] for c in commands if c.startswith(command + " ")]
            if subs:
                yield words, "", subs
            elif options:
                longs = ["--" + name for _, name, _ in options]
                yield words, "--", longs
                yield (*words, "file"), "-", longs + ["-" + letter for letter, _, _ in options if letter != "-"]
                name = next(name for _, name, value in options if value == "-")
                yield (*words, "--" + name), "--", longs
    yield ("nfsdigest", "compare", "--rules"), "", None
    yield ("nfsdigest", "ops", "--limit"), "", None
    yield ("nfsdigest", "ops", "--limit", "3", "x.db"), "--js", ["--json"]
    yield ("nfsdigest", "compare", "--output", "=", "x.db"), "--js", ["--json"]
    yield ("nfsdigest", "compare", "--output"), "=", None
    yield ("nfsdigest", "-q", "ops"), "--lim", ["--limit"]


def shell(command, script, cases):
    """What the shell offers in each case: its lines, ended by one with a dot."""
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(script + "".join("offer %s\n" % " ".join("'%s'" % w for w in (*before, word))
                                    for before, word, _ in cases))
        file.flush()
        return [part.split("\n")[:-1] for part in run(*command, file.name, env=env).split(".\n")[:-1]]


BASH = """
source '%s'
for program in %s; do
    complete -p $program | grep -q -e '-F _nfsdigest' || exit 9
done
offer() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _nfsdigest
    for word in "${COMPREPLY[@]}"; do printf '%%s\n' "$word"; done
    echo .
}
"""

# zsh's own functions are told what is offered; the stubs print it.
ZSH = """
_describe() { print -l -- ${${(P)2}%%%%:*} }
_arguments() {
    local spec
    for spec in $@; [[ $spec == '*-'* ]] && print -r -- ${${${spec#\\*}%%%%\\[*}%%=}
    true
}
offer() {
    local -a words=("$@")
    local -i CURRENT=$#
    () { source '%s' } 2>&1
    print .
}
"""


def check_shells(programs):
    cases = list(cases_of(programs))
    expect(len(cases) > 80, "few cases", len(cases))
    offered = shell(("bash", "--norc"), BASH % (SCRIPTS / "nfsdigest.bash", " ".join(PROGRAMS)), cases)
    expect(len(offered) == len(cases), "bash:", len(offered), "answers")
    for (before, word, want), got in zip(cases, offered):
        extra = {"--help", "--version"} if before[0] == "ftnfsd" or len(before) == 1 else set()
        expect(set(got) - extra == set(want or []) - extra, "bash:", before, repr(word), "offers", got,
               "not", want)
    # zsh chooses by the word itself, and knows by the specification what takes a value
    cases = [c for c in cases if c[1] in ("", "-") and c[2] is not None]
    offered = shell(("zsh", "-f"), ZSH % (SCRIPTS / "_nfsdigest"), cases)
    expect(len(offered) == len(cases), "zsh:", len(offered), "answers")
    for (before, word, want), got in zip(cases, offered):
        expect(set(got) == set(want), "zsh:", before, repr(word), "offers", got, "not", want)


def main():
    programs = tables()
    check_letters(programs)
    check_help(programs)
    check_json(programs)
    check_shells(programs)
    for line in breaches[:40]:
        print("FAILED", line)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
