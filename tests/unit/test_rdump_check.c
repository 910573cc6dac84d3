/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdump_check: nothing to find in a sound dump, and the right thing in each unsound one. */
#include "rdump_samples.h"
#include "rdump/rdump_check.h"
#include "wire/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

/* Places in sample_small. */
enum {
    TRACE,
    HOST1,
    HOST2,
    CREDENTIAL,
    DIRECTORY,
    FILE1,
    ENTRY,
    LOOKUP,
    CREATE,
    WRITE,
    REMOVED,
    UNREAD,
    THE_END,
    COUNT
};

struct dump {
    union rdump_record r[16];
    enum rdump_kind kinds[16];
    size_t count;
};

static void sound(struct dump *d)
{
    d->count = sample_small(d->r, d->kinds);
    assert_int_equal(d->count, COUNT);
}

/* Puts a copy of record |from| at |to|. */
static void insert(struct dump *d, size_t to, size_t from)
{
    union rdump_record r = d->r[from];
    enum rdump_kind kind = d->kinds[from];

    memmove(&d->r[to + 1], &d->r[to], (d->count - to) * sizeof(d->r[0]));
    memmove(&d->kinds[to + 1], &d->kinds[to], (d->count - to) * sizeof(d->kinds[0]));
    d->r[to] = r;
    d->kinds[to] = kind;
    d->count++;
}

static void swap(struct dump *d, size_t a, size_t b)
{
    union rdump_record r = d->r[a];
    enum rdump_kind kind = d->kinds[a];

    d->r[a] = d->r[b];
    d->kinds[a] = d->kinds[b];
    d->r[b] = r;
    d->kinds[b] = kind;
}

/* Checks it as it is, with the totals that belong to it unless there are others; the findings must
 * be exactly |wanted|, each with its newline. */
static void finds(const struct dump *d, const char *wanted)
{
    struct rdump_end totals = { 0 }, none = { 0 };
    struct rdump_summary summary;
    struct err err = { 0 };
    struct rdump_checker *c = rdump_checker_new(&summary, &err);

    assert_non_null(c);
    for (size_t i = 0; i < d->count; i++) {
        const void *record = &d->r[i];

        rdump_count(&totals, d->kinds[i], record);
        if (d->kinds[i] == RDUMP_END && !memcmp(record, &none, sizeof(none)))
            record = &totals;
        assert_int_equal(rdump_checker_put(c, d->kinds[i], record, &err), 0);
    }
    assert_int_equal(buf_append(&summary.text, "", 1), 0);
    assert_string_equal((const char *)summary.text.data, wanted);
    rdump_checker_free(c);
    rdump_summary_free(&summary);
}

static int setup(void **state)
{
    (void)state;
    wire_init();
    return 0;
}

static void nothing_in_a_sound_dump(void **state)
{
    struct dump d;

    (void)state;
    sound(&d);
    finds(&d, "");
}

/* A sound dump with a change, and what is found then. */
#define CASE(WANTED, ...)                                                                          \
    do {                                                                                           \
        struct dump d;                                                                             \
                                                                                                   \
        sound(&d);                                                                                 \
        __VA_ARGS__;                                                                               \
        finds(&d, WANTED);                                                                         \
    } while (0)

static void order_of_records(void **state)
{
    (void)state;
    CASE("trace 2: there is one already\n", insert(&d, 1, TRACE));
    CASE("host 1: comes before the trace\ntrace 1: comes after the first host\n",
         swap(&d, TRACE, HOST1));
    CASE("entry 1: comes after the first operation\n", swap(&d, ENTRY, LOOKUP));
    CASE("host 3: comes after the first credential\n", insert(&d, FILE1, HOST1);
         d.r[FILE1].host.number = 3);
}

