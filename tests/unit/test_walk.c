/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_walk.c
 *
 * The walker, on types of its own that have what the protocols' tables combine: each kind, lists in
 * lists, unions without names, contents in the middle; and all that can be wrong with bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/program.c" /* for derive */
#include "wire_check.h"

static struct sample s;

static const struct value_name colours[] = { { 1, "RED" }, { 0, NULL } };

static const struct field pair_fields[] = {
    { "a", XDR_U32, CLASS_UID },
    { "b", XDR_U64, CLASS_SIZE },
    END,
};
TYPE(pair);
static const struct field inner_fields[] = {
    { "x", XDR_U32, CLASS_GID, ROLE_ENTRY_NAME },
    END,
};
TYPE(inner);
static const struct field outer_fields[] = {
    { "before", XDR_U32, CLASS_GID, ROLE_RANGE_START },
    { "inners", XDR_LIST, CLASS_BOOLEAN, ROLE_ENTRY, .sub = &inner },
    { "numbers", XDR_ARRAY, CLASS_COUNT, .max = 3, .sub = &inner },
    { "after", XDR_U32, CLASS_GID, ROLE_RANGE_LENGTH },
    END,
};
TYPE(outer);
static const struct field number_fields[] = { { "number", XDR_I32, CLASS_COUNT }, END };
TYPE(number);
static const struct arm choice_arms[] = {
    { 7, "named", &pair },
    { 8, NULL, &number },
    { 9, NULL, NULL },
    ARM_DEFAULT("other", &inner),
};
static const struct arm strict_arms[] = { { 0, NULL, NULL }, { 1, "one", &inner }, ARM_END };
static const struct field everything_fields[] = {
    { "u", XDR_U32, CLASS_COUNT },
    { "i", XDR_I32, CLASS_COUNT },
    { "h", XDR_U64, CLASS_SIZE, ROLE_STATUS },
    { "yes", XDR_BOOL, CLASS_BOOLEAN, ROLE_EOF },
    { "colour", XDR_ENUM, CLASS_ENUM, .names = colours },
    { "five", XDR_FIXED, CLASS_VERIFIER, .max = 5 },
    { "blob", XDR_OPAQUE, CLASS_OPAQUE, ROLE_OBJECT, .max = 10 },
    { "contents", XDR_OPAQUE, CLASS_DATA, ROLE_DATA },
    { "text", XDR_STRING, CLASS_NAME, ROLE_NAME },
    { "plain", XDR_STRUCT, .sub = &pair },
    { "marked", XDR_STRUCT, .role = ROLE_ATTRIBUTES, .sub = &pair },
    { NULL, XDR_STRUCT, .sub = &number },
    { "maybe", XDR_OPTIONAL, CLASS_BOOLEAN, ROLE_ATTRIBUTES_NEW, .sub = &pair },
    { "choice", XDR_UNION, CLASS_ENUM, .arms = choice_arms },
    { "strict", XDR_UNION, CLASS_ENUM, ROLE_PORT, .arms = strict_arms },
    { "outers", XDR_LIST, CLASS_BOOLEAN, .sub = &outer },
    END,
};
TYPE(everything);

static void pair_at(const char *name)
{
    size_t before = enter(&s, name);

    u32(&s, "a", 0x80000000);
    u64(&s, "b", 0x8000000000000000ULL);
    leave(&s, before);
}

