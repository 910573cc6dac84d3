/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the writer writes, the walker reads to the same values, for every procedure of every table;
 * bodies by hand against their bytes; each error, with the field that it names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "generated.h"
#include "wire/write.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 200 };

static struct err err;

struct reading {
    const struct generated *g;
    uint32_t seen;
};

static int compare(void *ctx, const struct visit *v)
{
    struct reading *r = ctx;
    const struct generated_value *x;

    if (v->whole)
        return 0;
    assert_true(r->seen < r->g->count);
    x = &r->g->values[r->seen++];
    assert_ptr_equal(v->field, x->field);
    assert_int_equal(v->index, x->index);
    if (v->field->kind == XDR_FIXED || v->field->kind == XDR_OPAQUE ||
        v->field->kind == XDR_STRING) {
        assert_int_equal(v->len, x->len);
        assert_memory_equal(v->data, r->g->bytes.data + x->at, x->len);
    } else {
        assert_int_equal(v->value, x->value);
    }
    return 0;
}

static void round_trip(struct generated *g, const struct type *type)
{
    struct reading r = { .g = g };
    const struct visitor visitor = { compare, &r, 0 };
    uint32_t len;
    struct walk w;

    assert_int_equal(generate(g, type, &err), 0);
    len = (uint32_t)g->body.len;
    assert_int_equal(len % 4, 0);
    assert_int_equal(walk(&w, type, g->body.data, len, len, false, &visitor), WALK_OK);
    assert_int_equal(r.seen, g->count);
}

/* Fields that some body had, of those that there are. */
static const struct field *fields[2000];
static size_t field_count, fields_hit;

static size_t find_field(const struct field *field)
{
    size_t i = 0;

    while (i < field_count && fields[i] != field)
        i++;
    return i;
}

static int note_field(void *ctx, const struct field_place *place)
{
    (void)ctx;
    if (find_field(place->field) == field_count && field_count < 2000)
        fields[field_count++] = place->field;
    return 0;
}

static void test_all_procedures(void **state)
{
    struct generated g = { .state = 1 };
    static bool hit[2000];
    int procedures = 0;

    (void)state;
    wire_each_field(note_field, NULL);
    for (const struct program *const *program = wire_programs; *program; program++)
        for (uint32_t i = 0; i < (*program)->procedure_count; i++) {
            const struct procedure *p = &(*program)->procedures[i];

            if (!p->name)
                continue;
            procedures++;
            for (int k = 0; k < 2 * SEEDS; k++) {
                g.success = k % 4 < 2;
                g.plain = k % 8 < 4;
                round_trip(&g, k % 2 ? p->result : p->arguments);
                for (uint32_t n = 0; n < g.count; n++)
                    hit[find_field(g.values[n].field)] = true;
            }
        }
    for (size_t i = 0; i < field_count; i++) {
        if (!hit[i])
            print_message("no body had %s\n", fields[i]->name);
        fields_hit += hit[i];
    }
    assert_int_equal(fields_hit, field_count);
    assert_int_equal(procedures, 22 + 6 + 4 + 7 + 6 + 6 + 9 + 13 + 16 + 20 + 20);
    generated_free(&g);
}

/* Every message that is cut: truncated where bytes were not captured, malformed where they are
 * missing; and one that is too long. */
static void test_cut_anywhere(void **state)
{
    struct generated g = { .state = 9, .success = true };
    struct walk w;

    (void)state;
    for (const struct program *const *program = wire_programs; *program; program++)
        for (uint32_t i = 0; i < 4 * (*program)->procedure_count; i++) {
            const struct procedure *p = &(*program)->procedures[i / 4];
            const struct type *type = i & 1 ? p->result : p->arguments;
            uint32_t len;

            if (!p->name)
                continue;
            round_trip(&g, type);
            len = (uint32_t)g.body.len;
            for (uint32_t cut = 0; cut < len; cut++) {
                assert_int_equal(walk(&w, type, g.body.data, cut, len, false, NULL),
                                 WALK_TRUNCATED);
                assert_int_equal(w.offset, cut);
                assert_int_equal(walk(&w, type, g.body.data, cut, cut, false, NULL),
                                 WALK_MALFORMED);
                assert_non_null(w.problem);
                assert_false(w.surplus);
            }
            assert_int_equal(walk(&w, type, g.body.data, len, len + 1, false, NULL),
                             WALK_MALFORMED);
            assert_true(w.surplus);
        }
    generated_free(&g);
}

static const struct type *type_of(uint32_t procedure, bool result)
{
    const struct procedure *p = procedure_find(100003, 3, procedure);

    return result ? p->result : p->arguments;
}

