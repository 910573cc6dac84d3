/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_nlm.c
 *
 * The Network Lock Manager, versions 1, 3 and 4, written by hand from X/Open's XNFS chapter 10 and
 * RFC 1813 s6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire_check.h"

static struct sample s;
static uint32_t version;

static const struct procedure *nlm(uint32_t number)
{
    const struct procedure *procedure = procedure_find(100021, version, number);

    assert_non_null(procedure);
    sample_reset(&s);
    return procedure;
}

static void done(const struct type *type)
{
    check_sample(&s, type);
    sample_reset(&s);
}

/* Begins the structure nlm_NAME or nlm4_NAME. */
static size_t begin(const char *name)
{
    char full[64];

    snprintf(full, sizeof(full), "%s_%s", version == 4 ? "nlm4" : "nlm", name);
    return enter(&s, full);
}

static void signed32(const char *name, int32_t value)
{
    sample_line(&s, "%s%s=%llu@%u\n", s.prefix, name, (unsigned long long)(int64_t)value, s.len);
    put_u32(&s, (uint32_t)value);
}

static void cookie(uint32_t len)
{
    handle(&s, "cookie", len, 0x35);
}

static void range(void)
{
    if (version == 4) {
        u64(&s, "l_offset", 0xfedcba9876543210ULL);
        u64(&s, "l_len", 0x8000000000000001ULL);
    } else {
        u32(&s, "l_offset", 0xfedcba98);
        u32(&s, "l_len", 0x80000001);
    }
}

static void alock(void)
{
    size_t outer = enter(&s, "alock");

    string(&s, "caller_name", "client.example");
    handle(&s, "fh", 28, 1);
    handle(&s, "oh", 7, 2);
    signed32(version == 4 ? "svid" : "uppid", -2);
    range();
    leave(&s, outer);
}

static void testargs(const struct type *type)
{
    size_t outer = begin("testargs");

    cookie(4);
    u32(&s, "exclusive", 1);
    alock();
    leave(&s, outer);
    done(type);
}

static void lockargs(const struct type *type)
{
    size_t outer = begin("lockargs");

    cookie(0);
    u32(&s, "block", 1);
    u32(&s, "exclusive", 0);
    alock();
    u32(&s, "reclaim", 1);
    signed32("state", -77);
    leave(&s, outer);
    done(type);
}

static void cancargs(const struct type *type)
{
    size_t outer = begin("cancargs");

    cookie(8);
    u32(&s, "block", 0);
    u32(&s, "exclusive", 1);
    alock();
    leave(&s, outer);
    done(type);
}

static void unlockargs(const struct type *type)
{
    size_t outer = begin("unlockargs");

    cookie(5);
    alock();
    leave(&s, outer);
    done(type);
}

static void res(const struct type *type)
{
    uint32_t status;
    size_t outer;

    for (status = 0; status < 11; status++) {
        outer = begin("res");
        cookie(4);
        u32(&s, "stat.stat", status);
        leave(&s, outer);
        done(type);
    }
}

static void testres(const struct type *type)
{
    uint32_t status;
    size_t outer, inner;

    for (status = 0; status < 11; status++) {
        outer = begin("testres");
        cookie(4);
        inner = enter(&s, version == 4 ? "stat" : "test_stat");
        u32(&s, "stat", status);
        if (status == 1) {
            enter(&s, "holder");
            u32(&s, "exclusive", 1);
            signed32(version == 4 ? "svid" : "uppid", 4711);
            handle(&s, "oh", 9, 3);
            range();
        }
        leave(&s, inner);
        leave(&s, outer);
        done(type);
    }
}

static void test_locks(void **state)
{
    uint32_t i;

    (void)state;
    for (version = 1; version <= 4; version += version == 1 ? 2 : 1) {
        done(nlm(0)->arguments);
        done(nlm(0)->result);
        for (i = 0; i < 2; i++) { /* the procedure, and its _MSG */
            testargs(nlm(1 + 5 * i)->arguments);
            lockargs(nlm(2 + 5 * i)->arguments);
            cancargs(nlm(3 + 5 * i)->arguments);
            unlockargs(nlm(4 + 5 * i)->arguments);
            testargs(nlm(5 + 5 * i)->arguments);
        }
        testres(nlm(1)->result);
        testres(nlm(11)->arguments);
        for (i = 2; i <= 5; i++) {
            res(nlm(i)->result);
            res(nlm(i + 10)->arguments);
        }
        for (i = 6; i <= 15; i++)
            done(nlm(i)->result);
    }
}

