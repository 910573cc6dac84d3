/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_send.c
 *
 * live/shadow: what a client's arguments become for the SUT, and which requests wait for which.
 */
#include "shadow/listings.c"
#include "shadow/rewrite.c"
#include "shadow/send.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* RFC 1813 s3.3 */
enum {
    GETATTR = 1,
    SETATTR = 2,
    LOOKUP = 3,
    READ = 6,
    WRITE = 7,
    RENAME = 14,
    LINK = 15,
    READDIR = 16,
    READDIRPLUS = 17
};
enum { D1 = 1, D2, F, STRANGE, OBJECTS_END }; /* ids of the mirror */

static struct err err;
static struct shadow s;

/* Handles of the two servers have other lengths; none is a multiple of 4. */
static struct bytes handle_of(int side, uint32_t object)
{
    static uint8_t bytes[SIDES][OBJECTS_END][16];

    memset(bytes[side][object], side == SUT ? 0x80 + (int)object : (int)object, 16);
    return (struct bytes){ bytes[side][object], side == SUT ? 13 : 6 };
}

static void set_up(void)
{
    s = (struct shadow){ .mirror = mirror_open(UINT64_C(1000000000), &err) };
    assert_non_null(s.mirror);
    assert_int_equal(requests_begin(&s, &err), 0);
    for (uint32_t i = D1; i < OBJECTS_END; i++) {
        struct mirror_object *object = known_object(&s, handle_of(REF, i), &err);

        assert_int_equal(object->id, i);
        if (i != STRANGE)
            assert_int_equal(mirror_set_sut_handle(s.mirror, object, handle_of(SUT, i), &err), 0);
    }
}

static void tear_down(void)
{
    requests_free_all(&s);
    mirror_close(s.mirror);
    listings_free(&s.listings);
    known_free_all(&s);
}

/* --- requests */

struct asking {
    uint32_t procedure, on, to, found;
    bool guarded;
    uint32_t failed;
    uint64_t offset, cookie;
};

static struct diropargs3 at(int side, uint32_t directory, const char *name)
{
    return (struct diropargs3){ handle_of(side, directory),
                                { (const uint8_t *)name, (uint32_t)strlen(name) } };
}

/* As a client writes them for |side|, whose cookies, verifiers and times are |own|. */
static void write_arguments(const struct asking *a, int side, struct listing own, uint32_t count,
                            struct buf *to)
{
    static const uint8_t ten[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    struct bytes on = handle_of(side, a->on);
    struct nfstime3 time = { side == SUT ? 77 : 33, 5 };
    struct GETATTR3args get = { on };
    struct SETATTR3args set = { on,
                                { .set_mtime = SET_TO_CLIENT_TIME, .mtime = { 33, 5 } },
                                { a->guarded, a->guarded ? time : (struct nfstime3){ 0 } } };
    struct LOOKUP3args look = { at(side, a->on, "odd") };
    struct READ3args read = { on, a->offset, 10 };
    struct WRITE3args write = { on, a->offset, 10, FILE_SYNC, { ten, 10 } };
    struct RENAME3args move = { at(side, a->on, "from here"), at(side, a->to, "to") };
    struct LINK3args link = { on, at(side, a->to, "name") };
    struct READDIR3args list = { on, own.cookie, { 0 }, count };
    struct READDIRPLUS3args plus = { on, own.cookie, { 0 }, count, count };
    const void *all[22] = {
        [GETATTR] = &get, [SETATTR] = &set,  [LOOKUP] = &look,
        [READ] = &read,   [WRITE] = &write,  [RENAME] = &move,
        [LINK] = &link,   [READDIR] = &list, [READDIRPLUS] = &plus,
    };
    struct xdr_put put = xdr_put_to(to, 4096);

    memcpy(list.cookieverf, own.sut_verifier, 8);
    memcpy(plus.cookieverf, own.sut_verifier, 8);
    assert_int_equal(bind_write(nfs3_binding(a->procedure)->arguments, &put, all[a->procedure]), 0);
}

static struct request *ask(const struct asking *a, uint64_t begun, uint64_t ended)
{
    struct request *r = requests_new(&s, &err);
    struct effect *e = &reading_begin(&s, r)->effect;
    struct request_rest *rest = r->rest;
    struct buf body = { 0 };

