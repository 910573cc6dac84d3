/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_made.c
 *
 * live/shadow: objects that requests make and take away, and what was missed of them.
 */
#include "touches_lab.h"

static const struct asking write_0 = { .procedure = WRITE, .on = F };

/* A reply said that a file has one link before the REMOVE of the other name was answered. */
static void test_gone_early(void **state)
{
    const struct asking remove = { .procedure = REMOVE, .on = D1, .name = "x" };
    const struct record_operation unused = { .object = 0 };

    (void)state;
    for (uint64_t begun = 20; begun <= 30; begun += 10) {
        struct request *r;
        struct shadow s;

        begin(&s);
        s.names_gone[5] = (struct name_gone){ D1, F, XXH3_64bits("x", 1), 25 };
        r = ask(&s, &remove, begun, 40);
        assert_int_equal(learn_named(&s, r, &unused).gone, begun == 20 ? F : 0);
        /* the copy finds another object, which gets the id */
        mirror_forget(s.mirror, mirror_at(s.mirror, F));
        known_forget(&s, F);
        assert_int_equal(mirror_add(s.mirror, handle_of(OBJECTS_END), &err)->id, F);
        assert_int_equal(learn_named(&s, r, &unused).gone, 0);
        /* a client does */
        assert_non_null(known_get(&s, F, &err));
        assert_int_equal(learn_named(&s, r, &unused).gone, 0);
        end(&s);
    }
}

/* What lost its last known name is gone, but for a LINK that is not answered, and for names that
 * nobody has counted. */
static void test_last_name(void **state)
{
    const struct asking asked[] = {
        { .procedure = REMOVE, .on = D1, .gone = F, .name = "x" },
        { .procedure = LINK, .on = F, .to = D2, .name2 = "y" },
    };

    (void)state;
    for (int links = 0; links < 3; links++) {
        struct request *r[2];
        struct shadow s;

        begin(&s);
        known_of(&s, F)->has_links = links != 2; /* else only the copy has seen it */
        r[0] = ask(&s, &asked[0], 10, 30);
        if (links == 1) {
            r[1] = ask(&s, &asked[1], 20, 0);
            r[1]->stage = STAGE_CALLED;
        }
        assert_int_equal(learn_removed(&s, r[0], F, &err), 0);
        assert_int_equal(mirror_at(s.mirror, F)->state, links ? MIRROR_QUEUED : MIRROR_GONE);
        end(&s);
    }
}

/* A call that the reference took so long for that what was under way with it was dropped. */
static void test_forgotten(void **state)
{
    struct request *r;
    struct shadow s;

    (void)state;
    begin(&s);
    s.forgotten = 25;
    r = ask(&s, &write_0, 26, 40);
    assert_int_equal(touches_meet(&s, r, &err), 0);
    assert_int_equal(mirror_at(s.mirror, F)->state, MIRROR_SYNCHRONIZED);
    r->begin = 20;
    assert_int_equal(touches_meet(&s, r, &err), 0);
    assert_int_equal(mirror_at(s.mirror, F)->state, MIRROR_QUEUED);
    assert_int_equal(mirror_at(s.mirror, D1)->state, MIRROR_SYNCHRONIZED);
    end(&s);
}

/* What is being made on the SUT has no handle there so far: it is copied again when it has one, and
 * its directory stays the same. */
static void test_being_made(void **state)
{
    static const struct asking make = { .procedure = CREATE, .on = D1, .made = F, .name = "a" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        bool is_queued = i != 0, has_handle = i == 2, is_known = i == 3;
        struct mirror_object *file, *directory;
        struct shadow s;
        struct request *r;

        begin(&s);
        file = mirror_at(s.mirror, F);
        directory = mirror_at(s.mirror, D1);
        assert_int_equal(mirror_add_name(s.mirror, file, directory,
                                         (struct bytes){ (const uint8_t *)"a", 1 }, &err),
                         0);
        if (!is_known)
            assert_int_equal(mirror_set_sut_handle(s.mirror, file, (struct bytes){ 0 }, &err), 0);
        if (i == 4)
            file->type = 0; /* the reply did not say it */
        r = ask(&s, &make, 10, 20);
        r->stage = is_queued ? STAGE_WAITING : STAGE_ANSWERED;
        assert_int_equal(dispatch_again(&s, file, 10, &err), 0);
        assert_int_equal(file->state, is_known ? MIRROR_QUEUED : MIRROR_UNKNOWN);
        assert_int_equal(directory->state, is_queued ? MIRROR_SYNCHRONIZED : MIRROR_QUEUED);
        if (has_handle)
            assert_int_equal(mirror_set_sut_handle(s.mirror, file, handle_of(F), &err), 0);
        assert_int_equal(dispatch_made(&s, r, &err), 0);
        assert_int_equal(file->state, is_known || has_handle ? MIRROR_QUEUED : MIRROR_UNKNOWN);
        assert_int_equal(directory->state,
                         is_known || has_handle ? MIRROR_SYNCHRONIZED : MIRROR_QUEUED);
        touches_clear(&s, r);
        end(&s);
    }
}

/* What was made is the same on both servers, if another request at the same time failed to make it,
 * and therefore comes later on the SUT, but perhaps not if that one could have taken it away. */