static void everything_at(uint32_t n)
{
    static const uint8_t bytes[] = "0123456789";
    uint32_t i, j;
    size_t before = enter(&s, "everything");

    u32(&s, "u", 0xfedcba98);
    sample_line(&s, "everything.i=%llu@%u\n", 0xfffffffffffffffeULL, s.len);
    put_u32(&s, 0xfffffffe);
    u64(&s, "h", 0x0123456789abcdefULL);
    u32(&s, "yes", n & 1);
    u32(&s, "colour", n); /* most are in no list */
    fixed(&s, "five", "fixed", 5);
    opaque(&s, "blob", bytes, n);
    file_data(&s, "contents", bytes, 10 - n);
    opaque(&s, "text", bytes, n);
    pair_at("plain");
    pair_at("marked");
    u32(&s, "number", n);
    u32(&s, "maybe", n & 1);
    if (n & 1)
        pair_at("maybe");
    u32(&s, "choice", n);
    if (n == 7)
        pair_at("named");
    else if (n == 8)
        u32(&s, "number", 1);
    else if (n != 9)
        u32(&s, "other.x", 2);
    u32(&s, "strict", n & 1);
    if (n & 1)
        u32(&s, "one.x", 3);
    for (i = 0; i < n % 4; i++) {
        u32(&s, "outers", 1);
        u32(&s, "outers.before", 4);
        for (j = 0; j < i; j++) {
            u32(&s, "outers.inners", 1);
            u32(&s, "outers.inners.x", j);
        }
        u32(&s, "outers.inners", 0);
        u32(&s, "outers.numbers", i);
        for (j = 0; j < i; j++)
            u32(&s, "outers.numbers.x", j);
        u32(&s, "outers.after", 5);
    }
    u32(&s, "outers", 0);
    leave(&s, before);
}

static void test_everything(void **state)
{
    uint32_t n;

    (void)state;
    for (n = 0; n <= 10; n++) {
        sample_reset(&s);
        everything_at(n);
        check_sample(&s, &everything);
    }
}

static void test_derived(void **state)
{
    (void)state;
    assert_int_equal(pair.fixed_size, 12);
    assert_true(pair.plain);
    assert_int_equal(pair.roles, 0);
    assert_false(pair.has_data);
    assert_int_equal(outer.fixed_size, -1);
    assert_int_equal(outer.roles,
                     ROLE_RANGE_START | ROLE_RANGE_LENGTH | ROLE_ENTRY | ROLE_ENTRY_NAME);
    assert_int_equal(everything.fixed_size, -1);
    assert_false(everything.plain);
    assert_true(everything.has_data);
    assert_true(everything.roles & ROLE_PORT);
    assert_int_equal(wire_void.fixed_size, 0);
}

struct indexes {
    char text[256];
    size_t len;
};

static int note_index(void *ctx, const struct visit *v)
{
    struct indexes *indexes = ctx;
    const char *name = v->field->name;

    indexes->len +=
        (size_t)snprintf(indexes->text + indexes->len, sizeof(indexes->text) - indexes->len,
                         "%.2s%u ", name, v->index);
    return 0;
}

/* Elements count from 0 in each list, and the outer number comes back behind an inner list. */
static void test_index(void **state)
{
    struct indexes indexes = { .len = 0 };
    struct visitor visitor = { .visit = note_index, .ctx = &indexes };
    static const struct field lists_fields[] = {
        { "outers", XDR_LIST, CLASS_BOOLEAN, .sub = &outer },
        END,
    };
    static struct type lists = { .name = "lists", .fields = lists_fields };
    static const uint8_t words[] = { 1, 9, 1, 9, 1, 9, 0, 2, 9, 9, 9, 1, 9, 0, 1, 9, 9, 0 };
    uint8_t body[sizeof(words) * 4];
    struct walk walked;
    size_t i;

    (void)state;
    derive(&lists);
    for (i = 0; i < sizeof(words); i++)
        store_be32(body + 4 * i, words[i]);
    assert_int_equal(walk(&walked, &lists, body, sizeof(body), sizeof(body), false, &visitor),
                     WALK_OK);
    assert_string_equal(indexes.text, "ou0 be0 in0 x0 in1 x1 in2 nu0 x0 x1 af0 "
                                      "ou1 be1 in0 nu1 x0 af1 ou2 ");
}