static void numbers_and_references(void **state)
{
    (void)state;
    CASE("host 2: has number 3, not 2\n", d.r[HOST2].host.number = 3);
    CASE("host 3: has number 2, not 3\n", insert(&d, CREDENTIAL, HOST2));
    CASE("host 1: has no address\n", d.r[HOST1].host.address.len = 0);
    CASE("credential 1: has number 0 after 0\n"
         "operation 0: credential 1, which is not there\noperation 1: credential 1, which is not "
         "there\n"
         "operation 2: credential 1, which is not there\noperation 3: credential 1, which is not "
         "there\n"
         "operation 4: credential 1, which is not there\n",
         d.r[CREDENTIAL].credential.number = 0);
    CASE("", insert(&d, CREDENTIAL, CREDENTIAL); insert(&d, CREDENTIAL, CREDENTIAL);
         d.r[CREDENTIAL + 1].credential.number = 7; d.r[CREDENTIAL + 2].credential.number = 9;
         d.r[LOOKUP + 2].operation.credential = 7; d.r[WRITE + 2].operation.credential = 9);
    CASE("operation 0: credential 8, which is not there\n", insert(&d, DIRECTORY, CREDENTIAL);
         d.r[DIRECTORY].credential.number = 9; d.r[LOOKUP + 1].operation.credential = 8);
    CASE("credential 2: has number 1 after 1\n", insert(&d, DIRECTORY, CREDENTIAL));
    CASE("credential 1: 7 bytes of gids\n", d.r[CREDENTIAL].credential.gids.len = 7);
    CASE("trace 1: its horizon is 0\n", d.r[TRACE].trace.horizon = 0);
    CASE("trace 1: granularity 2\n", d.r[TRACE].trace.fine = 2);
    CASE("object 1: is of copy 1 of 1\n"
         "entry 1: is in object 1, and object 2 is of another server or copy\n"
         "operation 0: its dir is object 1, which is of another server or copy\n"
         "operation 1: its dir is object 1, which is of another server or copy\n"
         "operation 3: its dir is object 1, which is of another server or copy\n",
         d.r[DIRECTORY].object.copy = 1);
    CASE("", d.r[TRACE].trace.copies = 2);
}

static void the_tree(void **state)
{
    (void)state;
    CASE("object 3: number 2 was there before\n", insert(&d, ENTRY, FILE1));
    CASE("object 2: has number 4, not 2\nentry 1: refers to object 2, which is not there\n"
         "operation 0: forgets object 2, which is not there\n",
         d.r[FILE1].object.number = 4);
    CASE("object 2: has number 0, not 2\nentry 1: refers to object 2, which is not there\n"
         "operation 0: forgets object 2, which is not there\n",
         d.r[FILE1].object.number = 0);
    CASE("object 2: is on host 3 of 2\n"
         "entry 1: is in object 1, and object 2 is of another server or copy\n",
         d.r[FILE1].object.server = 3);
    CASE("object 2: type 8\n", d.r[FILE1].object.type = 8);
    CASE("object 2: knows 0x408, but some of these bits have no meaning\n",
         d.r[FILE1].object.knows |= 0x400);
    CASE("object 2: has the text of a symbolic link and type 1\n",
         d.r[FILE1].object.link = sample_text("x"));
    CASE("entry 1: is in object 2, which is not a directory but of type 1\n",
         d.r[ENTRY].entry.parent = 2);
    CASE("entry 1: is in object 9, which is not there\n", d.r[ENTRY].entry.parent = 9);
    CASE("entry 1: is in object 0, which is not there\n", d.r[ENTRY].entry.parent = 0);
    CASE("entry 1: refers to object 4294967295, which is not there\n",
         d.r[ENTRY].entry.object = UINT32_MAX);
    CASE("entry 1: this name is not possible\n", d.r[ENTRY].entry.name.len = 0);
    CASE("entry 1: this name is not possible\n", d.r[ENTRY].entry.name = sample_text(".."));
    CASE("entry 1: this name is not possible\n", d.r[ENTRY].entry.name = sample_text("a/b"));
    CASE("", d.r[ENTRY].entry.name = sample_text("..."));
    CASE("entry 2: has the directory and the name of entry 1\n", insert(&d, LOOKUP, ENTRY));
    CASE("", insert(&d, LOOKUP, ENTRY); d.r[LOOKUP].entry.name = sample_text("hj"));
    /* a directory in itself; two in each other; one with two entries */
    CASE("object 1: is a directory below itself\n", d.r[ENTRY].entry.object = 1);
    CASE("object 1: is a directory below itself\n", d.r[FILE1].object.type = 2;
         insert(&d, LOOKUP, ENTRY); d.r[LOOKUP].entry.parent = 2; d.r[LOOKUP].entry.object = 1);
    CASE("entry 2: directory 2 has an entry already\n", d.r[FILE1].object.type = 2;
         insert(&d, LOOKUP, ENTRY); d.r[LOOKUP].entry.name = sample_text("hj"));
}

