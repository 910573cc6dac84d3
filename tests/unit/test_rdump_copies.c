/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of a dump whose horizon is so short that dependencies of copies reach beyond it. */
#include "rdump_samples.h"
#include "rdump/rdump_copies.h"
#include "wire/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

enum { OPERATIONS = 3000, HORIZON = 64, COPIES_MAX = 7 };

struct operation {
    uint64_t place; /* among those of all copies */
    uint32_t count, distances[8];
};

static uint32_t next_number(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void put(struct rdump_writer *w, enum rdump_kind kind, const void *record)
{
    struct err err = { 0 };

    assert_int_equal(rdump_put(w, kind, record, &err), 0);
}

/* Operations that depend on some of those up to the horizon before, times that grow unevenly. */
static void make_one(struct buf *out, struct operation *operations)
{
    static const uint8_t getattr[] = { 0, 0, 0, 4, 0, 0, 0, 1 };
    const struct rdump_trace trace = { .time = 1, .horizon = HORIZON, .copies = 1 };
    const struct rdump_host host = { 1, sample_text("192.0.2.1") };
    const struct rdump_object object = { .number = 1, .server = 1, .type = 2 };
    const struct rdump_end end = { 0 };
    struct rdump_operation o = { .source = 1, .client = 1, .server = 1, .procedure = 1 };
    struct err err = { 0 };
    struct rdump_writer *w = rdump_writer_new(memory_write, out, &err);
    uint32_t state = 5;

    assert_non_null(w);
    put(w, RDUMP_TRACE, &trace);
    put(w, RDUMP_HOST, &host);
    put(w, RDUMP_OBJECT, &object);
    o.arguments = (struct bytes){ getattr, sizeof(getattr) };
    for (uint32_t i = 0; i < OPERATIONS; i++, o.source++) {
        struct operation *mine = &operations[i];

        for (uint32_t distance = 1 + next_number(&state) % 20;
             distance < HORIZON && distance <= i && mine->count < 8;
             distance += 1 + next_number(&state) % 20)
            mine->distances[mine->count++] = distance;
        o.time += next_number(&state) % (i % 100 < 50 ? 3 : 300);
        o.dependencies = mine->distances;
        o.dependency_count = mine->count;
        put(w, RDUMP_OPERATION, &o);
    }
    put(w, RDUMP_END, &end);
    rdump_writer_free(w);
}

/* Each operation of a copy has those dependencies of the one dump that are nearer than the horizon
 * now, at their new places. */
static uint64_t check_operation(const struct rdump_operation *o, uint64_t place,
                                struct operation *one, struct operation *copy)
{
    uint64_t index = (uint64_t)o->source - 1, dropped = 0;
    uint32_t kept = 0;

    copy[index].place = place;
    for (uint32_t i = 0; i < one[index].count; i++) {
        uint64_t distance = place - copy[index - one[index].distances[i]].place;

        if (distance >= HORIZON) {
            dropped++;
            continue;
        }
        assert_true(kept < o->dependency_count);
        assert_int_equal(o->dependencies[kept++], distance);
    }
    assert_int_equal(o->dependency_count, kept);
    assert_int_equal(o->arguments.len, 8);
    assert_int_equal(load_be32(o->arguments.data + 4), o->copy + 1);
    return dropped;
}

static uint64_t check_copies(const struct buf *one_dump, struct operation *one, uint32_t copies,
                             int64_t delay)
{
    struct operation *copied = calloc((size_t)copies * OPERATIONS, sizeof(*copied));
    struct buf out = { 0 };
    struct err err = { 0 };
    struct rdump_writer *w = rdump_writer_new(memory_write, &out, &err);
    const struct rdump_end end = { 0 };
    int fd = sample_file(one_dump->data, one_dump->len), copy_fd, result;
    uint64_t place = 0, dropped = 0;
    struct rdump_reader *reader;
    enum rdump_kind kind;
    const void *record;
    char path[64];

    assert_non_null(copied);
    assert_true(fd >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    assert_int_equal(rdump_copy(path, copies, delay, 11, w, &err), 0);
    put(w, RDUMP_END, &end);
    rdump_writer_free(w);
    copy_fd = sample_file(out.data, out.len);
    reader = rdump_reader_new(copy_fd, "copies", &err);
    assert_non_null(reader);
    while ((result = rdump_next(reader, &kind, &record, &err)) > 0) {
        const struct rdump_operation *o = record;

        if (kind != RDUMP_OPERATION)
            continue;
        assert_true(o->copy < copies);
        dropped += check_operation(o, place++, one, copied + (size_t)o->copy * OPERATIONS);
    }
    assert_int_equal(result, 0);
    assert_int_equal(place, (uint64_t)copies * OPERATIONS);
    rdump_reader_free(reader);
    close(copy_fd);
    close(fd);
    buf_free(&out);
    free(copied);
    return dropped;
}

static void dependencies_end_at_the_horizon(void **state)
{
    struct operation *one = calloc(OPERATIONS, sizeof(*one));
    struct buf dump = { 0 };

    (void)state;
    assert_non_null(one);
    make_one(&dump, one);
    assert_int_equal(check_copies(&dump, one, 1, 0), 0);
    assert_true(check_copies(&dump, one, 2, 0) > 100);
    for (uint32_t copies = 3; copies <= COPIES_MAX; copies++)
        assert_true(check_copies(&dump, one, copies, 1000 * copies) > 1000);
    buf_free(&dump);
    free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependencies_end_at_the_horizon),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
