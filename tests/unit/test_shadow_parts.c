/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_parts.c
 *
 * Parts of live/shadow that need no server: which paths the user wants, and where a listing of the
 * SUT goes on.
 */
#include "shadow/listings.c"
#include "shadow/paths.c"

#include "wire/nfs3_structs.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct err err;

/* --- paths */

static struct mirror_object *add(struct mirror *mirror, struct mirror_object *parent,
                                 const char *name, uint8_t type)
{
    static uint8_t handle[4];
    struct bytes text = { (const uint8_t *)name, (uint32_t)strlen(name) };
    struct mirror_object *object;

    handle[0]++;
    object = mirror_add(mirror, (struct bytes){ handle, sizeof(handle) }, &err);
    assert_non_null(object);
    mirror_set_type(object, type);
    object->is_root = !parent;
    if (parent)
        assert_int_equal(mirror_add_name(mirror, object, parent, text, &err), 0);
    return object;
}

static void test_paths(void **state)
{
    static const char *const by_path[] = { "/a/b*" }, *const by_name[] = { "*.o" };
    struct shadow s = { .mirror = mirror_open(UINT64_C(1000000000), &err) };
    struct mirror_object *root, *a, *b1, *below, *c, *object;

    (void)state;
    assert_non_null(s.mirror);
    root = add(s.mirror, NULL, "", OBJECT_DIR);
    a = add(s.mirror, root, "a", OBJECT_DIR);
    b1 = add(s.mirror, a, "b1", OBJECT_DIR);
    below = add(s.mirror, b1, "x", OBJECT_REG);
    c = add(s.mirror, a, "c", OBJECT_REG);
    object = add(s.mirror, a, "c.o", OBJECT_REG);
    assert_true(paths_want(&s, below));

    s.setup.exclude = (struct shadow_paths){ by_path, 1 };
    assert_true(paths_want(&s, root) && paths_want(&s, a) && paths_want(&s, c));
    assert_false(paths_want(&s, b1) || paths_want(&s, below));
    s.setup.exclude = (struct shadow_paths){ by_name, 1 };
    assert_true(paths_want(&s, c) && paths_want(&s, below));
    assert_false(paths_want(&s, object));

    s.setup.exclude.count = 0;
    s.setup.only = (struct shadow_paths){ by_path, 1 };
    assert_true(paths_want(&s, root) && paths_want(&s, a)); /* they lead there */
    assert_true(paths_want(&s, b1) && paths_want(&s, below));
    assert_false(paths_want(&s, c));
    s.setup.only = (struct shadow_paths){ by_name, 1 };
    assert_true(paths_want(&s, b1) && paths_want(&s, object));
    assert_false(paths_want(&s, c) || paths_want(&s, below));
    mirror_close(s.mirror);
}

/* --- listings */

enum { READDIR = 16, READDIRPLUS, DIRECTORY = 7 };

/* The result of a READDIR whose entries have these cookies. */
static struct effect reply(struct buf *to, const uint64_t *cookies, uint32_t count,
                           uint8_t verifier)
{
    struct xdr_put p = xdr_put_to(to, 65536);
    const uint8_t eight[8] = { verifier };
    struct effect e = { .procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, READDIR) };

    to->len = 0;
    xdr_put_u32(&p, NFS3_OK);
    xdr_put_u32(&p, 0); /* no attributes */
    xdr_put_fixed(&p, eight, sizeof(eight));
    for (uint32_t i = 0; i < count; i++) {
        xdr_put_u32(&p, 1);
        xdr_put_u64(&p, 100 + i);
        xdr_put_opaque(&p, (struct bytes){ (const uint8_t *)"name", 4 });
        xdr_put_u64(&p, cookies[i]);
    }
    xdr_put_u32(&p, 0);
    xdr_put_u32(&p, 0);
    assert_int_equal(xdr_put_end(&p, "a listing", &err), 0);
    e.result_body = (struct bytes){ to->data, (uint32_t)to->len };
    effect_decode_reply(&e);
    assert_true(e.succeeded);
    return e;
}

static uint64_t place_of(const struct listings *l, uint64_t cookie)
{
    const struct listing *found = listings_find(l, &(struct listing_key){ DIRECTORY, 0, cookie });

    return found ? found->sut_cookie : 0;
}