static void operations(void **state)
{
    static const uint32_t before = 1;

    (void)state;
    CASE("operation 0: client 3 of 2 hosts\n", d.r[LOOKUP].operation.client = 3);
    CASE("operation 0: client 0 of 2 hosts\n", d.r[LOOKUP].operation.client = 0);
    CASE("", d.r[REMOVED].operation.client = 0; d.r[UNREAD].operation.server = 0);
    CASE("operation 0: server 0 of 2 hosts\n", d.r[LOOKUP].operation.server = 0);
    CASE("operation 0: its dir is object 1, which is of another server or copy\n",
         d.r[LOOKUP].operation.server = 1);
    CASE("operation 0: is of copy 1 of 1\n"
         "operation 0: its dir is object 1, which is of another server or copy\n",
         d.r[LOOKUP].operation.copy = 1);
    CASE("operation 3: inferred for reason 200\n", d.r[REMOVED].operation.inferred = 200);
    CASE("operation 3: is operation 7 of the trace, and inferred for reason 1\n",
         d.r[REMOVED].operation.source = 7);
    CASE("operation 0: is operation 0 of the trace, and inferred for reason 0\n",
         d.r[LOOKUP].operation.source = 0);
    CASE("operation 4: unplayable for reason 200\n", d.r[UNREAD].operation.unplayable = 200);
    /* among copies, listings may lose what they go on from */
    for (uint32_t copies = 1; copies <= 2; copies++)
        CASE(copies == 1 ? "operation 4: is unplayable, and depends on others\n" : "",
             d.r[TRACE].trace.copies = copies;
             d.r[UNREAD].operation.unplayable = 10; d.r[UNREAD].operation.dependencies = &before;
             d.r[UNREAD].operation.dependency_count = 1);
    CASE("operation 0: procedure 22\n", d.r[LOOKUP].operation.procedure = 22);
    CASE("operation 0: procedure 255\n", d.r[LOOKUP].operation.procedure = 255);
    CASE("operation 4: procedure 22\n", d.r[UNREAD].operation.procedure = 22);
    CASE("", d.r[UNREAD].operation.procedure = 255); /* its call was not captured */
    CASE("operation 0: mask 0x81000800, but some of these bits have no meaning\n",
         d.r[LOOKUP].operation.mask |= UINT32_C(1) << 31);
    CASE("", d.r[LOOKUP].operation.mask |= (1 << 6) - 1 - (1 << 5));
    CASE("operation 0: 4 bytes of link counts, not 8\n", d.r[LOOKUP].operation.mask |= 1 << 5);
    CASE("operation 0: a digest of nothing\n", d.r[LOOKUP].operation.mask = 1 << 11);
    CASE("operation 3: is inferred, and has no credential\n",
         d.r[REMOVED].operation.credential = 0);
}

/* A READDIR of everything, and one that goes on behind its third entry. */
static void listings(struct dump *d)
{
    static const uint8_t first[28] = { [3] = 4, [7] = 1, [26] = 16 };
    static const uint8_t next[28] = { [3] = 4, [7] = 1, [15] = 99, [26] = 16 };
    static const uint32_t places[] = { 2, 3 }, one[] = { 1 };

    for (int i = 0; i < 2; i++) {
        insert(d, REMOVED, LOOKUP);
        d->r[REMOVED].operation = (struct rdump_operation){
            .source = 9, .time = 2500000, .latency = 1, .client = 1, .server = 2, .procedure = 16
        };
    }
    d->r[REMOVED].operation.arguments = (struct bytes){ first, sizeof(first) };
    d->r[REMOVED].operation.cookies = places;
    d->r[REMOVED].operation.cookie_count = 2;
    d->r[REMOVED + 1].operation.arguments = (struct bytes){ next, sizeof(next) };
    d->r[REMOVED + 1].operation.dependencies = one;
    d->r[REMOVED + 1].operation.dependency_count = 1;
    d->r[REMOVED + 1].operation.cookie_from = 1;
    d->r[REMOVED + 1].operation.cookie_entries = 3;
}
#define FIRST d.r[REMOVED].operation
#define NEXT d.r[REMOVED + 1].operation