    r->begin = begun;
    r->end = ended;
    r->stage = STAGE_WAITING;
    write_arguments(a, REF, (struct listing){ .cookie = a->cookie }, 512, &body);
    rest->call = body.data;
    rest->call_len = (uint32_t)body.len;
    rest->sut = calloc(1, sizeof(*rest->sut));
    assert_non_null(rest->sut);
    *e = (struct effect){ .procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, a->procedure),
                          .arguments_body = { body.data, (uint32_t)body.len },
                          .arguments_length = body.len,
                          .status = STATUS_NONE,
                          .rpc_status = STATUS_NONE };
    effect_decode(e);
    e->rpc_status = 0;
    e->status = a->failed;
    e->succeeded = !a->failed;
    e->object = a->on;
    e->parent = e->roles & ROLE_PARENT ? a->on : 0;
    e->parent2 = a->to;
    e->new_object = a->found;
    rest->objects[TEE_OBJECT] = a->on;
    rest->objects[TEE_PARENT2] = a->to;
    requests_sum_up(r, e);
    assert_int_equal(touches_set(&s, r, &(struct named){ 0 }, &err), 0);
    return r;
}

static void drop(struct request *r)
{
    s.is_ending = true; /* nothing is forgotten */
    requests_free(&s, r);
    s.is_ending = false;
}

/* --- what the SUT gets */

/* Exactly what a client of the SUT would have sent. */
static void becomes(struct request *r, const struct asking *a, struct listing own, uint32_t count)
{
    struct buf expected = { 0 }, got = { 0 };
    struct xdr_put put = xdr_put_to(&got, 4096);

    write_arguments(a, SUT, own, count, &expected);
    assert_int_equal(rewrite(&s, r, &put), FATE_COMPARED);
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.data, expected.data, got.len);
    buf_free(&got);
    buf_free(&expected);
}

static void test_rewritten(void **state)
{
    static const struct asking all[] = {
        { .procedure = GETATTR, .on = F },
        { .procedure = SETATTR, .on = F },
        { .procedure = SETATTR, .on = F, .guarded = true },
        { .procedure = LOOKUP, .on = D1 },
        { .procedure = WRITE, .on = F, .offset = 3 },
        { .procedure = RENAME, .on = D1, .to = D2 },
        { .procedure = RENAME, .on = D1, .to = D1 },
        { .procedure = LINK, .on = F, .to = D2 },
        { .procedure = READDIR, .on = D1 },
        { .procedure = READDIRPLUS, .on = D2 },
    };
    struct request *r;

    (void)state;
    set_up();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        r = ask(&all[i], 1, 2);
        r->rest->sut->ctime = (struct nfstime3){ 77, 5 };
        becomes(r, &all[i], (struct listing){ 0 }, 512);
        drop(r);
    }
    tear_down();
}

static void test_not_known(void **state)
{
    static const struct asking all[] = { { .procedure = GETATTR, .on = STRANGE },
                                         { .procedure = RENAME, .on = D1, .to = STRANGE },
                                         { .procedure = LINK, .on = STRANGE, .to = D1 } };
    struct buf got = { 0 };
    struct xdr_put put = xdr_put_to(&got, 4096);
    struct request *r;

    (void)state;
    set_up();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        r = ask(&all[i], 1, 2);
        assert_int_equal(rewrite(&s, r, &put), FATE_NOT_SYNCHRONIZED);
        assert_int_equal(got.len, 0);
        drop(r);
    }
    tear_down();
}

/* Listings go on at the SUT's own places. */
static void test_listings(void **state)
{
    static const struct asking first = { .procedure = READDIRPLUS, .on = D1 };
    static const struct asking next = { .procedure = READDIRPLUS, .on = D1, .cookie = 9 };
    struct listing place = { .object = D1, .cookie = 9, .sut_cookie = 1234567890123, .flow = 1 };
    struct listing theirs = { .cookie = 1234567890123 };
    struct list_more more = { .stage = MORE_BYTES };
    struct buf got = { 0 };
    struct xdr_put put = xdr_put_to(&got, 4096);
    struct request *r;

    (void)state;
    set_up();
    memset(place.sut_verifier, 0xab, 8);
    memset(theirs.sut_verifier, 0xab, 8);
    r = ask(&next, 1, 2);
    assert_int_equal(rewrite(&s, r, &put), FATE_LISTING); /* nobody knows where */
    s.listings.ring = calloc(LISTINGS, sizeof(*s.listings.ring));
    assert_non_null(s.listings.ring);
    s.listings.ring[0] = place;
    assert_int_equal(index_reserve(&s.listings.by_cookie, LISTINGS), 0);
    index_put(&s.listings.by_cookie, hash_of(D1, 9), 0);
    becomes(r, &next, theirs, 512);
    r->rest->sut->more = &more; /* its next entry did not fit */
    becomes(r, &next, theirs, MORE_COUNT);
    r->rest->sut->more = NULL;
    drop(r);

    r = ask(&first, 1, 2);
    r->rest->sut->more = &more;
    becomes(r, &first, (struct listing){ 0 }, MORE_COUNT);
    more.stage = MORE_PARTS; /* the reference has no more, the SUT has */
    more.at.sut_cookie = 55;
    becomes(r, &first, (struct listing){ .cookie = 55 }, MORE_COUNT);
    r->rest->sut->more = NULL;
    drop(r);
    tear_down();
}