/* Structures are shown whole before their fields, with their bytes. */
static void test_whole(void **state)
{
    static struct seen seen;
    struct walk walked;
    unsigned i, marked = 0, maybe = 0;

    (void)state;
    sample_reset(&s);
    everything_at(1);
    see_walk(&seen, &everything, s.bytes, s.len, s.len, false, 0, &walked);
    for (i = 0; i + 1 < seen.count; i++) {
        const struct visit *v = &seen.visits[i];

        if (!v->whole)
            continue;
        marked += strcmp(v->field->name, "marked") == 0;
        maybe += strcmp(v->field->name, "maybe") == 0;
        assert_int_equal(v->len, 12);
        assert_int_equal(v->full_len, 12);
        assert_ptr_equal(v->data, s.bytes + v->offset);
        assert_string_equal(v[1].field->name, "a");
        assert_ptr_equal(v[1].data, v->data);
    }
    assert_int_equal(marked, 1);
    assert_int_equal(maybe, 1);
    see_walk(&seen, &everything, s.bytes, s.len, s.len, false, ROLE_ATTRIBUTES_NEW, &walked);
    assert_int_equal(seen.count, 1);
    assert_true(seen.visits[0].whole);
}

struct stopper {
    unsigned left, visits;
};

static int stop_later(void *ctx, const struct visit *v)
{
    struct stopper *stopper = ctx;

    (void)v;
    stopper->visits++;
    return stopper->left-- == 0;
}

static void test_stop(void **state)
{
    struct stopper stopper = { .left = 1000000 };
    struct visitor visitor = { .visit = stop_later, .ctx = &stopper };
    struct walk walked;
    unsigned all, i;

    (void)state;
    sample_reset(&s);
    everything_at(7);
    assert_int_equal(walk(&walked, &everything, s.bytes, s.len, s.len, false, &visitor), WALK_OK);
    all = stopper.visits;
    assert_true(all > 30);
    for (i = 0; i < all; i++) {
        stopper = (struct stopper){ .left = i };
        assert_int_equal(walk(&walked, &everything, s.bytes, s.len, s.len, false, &visitor),
                         WALK_STOPPED);
        assert_int_equal(stopper.visits, i + 1);
    }
}

static void assert_walk(const struct field *fields, const uint8_t *data, uint32_t cap,
                        uint32_t wire, bool elided, enum walk_result result, const char *problem,
                        uint32_t offset)
{
    struct type type = { .name = "test", .fields = fields };
    uint8_t *copy = exact_copy(data, cap);
    char path[WALK_PATH_MAX];
    struct walk walked;

    derive(&type);
    assert_int_equal(walk(&walked, &type, copy, cap, wire, elided, NULL), result);
    assert_int_equal(walked.offset, offset);
    if (problem) {
        assert_string_equal(walked.problem, problem);
        assert_string_equal(walk_path(&walked, NULL, path),
                            strcmp(problem, "bytes are left over") ? "test.f" : "test");
    } else {
        assert_null(walked.problem);
    }
    free(copy);
}