static void cookies(void **state)
{
    static const uint32_t falling[] = { 3, 3 };

    (void)state;
    CASE("", listings(&d));
    CASE("operation 4: its cookie comes after 4 entries of operation 3, which does not say so\n",
         listings(&d);
         NEXT.cookie_entries = 4);
    CASE("operation 4: its cookie comes after 3 entries of operation 2, which does not say so\n",
         listings(&d);
         NEXT.cookie_from = 2);
    CASE("operation 4: its cookie is of what is 5 before it, before the first operation\n",
         listings(&d);
         NEXT.cookie_from = 5);
    CASE("operation 4: its cookie is of what is 4 before it, the horizon is 4\n", listings(&d);
         d.r[TRACE].trace.horizon = 4; NEXT.cookie_from = 4);
    CASE("operation 4: goes on with cookie 99, which no operation gave\n", listings(&d);
         NEXT.cookie_from = 0);
    CASE("", listings(&d); NEXT.cookie_from = 0; NEXT.status = 13);
    CASE("operation 4: has no cookie, and an operation that gave it\n", listings(&d);
         NEXT.arguments = FIRST.arguments);
    CASE("operation 3: cookie behind 3 entries, after one behind 3\n", listings(&d);
         FIRST.cookies = falling);
    CASE("operation 0: has cookies, but is not a listing\n",
         d.r[LOOKUP].operation.cookie_entries = 1);
}

static void forgotten(void **state)
{
    static const uint32_t both[] = { 1, 2 }, wrong[] = { 2, 1 }, none[] = { 77 };

    (void)state;
    CASE("operation 2: its file is object 3, which was forgotten\n"
         "operation 2: forgets object 3, which was forgotten\n",
         d.r[CREATE].operation.forget = d.r[WRITE].operation.forget;
         d.r[CREATE].operation.forget_count = 1);
    CASE("object 3: is used, and no operation forgets it\n", d.r[WRITE].operation.forget_count = 0);
    CASE("operation 0: its dir is object 1, which no operation uses\n"
         "operation 1: its dir is object 1, which no operation uses\n"
         "operation 3: its dir is object 1, which no operation uses\n"
         "operation 3: forgets object 1, which no operation uses\n",
         d.r[DIRECTORY].object.used = 0);
    CASE("operation 3: forgets object 1 after 2\n", d.r[LOOKUP].operation.forget_count = 0;
         d.r[REMOVED].operation.forget = wrong; d.r[REMOVED].operation.forget_count = 2);
    CASE("", d.r[LOOKUP].operation.forget_count = 0; d.r[REMOVED].operation.forget = both;
         d.r[REMOVED].operation.forget_count = 2);
    CASE("operation 4: forgets object 77, which is not there\n",
         d.r[UNREAD].operation.forget = none;
         d.r[UNREAD].operation.forget_count = 1);
    CASE("object 2: used 2\n", d.r[FILE1].object.used = 2);
}

static void values(void **state)
{
    static const uint8_t two[] = { 0, 0, 0, 2 }, three[] = { 0, 0, 0, 3 };

    (void)state;
    CASE("", d.r[TRACE].trace.results = 1;
         d.r[LOOKUP].operation.results = (struct bytes){ two, sizeof(two) });
    CASE("trace 1: results 2\n", d.r[TRACE].trace.results = 2;
         d.r[LOOKUP].operation.results = (struct bytes){ two, sizeof(two) });
    CASE("operation 0: its digest is not that of its values\n", d.r[TRACE].trace.results = 1;
         d.r[LOOKUP].operation.results = (struct bytes){ three, sizeof(three) });
    CASE("operation 0: has values, and the trace says that there are none\n",
         d.r[LOOKUP].operation.results = (struct bytes){ two, sizeof(two) });
    CASE("operation 1: values of nothing\n", d.r[TRACE].trace.results = 1;
         d.r[LOOKUP].operation.results = (struct bytes){ two, sizeof(two) };
         d.r[CREATE].operation.results = (struct bytes){ two, sizeof(two) });
    CASE("operation 0: has names, but is not a listing that must show some\n",
         d.r[TRACE].trace.results = 1;
         d.r[LOOKUP].operation.results = d.r[LOOKUP].operation.names =
             (struct bytes){ two, sizeof(two) };
         d.r[LOOKUP].operation.names = (struct bytes){ (const uint8_t *)"\0\0\0\1f", 5 });
    CASE("operation 3: 4 bytes of names that are not names\n", listings(&d);
         d.r[TRACE].trace.results = 1;
         d.r[LOOKUP].operation.results = (struct bytes){ two, sizeof(two) }; FIRST.mask = 1 << 30;
         FIRST.names = (struct bytes){ two, sizeof(two) });
}