static void test_listings(void **state)
{
    const uint64_t ours[] = { 11, 12, 13, 14 }, theirs[] = { 501, 502 }, later[] = { 15 };
    struct buf a = { 0 }, b = { 0 };
    struct listings l = { .ring = NULL };
    struct shadow s = { .reading_used = 0 };
    struct exchange with = { .guards = 0 };
    struct request_rest rest = { .sut = &with };
    struct request r = { .shadow = &s, .rest = &rest };
    struct effect sut, *said;
    struct listing_key key;

    (void)state;
    wire_init();
    said = &reading_begin(&s, &r)->effect;
    *said = reply(&a, ours, 4, 1);
    said->object = DIRECTORY;
    sut = reply(&b, theirs, 2, 9);
    assert_int_equal(listings_note(&l, &r, &sut, &err), 0);
    assert_int_equal(place_of(&l, 11), 501);
    assert_int_equal(place_of(&l, 12), 502);
    assert_int_equal(place_of(&l, 13), 502); /* behind all that it has given */
    assert_int_equal(place_of(&l, 14), 502);
    assert_int_equal(listings_find(&l, &(struct listing_key){ DIRECTORY, 0, 14 })->sut_verifier[0],
                     9);
    assert_null(listings_find(&l, &(struct listing_key){ DIRECTORY, 0, 99 }));
    assert_null(listings_find(&l, &(struct listing_key){ DIRECTORY + 1, 0, 11 }));

    *said = reply(&a, later, 1, 1); /* the SUT has nothing more: it stays where it was */
    said->object = DIRECTORY;
    said->asked.cookie = 14;
    sut = reply(&b, NULL, 0, 9);
    assert_int_equal(listings_note(&l, &r, &sut, &err), 0);
    assert_int_equal(place_of(&l, 15), 502);

    rest.flow = 1; /* another client is at other places; a third one may be either of them */
    r.begin = 100;
    *said = reply(&a, ours, 1, 1);
    said->object = DIRECTORY;
    sut = reply(&b, later, 1, 9);
    assert_int_equal(listings_note(&l, &r, &sut, &err), 0);
    assert_int_equal(place_of(&l, 11), 501);
    for (uint32_t flow = 1; flow <= 2; flow++)
        assert_int_equal(
            listings_find(&l, &(struct listing_key){ DIRECTORY, flow, 11 })->sut_cookie, 15);

    said->procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, READDIRPLUS);
    sut = reply(&b, theirs, 1, 9); /* it lists the same by READDIRPLUS, too */
    assert_int_equal(listings_note(&l, &r, &sut, &err), 0);
    key = listings_key(&r, 11);
    assert_int_equal(listings_find(&l, &key)->sut_cookie, 501);
    said->procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, READDIR);
    key = listings_key(&r, 11);
    assert_int_equal(listings_find(&l, &key)->sut_cookie, 15);
    listings_free(&l);
    buf_free(&a);
    buf_free(&b);
}

/* The oldest places are forgotten, and nothing else. */
static void test_listings_bound(void **state)
{
    struct buf a = { 0 }, b = { 0 };
    struct listings l = { .ring = NULL };
    struct shadow s = { .reading_used = 0 };
    struct exchange with = { .guards = 0 };
    struct request_rest rest = { .sut = &with };
    struct request r = { .shadow = &s, .rest = &rest };
    struct effect *said;

    (void)state;
    said = &reading_begin(&s, &r)->effect;
    for (uint64_t i = 1; i <= LISTINGS + 10; i++) {
        const uint64_t cookie[] = { i }, theirs[] = { i + 1000000 };
        struct effect sut;

        *said = reply(&a, cookie, 1, 1);
        said->object = DIRECTORY;
        sut = reply(&b, theirs, 1, 1);
        assert_int_equal(listings_note(&l, &r, &sut, &err), 0);
    }
    for (uint64_t i = 1; i <= LISTINGS + 10; i++)
        assert_int_equal(place_of(&l, i), i <= 10 ? 0 : i + 1000000);
    listings_free(&l);
    buf_free(&a);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_listings),
        cmocka_unit_test(test_listings_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