/* Lengths that lie, and which of the two ends counts. */
static void test_lengths(void **state)
{
    static const struct field opaque10[] = { { "f", XDR_OPAQUE, CLASS_NAME, .max = 10 }, END };
    static const struct field unbounded[] = { { "f", XDR_STRING, CLASS_NAME }, END };
    static const struct field array[] = { { "f", XDR_ARRAY, CLASS_COUNT, .sub = &inner }, END };
    static const struct field fixed5[] = { { "f", XDR_FIXED, CLASS_NAME, .max = 5 }, END };
    static const struct field pairs[] = { { "f", XDR_U64, CLASS_SIZE }, END };
    static const uint8_t huge[8] = { 0xff, 0xff, 0xff, 0xff }, three[8] = { 0, 0, 0, 3 };
    static const uint8_t eleven[16] = { 0, 0, 0, 11 }, five[8] = "fiveb", nine[16] = { 0, 0, 0, 9 };
    static const uint8_t near_top[8] = { 0xff, 0xff, 0xff, 0xfd };
    const char *passes = "length passes the message's end",
               *ends = "the message ends within this value";

    (void)state;
    assert_walk(opaque10, eleven, 16, 16, false, WALK_MALFORMED, "length is above its bound", 0);
    assert_walk(opaque10, eleven, 4, 16, false, WALK_MALFORMED, "length is above its bound", 0);
    assert_walk(unbounded, huge, 8, 8, false, WALK_MALFORMED, passes, 4);
    assert_walk(unbounded, near_top, 8, 8, false, WALK_MALFORMED, passes, 4);
    assert_walk(unbounded, near_top, 8, UINT32_MAX, false, WALK_MALFORMED, passes, 4);
    assert_walk(unbounded, huge, 4, 8, false, WALK_MALFORMED, passes, 4);
    assert_walk(unbounded, three, 8, 8, false, WALK_OK, NULL, 8);
    assert_walk(unbounded, three, 7, 7, false, WALK_MALFORMED, "padding passes the message's end",
                4);
    assert_walk(unbounded, three, 7, 8, false, WALK_TRUNCATED, NULL, 7);
    assert_walk(unbounded, three, 4, 8, false, WALK_TRUNCATED, NULL, 4);
    assert_walk(unbounded, three, 3, 8, false, WALK_TRUNCATED, NULL, 3);
    assert_walk(unbounded, three, 3, 3, false, WALK_MALFORMED, ends, 0);
    assert_walk(unbounded, nine, 16, 20, false, WALK_MALFORMED, "bytes are left over", 16);
    assert_walk(array, huge, 8, 8, false, WALK_MALFORMED, "count passes the message's end", 0);
    assert_walk(array, three, 8, 12, false, WALK_MALFORMED, "count passes the message's end", 0);
    assert_walk(array, three, 8, 16, false, WALK_TRUNCATED, NULL, 8);
    assert_walk(fixed5, five, 8, 8, false, WALK_OK, NULL, 8);
    assert_walk(fixed5, five, 7, 7, false, WALK_MALFORMED, ends, 0);
    assert_walk(fixed5, five, 5, 8, false, WALK_TRUNCATED, NULL, 5);
    assert_walk(pairs, five, 8, 8, false, WALK_OK, NULL, 8);
    assert_walk(pairs, five, 7, 8, false, WALK_TRUNCATED, NULL, 7);
    assert_walk(pairs, five, 0, 0, false, WALK_MALFORMED, ends, 0);
    /* more captured than there was: what passes the wire's length is left over */
    assert_walk(fixed5, nine, 16, 8, false, WALK_MALFORMED, "bytes are left over", 8);
}

/* A structure that is passed over in one step is judged value by value all the same. */
static void test_first_value_counts(void **state)
{
    static const struct field holder[] = { { "f", XDR_STRUCT, .sub = &pair }, END };
    struct type type = { .name = "test", .fields = holder };
    uint8_t zeros[12] = { 0 };
    char path[WALK_PATH_MAX];
    struct walk walked;

    (void)state;
    derive(&type);
    /* 4 bytes are whole, the next 8 are not all on the wire, let alone captured */
    assert_int_equal(walk(&walked, &type, zeros, 6, 8, false, NULL), WALK_MALFORMED);
    assert_string_equal(walk_path(&walked, NULL, path), "test.f.b");
    /* the first 4 bytes are on the wire, but not captured */
    assert_int_equal(walk(&walked, &type, zeros, 2, 8, false, NULL), WALK_TRUNCATED);
    assert_string_equal(walk_path(&walked, NULL, path), "test.f.a");
    assert_int_equal(walk(&walked, &type, NULL, 0, 12, false, NULL), WALK_TRUNCATED);
}

static void test_bad_values(void **state)
{
    static const struct field boolean[] = { { "f", XDR_BOOL, CLASS_BOOLEAN }, END };
    static const struct field optional[] = { { "f", XDR_OPTIONAL, CLASS_BOOLEAN, .sub = &inner },
                                             END };
    static const struct field list[] = { { "f", XDR_LIST, CLASS_BOOLEAN, .sub = &inner }, END };
    static const struct field strict[] = { { "f", XDR_UNION, CLASS_ENUM, .arms = strict_arms },
                                           END };
    static const struct field array3[] = {
        { "f", XDR_ARRAY, CLASS_COUNT, .max = 3, .sub = &inner },
        END,
    };
    static const uint8_t two[4] = { 0, 0, 0, 2 }, four[20] = { 0, 0, 0, 4 };
    static const uint8_t second[12] = { 0, 0, 0, 1, 0, 0, 0, 0, 0x80 };
    const char *not_boolean = "boolean is neither 0 nor 1";

    (void)state;
    assert_walk(boolean, two, 4, 4, false, WALK_MALFORMED, not_boolean, 0);
    assert_walk(optional, two, 4, 4, false, WALK_MALFORMED, not_boolean, 0);
    assert_walk(list, two, 4, 4, false, WALK_MALFORMED, not_boolean, 0);
    assert_walk(list, second, 12, 12, false, WALK_MALFORMED, not_boolean, 8);
    assert_walk(strict, two, 4, 4, false, WALK_MALFORMED, "no such value", 0);
    assert_walk(array3, four, 20, 20, false, WALK_MALFORMED, "count is above its bound", 0);
}

