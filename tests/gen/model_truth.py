# SPDX-License-Identifier: GPL-2.0-or-later
"""What is true of a model world's run: a sink for its events that keeps everything.

    world = World(seed=1)
    truth = Truth(world)
    record(world, "x.pcap", sinks=[truth.take])
    truth.operations, truth.initial(), truth.lifetimes(), truth.conflicts(FINE)

Objects are told by Inode.number, operations by Operation.number. An operation's arguments and
result speak of handles; truth.number_of says which object a handle is, or was.
"""
import collections

from messages import OK
from model_access import FINE, OBJECT, RULES
from model_names import above
from model_status import INVAL, NOTEMPTY
from model_world import EXECUTE
from model_xdr import LOOKUP, RENAME, RMDIR

# An entry of the hierarchy map. |start|, |stop|: the operations that made and took the name; None:
# it was there before, and after.
Lifetime = collections.namedtuple("Lifetime", "object parent name start stop")


class Truth:
    """|granularities|: those for which conflicts will be asked; () saves memory."""

    def __init__(self, world, granularities=(FINE, OBJECT)):
        self.world, self.granularities = world, granularities
        self.operations, self.executed = [], []  # in the order of calls; of their execution
        self.accesses = {g: {} for g in granularities}  # {Operation.number: Access}
        self.handles = {node.key: node.number for node in world.initial}
        self.gone = {}
        self.by_handle, self.by_entry = set(), set()  # objects that showed: with a handle; at all
        self.names = set()                            # (directory, name) that a call or reply has
        self.not_empty = []       # [(directory, [(name, object)])] as a failure proved it
        self.inside = []          # (directory, name, object) that a ".." or a failed RENAME proved
        self.witnesses = set()    # (directory, name) that these need, shown by nothing
        self.open, self.closed = {}, []
        for node in world.initial:
            for parent, name, _ in node.names:
                self.open[self.handles[parent], name] = (node.number, None)
        world.server.watch = self.watch

    def number_of(self, handle):
        """The object of a handle, also of one that no longer is; None: it never was one."""
        return self.handles.get(handle)

    def id_of(self, handle):
        """For model_play.with_ids(): what never was a handle stays as it is."""
        return self.handles.get(handle, handle)

    def take(self, event, op):
        if event != EXECUTE:
            return
        roles = op.result.roles
        if roles.get("made"):
            self.handles[roles["made"].handle] = roles["made"].number
        for granularity in self.granularities:
            self.accesses[granularity][op.number] = RULES[granularity](op, self.gone)
        for inode in roles["gone"]:
            self.gone[inode.handle] = inode.number
        self.executed.append(op)
        self.touch(op, roles)

    def finish(self):
        """To be called when the world has run."""
        self.operations = sorted(self.executed, key=lambda op: op.number)
        before = {(self.handles[name[0]], name[1]): node.number
                  for node in self.world.initial for name in node.names}
        shown = self.by_handle | self.by_entry
        for directory, entries in self.not_empty:
            hidden = []
            for name, number in entries:
                if before.get((directory, name)) != number:
                    break  # the run itself put it there
                if (directory, name) in self.witnesses or (
                        (directory, name) in self.names and number in shown):
                    break
                hidden.append((directory, name))
            else:
                self.witnesses.add(hidden[0])
        self.witnesses.update((directory, name) for directory, name, number in self.inside
                              if before.get((directory, name)) == number)
        return self

    # Names and objects

    def watch(self, bound, directory, name, inode):
        op = self.world.current
        if bound:
            self.open[directory.number, name] = (inode.number, op)
        else:
            number, start = self.open.pop((directory.number, name))
            self.closed.append(Lifetime(number, directory.number, name, start, op))

    def touch(self, op, roles):
        """What the call and the reply show of objects and names."""
        a, fields = op.arguments, op.result.fields
        handles = [a.get("object"), a.get("object2"), fields.get("handle")]
        entries = fields.get("entries", ())
        if entries and len(entries[0]) > 3:
            handles += [entry[4] for entry in entries]
        self.by_handle.update(self.handles[h] for h in handles if h in self.handles)
        for key, name in (("object", "name"), ("object2", "name2")):
            if name in a and roles.get(key) is not None:
                self.names.add((roles[key].number, a[name]))
        for key in "found", "target":
            if key in roles:
                self.by_entry.add(roles[key].number)
        lower = ()
        if op.procedure == LOOKUP and a["name"] == b".." and op.result.status == OK:
            lower = (roles["object"],)
        elif op.procedure == RENAME and op.result.status == INVAL and "found" in roles:
            lower = above(roles["object2"])
            lower = lower[:lower.index(roles["found"])] if roles["found"] in lower else ()
        self.inside += [(d.number, name, inode.number) for inode in lower
                        for d, name in inode.names]
        if op.result.status == NOTEMPTY:
            directory = roles["found" if op.procedure == RMDIR else "target"]
            self.not_empty.append((directory.number, [(name, entry[0].number) for name, entry
                                                      in directory.entries.items()]))
        if entries:
            directory = roles["object"]
            for entry in entries:
                if entry[1] not in (b".", b".."):
                    self.names.add((directory.number, entry[1]))
                    self.by_entry.add(directory.entries[entry[1]][0].number)

    def initial(self):
        """The tree before, restricted to what the run touched: objects that it showed, with those
        of their names that it showed, as nodes for Server.load(). Sizes, link counts and other
        attributes are the true ones, shown or not. |witnesses| are in it, too: an entry for each
        directory that could not be empty, and the names that lead from a directory to one that it
        was shown to be in."""
        shown, out = self.by_handle | self.by_entry, []
        known = self.names | self.witnesses
        for node in self.world.initial:
            names = [n for n in node.names if (self.handles[n[0]], n[1]) in known]
            if node.number in shown or any((self.handles[n[0]], n[1]) in self.witnesses
                                           for n in names):
                out.append(type(node)(**dict(vars(node), names=names)))
        return out

    def initial_by_number(self):
        """The same with Inode.number in the place of handles, for model_play.Player."""
        return [type(node)(**dict(vars(node), key=node.number,
                                  names=[(self.handles[n[0]],) + n[1:] for n in node.names]))
                for node in self.initial()]

    def lifetimes(self, touched=True):
        """Of all names, or of those that the run showed, in the order of their ends."""
        out = self.closed + [Lifetime(number, parent, name, start, None)
                             for (parent, name), (number, start) in self.open.items()]
        return [e for e in out if not touched or (e.parent, e.name) in self.names]

    # Conflicts

    def conflicts(self, granularity, without=()):
        """{(earlier, later)}: numbers of operations; by the order of their execution. |without|:
        kinds of things that are not to count, such as "time"."""
        uses = collections.defaultdict(list)  # {thing without range or name: [(op, ..., changes)]}
        for op in self.executed:
            access = self.accesses[granularity][op.number]
            for changes, things in ((False, access.reads), (True, access.changes)):
                for thing in things:
                    if thing[0] in without:
                        continue
                    key = ("names" if thing[0] == "name" else thing[0], thing[1])
                    uses[key].append((op.number, thing, changes))
        found = set()
        for entries in uses.values():
            changed = [e for e in entries if e[2]]
            for later in changed:
                found.update((min_by_order(self, later[0], e[0])) for e in entries
                             if e[0] != later[0] and meet(later[1], e[1]))
        return found

    def racing(self, pairs):
        """Those of |pairs| whose calls were under way at the same time: a trace cannot tell their
        order."""
        ops = self.operations
        return {(a, b) for a, b in pairs if ops[b].call_time < ops[a].reply_time}

    def direct(self, pairs):
        """|pairs| without those that others imply."""
        before = collections.defaultdict(list)
        for a, b in pairs:
            before[self.operations[b].order].append(self.operations[a].order)
        reach, out = {}, set()
        for op in self.executed:
            mask = 0
            for earlier in sorted(before[op.order], reverse=True):
                if not mask >> earlier & 1:
                    out.add((self.executed[earlier].number, op.number))
                    mask |= 1 << earlier | reach[earlier]
            reach[op.order] = mask
        return out


def min_by_order(truth, a, b):
    return (a, b) if truth.operations[a].order < truth.operations[b].order else (b, a)


def meet(one, two):
    """Whether two things with the same key share anything."""
    if one[0] == "data":
        return (two[3] is None or one[2] < two[3]) and (one[3] is None or two[2] < one[3])
    return "names" in (one[0], two[0]) or one == two
