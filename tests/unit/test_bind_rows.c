/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that do not fit their type or struct (wire/bind.h), each with the error that names the path;
 * and a type of all kinds, with its bounds in both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/bind.h"

#include <stdlib.h>

static struct err err;

/* --- a type with everything */

static const struct field piece_fields[] = {
    { "number", XDR_U32 },
    { "text", XDR_STRING, .max = 6 },
    END,
};
static struct type piece = { .name = "piece", .fields = piece_fields };
static const struct field left_fields[] = {
    { "a", XDR_U32 },
    { "shared", XDR_OPAQUE, .max = 5 },
    END,
};
static struct type left = { .name = "left", .fields = left_fields };
static const struct field right_fields[] = {
    { "shared", XDR_OPAQUE, .max = 7 },
    { "b", XDR_U64 },
    END,
};
static struct type right = { .name = "right", .fields = right_fields };
static const struct arm side_arms[] = {
    { 5, "left", &left },
    { 6, "right", &right },
    { 7, "nothing", NULL },
    { .is_end = true },
};
static const struct field inner_fields[] = {
    { "n", XDR_I32 },
    { "odd", XDR_FIXED, .max = 5 },
    END,
};
static struct type inner = { .name = "inner", .fields = inner_fields };
static const struct arm yes_no_arms[] = {
    { 0, NULL, NULL },
    { 1, NULL, &inner },
    { .is_end = true },
};
static const struct field whole_fields[] = {
    { "list", XDR_LIST, .sub = &piece },
    { "maybe", XDR_OPTIONAL, .sub = &piece },
    { "side", XDR_UNION, .arms = side_arms },
    { "array", XDR_ARRAY, .max = 2, .sub = &piece },
    { "check", XDR_UNION, .arms = yes_no_arms },
    { "flag", XDR_BOOL },
    { "last", XDR_U64 },
    END,
};
static struct type whole = { .name = "whole", .fields = whole_fields };

struct piece {
    uint32_t number;
    struct bytes text;
};

struct whole {
    struct bind_list list, array;
    bool maybe_follows;
    struct piece maybe;
    enum { LEFT = 5, RIGHT = 6, NOTHING = 7 } side; /* an enum is a uint32_t */
    uint32_t a;
    struct bytes shared;
    uint64_t b;
    bool check, flag;
    int32_t n;
    uint8_t odd[5];
    uint64_t last;
};

static const struct bind_row piece_rows[] = {
    BIND(piece, "number", number),
    BIND(piece, "text", text),
    BIND_END,
};

/* Index into the rows below. */
enum {
    LIST,
    MAYBE,
    MAYBE_PIECE,
    SIDE,
    A,
    SHARED,
    SHARED2,
    B,
    ARRAY,
    CHECK,
    N,
    ODD,
    FLAG,
    LAST,
    ROWS
};

static const struct bind_row whole_rows[] = {
    [LIST] = BIND_LIST(whole, "list", list, piece),
    [MAYBE] = BIND(whole, "maybe", maybe_follows),
    [MAYBE_PIECE] = BIND_STRUCT(whole, "maybe", maybe, piece),
    [SIDE] = BIND(whole, "side", side),
    [A] = BIND(whole, "left.a", a),
    [SHARED] = BIND(whole, "left.shared", shared),
    [SHARED2] = BIND(whole, "right.shared", shared),
    [B] = BIND(whole, "right.b", b),
    [ARRAY] = BIND_LIST(whole, "array", array, piece),
    [CHECK] = BIND(whole, "check", check),
    [N] = BIND(whole, "n", n),
    [ODD] = BIND(whole, "odd", odd),
    [FLAG] = BIND(whole, "flag", flag),
    [LAST] = BIND(whole, "last", last),
    [ROWS] = BIND_END,
};

/* --- refusals */

