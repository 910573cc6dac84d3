# SPDX-License-Identifier: GPL-2.0-or-later
"""What the numbers of "nfsdigest report --json" must be, from a list of operations alone: counts,
percentiles, spans of time, the heat map, operations under way, lists and the tree of paths.

Nothing here knows how the program counts. What is wrong goes into |breaches|."""
import bisect
import collections
import math

SPANS, SHOWN, PARTS, SLOWEST = 200, 25, 8, 50
breaches, checks = [], []


def expect(good, *words):
    checks.append(None)
    if not good:
        breaches.append(" ".join(str(w) for w in words)[:1500])


def same(got, want, *words):
    expect(got == want, *words, "is", got, "not", want)


# |time|: of the call, or of the reply if that alone was captured; |latency|: None if there is none
Row = collections.namedtuple("Row", "id time latency procedure client user path error status answered"
                                    " read written")


def percentile(values, percent):
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1] if values else None


def latency_of(rows):
    values = [r.latency for r in rows if r.latency is not None]
    return {"answered": len(values), "p50": percentile(values, 50), "p90": percentile(values, 90),
            "p99": percentile(values, 99), "max": max(values, default=None)}


def count_of(rows):
    return {"operations": len(rows), "errors": sum(r.error for r in rows),
            "unanswered": sum(not r.answered for r in rows), "read": sum(r.read for r in rows),
            "written": sum(r.written for r in rows), **latency_of(rows)}


def part(group, wanted):
    return {k: group.get(k) for k in wanted}