static void arguments(void **state)
{
    static const uint8_t long_handle[] = { 0, 0, 0, 8, 0, 0, 0,   1,   0, 0,
                                           0, 1, 0, 0, 0, 2, 'h', 'i', 0, 0 };
    static const uint8_t unknown[] = { 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 2, 'h', 'i', 0, 0 };
    /* without the bytes of WRITE's contents, but with what tells their length */
    static const uint8_t endless[] = { 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0,    0,    0,    0,
                                       0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff };

    (void)state;
    CASE("operation 0: its arguments are not those of LOOKUP: at byte 12, LOOKUP3args.what.name: "
         "padding "
         "passes the message's end\n",
         d.r[LOOKUP].operation.arguments.len = 14);
    CASE("operation 0: its arguments are not those of LOOKUP: at byte 0, LOOKUP3args.what.dir: the "
         "message ends within this value\n",
         d.r[LOOKUP].operation.arguments.len = 0);
    CASE("", d.r[LOOKUP].operation.unplayable = 1; d.r[LOOKUP].operation.arguments.len = 0);
    CASE("operation 2: its arguments are not those of WRITE: at byte 24, WRITE3args.data: the "
         "message "
         "ends within this value\n",
         d.r[WRITE].operation.arguments.len -= 4);
    CASE("operation 2: its arguments are not those of WRITE: at byte 28, WRITE3args.data: length "
         "passes "
         "the message's end\n",
         d.r[WRITE].operation.arguments = ((struct bytes){ endless, sizeof(endless) }));
    CASE("operation 0: its dir is a handle of 8 bytes\n",
         d.r[LOOKUP].operation.arguments = ((struct bytes){ long_handle, sizeof(long_handle) }));
    CASE("", d.r[LOOKUP].operation.arguments = ((struct bytes){ unknown, sizeof(unknown) }));
    /* WRITE before the CREATE that makes its file */
    CASE("operation 1: its file is object 3, which is not there yet\n"
         "operation 1: forgets object 3, which is not there\n",
         swap(&d, CREATE, WRITE);
         d.r[CREATE].operation.time = 0; d.r[CREATE].operation.dependency_count = 0);
}

static void objects_made(void **state)
{
    (void)state;
    CASE("operation 1: makes object 2, which is there already\n"
         "operation 2: its file is object 3, which is not there yet\n"
         "operation 2: forgets object 3, which is not there\n",
         d.r[CREATE].operation.made = 2);
    CASE("operation 1: makes object 3, and fails with status 17\n",
         d.r[CREATE].operation.status = 17);
    CASE("operation 1: makes object 4294967295, an impossible number\n"
         "operation 2: its file is object 3, which is not there yet\n"
         "operation 2: forgets object 3, which is not there\n",
         d.r[CREATE].operation.made = UINT32_MAX);
    CASE("operation 0: makes object 4, as its procedure cannot\n", d.r[LOOKUP].operation.made = 4);
    CASE("object 4: is used, and no operation forgets it\n", /* what it did nobody knows */
         d.r[UNREAD].operation.made = 4);
}

static void dependencies(void **state)
{
    static const uint32_t self[] = { 0 }, twice[] = { 1, 1 }, two[] = { 1, 2 }, far[] = { 3 };

    (void)state;
#define DEPENDS(LIST)                                                                              \
    d.r[WRITE].operation.dependencies = LIST;                                                      \
    d.r[WRITE].operation.dependency_count = sizeof(LIST) / sizeof(LIST[0])
    CASE("operation 2: depends on itself\n", DEPENDS(self));
    CASE("operation 2: dependency 1 follows 1\n", DEPENDS(twice));
    CASE("", DEPENDS(two));
    CASE("operation 2: depends on what is 3 before it, before the first operation\n", DEPENDS(far));
    CASE("operation 3: depends on what is 3 before it, the horizon is 3\n",
         d.r[TRACE].trace.horizon = 3);
    CASE("", d.r[TRACE].trace.horizon = 4);
#undef DEPENDS
}

