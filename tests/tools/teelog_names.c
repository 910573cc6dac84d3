/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/teelog_names.c
 *
 *     teelog_names DIR CASE
 *
 * Makes a log of a shadow (live/teelog) with a READDIRPLUS of a directory in which names stand for
 * one object after the other, or objects have one name after the other.  Its summary.json is the
 * oracle for what "nfsdigest compare DIR" finds in it.
 */
#define TEELOG_LAB_ALONE
#include "teelog_lab.h"

enum { REMOVE = 12, RENAME = 14, READDIRPLUS = 17 };
enum { X = FILE_ID, Y, Z }; /* files */
enum { ENTRIES = 3 };

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

static void put_file(struct xdr_put *p, int side, uint8_t id, uint32_t mode, uint64_t size)
{
    struct attributes_given a = plain;

    a.fileid = id;
    a.mode = mode;
    a.size = size;
    put_attributes(p, side, &a);
}

/* Readers of the log learn which handles belong together. */
static void ask(struct world *w, uint8_t id)
{
    struct exchange x;

    w->next.object[TEE_OBJECT] = id;
    exchange_begin(&x, w, GETATTR);
    for (int side = 0; side < SIDES; side++) {
        put_handle(&x.call[side].put, side, id);
        xdr_put_u32(&x.reply[side].put, 0);
        put_file(&x.reply[side].put, side, id, plain.mode, plain.size);
    }
    exchange_end(&x, w);
}

/* |alone|: the reply says that the object has one link. */
static void look_up(struct world *w, const char *name, uint8_t id, bool alone)
{
    struct exchange x;

    w->next.object[TEE_OBJECT] = DIR_ID;
    w->next.object[TEE_NEW] = id;
    exchange_begin(&x, w, LOOKUP);
    for (int side = 0; side < SIDES; side++) {
        struct xdr_put *p = &x.reply[side].put;

        put_handle(&x.call[side].put, side, DIR_ID);
        xdr_put_opaque(&x.call[side].put, bytes_of(name));
        xdr_put_u32(p, 0);
        put_handle(p, side, id);
        xdr_put_u32(p, alone);
        if (alone)
            put_file(p, side, id, plain.mode, plain.size);
        xdr_put_u32(p, 0);
    }
    exchange_end(&x, w);
    w->next.object[TEE_NEW] = 0;
}

/* RENAME, or REMOVE if |to| is NULL. */
static void change(struct world *w, const char *from, const char *to)
{
    struct exchange x;

    w->next.object[TEE_OBJECT] = DIR_ID;
    w->next.object[TEE_PARENT2] = to ? DIR_ID : 0;
    exchange_begin(&x, w, to ? RENAME : REMOVE);
    for (int side = 0; side < SIDES; side++) {
        put_handle(&x.call[side].put, side, DIR_ID);
        xdr_put_opaque(&x.call[side].put, bytes_of(from));
        if (to) {
            put_handle(&x.call[side].put, side, DIR_ID);
            xdr_put_opaque(&x.call[side].put, bytes_of(to));
        }
        for (int i = 0; i < (to ? 5 : 3); i++) /* without attributes of directories */
            xdr_put_u32(&x.reply[side].put, 0);
    }
    exchange_end(&x, w);
    w->next.object[TEE_PARENT2] = 0;
}

struct entry {
    const char *name; /* NULL: there are no more */
    uint8_t id[SIDES];
    uint32_t sut_mode;
    uint64_t sut_size;
};

/* A part of the listing |number|. */
static void list_part(struct world *w, uint64_t number, uint64_t cookie,
                      const struct entry entries[ENTRIES], bool ends)
{
    struct exchange x;

    w->next.object[TEE_OBJECT] = DIR_ID;
    w->next.listing = number;
    w->next.listing_ends = ends;
    exchange_begin(&x, w, READDIRPLUS);
    for (int side = 0; side < SIDES; side++) {
        struct xdr_put *p = &x.call[side].put;

        put_handle(p, side, DIR_ID);
        xdr_put_u64(p, cookie);
        xdr_put_u64(p, 0);
        xdr_put_u32(p, 4096);
        xdr_put_u32(p, 4096);
        p = &x.reply[side].put;
        xdr_put_u32(p, 0);
        xdr_put_u32(p, 0);
        xdr_put_u64(p, 0);
        for (int i = 0; i < ENTRIES && entries[i].name; i++) {
            const struct entry *e = &entries[i];

            xdr_put_u32(p, 1);
            xdr_put_u64(p, e->id[REF] + (side == SUT ? 1000u : 0u));
            xdr_put_opaque(p, bytes_of(e->name));
            xdr_put_u64(p, cookie + (uint64_t)i + 1);
            xdr_put_u32(p, 1);
            put_file(p, side, e->id[REF], side == SUT ? e->sut_mode : plain.mode,
                     side == SUT ? e->sut_size : plain.size);
            xdr_put_u32(p, 1);
            put_handle(p, side, e->id[side]);
        }
        xdr_put_u32(p, 0);
        xdr_put_u32(p, ends);
    }
    exchange_end(&x, w);
    w->next.listing = 0;
}

