# SPDX-License-Identifier: GPL-2.0-or-later
"""Secrets that are known again wherever they turn up: every value that must not get out of an
anonymizer is random and is noted here, and no 8 consecutive bytes of one may be in its output."""
import ipaddress
import random
import struct

from xdr import Values, u32, u64

WINDOW = 8
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class Secrets:
    """|least|: of shorter ones nothing can be said by looking for them."""

    def __init__(self, seed, least=4):
        self.random, self.least = random.Random(seed), least
        self.windows = {}  # length -> {bytes: what}
        self.count = 0

    def note(self, data, what, window=WINDOW):
        """|data| is secret as a whole and in each |window| bytes of it."""
        window = min(window, len(data))
        self.count += 1
        if window >= self.least:
            table = self.windows.setdefault(window, {})
            for at in range(len(data) - window + 1):
                table.setdefault(data[at:at + window], "%s %s" % (what, data.hex()))
        return data

    def found(self, output):
        """What of them stands in |output|: (offset, what), a few."""
        out = []
        for window, table in self.windows.items():
            for at in range(len(output) - window + 1):
                if output[at:at + window] in table:
                    out.append((at, table[output[at:at + window]]))
                    if len(out) == 10:
                        return out
        return out

    def raw(self, length, what="bytes"):
        """No zeros: these stand everywhere."""
        return self.note(bytes(self.random.randrange(1, 256) for _ in range(length)), what)

    def word(self, length, what="name"):
        """Printable, of |length| bytes."""
        return self.note(bytes(self.random.choice(LETTERS) for _ in range(length)), what)

    def number(self, size, what="number"):
        """Of 4 bytes all four must turn up."""
        return int.from_bytes(self.raw(size, what), "big")


class MarkedValues(Values):
    """Values for the makers of bodies in craft_nfs.py and craft_others.py."""

    def __init__(self, secrets):
        super().__init__()
        self.secrets = secrets

    def bytes(self, length):
        self.next()
        return self.secrets.raw(length)

    def name(self, length=8):
        self.next()
        return self.secrets.word(length + 8)

    def secret32(self):
        return u32(self.secrets.number(4))

    def secret64(self):
        return u64(self.secrets.number(8))

    def text(self, text):
        """The same form: components, '@', a suffix that may stay."""
        self.next()
        out = b""
        for part in text.split("/"):
            stem, dot, suffix = part.partition(".")
            if part not in ("", ".", ".."):
                at = b"@" if part[0] == "@" else b""
                out += at + self.secrets.word(10, "text") + (dot + suffix).encode()
            else:
                out += part.encode()
            out += b"/"
        return out[:-1]

    def address(self, text):
        """IPv4 and IPv6 with or without what follows the address; a path stays one."""
        self.next()
        if text.startswith("/"):
            return self.text(text)
        if ":" in text:
            host = ipaddress.IPv6Address(b"\x26\x20" + self.secrets.raw(14, "address"))
            self.secrets.note(str(host).encode(), "address as text")
            rest = text[text.rindex(":") + 1:].split(".")
            return "%s.%s" % (host, ".".join(rest[-2:]))
        if text.startswith("0.0.0.0"):
            return text
        host = ipaddress.IPv4Address(bytes([self.secrets.random.randrange(20, 120)]) +
                                     bytes(self.secrets.random.randrange(100, 255)
                                           for _ in range(3)))
        self.secrets.note(host.packed, "address")
        self.secrets.note(host.packed[::-1], "address, reversed")
        self.secrets.note(str(host).encode(), "address as text", len(str(host)))
        if "/" in text:
            return "%s/%s" % (host, text.split("/")[1])
        return "%s.%s" % (host, ".".join(text.split(".")[4:]))


def sys_credential(secrets, groups=3):
    body = struct.pack(">I", secrets.number(4, "stamp"))
    machine = secrets.word(19, "machine")
    body += u32(len(machine)) + machine + b"\0"
    body += u32(secrets.number(4, "uid")) + u32(secrets.number(4, "gid")) + u32(groups)
    body += b"".join(u32(secrets.number(4, "group")) for _ in range(groups))
    return u32(1) + u32(len(body)) + body


def gss_credential(context, procedure, service, sequence=77):
    body = u32(1) + u32(procedure) + u32(sequence) + u32(service) + u32(len(context)) + context
    return u32(6) + u32(len(body)) + body
