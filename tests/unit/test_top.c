/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfsdigest top" counts: by hand-made records, against sums that this test makes itself. */
#include "top/top_parts.h"
#include "wire/field.h"
#include "wire/nfs3_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { READ = 6, WRITE = 7, REMOVE = 12, MANY = 1500, US = 1000 };

struct lab {
    struct top *top;
    struct err err;
    uint64_t next;        /* operation */
    unsigned told, wrong; /* operations, and those that failed */
    char path[64];        /* of the last one */
};

static void each(void *ctx, const struct top_operation *operation)
{
    struct lab *lab = ctx;

    lab->told++;
    lab->wrong += operation->is_error;
    snprintf(lab->path, sizeof(lab->path), "%s", operation->path);
}

static void begin(struct lab *lab, const struct top_filter *filter)
{
    const struct top_setup setup = { *filter, each, lab };

    top_free(lab->top);
    memset(lab, 0, sizeof(*lab));
    lab->top = top_new(&setup, &lab->err);
    assert_non_null(lab->top);
}

static int set_up(void **state)
{
    struct lab *lab = calloc(1, sizeof(*lab));

    wire_init();
    begin(lab, &(struct top_filter){ .uid = UINT64_MAX });
    *state = lab;
    return 0;
}

static int tear_down(void **state)
{
    struct lab *lab = *state;

    top_free(lab->top);
    free(lab);
    return 0;
}

static int put(struct lab *lab, const struct record *r)
{
    const struct sink sink = top_sink(lab->top);

    return sink.put(sink.ctx, r, &lab->err);
}

static struct address address(uint32_t number)
{
    struct address a = { .version = 4, .bytes = { 10 } };

    store_be16(a.bytes + 2, (uint16_t)number);
    return a;
}

/* Flow |id|, of client number |id|. */
static int flow(struct lab *lab, uint32_t id)
{
    struct record r = { .kind = RECORD_FLOW };

    r.flow = (struct record_flow){ .id = id, .client = address(id), .server = address(60000) };
    return put(lab, &r);
}

static int user(struct lab *lab, uint32_t id, uint32_t uid)
{
    struct record r = { .kind = RECORD_CREDENTIAL };

    r.credential = (struct record_credential){ .id = id, .flavor = 1, .valid = true, .uid = uid };
    return put(lab, &r);
}

static int path(struct lab *lab, uint32_t id, uint32_t parent, const char *name)
{
    struct record r = { .kind = RECORD_PATH };

    r.path = (struct record_path){ .id = id,
                                   .parent = parent,
                                   .name = { (const uint8_t *)name, (uint32_t)strlen(name) } };
    return put(lab, &r);
}

/* |fileid| 0: its file system is not known. */
static int object(struct lab *lab, uint64_t id, uint64_t fsid, uint64_t fileid)
{
    struct record r = { .kind = RECORD_OBJECT };

    r.object = (struct record_object){
        .id = id, .server = address(60000), .fsid = fsid, .fileid = fileid
    };
    return put(lab, &r);
}

static void mounted(struct lab *lab, const char *name, uint64_t root)
{
    struct record r = { .kind = RECORD_NAME };

    r.name = (struct record_name){ .event = NAME_SEEN,
                                   .name = { (const uint8_t *)name, (uint32_t)strlen(name) },
                                   .object = root };
    assert_int_equal(put(lab, &r), 0);
}

struct done {
    uint32_t procedure, flow, credential, path;
    int64_t status, latency; /* |latency|: -1: no reply */
    uint64_t bytes, object;
};

