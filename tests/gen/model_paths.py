# SPDX-License-Identifier: GPL-2.0-or-later
"""Which names, and so which paths, the objects of a model world have at a time.

    paths = Paths(world)                    # before the world runs
    model_capture.record(world, path)
    paths.is_one(handle, b"/srv/home/x", time)

A program that reads messages learns of a change from the reply: what was true a little before
|time| is right, too (LATE).
"""
import collections

LATE = 10**6  # ns: no reply of a model world is longer on its way

Life = collections.namedtuple("Life", "parent name start stop")  # stop: None while it lives


class Paths:
    def __init__(self, world):
        self.world = world
        self.exports = {inode.handle: path for path, inode in world.server.exports.items()}
        self.lives = collections.defaultdict(list)  # by handle
        for node in world.initial:
            for parent, name, _ in node.names:
                self.lives[node.key].append(Life(parent, name, 0, None))
        world.server.watch = self.watch

    def watch(self, bound, directory, name, inode):
        now, lives = self.world.current.execute_time, self.lives[inode.handle]
        if bound:
            lives.append(Life(directory.handle, name, now, None))
            return
        at = next(i for i, life in enumerate(lives)
                  if life[:2] == (directory.handle, name) and life.stop is None)
        lives[at] = lives[at]._replace(stop=now)

    def names(self, handle, time, late=LATE):
        """(parent, name) of those that it has, or had just before."""
        return [life[:2] for life in self.lives[handle]
                if life.start <= time and (life.stop is None or life.stop >= time - late)]

    def is_one(self, handle, path, time):
        if self.exports.get(handle) == path:
            return True
        above, _, last = path.rpartition(b"/")
        return any(name == last and self.is_one(parent, above, time)
                   for parent, name in self.names(handle, time))

    def is_below(self, handle, top, rest, time):
        """|rest|: the components between |top| and it, as b"/a/b"."""
        if not rest:
            return handle == top
        above, _, last = rest.rpartition(b"/")
        return any(name == last and self.is_below(parent, top, above, time)
                   for parent, name in self.names(handle, time))

    def path(self, handle):
        """One that it has now; None: it is gone."""
        if handle in self.exports:
            return self.exports[handle]
        for life in self.lives[handle]:
            above = self.path(life.parent) if life.stop is None else None
            if above is not None:
                return above + b"/" + life.name
        return None
