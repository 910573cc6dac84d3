/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_check_result.c
 *
 * Checks what operations must show again, where listings continue, and which objects are not used
 * any more.
 */
#include "base/bytes.h"
#include "base/digest.h"
#include "rdump/rdump_checker.h"

#include <inttypes.h>

/* Each: its length, its bytes, and with |has_objects| a number. */
static bool are_names(struct bytes names, bool has_objects)
{
    uint64_t at = 0, len;

    while (at < names.len) {
        if (names.len - at < 4)
            return false;
        len = load_be32(names.data + at);
        at += 4;
        if (len + (has_objects ? 4 : 0) > names.len - at)
            return false;
        at += len + (has_objects ? 4 : 0);
    }
    return true;
}

static void check_values(struct rdump_checker *c, const struct rdump_operation *o, bool has_objects)
{
    uint32_t covered = o->mask & ~(uint32_t)RDUMP_EXPECT_BESIDE;
    bool named = o->mask & (RDUMP_EXPECT_NAMES | RDUMP_EXPECT_SOME_NAMES);

    if (!c->results && (o->results.len || o->names.len || o->mask & RDUMP_EXPECT_SOME_NAMES))
        rdump_finding(c, "has values, and the trace says that there are none");
    else if (c->results && covered && XXH3_64bits(o->results.data, o->results.len) != o->digest)
        rdump_finding(c, "its digest is not that of its values");
    else if (!covered && o->results.len)
        rdump_finding(c, "values of nothing");
    if (o->names.len && !named)
        rdump_finding(c, "has names, but is not a listing that must show some");
    else if (!are_names(o->names, has_objects))
        rdump_finding(c, "%u bytes of names that are not names", o->names.len);
}

static void check_mask(struct rdump_checker *c, const struct rdump_operation *o)
{
    uint32_t links = o->mask & RDUMP_EXPECT_ALL_LINKS;
    uint32_t wanted = (uint32_t)__builtin_popcount(links) * 4;

    if (o->mask >> RDUMP_EXPECT_BITS)
        rdump_finding(c, "mask 0x%x, but some of these bits have no meaning", o->mask);
    else if (!(o->mask & ~(uint32_t)RDUMP_EXPECT_BESIDE) && o->digest)
        rdump_finding(c, "a digest of nothing");
    if (o->links.len != wanted)
        rdump_finding(c, "%u bytes of link counts, not %u", o->links.len, wanted);
}

/* Whether a listing |number| has said that so many of its entries stand before a cookie. */
static bool gave(const struct rdump_checker *c, uint64_t number, uint32_t entries)
{
    const struct known_cookie *all = (const struct known_cookie *)(void *)c->cookies.data;
    size_t from = 0, to = c->cookies.len / sizeof(*all), count = to;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (all[middle].operation < number)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < count && all[from].operation == number; from++)
        if (all[from].entries == entries)
            return true;
    return false;
}

static void check_goes_on(struct rdump_checker *c, const struct rdump_operation *o)
{
    if (o->cookie_from > c->number)
        rdump_finding(c, "its cookie is of what is %u before it, before the first operation",
                      o->cookie_from);
    else if (o->cookie_from >= c->horizon && c->horizon)
        rdump_finding(c, "its cookie is of what is %u before it, the horizon is %u", o->cookie_from,
                      c->horizon);
    else if (!gave(c, c->number - o->cookie_from, o->cookie_entries))
        rdump_finding(
            c, "its cookie comes after %u entries of operation %" PRIu64 ", which does not say so",
            o->cookie_entries, c->number - o->cookie_from);
}

/* Those that no operation can ask for any more go. */
static void prune(struct rdump_checker *c)
{
    struct known_cookie *all = (struct known_cookie *)(void *)c->cookies.data;
    size_t count = c->cookies.len / sizeof(*all), kept = 0;

    while (kept < count && all[kept].operation + c->horizon <= c->number)
        kept++;
    if (kept < count / 2 || !kept)
        return;
    memmove(all, all + kept, (count - kept) * sizeof(*all));
    c->cookies.len = (count - kept) * sizeof(*all);
}

static void check_gives(struct rdump_checker *c, const struct rdump_operation *o)
{
    prune(c);
    for (uint32_t i = 0; i < o->cookie_count; i++) {
        const struct known_cookie one = { c->number, o->cookies[i] };

        if (!one.entries || (i && one.entries <= o->cookies[i - 1])) {
            rdump_finding(c, "cookie behind %u entries, after one behind %u", one.entries,
                          i ? o->cookies[i - 1] : 0);
            return;
        }
        c->no_memory |= buf_append(&c->cookies, &one, sizeof(one)) < 0;
    }
}

void rdump_check_result(struct rdump_checker *c, const struct rdump_operation *o,
                        const struct procedure *procedure, uint64_t cookie)
{
    bool lists = procedure && procedure->result->roles & ROLE_ENTRY;
    bool has_objects = lists && procedure->result->roles & ROLE_ENTRY_OBJECT;

    check_mask(c, o);
    check_values(c, o, has_objects);
    if (!lists && (o->cookie_from || o->cookie_entries || o->cookie_count))
        rdump_finding(c, "has cookies, but is not a listing");
    else if (o->cookie_from)
        check_goes_on(c, o);
    else if (lists && !o->unplayable && !o->status && cookie)
        rdump_finding(c, "goes on with cookie %" PRIu64 ", which no operation gave", cookie);
    if (o->cookie_from && !cookie)
        rdump_finding(c, "has no cookie, and an operation that gave it");
    check_gives(c, o);
}

void rdump_check_forget(struct rdump_checker *c, const struct rdump_operation *o)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < o->forget_count; i++) {
        struct known_object *known = rdump_known(c, o->forget[i]);

        if (o->forget[i] <= last) {
            rdump_finding(c, "forgets object %u after %u", o->forget[i], last);
            return;
        }
        last = o->forget[i];
        if (!known || !(known->flags & KNOWN_HERE))
            rdump_finding(c, "forgets object %u, which is not there", last);
        else if (!(known->flags & KNOWN_USED))
            rdump_finding(c, "forgets object %u, which no operation uses", last);
        else if (known->flags & KNOWN_FORGOTTEN)
            rdump_finding(c, "forgets object %u, which was forgotten", last);
        else
            known->flags |= KNOWN_FORGOTTEN;
    }
}
