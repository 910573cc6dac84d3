/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_listing.c
 *
 * Listings.  The names of a directory are summed over the operations that list it, and further
 * calls where the target needs more of them than the trace had (schemas/rdump.md sections 5 and 6).
 * Cookies are kept for the operations that continue.
 */
#include "base/digest.h"
#include "base/escape.h"
#include "base/grow.h"
#include "player/verdict_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Entries that are looked at together: their objects are all over the memory. */
enum { GROUP = 16 };

struct listed {
    struct bytes name, handle;
    uint64_t cookie;
    struct objects_look look; /* for the handle */
};

/* One reply. */
struct run {
    struct verdicts *v;
    const struct step *step;
    struct listing_names names;
    uint64_t cookie; /* the last one */
    uint32_t entries;
    struct listing *keep; /* or NULL */
    uint32_t next_kept;   /* of step->more->cookies */
    struct wanted_names *wanted;
    struct bytes surplus; /* a name that is not wanted */
    bool has_objects, no_memory;
    struct listed group[GROUP];
    uint32_t grouped;
};

bool verdict_cookie(const struct verdicts *v, uint64_t number, const struct step *step,
                    struct fill_in *with)
{
    const struct step_more *more = step->more;
    const struct listing *listing;
    uint32_t from = 0, to;

    with->cookie = 0;
    memset(with->verifier, 0, sizeof(with->verifier));
    if (!(step->has & STEP_CONTINUES) || !more || !more->cookie_from)
        return true;
    if (more->cookie_from > number)
        return false;
    listing = by_number_find(&v->listings, number - more->cookie_from);
    if (!listing || !listing->count)
        return false;
    /* the last place that is not behind it: a shorter reply has only its end */
    for (to = listing->count; to - from > 1;) {
        uint32_t middle = from + (to - from) / 2;

        if (listing->places[middle].entries <= more->cookie_entries)
            from = middle;
        else
            to = middle;
    }
    with->cookie = listing->places[from].cookie;
    memcpy(with->verifier, listing->verifier, sizeof(with->verifier));
    return true;
}

/* The names before the step's own. */
static bool names_before(const struct verdicts *v, uint64_t number, const struct step *step,
                         struct listing_names *names)
{
    const struct step_more *more = step->more;
    const struct listing *listing;

    *names = (struct listing_names){ .sums.has_behind = true };
    if (!(step->has & STEP_CONTINUES))
        return true;
    if (!more || !more->cookie_from || more->cookie_from > number)
        return false;
    listing = by_number_find(&v->listings, number - more->cookie_from);
    for (uint32_t i = 0; listing && i < listing->count; i++)
        if (listing->places[i].entries <= more->cookie_entries)
            *names = listing->places[i].names;
    return listing && listing->count;
}

void verdict_listing_end(void *listing)
{
    free(((struct listing *)listing)->places);
}

void verdict_aside_end(void *aside)
{
    free(((struct aside *)aside)->wanted.all);
}

/* --- the names that the trace had */

/* Returns the next name of step->more->names, or false at its end. */
static bool next_name(struct bytes *left, bool has_objects, struct bytes *name)
{
    uint32_t tail = has_objects ? 4 : 0, len;

    if (left->len < 4 + tail)
        return false;
    len = load_be32(left->data);
    if (len > left->len - 4 - tail)
        return false;
    *name = (struct bytes){ left->data + 4, len };
    left->data += 4 + len + tail;
    left->len -= 4 + len + tail;
    return true;
}