static void list_files(struct world *w, uint64_t cookie, const struct entry entries[ENTRIES],
                       bool ends)
{
    list_part(w, 1, cookie, entries, ends);
}

/* --- cases: a mode that differs must be told.  A size that differs is that of a file that is not
 * the same any more, and must be withheld. */

static const struct entry y_took_a[ENTRIES] = { { "a", { Y, Y }, 0600, 100 },
                                                { "b", { X, X }, 0644, 99 } };
/* The SUT sends the handle of another file. */
static const struct entry a_is_swapped[ENTRIES] = { { "a", { X, Z }, 0600, 100 } };

static void moved(struct world *w)
{
    look_up(w, "a", X, false);
    change(w, "a", "b");
    look_up(w, "a", Y, false);
    w->strange = X;
    list_files(w, 0, y_took_a, true);
}

/* Nobody saw the RENAME. */
static void seen_elsewhere(struct world *w)
{
    look_up(w, "a", X, true);
    look_up(w, "b", X, true);
    look_up(w, "a", Y, true);
    w->strange = X;
    list_files(w, 0, y_took_a, true);
}

static void moves_later(struct world *w)
{
    look_up(w, "a", X, false);
    list_files(w, 0, a_is_swapped, true);
    change(w, "a", "b");
}

static void loses_a_link(struct world *w)
{
    look_up(w, "a", X, false);
    look_up(w, "b", X, false);
    change(w, "b", NULL);
    list_files(w, 0, a_is_swapped, true);
}

/* Its name becomes known by the second part. */
static void in_a_later_part(struct world *w)
{
    static const struct entry first[ENTRIES] = { { "c", { Z, Z }, 0644, 100 } };

    list_files(w, 0, first, false);
    list_files(w, 1, a_is_swapped, true);
}

/* The SUT sends the handle of a file that is the same, for one that is not. */
static void strange_is_swapped(struct world *w)
{
    static const struct entry entries[ENTRIES] = { { "a", { X, Y }, 0644, 99 },
                                                   { "c", { Z, Z }, 0600, 100 } };

    look_up(w, "a", X, false);
    w->strange = X;
    list_files(w, 0, entries, true);
}

/* Two processes list the directory, and ask with the same cookie.  A file is made in between.  The
 * SUT gets the last parts the other way around. */
static void two_walkers(struct world *w)
{
    static const struct entry first[ENTRIES] = { { "a", { X, X }, 0644, 100 } };
    static const struct entry before[ENTRIES] = { { "c", { Z, Z }, 0644, 100 } };
    static const struct entry after[ENTRIES] = { { "c", { Z, Z }, 0644, 100 },
                                                 { "d", { Y, Y }, 0600, 100 } };

    list_part(w, 1, 0, first, false);
    list_part(w, 2, 0, first, false);
    w->sut_later = 100000000;
    list_part(w, 1, 1, before, true);
    w->sut_later = 0;
    list_part(w, 2, 1, after, true);
}

static const struct {
    const char *name;
    void (*make)(struct world *w);
} cases[] = {
    { "moved", moved },
    { "seen-elsewhere", seen_elsewhere },
    { "moves-later", moves_later },
    { "loses-a-link", loses_a_link },
    { "in-a-later-part", in_a_later_part },
    { "strange-is-swapped", strange_is_swapped },
    { "two-walkers", two_walkers },
};

int main(int argc, char **argv)
{
    /* handles are compared with those of pairs that agree */
    const struct teelog_options options = { .record_all = true };
    struct err err = { 0 };
    struct world w;
    size_t i = 0;

    while (argc == 3 && i < sizeof(cases) / sizeof(cases[0]) && strcmp(argv[2], cases[i].name) != 0)
        i++;
    if (argc != 3 || i == sizeof(cases) / sizeof(cases[0]))
        return 2;
    begin_in(&w, argv[1], &options);
    for (uint8_t id = X; id <= Z; id++)
        ask(&w, id);
    cases[i].make(&w);
    if (teelog_end(w.log, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 4;
    }
    engine_free(w.engine);
    loop_free(w.loop);
    free(w.operation);
    return 0;
}