/* --- which waits for which */

/* |b| was called at 20; |a| was answered at |ended|, and is under way to the SUT. */
static uint32_t waits(const struct asking *a, const struct asking *b, uint64_t ended)
{
    struct request *first, *second;
    uint32_t found;

    set_up();
    first = ask(a, 10, ended);
    second = ask(b, 20, 40);
    order_find(&s, second);
    found = second->waits;
    assert_int_equal(first->is_awaited, found);
    second->number = first->number + 1;
    second->waits++;           /* for something else, so that it does not become ready */
    order_release(&s, second); /* which came later */
    assert_int_equal(first->waits, 0);
    assert_int_equal(second->waits, found + 1);
    first->stage = STAGE_ANSWERED;
    order_release(&s, first);
    assert_int_equal(second->waits, 1);
    second->waits = 0;
    order_find(&s, second);
    assert_int_equal(second->waits, 0); /* the SUT has answered it */
    drop(first);
    drop(second);
    tear_down();
    return found;
}

static void test_order(void **state)
{
    static const struct asking get = { .procedure = GETATTR, .on = F };
    static const struct asking set = { .procedure = SETATTR, .on = F };
    static const struct asking refused = { .procedure = SETATTR, .on = F, .failed = NFS3ERR_PERM };
    static const struct asking read = { .procedure = READ, .on = F };
    static const struct asking write = { .procedure = WRITE, .on = F };
    static const struct asking far = { .procedure = WRITE, .on = F, .offset = 100 };
    static const struct asking look = { .procedure = LOOKUP, .on = D1 };
    static const struct asking move = { .procedure = RENAME, .on = D1, .to = D2 };
    static const struct asking list = { .procedure = READDIR, .on = D1 };
    static const struct asking list_on = { .procedure = READDIR, .on = D1, .cookie = 5 };
    enum { BEFORE = 15, AT_ONCE = 30 };

    (void)state;
    /* what the reference answered before */
    assert_int_equal(waits(&write, &get, BEFORE), 1);
    assert_int_equal(waits(&get, &write, BEFORE), 1);
    assert_int_equal(waits(&write, &far, BEFORE), 1);
    assert_int_equal(waits(&move, &look, BEFORE), 1);
    assert_int_equal(waits(&move, &get, BEFORE), 0); /* another object */
    assert_int_equal(waits(&get, &get, BEFORE), 0);
    assert_int_equal(waits(&get, &look, BEFORE), 0);
    assert_int_equal(waits(&read, &get, BEFORE), 1);    /* it can change the access time */
    assert_int_equal(waits(&move, &move, BEFORE), 1);   /* once, although both directories say so */
    assert_int_equal(waits(&get, &refused, BEFORE), 1); /* on the SUT it may succeed */
    assert_int_equal(waits(&refused, &get, BEFORE), 1);
    /* what was under way on the reference at the same time */
    assert_int_equal(waits(&write, &write, AT_ONCE), 1);
    assert_int_equal(waits(&write, &far, AT_ONCE), 0);
    assert_int_equal(waits(&write, &read, AT_ONCE), 1);
    assert_int_equal(waits(&far, &read, AT_ONCE), 0);
    assert_int_equal(waits(&write, &get, AT_ONCE), 0);
    assert_int_equal(waits(&set, &get, AT_ONCE), 1); /* rights decide about outcomes */
    assert_int_equal(waits(&set, &set, AT_ONCE), 1);
    assert_int_equal(waits(&move, &move, AT_ONCE), 1);
    /* a listing's further parts need the SUT's earlier ones */
    assert_int_equal(waits(&list, &list, AT_ONCE), 0);
    assert_int_equal(waits(&list, &list_on, AT_ONCE), 1);
}