/* --- by hand --- */

#define BYTES(text) { (const uint8_t *)(text), sizeof(text) - 1 }

static void check_bytes(const struct buf *body, const char *hex)
{
    char text[4096] = "";
    size_t len = 0;

    for (size_t i = 0; i < body->len && len + 10 < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%02x",
                                i && i % 4 == 0 ? " " : "", body->data[i]);
    assert_string_equal(text, hex);
}

static void test_by_name(void **state)
{
    /* RFC 1813 s3.3.3, s3.3.2, s3.3.17, the latter with one entry of two attributes */
    static const struct named_value lookup[] = {
        { "what.dir", .bytes = BYTES("dirh") },
        { "what.name", .bytes = BYTES("passwd") },
    };
    static const struct named_value setattr[] = {
        { "object", .bytes = BYTES("file!") },
        { "new_attributes.mode.set_it", 1 },
        { "new_attributes.mode.mode", 0640 },
        { "new_attributes.mtime.set_it", 1 },
        { "guard.check", 1 },
        { "guard.obj_ctime.seconds", 5 },
        { "guard.obj_ctime.nseconds", 6 },
    };
    static const struct named_value readdir[] = {
        { "resok.cookieverf", .bytes = BYTES("verifier") },
        { "resok.reply.entries[0]", 1 },
        { "resok.reply.entries[0].fileid", 42 },
        { "resok.reply.entries[0].name", .bytes = BYTES("a") },
        { "resok.reply.entries[0].cookie", 1 },
        { "resok.reply.entries[1]", 1 },
        { "resok.reply.entries[1].fileid", UINT64_C(1) << 32 },
        { "resok.reply.entries[1].name", .bytes = BYTES("bcde") },
        { "resok.reply.entries[1].cookie", 2 },
        { "resok.reply.eof", 1 },
    };
    struct buf body = { 0 };
    struct xdr_put to = xdr_put_to(&body, 1000);

    (void)state;
    assert_int_equal(write_named(&to, type_of(3, false), lookup, 2, &err), 0);
    check_bytes(&body, "00000004 64697268 00000006 70617373 77640000");
    body.len = 0;
    assert_int_equal(write_named(&to, type_of(2, false), setattr, 7, &err), 0);
    check_bytes(&body, "00000005 66696c65 21000000 00000001 000001a0 00000000 00000000 00000000 "
                       "00000000 00000001 00000001 00000005 00000006");
    body.len = 0;
    assert_int_equal(write_named(&to, type_of(16, true), readdir, 10, &err), 0);
    check_bytes(&body, "00000000 00000000 76657269 66696572 00000001 00000000 0000002a 00000001 "
                       "61000000 00000000 00000001 00000001 00000001 00000000 00000004 62636465 "
                       "00000000 00000002 00000000 00000001");
    buf_free(&body);
}

/* --- errors --- */

struct refusal {
    const char *name; /* this field */
    uint64_t value;   /* has this value */
    uint32_t len;     /* and this length */
    const char *text;
};

static const uint8_t zeros[2000];

static int give_bad(void *ctx, struct fill *fill)
{
    const struct refusal *r = ctx;
    char path[WALK_PATH_MAX];

    walk_path(fill->walk, fill->field, path);
    if (strcmp(path, r->name) == 0) {
        fill->value = r->value;
        fill->bytes = (struct bytes){ zeros, r->len };
    }
    return 0;
}

static void check_refusal(const struct type *type, const struct refusal *r)
{
    const struct filler filler = { give_bad, (void *)r };
    struct buf body = { 0 };
    struct xdr_put to = xdr_put_to(&body, 4000);

    err = (struct err){ 0 };
    assert_int_equal(write_body(&to, type, false, &filler, &err), -ERR_USAGE);
    assert_string_equal(err.text, r->text);
    buf_free(&body);
}

static const struct type *mount_exports(void)
{
    return procedure_find(100005, 3, 5)->result;
}

