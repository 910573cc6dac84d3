# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two captures say the same up to renaming: every field of every message, as field_dump
prints them.  isomorphism_rows.py does the same with databases.

A renaming is one to one, and one for a whole capture: the second time a thing comes, its pseudonym
must come, and no other thing may have it.  That is what numbering things in the order of their
first appearance would show, without the numbers.  What each policy must do with each class of
values is written here by hand, from the words of the policies, not read from them.
"""
import collections
import subprocess

from tshark import digest

U32 = 1 << 32
EXAMPLES = 8

# What happens to values of a class.
EQUAL, RENAMED, ANY, ZEROED, SHIFTED, OWNER = "equal", "renamed", "any", "zeroed", "shifted", "owner"
SECRET = ("handle", "name", "path", "uid", "gid", "host", "address", "device", "fileid", "fsid",
          "cookie", "verifier", "lock_owner", "opaque")


class Policy:
    """|modes|: of classes; |lengths|: those of all texts stay; |drop|: messages whose bodies cannot
    be read are not written; else their RPC headers are."""

    def __init__(self, lengths=False, drop=False, **modes):
        self.modes = dict.fromkeys(SECRET, RENAMED)
        self.modes.update(data=ZEROED, stamp=RENAMED)
        self.modes.update(modes)
        self.lengths, self.drop = lengths, drop
        self.shifts = self.mode("time") == SHIFTED

    def mode(self, cls):
        return self.modes.get(cls, EQUAL)


POLICIES = {
    "public": Policy(),
    "lab": Policy(lengths=True),
    "strict": Policy(drop=True, time=SHIFTED, mode=OWNER, device=ZEROED),
}


class Findings:
    """|aspects|: what was found to differ -> how often."""

    def __init__(self):
        self.aspects, self.examples = collections.Counter(), []

    def add(self, aspect, text):
        self.aspects[aspect] += 1
        if self.aspects[aspect] <= 2 and len(self.examples) < EXAMPLES:
            self.examples.append("%s: %s" % (aspect, text))


class Renaming:
    """One to one, for each kind of thing.  |fixed| things keep their names, and nothing else gets
    these."""

    def __init__(self):
        self.kinds = {}

    def same(self, kind, a, b, fixed=()):
        forth, back = self.kinds.setdefault(kind, ({}, {}))
        if a in forth:
            return forth[a] == b
        if b in back or ((a in fixed or b in fixed) and a != b):
            return False
        forth[a], back[b] = b, a
        return True

    def count(self, kind):
        return len(self.kinds.get(kind, ({},))[0])


# Times that mean no time, and stay.
CONSTANT_TIMES = {0, 1, 315532800, 315619200, 318211200, 456789000, 499162500, 946684800, 1073741822,
                  1073741823, 2147483647, 2147483648, 4294967295}
SECOND, SIGN = 10**9, 1 << 31


def half_numbers(half):
    """What a server may make of half a verifier that it keeps in a time (RFC 1813 s3.3.8)."""
    for order in ("little", "big"):
        number = int.from_bytes(half, order)
        yield from (number, number % SIGN)


NO_NAMES = (b"", b".", b"..")
TOKEN, PATH_MAX = 16, 1024  # one that tokens would make longer than MOUNT allows is one token


class Values:
    """Compares single values under a policy."""

    def __init__(self, policy):
        self.policy, self.renaming = policy, Renaming()
        self.shift = None  # seconds added to all times
        self.zeros = {}
        self.in_times = {}  # number of half a verifier -> what may stand for it

    def name(self, a, b):
        if self.policy.lengths and len(a) != len(b):
            return False
        return self.renaming.same("name", a, b, NO_NAMES)

    def path(self, a, b):
        if self.policy.lengths and len(a) != len(b):
            return False
        one, two = a.split(b"/"), b.split(b"/")
        if len(two) == 1 and len(one) * (TOKEN + 1) > PATH_MAX and not self.policy.lengths:
            return self.renaming.same("long path", a, b)
        return len(one) == len(two) and all(map(self.name, one, two))

    def handle(self, a, b):
        return len(a) == len(b) and self.renaming.same("handle", a, b, (b"",))

    def ns(self, a, b):
        """Capture times: |shift| is found by the first one, and holds for all."""
        if a is None or b is None:
            return a is b
        if self.shift is None:
            self.shift = (b - a) // 10**9 if self.policy.shifts else 0
        return b - a == self.shift * 10**9

    def create_verifier(self, a, b):
        for at in (0, 4):
            if any(a[at:at + 4]):
                for one, two in zip(half_numbers(a[at:at + 4]), half_numbers(b[at:at + 4])):
                    self.in_times.setdefault(one, set()).add(two)

    def attribute_time(self, a, b, fraction):
        """Seconds, and the fraction behind them (None: it was cut off)."""
        if a in self.in_times and (not fraction or fraction in self.in_times):
            return b in self.in_times[a]
        if (fraction or 0) >= SECOND or (a > SIGN and fraction == 0) or (
                fraction is None and a in self.in_times):
            return True  # no time: somebody's verifier
        if not self.policy.shifts or a in CONSTANT_TIMES:
            return a == b
        return (a + (self.shift or 0)) % U32 == b

    def fraction(self, a, b):
        return a == b or a >= SECOND or b in self.in_times.get(a, ())

    def data(self, a, b, whole):
        """|a| and |b| as field_dump writes them: length:digest."""
        length = a[:a.index(":")]
        if self.policy.mode("data") == EQUAL:
            return a == b
        if not whole:
            return b[:b.index(":")] == length
        if length not in self.zeros:
            self.zeros[length] = "%s:%s" % (length, digest(bytes(int(length))) if int(length)
                                            else "")
        return b == self.zeros[length]


def for_class(values, cls, wide):
    """A function that compares two values of a class, as field_dump writes them. |wide|: numbers of
    64 bits, told from others of the same class."""
    mode = values.policy.mode(cls)
    renaming, of = values.renaming, bytes.fromhex
    kind = cls + ("" if wide else "32")
    if cls == "time":
        return "time"
    if cls == "interval":
        return lambda a, b: values.fraction(int(a[1:]), int(b[1:]))
    if mode == EQUAL:
        return lambda a, b: a == b
    if mode == OWNER:
        return lambda a, b: int(b[1:]) == int(a[1:]) & 0o170700
    if mode == ZEROED:
        return lambda a, b: b == "n0" or not b.strip("x0")
    if cls == "name":
        return lambda a, b: values.name(of(a[1:]), of(b[1:]))
    if cls == "path":
        return lambda a, b: values.path(of(a[1:]), of(b[1:]))
    if cls == "handle":
        return lambda a, b: values.handle(of(a[1:]), of(b[1:]))
    # of one form, and then one to one
    return lambda a, b: a[0] == b[0] and (
        renaming.same(kind + a[0], a, b, ("n0", "x", "x" + "00" * 8)) and
        (not values.policy.lengths or a[0] == "n" or len(a) == len(b) or cls in ADDRESSES))


HEADER = {"rpc.credential.stamp": "stamp", "rpc.credential.machine": "host",
          "rpc.credential.uid": "uid", "rpc.credential.gid": "gid", "rpc.credential.gids": "gid"}
TEXTS = {"name", "path", "host", "address", "opaque", "lock_owner"}  # whose lengths may change
ADDRESSES = {"address", "host"}  # ... under any policy: they may be addresses in digits


class Fields:
    """What the tables hold: which class stands where."""

    def __init__(self, field_dump):
        out = subprocess.run([field_dump, "--fields"], stdout=subprocess.PIPE, check=True,
                             encoding="utf-8").stdout
        self.classes, self.texts = {}, collections.defaultdict(set)
        for line in out.splitlines():
            row = line.split("\t")
            where = tuple(map(int, row[1:4])) + (row[4],)
            self.classes[where + (row[5],)] = row[7]
            if row[7] in TEXTS:
                self.texts[where].add(row[7])

    def comparers(self, values):
        """(program, version) -> {path: function}"""
        found, made = collections.defaultdict(dict), {}
        for (program, version, _, _, path), cls in self.classes.items():
            wide = (program, version) != (100227, 2)
            if cls == "mode" and path.endswith(".access"):
                cls = "access"  # what may be done; stays
            if (cls, wide) not in made:
                made[cls, wide] = None if cls == "data" else for_class(values, cls, wide)
            found[program, version][path] = made[cls, wide]
        for path, cls in HEADER.items():
            for table in found.values():
                table[path] = for_class(values, cls, True)
        return found

    def length_stays(self, policy, where):
        """True if the length of a body is that of the original, whatever is in it."""
        texts = self.texts.get(where, set())
        return not texts & ADDRESSES if policy.lengths else not texts


class Dumped:
    """A message of field_dump."""
    __slots__ = ("head", "fields", "error")

    def __init__(self, head):
        self.head, self.fields, self.error = head, [], None


def messages(lines):
    message = None
    for line in lines:
        if line[0] == "F":
            message.fields.append(line)
        elif line[0] == "M":
            if message:
                yield message
            message = Dumped(line.rstrip("\n").split("\t"))
        else:
            message.error = line.rstrip("\n").split("\t")[2]
    if message:
        yield message


def dump(nfsdigest, field_dump, capture):
    """Lines of field_dump."""
    with subprocess.Popen([nfsdigest, "record", capture], stdout=subprocess.PIPE) as recorder, \
            subprocess.Popen([field_dump, "-"], stdin=recorder.stdout, stdout=subprocess.PIPE,
                             encoding="ascii") as process:
        recorder.stdout.close()
        yield from process.stdout
        if recorder.wait() or process.wait():
            raise RuntimeError("%s: nfsdigest record or field_dump failed" % capture)


def unread(message):
    """Its body cannot be read: all that its policy may write is its RPC header."""
    return "opaque" in message.head[7]


class Ahead:
    """Messages by XID and direction, whatever came before them: an operation of which a part was
    dropped is complete at another time."""

    def __init__(self, lines):
        self.stream, self.read = messages(lines), {}

    def take(self, key):
        if self.read.get(key):
            return self.read[key].pop(0)
        for message in self.stream:
            if tuple(message.head[2:4]) == key:
                return message
            self.read.setdefault(tuple(message.head[2:4]), []).append(message)
        return None

    def rest(self):
        left = [m for found in self.read.values() for m in found] + list(self.stream)
        return [m for m in left if not unread(m)]


def compare_fields(fields, values, original, other, findings):
    """Lines of field_dump, message by message."""
    tables = fields.comparers(values)
    count, copy = 0, Ahead(other)
    for a in messages(original):
        if unread(a):
            continue
        b = copy.take(tuple(a.head[2:4]))
        where = "XID %s, %s of %s version %s procedure %s" % tuple(a.head[2:7])
        if b is None:
            findings.add("messages", where + " is not there")
            continue
        if a.head[3:7] != b.head[3:7] or a.head[7].split(",")[0] != b.head[7].split(",")[0]:
            findings.add("messages", "%s: %s" % (where, b.head[3:]))
        else:
            count += compare_message(tables[int(a.head[4]), int(a.head[5])], values, a, b, where,
                                     findings)
    for b in copy.rest():
        findings.add("messages", "too many: XID %s, %s" % (b.head[2], b.head[3]))
    return count


def number_at(fields, i):
    return int(fields[i].split("\t")[3][1:]) if i < len(fields) else None


def compare_message(table, values, a, b, where, findings):
    # what violates its table ends there as if it had been cut
    cut = a.error not in (None, "bytes are left over")
    if b.error not in (a.error, "cut" if cut else a.error):
        findings.add("cuts", "%s: %s, not %s" % (where, b.error, a.error))
    if len(a.fields) != len(b.fields):
        # of a text that was cut nothing may be left, not even its length
        last = a.fields[-1].split("\t") if a.fields else [""] * 4
        if not (cut and len(b.fields) == len(a.fields) - 1 and last[3].startswith("x")):
            findings.add("fields", "%s: %d, not %d; the last one %s" % (
                where, len(b.fields), len(a.fields), b.fields[-1:]))
            return 0
    for i, (x, y) in enumerate(zip(a.fields, b.fields)):
        x, y = x.split("\t"), y.split("\t")
        path, one, two = x[1], x[3][:-1], y[3][:-1]
        if path != y[1]:
            findings.add("fields", "%s: %s, not %s" % (where, y[1], path))
            return 0
        compare = table.get(path, False)
        if path.endswith(".how.verf") and len(one) == 17:
            values.create_verifier(bytes.fromhex(one[1:]), bytes.fromhex(two[1:]))
        if compare == "time":
            good = values.attribute_time(int(one[1:]), int(two[1:]), number_at(a.fields, i + 1))
        elif compare:
            good = compare(one, two)
        elif compare is None:
            good = values.data(one[1:], two[1:], "partial" not in a.head[7])
        else:
            good = one == two
        if not good and not (cut and i == len(a.fields) - 1 and one[0] == "x"):
            findings.add("value of " + path.split(".")[-1], "%s: %s: %s for %s" % (
                where, path, two, one))
    return len(b.fields)