static uint64_t operation_as(struct lab *lab, uint64_t id, const struct done *d)
{
    struct record r = { .kind = RECORD_OPERATION };
    struct record_operation *op = &r.operation;

    *op = (struct record_operation){
        .id = id,
        .flow = d->flow,
        .program = NFS3_PROGRAM,
        .version = NFS3_VERSION,
        .procedure = d->procedure,
        .credential = d->credential,
        .path = d->path,
        .object = d->object,
        .call = { .frame = 1, .time = (int64_t)id * 1000000, .flags = 0 },
        .rpc_status = d->latency < 0 ? STATUS_NONE : 0,
        .status = d->latency < 0 ? STATUS_NONE : d->status,
        .data_length = d->bytes,
    };
    if (d->latency >= 0) {
        op->reply.frame = 2;
        op->reply.time = op->call.time + d->latency;
    }
    if (d->bytes)
        *(d->procedure == READ ? &op->reply.flags : &op->call.flags) = SIGHTING_DATA;
    assert_int_equal(put(lab, &r), 0);
    return id;
}

static uint64_t operation(struct lab *lab, const struct done *d)
{
    return operation_as(lab, ++lab->next, d);
}

static void sent_again(struct lab *lab, uint64_t id, uint32_t flow_id)
{
    struct record r = { .kind = RECORD_REPEAT };

    r.repeat = (struct record_repeat){ .operation = id, .repeat = REPEAT_CALL, .flow = flow_id };
    assert_int_equal(put(lab, &r), 0);
    r.repeat.repeat = REPEAT_REPLY; /* not counted */
    assert_int_equal(put(lab, &r), 0);
}

/* The row with this label; all, or NULL. */
static const struct top_counts *row(const struct lab *lab, enum top_by by, const char *label)
{
    const struct top_table *t = top_table(lab->top, by);

    for (uint32_t i = 0; i < t->count; i++)
        if (strcmp(t->rows[i].label, label) == 0)
            return &t->rows[i].all;
    return NULL;
}

/* Each table and its others together are the whole. */
static void expect_sums(const struct lab *lab)
{
    for (int by = 0; by < TOP_TABLES; by++)
        for (int last = 0; last < 2; last++) {
            const struct top_table *t = top_table(lab->top, (enum top_by)by);
            const struct top_counts *whole = top_whole(lab->top, last);
            struct top_counts sum = *top_others(lab->top, (enum top_by)by, last);

            for (uint32_t i = 0; i < t->count; i++)
                top_counts_merge(&sum, last ? &t->rows[i].last : &t->rows[i].all);
            assert_memory_equal(&sum, whole, sizeof(sum));
        }
}

static void name_some(struct lab *lab)
{
    for (uint32_t i = 1; i <= 3; i++)
        assert_int_equal(flow(lab, i), 0);
    assert_int_equal(user(lab, 1, 1000), 0);
    assert_int_equal(user(lab, 2, 1001), 0);
    assert_int_equal(path(lab, 1, 0, "/srv"), 0);
    assert_int_equal(path(lab, 2, 1, "a b"), 0);
    assert_int_equal(path(lab, 3, 1, "c"), 0);
}

static void test_counts(void **state)
{
    struct lab *lab = *state;
    const struct top_counts *c;

    name_some(lab);
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 100 * US, 4096 });
    operation(lab, &(struct done){ READ, 1, 1, 3, 0, 300 * US, 100 });
    operation(lab, &(struct done){ WRITE, 2, 1, 2, 0, 200 * US, 512 });
    operation(lab, &(struct done){ REMOVE, 2, 2, 3, NFS3ERR_NOENT, 50 * US, 0 });
    operation(lab, &(struct done){ REMOVE, 9, 9, 9, 0, -1, 0 });
    c = top_whole(lab->top, false);
    assert_int_equal(c->operations, 5);
    assert_int_equal(c->errors, 1);
    assert_int_equal(c->unanswered, 1);
    assert_int_equal(c->read, 4196);
    assert_int_equal(c->written, 512);
    assert_int_equal(c->latency.count, 4);
    assert_int_equal(c->latency.most, 300 * US);
    assert_int_equal(lab->told, 5);
    assert_int_equal(lab->wrong, 2);
    assert_string_equal(lab->path, "");
    assert_int_equal(row(lab, TOP_CLIENT, "10.0.0.1")->read, 4196);
    assert_int_equal(row(lab, TOP_CLIENT, "10.0.0.2")->errors, 1);
    assert_int_equal(row(lab, TOP_CLIENT, "-")->unanswered, 1);
    assert_int_equal(row(lab, TOP_UID, "1000")->operations, 3);
    assert_int_equal(row(lab, TOP_UID, "-")->operations, 1);
    assert_int_equal(row(lab, TOP_PATH, "/srv/a b")->operations, 2);
    assert_int_equal(row(lab, TOP_PROCEDURE, "NFS READ")->latency.most, 300 * US);
    assert_int_equal(top_first_time(lab->top), 1000000);
    assert_int_equal(top_last_time(lab->top), 5000000);
    expect_sums(lab);
    top_next(lab->top);
    assert_int_equal(top_whole(lab->top, true)->operations, 5);
    expect_sums(lab);
    top_next(lab->top);
    assert_int_equal(top_whole(lab->top, true)->operations, 0);
    assert_int_equal(top_whole(lab->top, false)->operations, 5);
    expect_sums(lab);
}