/* Lengths of elided contents against the length on the wire. */
static void test_elided_lengths(void **state)
{
    static const struct field contents[] = {
        { "f", XDR_OPAQUE, CLASS_DATA },
        { "g", XDR_U32, CLASS_COUNT },
        END,
    };
    static const uint8_t ten[8] = { 0, 0, 0, 10, 0, 0, 0, 1 };
    const char *passes = "length passes the message's end";

    (void)state;
    assert_walk(contents, ten, 8, 20, true, WALK_OK, NULL, 20);
    assert_walk(contents, ten, 6, 20, true, WALK_TRUNCATED, NULL, 18);
    assert_walk(contents, ten, 8, 24, true, WALK_MALFORMED, "bytes are left over", 20);
    assert_walk(contents, ten, 8, 14, true, WALK_MALFORMED, "padding passes the message's end", 4);
    assert_walk(contents, ten, 8, 13, true, WALK_MALFORMED, passes, 4);
    /* more bytes than can have been there, in both cases */
    struct type type = { .name = "test", .fields = contents };
    char path[WALK_PATH_MAX];
    struct walk walked;

    derive(&type);
    assert_int_equal(walk(&walked, &type, ten, 8, 16, true, NULL), WALK_MALFORMED);
    assert_string_equal(walked.problem, "the message ends within this value");
    assert_string_equal(walk_path(&walked, NULL, path), "test.g");
    static const struct field only[] = { { "f", XDR_OPAQUE, CLASS_DATA }, END };
    assert_walk(only, ten, 4, 16, true, WALK_OK, NULL, 16);
    assert_walk(only, ten, 8, 16, true, WALK_MALFORMED, "bytes are left over", 16);
}

static void test_depth(void **state)
{
    struct field fields[WALK_DEPTH_MAX + 1][2] = { { END, END } };
    struct type types[WALK_DEPTH_MAX + 1] = { { .name = "deep" } };
    static const uint8_t zero[4];
    char path[WALK_PATH_MAX];
    struct walk walked;
    int i;

    (void)state;
    for (i = 0; i <= WALK_DEPTH_MAX; i++) {
        types[i] = (struct type){ .name = "deep", .fields = fields[i] };
        if (i < WALK_DEPTH_MAX)
            fields[i][0] =
                (struct field){ "a_name_of_26_characters_xx", XDR_STRUCT, .sub = &types[i + 1] };
        else
            fields[i][0] = (struct field){ "leaf", XDR_BOOL, CLASS_BOOLEAN };
        fields[i][1] = (struct field)END;
    }
    derive(&types[0]);
    assert_int_equal(walk(&walked, &types[1], zero, 4, 4, false, NULL), WALK_OK);
    assert_int_equal(walk(&walked, &types[0], zero, 4, 4, false, NULL), WALK_MALFORMED);
    assert_string_equal(walked.problem, "nested too deep");
    walk_path(&walked, NULL, path);
    assert_int_equal(strlen(path), WALK_PATH_MAX - 1); /* 4 + 16 * 27 characters, cut */
    assert_memory_equal(path, "deep.a_name_of_26_characters_xx.a_n", 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_first_value_counts),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_elided_lengths),
        cmocka_unit_test(test_depth),
    };

    wire_init();
    derive(&everything);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