/* While changes of an object are played on the SUT. */
static void test_held(void **state)
{
    static const struct asking get = { .procedure = GETATTR, .on = F };
    struct request *r;

    (void)state;
    set_up();
    known_of(&s, F)->is_held = true;
    r = ask(&get, 10, 20);
    order_find(&s, r);
    assert_int_equal(r->waits, 1);
    assert_true(touch_at(&s, r->touches)->is_held);
    drop(r);
    tear_down();
}

/* A guard is asked for again, if it holds on the reference, and not for ever. */
static void test_guard(void **state)
{
    static const struct asking set = { .procedure = SETATTR, .on = F, .guarded = true };
    const struct effect late = { .status = NFS3ERR_NOT_SYNC }, other = { .status = NFS3ERR_PERM };
    struct request *r;

    (void)state;
    set_up();
    r = ask(&set, 10, 20);
    r->rest->sut->guards = 1;
    r->rest->sut->has_ctime = true;
    assert_false(is_guard_late(r, &other));
    assert_true(is_guard_late(r, &late));
    assert_false(r->rest->sut->has_ctime);
    r->rest->sut->guards = GUARDS_MAX;
    assert_false(is_guard_late(r, &late));
    r->rest->sut->guards = 1;
    reading_begin(&s, r)->effect =
        (struct effect){ .asked.bits = ASKED_GUARD, .status = NFS3ERR_NOT_SYNC };
    assert_false(is_guard_late(r, &late));
    drop(r);
    tear_down();
}

/* The handle of what a name stands for on the SUT, if that can be the same. */
static void test_found(void **state)
{
    static const struct asking look = { .procedure = LOOKUP, .on = D1, .found = STRANGE };
    static const uint8_t handle[] = { 1, 2, 3, 4, 5 };
    static const struct bytes new_handle = { handle, sizeof(handle) };

    (void)state;
    for (uint32_t type = NF3REG; type <= NF3DIR; type++) {
        struct LOOKUP3res res = { .object = new_handle,
                                  .obj_attributes = { true, { .type = type } } };
        struct mirror_object *object;
        struct buf body = { 0 };
        struct xdr_put put = xdr_put_to(&body, 4096);
        struct rpc_header header = { .status = RPC_SUCCESS };
        struct request *r;
        struct effect sut;

        set_up();
        object = mirror_at(s.mirror, STRANGE);
        mirror_set_type(object, NF3REG);
        r = ask(&look, 1, 2);
        assert_int_equal(bind_write(nfs3_binding(LOOKUP)->result, &put, &res), 0);
        sut = read_answer(r, &(struct rpc_answer){ .header = &header,
                                                   .body = { body.data, (uint32_t)body.len } });
        assert_int_equal(take_handle(&s, r, &sut, &err), 0);
        assert_int_equal(object->sut_handle_len, type == NF3REG ? sizeof(handle) : 0);
        drop(r);
        buf_free(&body);
        tear_down();
    }
}

/* What the SUT lists may be an object that only the copy knows so far. */
static void test_linked(void **state)
{
    static const struct asking list = { .procedure = READDIRPLUS, .on = D1 };
    static const struct bytes name = { (const uint8_t *)"n", 1 },
                              strange = { (const uint8_t *)"other", 5 };
    struct post_op_attr linked = { true, { .type = NF3REG, .nlink = 2 } };
    struct entryplus3 entries[] = { { 1, name, 1, linked, true, handle_of(SUT, F) },
                                    { 2, name, 2, linked, true, strange } };
    struct READDIRPLUS3res res = { .entries = { entries, 2, 2 }, .eof = true };
    struct rpc_header header = { .status = RPC_SUCCESS };
    struct buf body = { 0 };
    struct xdr_put put = xdr_put_to(&body, 4096);
    struct mirror_object *object;
    struct request *r;
    struct effect sut;

    (void)state;
    set_up();
    object = mirror_add(s.mirror, strange, &err);
    assert_int_equal(mirror_set_sut_handle(s.mirror, object, strange, &err), 0);
    assert_true(object->id >= s.known_end);
    r = ask(&list, 1, 2);
    assert_int_equal(bind_write(nfs3_binding(READDIRPLUS)->result, &put, &res), 0);
    sut = read_answer(
        r, &(struct rpc_answer){ .header = &header, .body = { body.data, (uint32_t)body.len } });
    learn_links(&s, r, &sut);
    assert_true(known_of(&s, F)->was_linked);
    assert_false(known_of(&s, object->id)->was_linked); /* there may be no room for it */
    drop(r);
    buf_free(&body);
    tear_down();
}