/* More clients than there are rows: the idle ones go to others, the busy one stays. */
static void test_room(void **state)
{
    struct lab *lab = *state;

    for (uint32_t i = 1; i <= MANY; i++) {
        assert_int_equal(flow(lab, i), 0);
        operation(lab, &(struct done){ READ, i, 0, 0, 0, 10 * US, 1 });
        if (i % 100 == 0)
            operation(lab, &(struct done){ READ, 7, 0, 0, 0, 10 * US, 1 });
    }
    assert_int_equal(top_table(lab->top, TOP_CLIENT)->count, TOP_ROWS);
    assert_int_equal(top_others(lab->top, TOP_CLIENT, false)->operations, MANY - TOP_ROWS);
    expect_sums(lab);
    top_next(lab->top);
    assert_int_equal(top_table(lab->top, TOP_CLIENT)->count, TOP_ROWS - TOP_ROWS / 4);
    assert_int_equal(top_lost(lab->top, TOP_CLIENT), TOP_ROWS / 4);
    assert_int_equal(top_lost(lab->top, TOP_UID), 0);
    assert_int_equal(row(lab, TOP_CLIENT, "10.0.0.7")->operations, 1 + MANY / 100);
    expect_sums(lab);
    operation(lab, &(struct done){ READ, MANY, 0, 0, 0, 10 * US, 1 }); /* there is room again */
    assert_int_equal(row(lab, TOP_CLIENT, "10.0.5.220")->operations, 1);
    expect_sums(lab);
}

static void expect_order(const struct lab *lab, enum top_column column, const char *first,
                         const char *second)
{
    const struct top_row *rows[8];
    size_t count = top_sorted(lab->top, TOP_CLIENT, column, false, rows, 2);

    assert_int_equal(count, 2);
    assert_string_equal(rows[0]->label, first);
    assert_string_equal(rows[1]->label, second);
}

static void test_sorting(void **state)
{
    struct lab *lab = *state;
    const struct top_row *rows[8];

    name_some(lab);
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 10 * US, 5000 });
    for (int i = 0; i < 3; i++)
        operation(lab, &(struct done){ WRITE, 2, 1, 2, 0, 20 * US, 100 });
    for (int i = 0; i < 2; i++)
        operation(lab, &(struct done){ REMOVE, 3, 1, 2, NFS3ERR_NOENT, 900 * US, 0 });
    sent_again(lab, lab->next, 3);
    expect_order(lab, TOP_OPERATIONS, "10.0.0.2", "10.0.0.3");
    expect_order(lab, TOP_READ, "10.0.0.1", "10.0.0.2"); /* equal ones by operations */
    expect_order(lab, TOP_WRITTEN, "10.0.0.2", "10.0.0.3");
    expect_order(lab, TOP_P50, "10.0.0.3", "10.0.0.2");
    expect_order(lab, TOP_P99, "10.0.0.3", "10.0.0.2");
    expect_order(lab, TOP_ERRORS, "10.0.0.3", "10.0.0.2");
    expect_order(lab, TOP_RESENT, "10.0.0.3", "10.0.0.2");
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 10 * US, 0 });
    expect_order(lab, TOP_OPERATIONS, "10.0.0.2", "10.0.0.1"); /* then by label */
    assert_int_equal(top_sorted(lab->top, TOP_CLIENT, TOP_READ, false, rows, 8), 3);
    assert_int_equal(top_sorted(lab->top, TOP_CLIENT, TOP_READ, true, rows, 8), 0);
}