def check_list(data, name, rows, key, most=SHOWN):
    """Counts by |key|; which groups are shown, and what is said of the others."""
    found = data[name]
    groups = collections.defaultdict(list)
    for r in rows:
        if key(r) is not None:
            groups[key(r)].append(r)
    label = {"procedures": "procedure", "clients": "client", "users": "user", "paths": "path"}[name]
    shown = found["groups"]
    same(len(shown), min(most, len(groups)), name, "shown")
    sizes = sorted((len(g) for g in groups.values()), reverse=True)
    same([g["operations"] for g in shown], sizes[:most], name, "in order")
    same([found["left_out"], found["unshown"], found["beyond"]],
         [len(groups) - len(shown), sum(sizes[most:]), 0], name, "left out")
    for g in shown:
        mine = groups.get(g[label])
        if mine is None:
            expect(False, name, "has", g[label])
            continue
        wanted = count_of(mine)
        same(part(g, wanted), wanted, name, g[label])
        for more, of in ("procedures", "procedure"), ("clients", "client"):
            if more in g:
                counts = collections.Counter(getattr(r, of) for r in mine if getattr(r, of))
                got = {p[of]: p["operations"] for p in g[more]}
                same(sorted(got.values(), reverse=True), sorted(counts.values(), reverse=True)[:PARTS],
                     name, g[label], more)
                expect(all(counts[k] == v for k, v in got.items()), name, g[label], more, got)
        if "spans" in g:
            at = collections.Counter((r.time - data["spans"][0]["time"]) // data["every"] for r in mine)
            same(g["spans"], [at[i] for i in range(len(data["spans"]))], "times of", g[label])


def heat_row(latency):
    if latency < 1:
        return 0
    k = latency.bit_length() - 1
    return 2 * k + (latency * latency >= 2 ** (2 * k + 1))


def level(n):
    """1, 2, 3, 4, 5 to 6, 7 to 8, 9 to 12, 13 to 16, ..."""
    if n < 3:
        return n, n
    width = 2 ** (max((n - 1).bit_length() - 1, 1) - 1)
    low = (n - 1) // width * width + 1
    return low, low + width - 1


def under_way(rows):
    """{operation: how many were under way at its call}, from their times alone."""
    replies, out = [], {}
    for r in sorted((r for r in rows if r.latency is not None), key=lambda r: (r.time, r.id)):
        out[r.id] = len(replies) - bisect.bisect_right(replies, r.time) + 1
        bisect.insort(replies, r.time + r.latency)
    return out


LENGTHS = sorted([d * 10 ** e for e in range(3, 10) for d in (1, 2, 5)]
                 + [s * 10 ** 9 for s in (10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
                                          21600, 43200, 86400, 172800, 345600)])


def check_spans(data, rows, repeats, times):
    """|times|: of all that the spans must have."""
    every = next(e for e in LENGTHS if max(times) // e - min(times) // e < SPANS)
    same(data["every"], every, "length of spans")
    starts = list(range(min(times) // every * every, max(times) + 1, every))
    same([s["time"] for s in data["spans"]], starts, "spans")
    levels = under_way(rows)
    mine = collections.defaultdict(list)
    for r in rows:
        mine[r.time // every * every].append(r)
    for s in data["spans"]:
        start, end = s["time"], s["time"] + every
        wanted = count_of(mine[start])
        wanted["resent"] = sum(start <= t < end and kind == 1 for t, kind in repeats)
        wanted["replied_again"] = sum(start <= t < end and kind == 2 for t, kind in repeats)
        wanted["peak"] = max((levels[r.id] for r in mine[start] if r.id in levels), default=0)
        wanted["busy"] = sum(max(0, min(end, r.time + r.latency) - max(start, r.time)) for r in rows
                             if r.latency is not None and r.time < end)
        same(part(s, wanted), wanted, "span", start)
    check_heat(data, rows)
    by_level = collections.defaultdict(list)
    for r in rows:
        if r.id in levels:
            by_level[level(levels[r.id])].append(r)
    same(data["under_way"], [{"from": low, "to": high, **latency_of(by_level[low, high])}
                             for low, high in sorted(by_level)], "levels")
    same(data["totals"]["peak"], max(levels.values()), "peak")


def check_heat(data, rows):
    heat, start, every = data["heat"], data["spans"][0]["time"], data["every"]
    cells = collections.Counter(((r.time - start) // every, heat_row(r.latency)) for r in rows
                                if r.latency is not None)
    first, last = min(c[1] for c in cells), max(c[1] for c in cells)
    same([[n for n in column] for column in heat["spans"]],
         [[cells[i, row] for row in range(first, last + 1)] for i in range(len(data["spans"]))], "heat")
    edges = heat["from"]
    same(len(edges), last - first + 2, "edges of the heat map")
    for i, edge in enumerate(edges):
        same(heat_row(edge), first + i, "edge", edge)
        expect(edge < 2 or heat_row(edge - 1) == first + i - 1, "edge", edge, "is not the first one")


def check_totals(data, rows, repeats):
    wanted = count_of(rows)
    wanted["resent"] = sum(kind == 1 for _, kind in repeats)
    wanted["replied_again"] = sum(kind == 2 for _, kind in repeats)
    same(part(data["totals"], wanted), wanted, "totals")


def check_slowest(data, rows):
    slow = sorted((r for r in rows if r.latency is not None), key=lambda r: (-r.latency, r.id))
    same([(s["latency"], s["client"], s["time"]) for s in data["slowest"]],
         [(r.latency, r.client, r.time) for r in slow[:SLOWEST]], "slowest")
    for s, r in zip(data["slowest"], slow):
        same((s["procedure"], s["path"]), (r.procedure, r.path), "slow", s["operation"])


def check_tree(data, rows, export):
    """Each directory has the operations of all that is below."""
    below, own = collections.Counter(), collections.Counter(r.path for r in rows if r.path)
    for path, n in own.items():
        at = ""
        for name in path[len(export):].split("/") if path[0] == "/" else [path]:
            at = at + "/" + name if at else (name or export)
            below[at] += n
    shown, names = {}, []
    for node in data["tree"]:
        names[node["depth"]:] = [node["name"]]
        path = "/".join(names)
        expect(path not in shown, "twice in the tree:", path)
        shown[path] = node
        same([node["operations"], node["own"]], [below[path], own[path]], "in the tree", path)
    for path, node in shown.items():
        children = sum(n["operations"] for p, n in shown.items() if p.rpartition("/")[0] == path)
        same(node["unshown"], node["operations"] - node["own"] - children, "not shown below", path)
    same(len(shown), min(250, len(below)), "nodes")
    least = min(n["operations"] for n in shown.values())
    expect(all(n <= least for p, n in below.items() if p not in shown), "a busier path is not shown")