static void test_made_at_once(void **state)
{
    const struct asking make = { .procedure = MKDIR, .on = D1, .made = D3, .name = "m" };
    const struct asking others[] = {
        { .procedure = MKDIR, .on = D1, .named = D3, .name = "m", .failed = NFS3ERR_EXIST },
        { .procedure = RMDIR, .on = D1, .name = "m", .failed = NFS3ERR_NOENT },
        { .procedure = RMDIR, .on = D1, .name = "n", .failed = NFS3ERR_NOENT },
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct request *a, *b;
        struct shadow s;

        begin(&s);
        a = ask(&s, &make, 10, 30);
        a->has_made = true;
        b = ask(&s, &others[i], 20, 40);
        assert_int_equal(touches_meet(&s, b, &err), 0);
        assert_int_equal(mirror_at(s.mirror, D3)->state,
                         i == 1 ? MIRROR_QUEUED : MIRROR_SYNCHRONIZED);
        end(&s);
    }
}

/* An EXCLUSIVE CREATE that comes again changes nothing if the file was copied before, and cannot be
 * sent to the SUT; but nobody knows what one has changed that came before the copy. */
static void test_made_again(void **state)
{
    const struct asking make = {
        .procedure = CREATE, .on = D1, .made = F, .name = "f", .how = EXCLUSIVE
    };

    (void)state;
    for (int i = 0; i < 4; i++) {
        bool is_earlier = i == 1, is_other = i == 2, is_unknown = i == 3;
        struct request *r;
        struct shadow s;

        begin(&s);
        known_of(&s, F)->was_copied = !is_other;
        known_of(&s, F)->copied = is_earlier ? 11 : 9;
        if (is_unknown)
            assert_int_equal(
                mirror_set_state(s.mirror, mirror_at(s.mirror, F), MIRROR_UNKNOWN, &err), 0);
        r = ask(&s, &make, 10, 20);
        assert_int_equal(dispatch_mend(&s, r, &err), 0);
        assert_int_equal(mirror_at(s.mirror, D1)->state,
                         i == 0 ? MIRROR_SYNCHRONIZED : MIRROR_QUEUED);
        end(&s);
    }
}

/* Another ctime is no change behind the Tee if a client took a name that nobody knows before, but
 * another size or mtime is one. */
static void test_behind(void **state)
{
    static const struct asking asked[] = {
        { .procedure = SETATTR, .on = G },
        { .procedure = REMOVE, .on = D1, .name = "b" },
        { .procedure = REMOVE, .on = D1, .name = "b", .gone = G },
        { .procedure = RMDIR, .on = D1, .name = "b" },
        { .procedure = RENAME, .on = D1, .to = D2, .name = "b", .name2 = "c" },
        { .procedure = RENAME, .on = D1, .to = D2, .name = "b", .name2 = "c", .moved = G },
    };
    /* a directory, files with one name, with several, and with nobody knows how many */
    static const char behind[][5] = { "1111", "1100", "1111", "1111", "0000", "1100" };

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        for (int what = 0, also = 0; what < 4; also = (also + 1) % 3, what += !also) {
            uint32_t on = what ? F : D3;
            struct GETATTR3res res = { .obj_attributes.type = what ? NF3REG : NF3DIR };
            struct GETATTR3args args = { handle_of(on) };
            struct record_operation op = { .program = NFS3_PROGRAM,
                                           .version = NFS3_VERSION,
                                           .procedure = 1 };
            struct request *r;
            struct shadow s;

            begin(&s);
            known_of(&s, F)->has_links = what < 3;
            known_of(&s, F)->was_linked = what == 2;
            for (uint32_t n = 0; n < 2; n++) {
                struct buf call = { 0 }, reply = { 0 };
                struct xdr_put put = xdr_put_to(&call, 4096), back = xdr_put_to(&reply, 4096);

                res.obj_attributes.ctime.seconds = n + 1;
                res.obj_attributes.size = also == 1 ? n : 0;
                res.obj_attributes.mtime.seconds = also == 2 ? n : 0;
                assert_int_equal(bind_write(nfs3_binding(1)->arguments, &put, &args), 0);
                assert_int_equal(bind_write(nfs3_binding(1)->result, &back, &res), 0);
                op.arguments = (struct bytes){ call.data, (uint32_t)call.len };
                op.result = (struct bytes){ reply.data, (uint32_t)reply.len };
                op.arguments_wire = call.len;
                op.result_wire = reply.len;
                op.call.frame = 10 + 20 * n;
                op.reply.frame = op.call.frame + 1;
                assert_int_equal(learn_own(&s, &op, &err), 0);
                buf_free(&call);
                buf_free(&reply);
                if (n)
                    break;
                s.removed[0] = asked[i].gone;
                s.moved = asked[i].moved;
                r = ask(&s, &asked[i], 15, 20);
                assert_int_equal(learn_attributes(&s, r, &err), 0);
                touches_clear(&s, r);
            }
            if (s.counts.behind != (also ? 1 : (uint64_t)(behind[i][what] - '0')))
                fail_msg("request %zu, object %d, %d: %d", i, what, also, (int)s.counts.behind);
            end(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forgotten),    cmocka_unit_test(test_last_name),
        cmocka_unit_test(test_gone_early),   cmocka_unit_test(test_being_made),
        cmocka_unit_test(test_made_at_once), cmocka_unit_test(test_made_again),
        cmocka_unit_test(test_behind),
    };

    struct copy_setup setup = { 0 };
    int failed;

    wire_init();
    loop = setup.loop = loop_new(&err);
    copy = copy_new(&setup, &err);
    if (!copy || nfs3_structs_init(&err) < 0)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    copy_free(copy);
    loop_free(loop);
    return failed;
}