/* Before the operation is complete, soon after it, and long after it. */
static void test_sent_again(void **state)
{
    struct lab *lab = *state;
    const struct done remove = { REMOVE, 1, 1, 2, 0, 10 * US, 0 };
    uint64_t id;

    name_some(lab);
    sent_again(lab, 1, 1);
    sent_again(lab, 1, 1);
    assert_int_equal(top_whole(lab->top, false)->resent, 0);
    id = operation(lab, &remove);
    assert_int_equal(row(lab, TOP_PATH, "/srv/a b")->resent, 2);
    sent_again(lab, id, 1);
    assert_int_equal(row(lab, TOP_PATH, "/srv/a b")->resent, 3);
    operation_as(lab, id + RECENT, &remove); /* takes its place */
    sent_again(lab, id, 1);
    top_waiting_begin(lab->top);
    top_waiting_end(lab->top);
    assert_int_equal(row(lab, TOP_PATH, "/srv/a b")->resent, 3);
    assert_int_equal(row(lab, TOP_CLIENT, "10.0.0.1")->resent, 4); /* only that is known */
    assert_int_equal(top_others(lab->top, TOP_PATH, false)->resent, 1);
    expect_sums(lab);
    for (uint64_t i = 0; i < AGAIN_MAX + 10; i++) /* of operations that never come */
        sent_again(lab, 100000 + i, 2);
    assert_int_equal(row(lab, TOP_CLIENT, "10.0.0.2"), NULL);
    top_waiting_begin(lab->top);
    top_waiting_end(lab->top);
    assert_int_equal(top_whole(lab->top, false)->resent, 4 + AGAIN_MAX + 10);
    expect_sums(lab);
}

/* What waits is what the last look found; it is no operation yet. */
static void test_waiting(void **state)
{
    struct lab *lab = *state;
    const struct done waits = { READ, 1, 1, 2, 0, -1, 0 };

    name_some(lab);
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 10 * US, 0 });
    for (int look = 0; look < 2; look++) {
        top_waiting_begin(lab->top);
        operation_as(lab, 5, &waits);
        operation_as(lab, 4, &waits);
        top_waiting_end(lab->top);
        assert_int_equal(top_whole(lab->top, false)->waiting, 2);
        assert_int_equal(row(lab, TOP_UID, "1000")->waiting, 2);
        assert_int_equal(top_oldest(lab->top), 4000000);
    }
    assert_int_equal(top_whole(lab->top, false)->operations, 1);
    assert_int_equal(lab->told, 1);
    expect_sums(lab);
    top_waiting_begin(lab->top);
    top_waiting_end(lab->top);
    assert_int_equal(top_whole(lab->top, false)->waiting, 0);
    assert_true(top_oldest(lab->top) == TIME_NONE);
}

/* Another engine's ids begin anew; ids that leave some out are refused. */
static void test_names(void **state)
{
    struct lab *lab = *state;

    name_some(lab);
    assert_int_equal(top_names(lab->top), 8);
    assert_int_equal(flow(lab, 5), -ERR_INPUT);
    assert_int_equal(flow(lab, 0), -ERR_INPUT);
    assert_int_equal(user(lab, 4, 1), -ERR_INPUT);
    assert_int_equal(path(lab, 5, 1, "x"), -ERR_INPUT);
    assert_int_equal(path(lab, 4, 4, "x"), -ERR_INPUT); /* its own parent */
    assert_int_equal(top_names(lab->top), 8);
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 10 * US, 1 });
    top_forget(lab->top);
    assert_int_equal(top_names(lab->top), 0);
    assert_int_equal(path(lab, 1, 0, "/other"), 0);
    operation(lab, &(struct done){ READ, 1, 1, 1, 0, 10 * US, 1 });
    assert_int_equal(row(lab, TOP_PATH, "/other")->operations, 1);
    assert_int_equal(row(lab, TOP_CLIENT, "-")->operations, 1);
    assert_int_equal(row(lab, TOP_PATH, "/srv/a b")->operations, 1);
    expect_sums(lab);
}

