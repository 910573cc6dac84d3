#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of CONTRIBUTING.md that a program can check.  Each breach is printed as
"FILE:LINE: RULE"; the exit code is 1 if there is one."""

import ast
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["SRC"])
LINES_MAX = 600
LINES_MAX_IN_ROOMS = 500 # of what programs and plugins are made of
ROOMS = ("engine/", "model/", "show/", "live/", "postproc/", "plugins/")
CODE = {".c", ".h", ".sh", ".py", ".lua", ".cmake", ".sql", ".in"}
CODE_NAMES = {"CMakeLists.txt", "demo", "check", "run", "guest-init"}
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
SKIPPED_FOLDERS = {".git", "__pycache__"}

# rule, pattern, where it holds (a pattern for the path)
FORBIDDEN = [
    ("unbounded or shell-running call",
     r"\b(strcpy|strcat|stpcpy|sprintf|vsprintf|gets|strtok|system|popen|alloca)\s*\(", r"\.[ch]$"),
    ("typedef of a struct", r"\btypedef\s+(struct|union|enum)\b[^(]*$", r"\.[ch]$"),
    ("unfinished work", r"\b(TODO|FIXME|XXX|HACK)\b", r"."),
    ("a path of somebody's machine", r"(?<![\w$}])/(work|root)/[a-z]|/tmp/build", r"."),
    ("postproc knows nothing of libwireshark",
     r"#\s*include\s*[<\"](epan|wsutil|wiretap|wireshark|glib|gmodule|plugins/)", r"^postproc/"),
    ("plugins know nothing of postproc", r"#\s*include\s*[<\"](postproc/|pcap)", r"^plugins/"),
    ("in the plugins one file reads databases", r"#\s*include\s*[<\"]sqlite3",
     r"^plugins/(?!nfspair/discrepancies\.c$)"),
    ("only main prints and ends the program",
     r"(?<![\w.>])(printf|puts|putchar|perror|exit|_exit|quick_exit)\s*\(",
     # base/janitor.c is a process of its own, show/args.c is main's, cmd_NAME.c are commands
     r"^(engine/(?!base/janitor\.c$)|live/(?!.*/(main|cmd_\w+)\.c$)|model|show/(?!args\.c$)|"
     r"postproc/(?!cli/))"),
    # tool.c and args.c are main's; live/tee, replay and mpi are programs, of which the commands are parts
    ("only programs know of standard output and error", r"\b(stdout|stderr)\b",
     r"^(engine|model|show/(?!(args|tool)\.[ch]$)|live/(?!(tee|replay|mpi)/|.*/main\.c$)|postproc/(?!cli/)).*\.[ch]$"),
    ("only main ends the program", r"(?<![\w.>])(exit|_exit|quick_exit)\s*\(",
     r"^(engine/(?!base/janitor\.c$)|live/(?!.*/main\.c$)|model|show|postproc/(?!cli/main\.c$))"),
    # rules_told.c tells for the commands, play.c what happens in a run, as its progress
    ("in nfsreplay only commands tell how they end", r'"nfsreplay: ',
     r"^live/replay/(?!(main|cmd_\w+|rules_told|play)\.c$)"),
    ("without memory: err_memory of base/err.h", r'err_set[(].*"out of memory( for [^"%]*)?"',
     r"^(engine|model|show|live|postproc|plugins)/.*(?<!base/err)\.[ch]$"),
    ("a message has its seconds from a constant", r'"[^"]*\b\d+ s\b[^"]*"', r"^live/.*\.[ch]$"),
    ("tabs or spaces at the line's end", r"[ \t]+$", r"\.(c|h|sh|py|lua|txt|cmake|sql|in)$"),
]


def tree():
    """Relative paths of the tree's files: git's, or everything but build folders."""
    if (SOURCE / ".git").exists():
        try:
            names = subprocess.run(["git", "-c", "safe.directory=*", "-C", SOURCE, "ls-files", "-z"],
                                   check=True, capture_output=True).stdout.decode().split("\0")
            return sorted(name for name in names if name and (SOURCE / name).exists())
        except FileNotFoundError:
            pass
    found = []
    for folder, folders, names in os.walk(SOURCE):
        relative = pathlib.Path(folder).relative_to(SOURCE)
        folders[:] = [name for name in folders
                      if name not in SKIPPED_FOLDERS
                      and not (relative == pathlib.Path(".") and name.startswith("build"))]
        found += [str(relative / name) for name in names]
    return sorted(found)


def is_code(path):
    return path.suffix in CODE or path.name in CODE_NAMES


def top_names(parsed):
    """What a module defines; "*": and all that another one does."""
    names = set()
    waiting = list(parsed.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        else:
            waiting += ast.iter_child_nodes(node)
    return names


class Rules:
    def __init__(self):
        self.breaches = 0

    def breach(self, where, rule):
        self.breaches += 1
        print(f"{where}: {rule}")

    def code(self, name, lines):
        path = pathlib.Path(name)
        head = lines[:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not any("SPDX-License-Identifier: GPL-2.0-or-later" in line for line in head):
            self.breach(f"{name}:1", "no SPDX line")
        most = LINES_MAX_IN_ROOMS if name.startswith(ROOMS) else LINES_MAX
        if len(lines) > most:
            self.breach(f"{name}:{len(lines)}", f"more than {most} lines")
        executable = os.access(SOURCE / name, os.X_OK)
        if executable != bool(lines and lines[0].startswith("#!")) and path.suffix != ".in":
            self.breach(f"{name}:1", "is executable without #!, or has #! without being executable")

    def text(self, name, lines):
        for rule, pattern, where in FORBIDDEN:
            if name == "tests/pipeline/repo_rules.py" or not re.search(where, name):
                continue
            for number, line in enumerate(lines, 1):
                if r"\(" in pattern: # calls: not in strings, where SQL has functions of like names
                    line = STRING.sub('""', line)
                if re.search(pattern, line):
                    self.breach(f"{name}:{number}", rule)

    def syntax(self, name, text):
        if name.endswith(".py"):
            try:
                compile(text, name, "exec")
            except SyntaxError as error:
                self.breach(f"{name}:{error.lineno}", f"syntax: {error.msg}")
        elif text.startswith(("#!/bin/sh", "#!/bin/bash")):
            shell = text.split("\n", 1)[0][2:]
            run = subprocess.run([shell, "-n", SOURCE / name], capture_output=True, text=True)
            if run.returncode:
                self.breach(name, f"syntax: {run.stderr.strip()}")

    def imports(self, names):
        """What a test imports from another one is there: long tests would find out too late."""
        trees = {name: ast.parse((SOURCE / name).read_text()) for name in names if name.endswith(".py")}
        known = {}
        for name, parsed in trees.items():
            known.setdefault(pathlib.Path(name).stem, set()).update(top_names(parsed))
        for name, parsed in trees.items():
            for node in ast.walk(parsed):
                if isinstance(node, ast.ImportFrom) and "*" not in known.get(node.module, "*"):
                    for alias in node.names:
                        if alias.name not in known[node.module] | {"*"}:
                            self.breach(f"{name}:{node.lineno}",
                                        f"{node.module} has no {alias.name}")

    def links(self, name, text):
        """Relative links of Markdown lead to something."""
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if not re.match(r"[a-z]+:", target):
                if not (SOURCE / pathlib.Path(name).parent / target).exists():
                    self.breach(name, f"dead link: {target}")

    def fuzz_corpora(self, names):
        for name in names:
            target = re.fullmatch(r"tests/fuzz/(fuzz_\w+)\.c", name)
            if target and not any(n.startswith(f"tests/fuzz/corpus/{target[1]}/") for n in names):
                self.breach(name, "no corpus in tests/fuzz/corpus")

    def long_tests(self, names):
        """Those of "./check --all" are listed."""
        listed = (SOURCE / "CONTRIBUTING.md").read_text()
        for name in names:
            path = pathlib.Path(name)
            if str(path.parent) == "tests/pipeline" and f"| `{path.stem}`" not in listed and \
                    re.search(r"^# ctest:.* long( |=|$)", (SOURCE / name).read_text(), re.M):
                self.breach(name, "a long test that is not in CONTRIBUTING.md")

    def captures(self, names):
        readme = (SOURCE / "captures/README.md").read_text()
        for name in names:
            path = pathlib.Path(name)
            if name.startswith("captures/") and path.name != "README.md":
                if f"`{path.name.split('.')[0]}`" not in readme:
                    self.breach(name, "not in captures/README.md")


    def versions(self):
        """CMakeLists.txt has the version; what cannot read it there says the same."""
        version = re.search(r"project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        for name, pattern in (("debian/changelog", r"\A\w+ \((\S+)\)"),
                              ("python/pyproject.toml", r'^version = "(\S+)"$'),
                              ("CHANGELOG.md", r"^## (\d\S*) - \d{4}-\d\d-\d\d$")):
            found = re.search(pattern, (SOURCE / name).read_text(), re.M)
            if not found or found[1] != version:
                self.breach(name, "its first version is not %s" % version)


def main():
    rules = Rules()
    names = tree()
    code = 0
    for name in names:
        data = (SOURCE / name).read_bytes()
        if b"\0" in data[:8192] or name.startswith(("captures/", "tests/fuzz/corpus/")):
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        lines = text.splitlines()
        if is_code(pathlib.Path(name)):
            code += 1
            rules.code(name, lines)
            rules.syntax(name, text)
        if name.endswith(".md"):
            rules.links(name, text)
        if name != "LICENSE":
            rules.text(name, lines)
    rules.imports(names)
    rules.fuzz_corpora(names)
    rules.long_tests(names)
    rules.captures(names)
    rules.versions()
    print(f"{len(names)} files, {code} of them code, {rules.breaches} breaches")
    return 1 if rules.breaches or code < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