static int by_hash(const void *a, const void *b)
{
    const struct wanted_name *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int want_names(struct wanted_names *to, const struct step *step, bool has_objects)
{
    struct bytes left = step->more ? step->more->names : (struct bytes){ 0 }, name;
    uint32_t count = 0;

    to->count = to->missing = 0;
    while (next_name(&left, has_objects, &name)) {
        if (GROW(to->all, count, to->cap) < 0)
            return -ERR_SYSTEM;
        to->all[count++] = (struct wanted_name){ .hash = XXH3_64bits(name.data, name.len) };
    }
    if (count)
        qsort(to->all, count, sizeof(*to->all), by_hash);
    for (uint32_t i = 0; i < count; i++)
        if (!i || to->all[i].hash != to->all[to->count - 1].hash)
            to->all[to->count++] = to->all[i];
    to->missing = to->count;
    return 0;
}

static struct wanted_name *wanted_find(const struct wanted_names *wanted, uint64_t hash)
{
    const struct wanted_name key = { .hash = hash };

    return wanted->count ? bsearch(&key, wanted->all, wanted->count, sizeof(key), by_hash) : NULL;
}

/* --- a reply */

static void add_name(struct run *r, const struct listed *entry)
{
    const struct objects *objects = r->v->setup.objects;
    uint32_t object = 0;

    if (entry->handle.len && r->names.sums.has_behind)
        object = verdict_single(
            r->v, r->step, objects_looked(objects, &entry->look, r->step->server, entry->handle));
    else if (!entry->handle.len)
        r->names.no_handles = true;
    expect_name(&r->names.sums, entry->name, object);
    if (r->wanted) {
        struct wanted_name *name =
            wanted_find(r->wanted, XXH3_64bits(entry->name.data, entry->name.len));

        if (!name && !r->surplus.data)
            r->surplus = entry->name;
        if (name && !name->found)
            r->wanted->missing--;
        if (name)
            name->found = true;
    }
}

static void keep_place(struct run *r)
{
    struct listing *keep = r->keep;

    if (GROW(keep->places, keep->count, keep->cap) < 0) {
        r->no_memory = true;
        return;
    }
    keep->places[keep->count++] = (struct listing_place){ r->entries, r->cookie, r->names };
}

static void add_entry(struct run *r, const struct listed *entry)
{
    const struct step_more *more = r->step->more;

    if (!bytes_are_dots(entry->name))
        add_name(r, entry);
    r->entries++;
    r->cookie = entry->cookie;
    if (!r->keep || r->next_kept >= more->cookie_count)
        return;
    if (more->cookies[r->next_kept] == r->entries)
        keep_place(r);
    while (r->next_kept < more->cookie_count && more->cookies[r->next_kept] <= r->entries)
        r->next_kept++;
}

static void add_group(struct run *r)
{
    for (uint32_t i = 0; i < r->grouped; i++)
        if (r->group[i].handle.len)
            objects_expect_look(r->v->setup.objects, &r->group[i].look);
    for (uint32_t i = 0; i < r->grouped; i++)
        add_entry(r, &r->group[i]);
    r->grouped = 0;
}

static int each_entry(void *ctx, const struct effect_entry *entry)
{
    struct run *r = ctx;
    struct listed *to = &r->group[r->grouped++];

    to->name = entry->name;
    to->handle = entry->handle;
    to->cookie = entry->cookie;
    if (entry->handle.len)
        objects_expect_handle(r->v->setup.objects, r->step->server, entry->handle, &to->look);
    if (r->grouped == GROUP)
        add_group(r);
    return 0;
}

/* Looks at all entries of the reply. */
static void run_entries(struct run *r)
{
    effect_names(&r->v->effect, each_entry, r);
    add_group(r);
}

static int stop_at_verifier(void *ctx, const struct visit *visit)
{
    if (visit->field->cls != CLASS_VERIFIER || visit->len != 8)
        return 0;
    memcpy(ctx, visit->data, 8);
    return 1;
}

static void copy_verifier(const struct effect *e, uint8_t to[8])
{
    const struct visitor visitor = { stop_at_verifier, to, 0 };
    struct bytes body = e->result_body;
    struct walk w;

    walk(&w, e->procedure->result, body.data, body.len, body.len, false, &visitor);
}

static int run_reply(struct run *r, struct err *err)
{
    run_entries(r);
    if (r->keep && r->step->more->cookie_count > r->next_kept)
        keep_place(r); /* the later ones continue at its end */
    if (r->keep)
        copy_verifier(&r->v->effect, r->keep->verifier);
    return r->no_memory ? err_memory(err, "cookies of listings") : 0;
}

/* Makes the next call continue behind this reply, or begin again. */
static int list_on(struct run *r, uint64_t number, struct aside *aside, bool again,
                   struct verdict *to, struct err *err)
{
    struct verdicts *v = r->v;

    if (!aside) {
        aside = by_number_add(&v->asides, number);
        if (!aside)
            return err_memory(err, "a listing");
        aside->wanted = v->wanted;
        v->wanted = (struct wanted_names){ 0 };
    }
    aside->names = r->names;
    aside->again |= again;
    aside->cookie = again ? 0 : r->cookie;
    if (again)
        memset(aside->verifier, 0, sizeof(aside->verifier));
    else
        copy_verifier(&v->effect, aside->verifier);
    to->next = NEXT_LIST_ON;
    to->with.cookie = aside->cookie;
    memcpy(to->with.verifier, aside->verifier, sizeof(aside->verifier));
    return 0;
}

/* Says what the listing shows when no more of it comes. */
static void end_listing(struct run *r, uint32_t missing, bool stalled, struct verdict *to)
{
    struct verdicts *v = r->v;
    char *text;

    v->names = r->names;
    if (r->names.no_handles)
        v->absent |= EXPECT_BEHIND;
    if (!stalled && !missing)
        return;
    v->absent |= EXPECT_NAMES | EXPECT_BEHIND;
    text =
        verdict_difference(to, r->step->mask & (EXPECT_NAMES | EXPECT_BEHIND | EXPECT_SOME_NAMES),
                           !stalled && verdict_rules_role(v, r->step, ROLE_ENTRY, to));
    if (text && stalled)
        snprintf(text, VERDICT_TEXT, "a listing stops before its end, without an entry");
    else if (text)
        snprintf(text, VERDICT_TEXT, "%" PRIu32 " names of the trace are not there", missing);
}

int verdict_listing(struct verdicts *v, uint64_t number, const struct step *step,
                    struct aside *aside, struct verdict *to, struct err *err)
{
    struct run r = { .v = v, .step = step };
    uint32_t mask = step->mask & ~v->ignore, missing;
    bool all = mask & (EXPECT_NAMES | EXPECT_BEHIND), some = mask & EXPECT_SOME_NAMES, known = true;
    bool gives = !aside && step->more && step->more->cookie_count, stalled;
    struct fill_in begun;

    if (!all && !some && !gives)
        return 0;
    r.has_objects = step->procedure->result->roles & ROLE_ENTRY_OBJECT;
    if (aside) {
        r.names = aside->names;
        r.cookie = aside->cookie;
        r.wanted = some ? &aside->wanted : NULL;
    } else {
        known = names_before(v, number, step, &r.names);
        verdict_cookie(v, number, step, &begun);
        r.cookie = begun.cookie;
        if (some && want_names(&v->wanted, step, r.has_objects) < 0)
            return err_memory(err, "names of a listing");
        r.wanted = some ? &v->wanted : NULL;
        r.keep = gives ? by_number_add(&v->listings, number) : NULL;
        if (gives && !r.keep)
            return err_memory(err, "cookies of a listing");
    }
    if (run_reply(&r, err) < 0)
        return -ERR_SYSTEM;
    missing = some ? r.wanted->missing : 0;
    all = all && known;
    stalled = !r.entries && !v->effect.eof && (all || missing);
    if ((all || missing) && !v->effect.eof && !stalled)
        return list_on(&r, number, aside, false, to, err);
    if (missing && !stalled && step->has & STEP_CONTINUES && !(aside && aside->again))
        return list_on(&r, number, aside, true, to, err);
    if (!known)
        v->absent |= EXPECT_NAMES | EXPECT_BEHIND;
    end_listing(&r, missing, stalled, to);
    return 0;
}

/* --- which names differ */

/* Appends ": NAME", what |format| says of it. */
static void append_name(struct verdicts *v, struct bytes name, const char *what, struct verdict *to)
{
    size_t len = strlen(to->text);

    v->text.len = 0;
    if (name.len > 64)
        name.len = 64;
    if (escape_name(name, false, &v->text) == 0)
        snprintf(to->text + len, sizeof(to->text) - len, "; \"%.*s\" %s", (int)v->text.len,
                 v->text.data ? (const char *)v->text.data : "", what);
}

void verdict_listing_text(struct verdicts *v, const struct step *step, struct verdict *to)
{
    struct run r = { .v = v, .step = step, .wanted = &v->wanted };
    struct bytes left, name;

    /* of one reply only, and one of the trace: the dump has the names of each reply apart */
    r.has_objects = step->procedure->result->roles & ROLE_ENTRY_OBJECT;
    if (!(step->has & STEP_LISTS) || step->has & STEP_CONTINUES || !step->more ||
        want_names(&v->wanted, step, r.has_objects) < 0)
        return;
    run_entries(&r);
    if (r.names.sums.count != v->names.sums.count)
        return;
    if (r.surplus.data)
        append_name(v, r.surplus, "is not in the trace", to);
    left = step->more->names;
    while (r.wanted->missing && next_name(&left, r.has_objects, &name)) {
        const struct wanted_name *wanted = wanted_find(r.wanted, XXH3_64bits(name.data, name.len));

        if (wanted && !wanted->found) {
            append_name(v, name, "is missing", to);
            break;
        }
    }
}