static void times(void **state)
{
    (void)state;
    /* CREATE begins at 1,000,000 and WRITE stands behind it */
    CASE("operation 2: ended at 999999 ns, before an operation ahead of it began, at 1000000\n",
         d.r[WRITE].operation.time = 599999);
    CASE("", d.r[WRITE].operation.time = 600000);
    CASE("", d.r[WRITE].operation.time = -5; d.r[WRITE].operation.latency = -1); /* no reply */
    CASE("", d.r[REMOVED].operation.time = INT64_MAX);                           /* inferred */
    CASE("operation 0: latency -2\n", d.r[LOOKUP].operation.latency = -2);
    CASE("", d.r[LOOKUP].operation.latency = INT64_MAX);
}

static void totals(void **state)
{
    (void)state;
    CASE("end 1: says 1 hosts, there were 2\nend 1: says 2 credentials, there were 1\n"
         "end 1: says 3 objects, there were 2\nend 1: says 4 entries, there were 1\n"
         "end 1: says 6 operations, there were 5\n"
         "end 1: says 7 inferred operations, there were 1\n"
         "end 1: says 8 unplayable operations, there were 1\n"
         "end 1: says 9 dependencies, there were 2\n"
         "end 1: says that all end at 10 ns, they do at 3000000\n",
         d.r[THE_END].end = ((struct rdump_end){ 1, 2, 3, 4, 6, 7, 8, 9, 10 }));
}

static void many_findings_are_counted(void **state)
{
    struct rdump_summary summary;
    struct err err = { 0 };
    struct rdump_checker *c = rdump_checker_new(&summary, &err);
    struct rdump_host host = { 7, sample_text("x") };
    size_t lines = 0;

    (void)state;
    for (int i = 0; i < 150; i++)
        assert_int_equal(rdump_checker_put(c, RDUMP_HOST, &host, &err), 0);
    for (size_t i = 0; i < summary.text.len; i++)
        lines += summary.text.data[i] == '\n';
    assert_int_equal(lines, RDUMP_FINDINGS_SHOWN);
    assert_int_equal(summary.findings, 151); /* and one for the trace that is not there */
    rdump_checker_free(c);
    rdump_summary_free(&summary);
}

/* Long chains of directories, from either end, are looked at once. */
static void deep_trees(void **state)
{
    enum { DEEP = 200000 };
    struct rdump_trace trace = { .horizon = 1, .copies = 1 };
    struct rdump_host host = { 1, sample_text("x") };
    struct rdump_end end = { .hosts = 1, .objects = DEEP, .entries = DEEP - 1 };

    (void)state;
    for (int loop = 0; loop < 2; loop++) {
        struct rdump_summary summary;
        struct err err = { 0 };
        struct rdump_checker *c = rdump_checker_new(&summary, &err);

        rdump_checker_put(c, RDUMP_TRACE, &trace, &err);
        rdump_checker_put(c, RDUMP_HOST, &host, &err);
        for (uint32_t i = 1; i <= DEEP; i++) {
            struct rdump_object o = { .number = i, .server = 1, .type = 2 };

            rdump_checker_put(c, RDUMP_OBJECT, &o, &err);
        }
        for (uint32_t i = 2 - (uint32_t)loop; i <= DEEP; i++) {
            struct rdump_entry e = { i > 1 ? i - 1 : DEEP, i, sample_text("d") };

            rdump_checker_put(c, RDUMP_ENTRY, &e, &err);
        }
        end.entries = DEEP - 1 + (uint64_t)loop;
        assert_int_equal(rdump_checker_put(c, RDUMP_END, &end, &err), 0);
        assert_int_equal(summary.findings, loop);
        rdump_checker_free(c);
        rdump_summary_free(&summary);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_a_sound_dump),
        cmocka_unit_test(order_of_records),
        cmocka_unit_test(numbers_and_references),
        cmocka_unit_test(the_tree),
        cmocka_unit_test(operations),
        cmocka_unit_test(arguments),
        cmocka_unit_test(cookies),
        cmocka_unit_test(forgotten),
        cmocka_unit_test(values),
        cmocka_unit_test(objects_made),
        cmocka_unit_test(dependencies),
        cmocka_unit_test(times),
        cmocka_unit_test(totals),
        cmocka_unit_test(many_findings_are_counted),
        cmocka_unit_test(deep_trees),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