static void shareargs(const struct type *type)
{
    size_t outer = begin("shareargs"), inner;

    cookie(4);
    inner = enter(&s, "share");
    string(&s, "caller_name", "pc");
    handle(&s, "fh", 32, 4);
    handle(&s, "oh", 3, 5);
    u32(&s, "mode", 3);
    u32(&s, "access", 77); /* not in the list of names: kept all the same */
    leave(&s, inner);
    u32(&s, "reclaim", 0);
    leave(&s, outer);
    done(type);
}

static void shareres(const struct type *type)
{
    size_t outer = begin("shareres");

    cookie(4);
    u32(&s, "stat", 1);
    signed32("sequence", -1);
    leave(&s, outer);
    done(type);
}

static void test_sharing(void **state)
{
    size_t outer;
    uint32_t i;

    (void)state;
    for (version = 3; version <= 4; version++) {
        for (i = 20; i <= 21; i++) {
            shareargs(nlm(i)->arguments);
            shareres(nlm(i)->result);
        }
        lockargs(nlm(22)->arguments);
        res(nlm(22)->result);
        outer = begin("notify");
        string(&s, "name", "pc");
        signed32("state", 0x7fffffff);
        leave(&s, outer);
        done(procedure_find(100021, version, 23)->arguments);
        done(nlm(23)->result);
        for (i = 16; i <= 19; i++)
            assert_null(procedure_find(100021, version, i));
        assert_null(procedure_find(100021, version, 24));
    }
    assert_null(procedure_find(100021, 1, 20));
    assert_null(procedure_find(100021, 2, 1));
}

static void test_statuses(void **state)
{
    (void)state;
    assert_string_equal(status_name(procedure_find(100021, 1, 2), 4), "LCK_DENIED_GRACE_PERIOD");
    assert_null(status_name(procedure_find(100021, 3, 2), 5));
    assert_string_equal(status_name(procedure_find(100021, 4, 1), 5), "NLM4_DEADLCK");
    assert_string_equal(status_name(procedure_find(100021, 4, 20), 9), "NLM4_FAILED");
    assert_null(status_name(procedure_find(100021, 4, 6), 0));
}

/* Limits: LM_MAXSTRLEN and MAXNETOBJ_SZ. */
static void test_bounds(void **state)
{
    static uint8_t body[4096];
    struct walk walked;

    (void)state;
    version = 4;
    store_be32(body, 1024);
    store_be32(body + 1028, 0);
    assert_int_equal(walk(&walked, nlm(2)->result, body, 1032, 1032, false, NULL), WALK_OK);
    store_be32(body, 1025);
    assert_int_equal(walk(&walked, nlm(2)->result, body, 1036, 1036, false, NULL), WALK_MALFORMED);
    assert_string_equal(walked.problem, "length is above its bound");
    store_be32(body, 1025);
    assert_int_equal(walk(&walked, nlm(23)->arguments, body, 1036, 1036, false, NULL), WALK_OK);
    store_be32(body, 1026);
    assert_int_equal(walk(&walked, nlm(23)->arguments, body, 1036, 1036, false, NULL),
                     WALK_MALFORMED);
}

/* The lock's handle is the object, its range the operation's; a holder's range is not. */
static int check_role(void *ctx, const struct field_place *place)
{
    const char *leaf = strrchr(place->path, '.') + 1;
    uint32_t expected = 0;

    (void)ctx;
    if (place->program->number != 100021)
        return 0;
    if (strcmp(leaf, "fh") == 0)
        expected = ROLE_OBJECT;
    else if (strcmp(leaf, "stat") == 0)
        expected = ROLE_STATUS;
    else if (strcmp(leaf, "l_offset") == 0 && !strstr(place->path, ".holder."))
        expected = ROLE_RANGE_START;
    else if (strcmp(leaf, "l_len") == 0 && !strstr(place->path, ".holder."))
        expected = ROLE_RANGE_LENGTH;
    assert_int_equal(place->field->role, expected);
    return 0;
}

static void test_roles(void **state)
{
    (void)state;
    assert_int_equal(wire_each_field(check_role, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locks),    cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_statuses), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_roles),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