/* MOUNT paths, and file systems of which none or several are known. */
static void test_exports(void **state)
{
    struct lab *lab = *state;

    name_some(lab); /* paths 1 to 3 are in /srv */
    assert_int_equal(object(lab, 1, 7, 1), 0);
    assert_int_equal(object(lab, 2, 7, 2), 0);
    assert_int_equal(object(lab, 3, 0, 0), 0);
    assert_int_equal(object(lab, 5, 7, 2), -ERR_INPUT);
    assert_int_equal(object(lab, 0, 7, 2), -ERR_INPUT);
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 2 });
    mounted(lab, "/srv", 1);
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 2 });
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 10 * US, 1, 0 });
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 3 });
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 9 });
    operation(lab, &(struct done){ READ, 9, 1, 2, 0, 10 * US, 1, 0 }); /* of which server? */
    mounted(lab, "/srv/sub", 3);
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 3 });
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 2 });
    assert_int_equal(object(lab, 3, 7, 3), 0); /* so file system 7 has two */
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 2 });
    operation(lab, &(struct done){ READ, 1, 1, 0, 0, 10 * US, 1, 1 });
    assert_int_equal(row(lab, TOP_EXPORT, "10.0.234.96 fsid 0x7")->operations, 2);
    assert_int_equal(row(lab, TOP_EXPORT, "10.0.234.96:/srv")->operations, 4);
    assert_int_equal(row(lab, TOP_EXPORT, "10.0.234.96:/srv/sub")->operations, 1);
    assert_int_equal(row(lab, TOP_EXPORT, "-")->operations, 3);
    expect_sums(lab);
    assert_int_equal(top_names(lab->top), 11);
    top_forget(lab->top);
    assert_int_equal(top_names(lab->top), 0);
    assert_int_equal(flow(lab, 1), 0);
    assert_int_equal(path(lab, 1, 0, "/srv"), 0);
    operation(lab, &(struct done){ READ, 1, 1, 1, 0, 10 * US, 1, 0 }); /* the same row again */
    assert_int_equal(row(lab, TOP_EXPORT, "10.0.234.96:/srv")->operations, 5);
    expect_sums(lab);
}

/* Deeper than any path that is shown whole, and longer than a label. */
static void test_long_paths(void **state)
{
    struct lab *lab = *state;
    const char *label;

    assert_int_equal(path(lab, 1, 0, "/top"), 0);
    for (uint32_t i = 2; i <= 600; i++)
        assert_int_equal(path(lab, i, i - 1, "\xc3\xa9"), 0);
    operation(lab, &(struct done){ READ, 0, 0, 600, 0, 10 * US, 1 });
    label = top_table(lab->top, TOP_PATH)->rows[0].label;
    assert_memory_equal(label, "...", 3);
    assert_true(strlen(label) < TOP_LABEL);
    assert_true((label[3] & 0xc0) != 0x80);
}

static void expect_matches(struct lab *lab, const struct top_filter *filter, uint64_t wanted)
{
    begin(lab, filter);
    name_some(lab);
    operation(lab, &(struct done){ READ, 1, 1, 2, 0, 10 * US, 1 });
    operation(lab, &(struct done){ READ, 2, 2, 3, 0, 10 * US, 1 });
    operation(lab, &(struct done){ WRITE, 2, 1, 2, 0, 10 * US, 1 });
    operation(lab, &(struct done){ WRITE, 0, 0, 0, 0, 10 * US, 1 });
    assert_int_equal(top_whole(lab->top, false)->operations, wanted);
    sent_again(lab, 1, 1);
    assert_int_equal(top_whole(lab->top, false)->resent,
                     filter->client.version && filter->client.bytes[3] == 2 ? 0 : 1);
    expect_sums(lab);
}