static void test_refusals(void **state)
{
    static const struct {
        uint32_t program, version, procedure;
        bool result;
        struct refusal refusal;
    } rows[] = {
        { 100003,
          3,
          1,
          false,
          { "GETATTR3args.object", 0, 65, "GETATTR3args.object: longer than it may be" } },
        { 100003,
          3,
          4,
          false,
          { "ACCESS3args.access", UINT64_C(1) << 32, 0,
            "ACCESS3args.access: a number above 32 bits" } },
        { 100003,
          3,
          6,
          true,
          { "READ3res.resok.eof", 2, 0, "READ3res.resok.eof: a boolean is 0 or 1" } },
        { 100003,
          3,
          6,
          true,
          { "READ3res.resok.file_attributes", 7, 0,
            "READ3res.resok.file_attributes: a boolean is 0 or 1" } },
        { 100003,
          3,
          16,
          true,
          { "READDIR3res.resok.cookieverf", 0, 7,
            "READDIR3res.resok.cookieverf: it has another length" } },
        { 100003,
          3,
          16,
          true,
          { "READDIR3res.resok.reply.entries", 2, 0,
            "READDIR3res.resok.reply.entries: a boolean is 0 or 1" } },
        { 100003,
          3,
          8,
          false,
          { "CREATE3args.how.mode", 3, 0, "CREATE3args.how.mode: no such value" } },
        { 100003,
          3,
          2,
          false,
          { "SETATTR3args.guard.check", UINT64_C(1) << 32 | 1, 0,
            "SETATTR3args.guard.check: no such value" } },
        { 100021,
          4,
          1,
          false,
          { "nlm4_testargs.alock.svid", UINT64_C(1) << 31, 0,
            "nlm4_testargs.alock.svid: a number that 32 bits with a sign do "
            "not hold" } },
        { 100227,
          3,
          2,
          false,
          { "SETACL3args.acl.aclent", 1025, 0,
            "SETACL3args.acl.aclent: more elements than it may have" } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct procedure *p =
            procedure_find(rows[i].program, rows[i].version, rows[i].procedure);

        check_refusal(rows[i].result ? p->result : p->arguments, &rows[i].refusal);
    }
}

/* A list without end is ended by the buffer's bound; the first names are in the message. */
static int give_more(void *ctx, struct fill *fill)
{
    (void)ctx;
    fill->value = fill->field->kind == XDR_LIST;
    return 0;
}

static int give_nothing(void *ctx, struct fill *fill)
{
    (void)fill;
    return err_set(ctx, ERR_INPUT, "no more");
}

static void test_bounds(void **state)
{
    const struct filler endless = { give_more, NULL }, none = { give_nothing, &err };
    static const struct named_value unknown[] = { { "object", .bytes = BYTES("h") },
                                                  { "objekt", 1 } };
    static struct named_value many[NAMED_VALUES_MAX + 1];
    struct buf body = { 0 };
    struct xdr_put to = xdr_put_to(&body, 1000);

    (void)state;
    assert_int_equal(write_body(&to, mount_exports(), false, &endless, &err), -ERR_USAGE);
    assert_string_equal(err.text, "exports: longer than it may be");
    assert_true(body.len <= 1000);
    assert_int_equal(write_body(&to, mount_exports(), false, &endless, &err), -ERR_USAGE);
    to = xdr_put_to(&body, 1000);
    body.len = 0;
    assert_int_equal(write_body(&to, mount_exports(), false, &none, &err), -ERR_INPUT);
    assert_string_equal(err.text, "no more");
    assert_int_equal(write_named(&to, type_of(1, false), unknown, 2, &err), -ERR_USAGE);
    assert_string_equal(err.text, "GETATTR3args.objekt: no such field");
    assert_int_equal(write_named(&to, type_of(3, false), unknown, 0, &err), -ERR_USAGE);
    assert_string_equal(err.text, "LOOKUP3args.what.dir: no value was given");
    assert_int_equal(write_named(&to, type_of(3, false), many, NAMED_VALUES_MAX + 1, &err),
                     -ERR_USAGE);
    buf_free(&body);
}

/* Without its contents a WRITE reads as records keep it. */
static int give_write(void *ctx, struct fill *fill)
{
    (void)ctx;
    if (fill->field->cls == CLASS_DATA)
        fill->bytes = (struct bytes){ NULL, 4097 };
    return 0;
}

static void test_contents(void **state)
{
    const struct filler filler = { give_write, NULL };
    const struct type *type = type_of(7, false);
    struct buf body = { 0 };
    struct xdr_put to = xdr_put_to(&body, 10000);
    struct walk w;

    (void)state;
    assert_int_equal(write_body(&to, type, true, &filler, &err), 0);
    assert_int_equal(body.len, 4 + 8 + 4 + 4 + 4);
    assert_int_equal(walk(&w, type, body.data, 24, 24 + 4100, true, NULL), WALK_OK);
    body.len = 0;
    assert_int_equal(write_body(&to, type, false, &filler, &err), 0);
    assert_int_equal(body.len, 24 + 4100);
    assert_int_equal(walk(&w, type, body.data, 24 + 4100, 24 + 4100, false, NULL), WALK_OK);
    buf_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_procedures), cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_by_name),        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_contents),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