/* The last quarter is for requests whose objects have to be copied if they are left out. */
static void test_room(void **state)
{
    static const struct asking get = { .procedure = GETATTR, .on = F };
    static const struct asking set = { .procedure = SETATTR, .on = F };
    struct request *read, *change;
    uint64_t bytes;

    (void)state;
    set_up();
    read = ask(&get, 10, 20);
    change = ask(&set, 10, 20);
    s.limits = (struct shadow_limits){ .queue = 8, .queue_bytes = 1 << 20 };
    s.counts.waiting = 5;
    assert_true(has_room(&s, read));
    s.counts.waiting = 6;
    assert_false(has_room(&s, read));
    assert_true(has_room(&s, change));
    s.counts.waiting = 8;
    assert_false(has_room(&s, change));
    s.counts.waiting = 0;
    bytes = requests_bytes(read);
    s.counts.waiting_bytes = (1 << 20) / 4 * 3 - bytes;
    assert_true(has_room(&s, read));
    s.counts.waiting_bytes++;
    assert_false(has_room(&s, read));
    bytes = requests_bytes(change);
    s.counts.waiting_bytes = (1 << 20) - bytes;
    assert_true(has_room(&s, change));
    s.counts.waiting_bytes++;
    assert_false(has_room(&s, change));
    drop(read);
    drop(change);
    tear_down();
}

/* What the SUT has answered counts, with both servers' messages, until it is judged. */
static void test_bounded(void **state)
{
    static const struct asking get = { .procedure = GETATTR, .on = F };
    struct request *r[4];
    uint64_t bytes;

    (void)state;
    set_up();
    s.loop = loop_new(&err);
    assert_non_null(s.loop);
    for (uint32_t i = 0; i < 4; i++)
        r[i] = ask(&get, 10 + i, 20 + i);
    bytes = requests_bytes(r[0]);
    s.limits = (struct shadow_limits){ .queue = 9, .queue_bytes = 4 * bytes };
    assert_int_equal(send_queue(&s, r[0], &err), 0);
    assert_int_equal(send_queue(&s, r[1], &err), 0);
    assert_int_equal(s.counts.waiting_bytes, 2 * bytes);
    assert_int_equal(buf_reserve(&r[1]->rest->sut->reply, 2 * bytes), 0);
    assert_int_equal(done(&s, r[1], FATE_COMPARED, &err), 0); /* |r[0]| is not answered */
    assert_int_equal(s.counts.waiting, 1);
    assert_true(s.counts.waiting_bytes >= 4 * bytes);
    assert_int_equal(send_queue(&s, r[2], &err), 0);
    assert_int_equal(r[2]->rest->fate, FATE_SUT_SLOW);
    assert_int_equal(s.recent.first, r[2]->id);
    s.ready = s.last_ready = 0;

    s.is_ending = true; /* nothing is forgotten */
    requests_take_first(&s, &s.pending);
    requests_free(&s, r[0]);
    assert_true(s.counts.waiting_bytes >= 3 * bytes);
    requests_take_first(&s, &s.pending);
    requests_free(&s, r[1]);
    assert_int_equal(s.counts.waiting_bytes, 0);
    assert_int_equal(send_queue(&s, r[3], &err), 0);
    assert_int_equal(r[3]->stage, STAGE_WAITING);
    requests_free_all(&s);
    assert_int_equal(s.counts.waiting_bytes, 0);
    loop_unidle(s.loop, &s.send);
    loop_unidle(s.loop, &s.judge);
    loop_free(s.loop);
    tear_down();
}

/* At the end, calls are cancelled whose requests are freed already. */
static void test_cancelled(void **state)
{
    const struct rpc_answer answer = { .outcome = RPC_CANCELLED };

    (void)state;
    assert_int_equal(on_answer(NULL, &answer, &err), 0);
    assert_int_equal(on_more(NULL, &answer, &err), 0);
    assert_int_equal(on_ctime(NULL, &answer, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewritten), cmocka_unit_test(test_not_known),
        cmocka_unit_test(test_listings),  cmocka_unit_test(test_order),
        cmocka_unit_test(test_held),      cmocka_unit_test(test_guard),
        cmocka_unit_test(test_found),     cmocka_unit_test(test_room),
        cmocka_unit_test(test_bounded),   cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_linked),
    };

    wire_init();
    if (nfs3_structs_init(&err) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
