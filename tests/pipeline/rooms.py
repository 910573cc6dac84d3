#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of rooms, cmake/rooms.txt, against the source and against what was built: every
#include leads to a room that the table allows, and every room links with the rooms and libraries
of its line alone."""

import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

SOURCE = pathlib.Path(os.environ["SRC"])
BUILD = pathlib.Path(os.environ["BUILD"])
# what the linker needs for Open MPI, which is not among the system's libraries
MPI = "/usr/lib/%s/libmpi.so.40" % sysconfig.get_config_var("MULTIARCH")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
# a library of the table: what it is for the linker, and the headers that come with it
LIBRARIES = {"xxhash": ("-lxxhash", r"xxhash\.h"), "threads": ("-pthread", r"pthread\.h"),
             "glib": ("-lglib-2.0", r"glib.*\.h"), "gcrypt": ("-lgcrypt", r"gcrypt\.h"),
             "m": ("-lm", r"math\.h"), "sqlite": ("-lsqlite3", r"sqlite3\.h"),
             "pcap": ("-lpcap", r"pcap/pcap\.h"), "zstd": ("-lzstd", r"zstd\.h"),
             "zlib": ("-lz", r"zlib\.h"), "archive": ("-larchive", r"archive(_entry)?\.h"),
             "sockets": ("-lc", r"(sys/socket|sys/epoll|netinet/tcp|netdb)\.h"),
             "sodium": ("-lsodium", r"sodium\.h"),
             "microhttpd": ("-lmicrohttpd", r"microhttpd\.h"),
             "mpi": (MPI, r"mpi\.h"),
             "wireshark": ("", r"wireshark\.h|(epan|wsutil|wiretap)/.*")}
# nobody but who names it in the table: headers of libraries that are ever used
FOREIGN = re.compile(r"(glib|gmodule|gcrypt|sqlite3|pcap|archive|zstd|zlib|xxhash|microhttpd|"
                     r"sodium|epan/|wireshark|wsutil|wiretap|math\.h|sys/socket|sys/epoll|netinet/tcp|netdb|mpi\.h)")

# of these rooms only files with such names may include the other room
ONLY = {("postproc/audit", "engine/anon"): re.compile(r"recompute")}


class Table:
    def __init__(self, path):
        self.below, self.libraries, self.wrong = {}, {}, []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            room, _, rest = line.partition(":")
            below, _, libraries = rest.partition("|")
            for name in below.split():
                if name not in self.below:
                    self.wrong.append(f"{path}:{number}: {name} does not stand above {room}")
            self.below[room] = below.split()
            self.libraries[room] = libraries.split()

    def closure(self, room):
        """The room's own first, each before what it needs."""
        found = [room]
        for name in found:
            found += [low for low in self.below[name] if low not in found]
        order = list(self.below)
        return sorted(found, key=order.index, reverse=True)


def room_of(path, table):
    folder = str(path.resolve().parent.relative_to(SOURCE.resolve()))
    return folder if folder in table.below else None


def find(name, room):
    """The file of the tree that an #include means, or None for a library's."""
    roots = [room, "plugins/common"] if room.startswith("plugins/") else [room.split("/")[0]]
    for root in [SOURCE / root for root in [*roots, "engine", "model", "postproc", ""]]:
        if (root / name).is_file():
            return root / name
    return None


def check_includes(table, say):
    count = 0
    floors = {room.split("/")[0] for room in table.below}
    for path in sorted(p for floor in floors for p in (SOURCE / floor).rglob("*.[ch]")):
        room = room_of(path, table)
        name = path.relative_to(SOURCE)
        if room is None:
            say(f"{name}: its folder does not stand in cmake/rooms.txt")
            continue
        allowed = {room, *table.below[room]}
        libraries = {library for low in table.closure(room) for library in table.libraries[low]}
        for include in INCLUDE.findall(path.read_text()):
            count += 1
            target = find(include, room)
            if target is not None:
                only = ONLY.get((room, room_of(target, table)))
                if room_of(target, table) not in allowed:
                    say(f"{name}: {room} may not include {include}")
                elif only and not only.match(path.name):
                    say(f"{name}: only {only.pattern}* may include {include}")
            elif FOREIGN.match(include):
                if not any(re.fullmatch(LIBRARIES[library][1], include) for library in libraries):
                    say(f"{name}: {room} may not include <{include}>")
    return count


def archive(room):
    return str(next(BUILD.rglob(f"libroom_{room.replace('/', '_')}.a")))


def link(rooms, below, libraries, to):
    """All of |rooms| and what they need of |below|, without anything left undefined."""
    command = ["cc", "-shared", "-fno-lto", "-o", to, "-Wl,-z,defs", "-Wl,--as-needed", "-Wl,--whole-archive"]
    command += [archive(room) for room in rooms] + ["-Wl,--no-whole-archive"]
    command += [archive(room) for room in below]
    command += [LIBRARIES[library][0] for library in libraries]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check_links(table, say):
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "room.so")
        for room in table.below:
            if room.startswith("plugins/"):
                continue # modules of another program, which the linker has checked
            closure = table.closure(room)
            libraries = sorted({library for low in closure for library in table.libraries[low]})
            run = link([room], [low for low in closure if low != room], libraries, to)
            if run.returncode:
                say(f"{room} does not link with what cmake/rooms.txt allows:\n{run.stderr[:2000]}")
        # what somebody gets who uses the model alone
        model = [room for room in table.below if room.startswith("model/")]
        below = [room for room in reversed(table.below)
                 if any(room in table.closure(high) for high in model) and room not in model]
        run = link(model, below, ["xxhash", "threads"], to)
        if run.returncode:
            say(f"model does not link alone:\n{run.stderr[:2000]}")
            return
        needed = re.findall(r"\(NEEDED\).*\[([^\]]+)\]",
                            subprocess.run(["readelf", "-d", to], capture_output=True, text=True,
                                           check=True).stdout)
        for library in needed:
            if not re.match(r"(libc|libxxhash|libpthread|ld-linux.*)\.so", library):
                say(f"model needs {library}")


def main():
    breaches = []
    table = Table(SOURCE / "cmake/rooms.txt")
    breaches += table.wrong
    count = check_includes(table, breaches.append)
    check_links(table, breaches.append)
    for breach in breaches:
        print(breach)
    print(f"{len(table.below)} rooms, {count} includes, {len(breaches)} breaches")
    return 1 if breaches or count < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