static void test_refusals(void **state)
{
    static const struct bind_row one_number[] = { BIND(piece, "number", number), BIND_END };
    static const struct bind_row twice[] = { BIND(piece, "number", number),
                                             BIND(piece, "number", number), BIND_END };
    static const struct bind_row before[] = { { "number", UINT32_MAX - 7, 4, BIND_IS_U32 },
                                              BIND_END };
    static const struct {
        int row; /* is replaced by */
        struct bind_row by;
        const char *text;
    } cases[] = {
        { LIST, BIND(whole, "list", a), "whole.list: its member must be a struct bind_list" },
        { LIST, BIND_LIST(whole, "list", array, piece),
          "whole.array: another field of the message has the same member" },
        { LIST,
          { "list", offsetof(struct whole, list), sizeof(struct bind_list), BIND_IS_LIST,
            one_number, 24 },
          "whole.list: piece.text: it has no row" },
        { ARRAY,
          { "array", offsetof(struct whole, array), sizeof(struct bind_list), BIND_IS_LIST, twice,
            24 },
          "whole.array: piece.number: it has two rows" },
        { MAYBE, BIND(whole, "maybe", a), "whole.maybe: its member must be a bool" },
        { MAYBE, BIND(whole, "maybe.", maybe_follows), "whole.maybe: it has no row" },
        { MAYBE_PIECE, BIND_STRUCT(whole, "perhaps", maybe, piece),
          "whole.maybe.number: it has no row" },
        { MAYBE_PIECE,
          { "maybe", offsetof(struct whole, maybe), 4, BIND_IS_STRUCT, piece_rows },
          "whole.maybe.text: its member lies outside of the struct" },
        { SIDE, BIND(whole, "side", flag), "whole.side: its member must be a uint32_t" },
        { A, BIND(whole, "left.a", b), "whole.left.a: its member must be a uint32_t" },
        { A, BIND(whole, "left.a", n), "whole.left.a: its member must be a uint32_t" },
        { A, BIND(whole, "a", a), "whole.left.a: it has no row" },
        { A, BIND(whole, "left.a", side),
          "whole.left.a: another field of the message has the same member" },
        { SHARED, BIND(whole, "left.shared", odd),
          "whole.left.shared: its member must be a struct bytes" },
        { SHARED2, BIND(whole, "left.shared", shared), "whole.left.shared: it has two rows" },
        { B, BIND(whole, "right.b", a), "whole.right.b: its member must be a uint64_t" },
        { CHECK, BIND(whole, "check", a), "whole.check: its member must be a bool" },
        { N, BIND(whole, "n", a), "whole.n: its member must be an int32_t" },
        { ODD, BIND(whole, "odd", b),
          "whole.odd: its member must be an array of uint8_t of its length" },
        { ODD,
          { "odd", offsetof(struct whole, odd), 4, BIND_IS_FIXED },
          "whole.odd: its member must be an array of uint8_t of its length" },
        { ODD,
          { "odd", sizeof(struct whole) - 4, 5, BIND_IS_FIXED },
          "whole.odd: its member lies outside of the struct" },
        { MAYBE_PIECE,
          { "maybe", 48, 24, BIND_IS_STRUCT, before }, /* around the end of 32 bits */
          "whole.maybe.number: its member lies outside of the struct" },
        { ODD,
          { "odd", UINT32_MAX - 1, 5, BIND_IS_FIXED },
          "whole.odd: its member lies outside of the struct" },
        { FLAG, BIND(whole, "flag", check),
          "whole.flag: another field of the message has the same member" },
        { LAST, BIND(whole, "late", last), "whole.last: it has no row" },
        { LAST, BIND_END, "whole.last: it has no row" },
        { LAST, BIND(whole, "last", b), /* of an arm, and behind the union */
          "whole.last: another field of the message has the same member" },
        { ROWS, BIND(whole, "more", last), "whole.more: no field has this row's path" },
        { ROWS, BIND_ALL(piece, "more"), "whole.more.number: no field has this row's path" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bind_row rows[ROWS + 2] = { 0 };

        memcpy(rows, whole_rows, sizeof(whole_rows));
        rows[cases[i].row] = cases[i].by;
        assert_null(bound_new(&whole, rows, sizeof(struct whole), &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_string_equal(err.text, cases[i].text);
    }
    assert_null(bound_new(&whole, whole_rows, BIND_STRUCT_MAX + 1, &err));
    assert_string_equal(err.text, "whole: its struct is larger than BIND_STRUCT_MAX");
}

/* --- tables and rows without end */

static void test_depth(void **state)
{
    static struct field deep_fields[] = { { "x", XDR_STRUCT }, END };
    static struct type deep = { .name = "deep", .fields = deep_fields };
    static struct bind_row rows[2];
    static const struct field lists_fields[] = {
        { "a", XDR_LIST, .sub = &piece }, { "b", XDR_LIST, .sub = &piece },
        { "c", XDR_LIST, .sub = &piece }, { "d", XDR_LIST, .sub = &piece },
        { "e", XDR_LIST, .sub = &piece }, END,
    };
    static struct type lists = { .name = "lists", .fields = lists_fields };
    struct bind_row list_rows[6] = { 0 };

    (void)state;
    deep_fields[0].sub = &deep;
    assert_null(bound_new(&deep, rows, 0, &err));
    assert_string_equal(err.text, "deep.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x: nested too deep");
    deep_fields[0].kind = XDR_LIST; /* of itself */
    rows[0] = (struct bind_row){ "x", 0, 16, BIND_IS_LIST, rows, 16 };
    assert_null(bound_new(&deep, rows, 16, &err));
    assert_string_equal(err.text + strlen(err.text) - 21, "deep: nested too deep");
    rows[0] = (struct bind_row){ "", 0, 8, BIND_IS_STRUCT, rows, 0 };
    assert_null(bound_new(&piece, rows, 8, &err));
    assert_string_equal(err.text, "piece: its rows nest too deep");
    for (int i = 0; i < 5; i++)
        list_rows[i] =
            (struct bind_row){ lists_fields[i].name, (uint32_t)i * 16, 16,
                               BIND_IS_LIST,         piece_rows,       sizeof(struct piece) };
    assert_null(bound_new(&lists, list_rows, 5 * 16, &err));
    assert_string_equal(err.text, "lists.e: the struct has too many lists");
}

/* --- values */

/* clang-format off */
#define TEXT(text) { (const uint8_t *)(text), sizeof(text) - 1 }
/* clang-format on */

static struct bound *bind_whole(void)
{
    struct bound *bound = bound_new(&whole, whole_rows, sizeof(struct whole), &err);

    assert_non_null(bound);
    return bound;
}

static const uint8_t message[] = {
    0,   0,   0, 1, 0,   0,   0,   9,   0,   0,   0,   6,   's', 'i', 'x', 's',
    'i', 'x', 0, 0,                                                           /* list[0] */
    0,   0,   0, 1, 0,   0,   0,   8,   0,   0,   0,   0,                     /* list[1] */
    0,   0,   0, 0,                                                           /* its end */
    0,   0,   0, 1, 0,   0,   0,   7,   0,   0,   0,   1,   'm', 0,   0,   0, /* maybe */
    0,   0,   0, 6, 0,   0,   0,   2,   'h', 'i', 0,   0,   1,   2,   3,   4,
    5,   6,   7, 8,                                                             /* side */
    0,   0,   0, 1, 0,   0,   0,   6,   0,   0,   0,   4,   'f', 'o', 'u', 'r', /* array */
    0,   0,   0, 1, 255, 255, 255, 254, 'f', 'i', 'v', 'e', '5', 0,   0,   0,   /* check */
    0,   0,   0, 1,                                                             /* flag */
    0,   0,   0, 0, 0,   0,   0,   3,                                           /* last */
};

static void test_values(void **state)
{
    struct piece list[2] = { { 9, TEXT("sixsix") }, { .number = 8 } };
    struct piece array[1] = { { 6, TEXT("four") } }, read_list[2], read_array[1];
    struct whole from = { .list = { list, 2, 0 },
                          .array = { array, 1, 0 },
                          .maybe_follows = true,
                          .maybe = { 7, TEXT("m") },
                          .side = RIGHT,
                          .a = 99,
                          .shared = TEXT("hi"),
                          .b = 0x102030405060708,
                          .check = true,
                          .flag = true,
                          .n = -2,
                          .odd = { 'f', 'i', 'v', 'e', '5' },
                          .last = 3 };
    struct whole to = { .list = { read_list, 77, 2 }, .array = { read_array, 77, 1 }, .a = 99 };
    struct bound *bound = bind_whole();
    struct buf made = { 0 };
    struct xdr_put put = xdr_put_to(&made, 1000);

    (void)state;
    assert_int_equal(bind_write(bound, &put, &from), 0);
    assert_int_equal(made.len, sizeof(message));
    assert_memory_equal(made.data, message, made.len);
    assert_int_equal(bind_read(bound, (struct bytes){ message, sizeof(message) }, &to), WALK_OK);
    assert_int_equal(to.list.count, 2);
    assert_int_equal(to.list.most, 2);
    assert_ptr_equal(to.list.elements, read_list);
    assert_int_equal(read_list[0].number, 9);
    assert_ptr_equal(read_list[0].text.data, message + 12);
    assert_int_equal(read_list[0].text.len, 6);
    assert_int_equal(read_list[1].number, 8);
    assert_int_equal(read_list[1].text.len, 0);
    assert_int_equal(to.array.count, 1);
    assert_int_equal(read_array[0].number, 6);
    assert_true(to.maybe_follows);
    assert_int_equal(to.maybe.number, 7);
    assert_int_equal(to.side, RIGHT);
    assert_int_equal(to.a, 0); /* of the other arm */
    assert_int_equal(to.b, from.b);
    assert_true(to.check && to.flag);
    assert_int_equal(to.n, -2);
    assert_memory_equal(to.odd, "five5", 5);
    assert_int_equal(to.last, 3);
    buf_free(&made);
    bound_free(bound);
}

static void test_list_bounds(void **state)
{
    struct piece list[2], array[1];
    struct whole to = { .list = { list, 0, 1 }, .array = { array, 0, 1 } };
    struct bound *bound = bind_whole();

    (void)state;
    assert_int_equal(bind_read(bound, (struct bytes){ message, sizeof(message) }, &to),
                     WALK_STOPPED);
    assert_int_equal(to.list.count, 1);
    to.list.most = 2;
    to.array.most = 0;
    assert_int_equal(bind_read(bound, (struct bytes){ message, sizeof(message) }, &to),
                     WALK_STOPPED);
    to.array.most = 1;
    assert_int_equal(bind_read(bound, (struct bytes){ message, sizeof(message) }, &to), WALK_OK);
    assert_int_equal(bind_read(bound, (struct bytes){ NULL, 0 }, &to), WALK_MALFORMED);
    bound_free(bound);
}

/* An array above its bound; one that the message cannot hold, whatever there is room for. */
static void test_array_bounds(void **state)
{
    static const uint32_t words[] = { 0, 0, 7, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0 };
    struct piece array[5];
    struct whole to = { .array = { array, 0, 5 } };
    struct bound *bound = bind_whole();
    uint8_t body[sizeof(words)];

    (void)state;
    for (size_t i = 0; i < sizeof(words) / 4; i++)
        store_be32(body + 4 * i, words[i]);
    assert_int_equal(bind_read(bound, (struct bytes){ body, sizeof(body) }, &to), WALK_MALFORMED);
    assert_int_equal(to.array.count, 0);
    store_be32(body + 12, 2);
    memmove(body + 32, body + 40, sizeof(body) - 40);
    assert_int_equal(bind_read(bound, (struct bytes){ body, sizeof(body) - 8 }, &to), WALK_OK);
    assert_int_equal(to.array.count, 2);
    to.array.most = 0;
    assert_int_equal(bind_read(bound, (struct bytes){ body, sizeof(body) - 8 }, &to), WALK_STOPPED);
    assert_int_equal(bind_read(bound, (struct bytes){ body, 20 }, &to), WALK_MALFORMED);
    bound_free(bound);
}

/* Numbers that are neighbours on the wire alone. */
static void test_order(void **state)
{
    struct scattered {
        uint64_t e, hole, d;
        uint32_t c, a, hole2, b;
    };
    static const struct field fields[] = {
        { "a", XDR_U32 }, { "b", XDR_U32 }, { "c", XDR_U32 },
        { "d", XDR_U64 }, { "e", XDR_U64 }, END,
    };
    static struct type type = { .name = "scattered", .fields = fields };
    static const struct bind_row rows[] = {
        BIND(scattered, "a", a), BIND(scattered, "b", b), BIND(scattered, "c", c),
        BIND(scattered, "d", d), BIND(scattered, "e", e), BIND_END,
    };
    static const uint8_t body[] = { 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0,
                                    0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5 };
    struct bound *bound = bound_new(&type, rows, sizeof(struct scattered), &err);
    struct scattered to;

    (void)state;
    assert_non_null(bound);
    assert_int_equal(bind_read(bound, (struct bytes){ body, sizeof(body) }, &to), WALK_OK);
    assert_true(to.a == 1 && to.b == 2 && to.c == 3 && to.d == 4 && to.e == 5);
    assert_true(to.hole == 0 && to.hole2 == 0);
    bound_free(bound);
}

/* Words of the message that may not be what they are: the verdict is walk()'s. */
static void test_bad_words(void **state)
{
    static const uint32_t values[] = { 0, 1, 2, 5, 6, 7, 8, 100, UINT32_MAX - 3, UINT32_MAX };
    struct piece list[10], array[10];
    struct whole to = { .list = { list, 0, 10 }, .array = { array, 0, 10 } };
    struct bound *bound = bind_whole();
    uint8_t *body = malloc(sizeof(message));
    struct walk w;
    int refused = 0;

    (void)state;
    assert_non_null(body);
    for (uint32_t at = 0; at < sizeof(message); at += 4)
        for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
            struct bytes bytes = { body, sizeof(message) };
            enum walk_result expected;

            memcpy(body, message, sizeof(message));
            store_be32(body + at, values[i]);
            expected = walk(&w, &whole, body, sizeof(message), sizeof(message), false, NULL);
            assert_int_equal(bind_read(bound, bytes, &to), expected);
            refused += expected != WALK_OK;
        }
    assert_in_range(refused, 100, 200);
    free(body);
    bound_free(bound);
}

static void write_bad(const struct bound *bound, const struct whole *from, bool good)
{
    struct buf made = { 0 };
    struct xdr_put put = xdr_put_to(&made, 1000);

    assert_int_equal(bind_write(bound, &put, from), good ? 0 : -ERR_USAGE);
    assert_int_equal(put.problem, good ? XDR_PUT_OK : XDR_PUT_BAD);
    if (good)
        assert_int_equal(bind_size(bound, from), made.len);
    else
        assert_in_range(bind_size(bound, from), 4, 1000); /* it says something */
    buf_free(&made);
}

static void test_bad_values(void **state)
{
    struct piece pieces[3] = { 0 };
    struct whole good = { .side = NOTHING }, bad;
    struct bound *bound = bind_whole();

    (void)state;
    write_bad(bound, &good, true);
    bad = good;
    bad.side = 8;
    write_bad(bound, &bad, false);
    bad = good;
    bad.side = LEFT;
    bad.shared = (struct bytes){ (const uint8_t *)"12345", 5 };
    write_bad(bound, &bad, true);
    bad.shared.len = 6;
    write_bad(bound, &bad, false);
    bad.side = RIGHT; /* whose bound is 7 */
    write_bad(bound, &bad, true);
    bad = good;
    bad.array = (struct bind_list){ pieces, 2, 0 };
    write_bad(bound, &bad, true);
    bad.array.count = 3;
    write_bad(bound, &bad, false);
    bad = good;
    bad.list = (struct bind_list){ NULL, 1, 1 };
    write_bad(bound, &bad, false);
    bad.list.elements = pieces;
    write_bad(bound, &bad, true);
    pieces[0].text = (struct bytes){ NULL, 6 }; /* zeros */
    write_bad(bound, &bad, true);
    pieces[0].text.len = 7;
    write_bad(bound, &bad, false);
    bound_free(bound);
}

/* A problem that was there is told again, and nothing is written. */
static void test_problem_before(void **state)
{
    struct whole from = { .side = NOTHING };
    struct bound *bound = bind_whole();
    struct buf made = { 0 };
    struct xdr_put put = xdr_put_to(&made, 1000);

    (void)state;
    xdr_put_fail(&put, XDR_PUT_NO_MEMORY);
    assert_int_equal(bind_write(bound, &put, &from), -ERR_SYSTEM);
    assert_int_equal(made.len, 0);
    for (size_t max = 0; max < bind_size(bound, &from); max++) {
        made.len = 0;
        put = xdr_put_to(&made, max);
        assert_int_equal(bind_write(bound, &put, &from), -ERR_USAGE);
        assert_int_equal(put.problem, XDR_PUT_TOO_LONG);
        assert_true(made.len <= max);
    }
    buf_free(&made);
    bound_free(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_depth),
        cmocka_unit_test(test_values),         cmocka_unit_test(test_list_bounds),
        cmocka_unit_test(test_array_bounds),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_bad_words),      cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_problem_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