static void test_filter(void **state)
{
    struct lab *lab = *state;

    expect_matches(lab, &(struct top_filter){ .uid = UINT64_MAX }, 4);
    expect_matches(lab, &(struct top_filter){ .uid = 1000 }, 2);
    expect_matches(lab, &(struct top_filter){ .uid = UINT64_MAX, .client = address(2) }, 2);
    expect_matches(lab, &(struct top_filter){ .uid = UINT64_MAX, .server = address(60000) }, 3);
    expect_matches(lab, &(struct top_filter){ .uid = UINT64_MAX, .path = "/srv/a" }, 2);
    expect_matches(lab, &(struct top_filter){ .uid = UINT64_MAX, .procedure = "read" }, 2);
    expect_matches(lab, &(struct top_filter){ .uid = UINT64_MAX, .procedure = "6" }, 2);
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Percentiles against sorted values. */
static void test_spread(void **state)
{
    enum { VALUES = 5000 };
    static int64_t values[VALUES];
    const int64_t bounds[] = { 100 * US, 10000 * US };
    struct spread one = { 0 }, two = { 0 };
    uint64_t random = 7, counts[3];

    (void)state;
    assert_int_equal(spread_at(&one, 0.5), 0);
    for (int i = 0; i < VALUES; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        values[i] = (int64_t)(2000 << (random >> 33) % 20) + (int64_t)((random >> 40) % 1000);
        spread_add(i % 3 ? &one : &two, values[i]);
    }
    spread_merge(&one, &two);
    qsort(values, VALUES, sizeof(values[0]), by_value);
    assert_int_equal(one.count, VALUES);
    for (int percent = 1; percent <= 100; percent++) {
        int64_t exact = values[VALUES * percent / 100 - 1];
        int64_t found = spread_at(&one, percent / 100.0);

        assert_true(llabs(found - exact) <= exact * 6 / 100 + 1);
    }
    spread_buckets(&one, bounds, 2, counts);
    assert_int_equal(counts[0] + counts[1] + counts[2], VALUES);
    spread_add(&two, -5);
    spread_add(&two, INT64_MAX);
    assert_true(two.most == INT64_MAX);
}

/* Clocks of two captures may differ. */
static void test_spread_negative(void **state)
{
    struct spread one = { 0 }, two = { 0 };
    const int64_t bounds[] = { US };
    uint64_t counts[2];

    (void)state;
    spread_add(&one, -3000);
    assert_int_equal(one.most, -3000);
    assert_int_equal(spread_at(&one, 0.5), -3000);
    spread_add(&two, -5000);
    spread_merge(&one, &two);
    assert_int_equal(one.most, -3000);
    assert_int_equal(spread_at(&one, 1), -4000); /* their mean */
    spread_merge(&two, &(struct spread){ 0 });
    assert_int_equal(two.most, -5000);
    spread_add(&one, 2000);
    spread_add(&one, 100);
    assert_int_equal(one.most, 2000);
    assert_int_equal(spread_at(&one, 0.5), -4000);
    assert_true(spread_at(&one, 1) > 1900);
    spread_buckets(&one, bounds, 1, counts);
    assert_int_equal(counts[0], 3);
    assert_int_equal(counts[1], 1);
    assert_int_equal(one.sum, 2100);
}

int main(void)
{
#define TOP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TOP_TEST(test_counts),
        TOP_TEST(test_room),
        TOP_TEST(test_sorting),
        TOP_TEST(test_sent_again),
        TOP_TEST(test_waiting),
        TOP_TEST(test_names),
        TOP_TEST(test_exports),
        TOP_TEST(test_long_paths),
        TOP_TEST(test_filter),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_spread_negative),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
