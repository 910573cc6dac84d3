/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
/* Classes of replies, the groups that differ, what is asked again, and what is learned. */
#include "verdict_lab.h"

#include <inttypes.h>

enum { GETATTR = 1, LOOKUP = 3, ACCESS = 4, READLINK = 5, READ = 6, CREATE = 8, RENAME = 14 };

static const struct lab_attributes file = { 1, 0100644, 2, 1000, 100, 4096, 5 },
                                   directory = { 2, 040755, 7, 0, 0, 4096, 6 }, none = { 0 };

enum { FILE_GROUPS = 0x1f };

/* What EXPECT_TYPE to EXPECT_SIZE cover of a file. */
static void must_show_file(struct lab *l, unsigned whose, struct lab_attributes a)
{
    put_u32(&l->results, a.type);
    put_u32(&l->results, a.mode & 07777);
    put_u32(&l->results, a.uid);
    put_u32(&l->results, a.gid);
    put_u32(&l->results, a.nlink);
    put_u64(&l->results, a.size);
    l->step.mask |= (uint32_t)FILE_GROUPS << whose * 6;
}

static void getattr(struct lab *l, struct lab_attributes expected, struct lab_attributes got)
{
    step_begin(l, GETATTR, 7);
    must_show_file(l, 0, expected);
    step_end(l);
    put_u32(&l->reply, 0);
    put_fattr3(&l->reply, got);
}

static void attributes(void **state)
{
    struct lab_attributes other = file;
    struct lab l;

    (void)state;
    for (int results = 0; results < 2; results++) {
        lab_new(&l, (struct verdict_setup){ 0 }, 1, results);
        other = file;
        getattr(&l, file, file);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
        assert_string_equal(l.v.text, "");
        assert_int_equal(l.v.next, NEXT_NOTHING);
        other.mode = 0100600;
        getattr(&l, file, other);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
        assert_int_equal(l.v.groups, results ? 1u << 1 : (uint32_t)FILE_GROUPS);
        expect_text(&l, results ? "mode of the object: 0644 in the trace, 0600 here" : "results");
        other.uid = 5;
        getattr(&l, file, other);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
        assert_int_equal(l.v.groups, results ? 6 : FILE_GROUPS);
        lab_free(&l);
    }
    /* each group alone */
    for (unsigned group = 0; group < 5; group++) {
        static const char *const words[] = {
            "type of the object: NF3REG in the trace, NF3FIFO here", "mode",
            ("owner of the object: 1000:100 in the trace, "
             "1000:5 here"),
            "link count", "size of the object: 4096 in the trace"
        };

        lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
        other = file;
        if (group == 0)
            other.type = 7;
        else if (group == 1)
            other.mode = 0;
        else if (group == 2)
            other.gid = 5;
        else if (group == 3)
            other.nlink++;
        else
            other.size = UINT64_C(1) << 40;
        getattr(&l, file, other);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
        assert_int_equal(l.v.groups, 1u << group);
        expect_text(&l, words[group]);
        lab_free(&l);
    }
}

static void ignored(void **state)
{
    struct lab_attributes other = file;
    struct lab l;

    (void)state;
    other.mode = 0;
    for (int results = 0; results < 2; results++) {
        lab_new(&l, (struct verdict_setup){ .ignore = RDUMP_EXPECT_MODE << 6 }, 1, results);
        getattr(&l, file, other);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
        other.uid = 1;
        getattr(&l, file, other);
        assert_int_equal(lab_judge(&l, 0, 0),
                         results ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        assert_int_equal(l.v.groups, results ? 4 : 0);
        other.uid = file.uid;
        lab_free(&l);
    }
}

/* RENAME: two directories, |first| and |second|, of which a reply may leave out either. */
static void rename_reply(struct lab *l, struct lab_attributes first, struct lab_attributes second)
{
    step_begin(l, RENAME, 3);
    put_text(&l->arguments, "a");
    put_u32(&l->arguments, 4);
    put_u32(&l->arguments, 4);
    put_text(&l->arguments, "b");
    l->step.second_at = (uint16_t)(l->arguments.len - 16);
    l->step.has = STEP_HAS_SECOND | STEP_CHANGES;
    l->step.mask = 2 << 6 | 2 << 12 | RDUMP_EXPECT_LINKS << 6 | RDUMP_EXPECT_LINKS << 12;
    put_u32(&l->results, 0755);
    put_u32(&l->results, 0755);
    put_u32(&l->links, 7);
    put_u32(&l->links, 7);
    step_end(l);
    put_u32(&l->reply, 0);
    put_wcc(&l->reply, first);
    put_wcc(&l->reply, second);
}

static void absent(void **state)
{
    struct lab_attributes other = directory;
    struct lab l;

    (void)state;
    other.mode = 0700;
    for (int results = 0; results < 2; results++) {
        lab_new(&l, (struct verdict_setup){ 0 }, 1, results);
        rename_reply(&l, none, directory);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
        rename_reply(&l, none, none);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
        rename_reply(&l, none, other);
        assert_int_equal(lab_judge(&l, 0, 0),
                         results ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        if (results)
            expect_text(&l, "mode of the second directory: 0755 in the trace, 0700 here");
        lab_free(&l);
    }
}

static void link_counts(void **state)
{
    struct lab_attributes other = directory;
    struct lab l;

    (void)state;
    other.nlink = 2;
    for (int links = 0; links < 2; links++) {
        lab_new(&l, (struct verdict_setup){ .links = links }, 1, links);
        rename_reply(&l, directory, directory);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
        rename_reply(&l, directory, other);
        assert_int_equal(lab_judge(&l, 0, 0),
                         links ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        assert_int_equal(l.v.groups, links ? RDUMP_EXPECT_LINKS << 12 : 0);
        if (links)
            expect_text(&l, "link count of the second directory: 7 in the trace, 2 here");
        lab_free(&l);
    }
}

/* --- statuses */

static enum verdict_class statuses(struct lab *l, uint32_t expected, uint32_t got, uint32_t again)
{
    step_begin(l, GETATTR, 7);
    l->step.status = expected;
    step_end(l);
    put_u32(&l->reply, got);
    if (!got)
        put_fattr3(&l->reply, file);
    return lab_judge(l, 0, again);
}

static void errors(void **state)
{
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, false);
    assert_int_equal(statuses(&l, 0, 13, 0), VERDICT_NEW_ERROR);
    expect_text(&l, "NFS3_OK in the trace, NFS3ERR_ACCES here");
    assert_int_equal(l.v.status, 13);
    assert_int_equal(statuses(&l, 70, 0, 0), VERDICT_VANISHED_ERROR);
    assert_int_equal(l.v.next, NEXT_NOTHING);
    assert_int_equal(statuses(&l, 2, 12345, 0), VERDICT_DIFFERENT_ERROR);
    expect_text(&l, "NFS3ERR_NOENT in the trace, status 12345 here");
    assert_int_equal(statuses(&l, 10008, 10008, 0), VERDICT_AS_RECORDED);
    assert_int_equal(l.v.next, NEXT_NOTHING);
    lab_free(&l);
}

static void asked_again(void **state)
{
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ .late_stale = true }, 1, false);
    for (uint32_t again = 0; again < 40; again++) {
        int64_t wait = again < 6 ? 100 << again : 5000;

        assert_int_equal(statuses(&l, 0, 10008, again), VERDICT_NEW_ERROR);
        assert_int_equal(l.v.next, NEXT_AGAIN);
        assert_int_equal(l.v.wait, wait * 1000000);
    }
    for (uint32_t again = 0; again < 100; again++) {
        assert_int_equal(statuses(&l, 70, 0, again), VERDICT_VANISHED_ERROR);
        assert_int_equal(l.v.next, NEXT_AGAIN);
        assert_int_equal(l.v.wait, 10000000);
    }
    assert_int_equal(statuses(&l, 70, 0, 100), VERDICT_VANISHED_ERROR);
    assert_int_equal(l.v.next, NEXT_NOTHING);
    assert_int_equal(statuses(&l, 70, 70, 3), VERDICT_AS_RECORDED);
    assert_int_equal(statuses(&l, 70, 2, 3), VERDICT_DIFFERENT_ERROR);
    assert_int_equal(l.v.next, NEXT_NOTHING);
    lab_free(&l);
}

static void unanswered(void **state)
{
    static const enum rpc_outcome outcomes[] = { RPC_TIMED_OUT, RPC_LOST, RPC_CANCELLED };
    struct rpc_header header = { .status = RPC_PROC_UNAVAIL };
    struct rpc_answer answer = { 0 };
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
    getattr(&l, file, file);
    for (int i = 0; i < 3; i++) {
        answer.outcome = outcomes[i];
        verdict_reply(l.verdicts, 0, &l.step, &answer, 0, &l.v, NULL);
        assert_int_equal(l.v.class, VERDICT_UNANSWERED);
        assert_true(l.v.text[0]);
    }
    answer = (struct rpc_answer){ .header = &header };
    verdict_reply(l.verdicts, 0, &l.step, &answer, 0, &l.v, NULL);
    assert_int_equal(l.v.class, VERDICT_UNANSWERED);
    expect_text(&l, "PROC_UNAVAIL");
    while (l.reply.len) { /* cut anywhere */
        l.reply.len--;
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_UNANSWERED);
        expect_text(&l, "malformed: GETATTR3res");
    }
    lab_free(&l);
}

/* --- objects */

/* LOOKUP of |expected| finds |got|. */
static enum verdict_class look(struct lab *l, uint32_t expected, uint32_t got, uint32_t copy)
{
    uint32_t copies = l->script.trace.copies;

    step_begin(l, LOOKUP, 1);
    put_text(&l->arguments, "name");
    l->step.copy = copy;
    l->step.mask = RDUMP_EXPECT_IDENTITY;
    put_u32(&l->results, copies == 1 ? expected : (expected - 1) / copies + 1);
    step_end(l);
    put_u32(&l->reply, 0);
    put_handle(&l->reply, got);
    put_post(&l->reply, file);
    put_post(&l->reply, none);
    return lab_judge(l, 5, 0);
}

static void identity(void **state)
{
    struct lab l;

    (void)state;
    for (int results = 0; results < 2; results++) {
        lab_new(&l, (struct verdict_setup){ 0 }, 1, results);
        lab_object(&l, 7, 1, 0);
        lab_object(&l, 8, 1, 0);
        assert_int_equal(look(&l, 7, 7, 0), VERDICT_AS_RECORDED);
        assert_int_equal(look(&l, 7, 8, 0), VERDICT_DIFFERENT_RESULT);
        if (results)
            expect_text(&l, "object found or made: 7 in the trace, 8 here");
        assert_int_equal(look(&l, 7, 9, 0), VERDICT_DIFFERENT_RESULT);
        if (results)
            expect_text(&l, "7 in the trace, another one here");
        /* the handle of 10 is not known yet: its number is, with results */
        assert_int_equal(look(&l, 10, 10, 0),
                         results ? VERDICT_AS_RECORDED : VERDICT_DIFFERENT_RESULT);
        assert_int_equal(look(&l, 10, 11, 0), VERDICT_DIFFERENT_RESULT);
        lab_free(&l);
    }
}

static void identity_of_copies(void **state)
{
    struct lab l;

    (void)state;
    for (int results = 0; results < 2; results++) {
        lab_new(&l, (struct verdict_setup){ 0 }, 3, results);
        for (uint32_t i = 1; i <= 12; i++)
            lab_object(&l, i, 1, 0);
        for (uint32_t a = 1; a <= 12; a++)
            for (uint32_t b = 1; b <= 12; b++)
                assert_int_equal(look(&l, a, b, (a - 1) % 3),
                                 a == b ? VERDICT_AS_RECORDED : VERDICT_DIFFERENT_RESULT);
        if (results) {
            assert_int_equal(look(&l, 14, 14, 1), VERDICT_AS_RECORDED); /* learned */
            assert_int_equal(objects_find(l.objects, 14)->type, 1);
        }
        lab_free(&l);
    }
}

static void create(struct lab *l, uint32_t made, uint32_t status, bool handle)
{
    step_begin(l, CREATE, 1);
    put_text(&l->arguments, "name");
    put_u32(&l->arguments, 0); /* UNCHECKED */
    for (int i = 0; i < 6; i++)
        put_u32(&l->arguments, 0);
    l->step.made = made;
    l->step.has = STEP_CHANGES;
    l->step.mask = RDUMP_EXPECT_MODE << 18;
    put_u32(&l->results, 0644);
    step_end(l);
    put_u32(&l->reply, status);
    if (!status) {
        put_u32(&l->reply, handle);
        if (handle)
            put_handle(&l->reply, made);
        put_post(&l->reply, file);
    }
    put_wcc(&l->reply, none);
}

static void made(void **state)
{
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
    create(&l, 20, 0, true);
    assert_int_equal(lab_judge(&l, 40, 0), VERDICT_AS_RECORDED);
    assert_int_equal(objects_find(l.objects, 20)->handle_len, 12);
    assert_int_equal(objects_find(l.objects, 20)->type, 1);
    assert_int_equal(objects_find(l.objects, 20)->maker, 40);
    create(&l, 21, 28, true);
    assert_int_equal(lab_judge(&l, 41, 0), VERDICT_NEW_ERROR);
    assert_int_equal(objects_find(l.objects, 21)->handle_len, 0);
    assert_int_equal(objects_find(l.objects, 21)->maker, 41);
    create(&l, 22, 0, true);
    l.reply.len = 3;
    assert_int_equal(lab_judge(&l, 42, 0), VERDICT_UNANSWERED);
    assert_int_equal(objects_find(l.objects, 22)->maker, 42);
    lab_free(&l);
}

/* The answer of the LOOKUP behind a CREATE without a handle. */
static void answer_lookup(struct lab *l, uint64_t number, uint32_t status, uint32_t object)
{
    struct err err;

    l->reply.len = 0;
    put_u32(&l->reply, status);
    if (!status) {
        put_handle(&l->reply, object);
        put_post(&l->reply, file);
    }
    put_post(&l->reply, none);
    assert_int_equal(verdict_looked_up(l->verdicts, number, &l->step, lab_answer(l), &l->v, &err),
                     0);
    assert_int_equal(l->v.next, NEXT_NOTHING);
}

static void made_without_handle(void **state)
{
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
    create(&l, 20, 0, false);
    assert_int_equal(lab_judge(&l, 40, 0), VERDICT_AS_RECORDED);
    assert_int_equal(l.v.next, NEXT_LOOKUP);
    answer_lookup(&l, 40, 0, 20);
    assert_int_equal(l.v.class, VERDICT_AS_RECORDED);
    assert_int_equal(objects_find(l.objects, 20)->handle_len, 12);
    assert_int_equal(objects_find(l.objects, 20)->maker, 40);

    create(&l, 21, 0, false); /* what differed stays */
    l.more.results = (struct bytes){ (const uint8_t *)"\0\0\0\7", 4 };
    l.step.digest = XXH3_64bits("\0\0\0\7", 4);
    lab_judge(&l, 41, 0);
    assert_int_equal(l.v.next, NEXT_LOOKUP);
    answer_lookup(&l, 41, 0, 21);
    assert_int_equal(l.v.class, VERDICT_DIFFERENT_RESULT);
    expect_text(&l, "mode of what was found or made: 0007 in the trace, 0644 here");

    create(&l, 22, 0, false);
    lab_judge(&l, 42, 0);
    answer_lookup(&l, 42, 2, 22);
    assert_int_equal(l.v.class, VERDICT_DIFFERENT_RESULT);
    expect_text(&l, "NFS3ERR_NOENT");
    assert_int_equal(objects_find(l.objects, 22)->handle_len, 0);
    assert_int_equal(objects_find(l.objects, 22)->maker, 42);
    create(&l, 23, 0, false); /* and nobody looks it up */
    lab_judge(&l, 43, 0);
    verdict_release(l.verdicts, 43, &l.step);
    lab_free(&l);
}

/* A CREATE that found its file, and does not say which one. */
static void found_without_handle(void **state)
{
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
    lab_object(&l, 7, 1, 0);
    lab_object(&l, 8, 1, 0);
    for (uint32_t found = 7; found <= 8; found++) {
        create(&l, 0, 0, false);
        l.step.mask |= RDUMP_EXPECT_IDENTITY;
        put_u32(&l.results, 7);
        step_end(&l);
        assert_int_equal(lab_judge(&l, 40, 0), VERDICT_AS_RECORDED);
        assert_int_equal(l.v.next, NEXT_LOOKUP);
        answer_lookup(&l, 40, 0, found);
        assert_int_equal(l.v.class, found == 7 ? VERDICT_AS_RECORDED : VERDICT_DIFFERENT_RESULT);
        assert_int_equal(l.v.groups, found == 7 ? 0 : RDUMP_EXPECT_IDENTITY);
    }
    expect_text(&l, "7 in the trace");
    lab_free(&l);
}

/* --- other values */

static void rights_and_text(void **state)
{
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
    for (uint32_t granted = 0x1f; granted >= 0x1e; granted--) {
        step_begin(&l, ACCESS, 7);
        put_u32(&l.arguments, 0x3f);
        l.step.mask = RDUMP_EXPECT_ACCESS;
        put_u32(&l.results, 0x1f);
        step_end(&l);
        put_u32(&l.reply, 0);
        put_post(&l.reply, none);
        put_u32(&l.reply, granted);
        assert_int_equal(lab_judge(&l, 0, 0),
                         granted == 0x1f ? VERDICT_AS_RECORDED : VERDICT_DIFFERENT_RESULT);
    }
    expect_text(&l, "rights granted: 0x1f in the trace, 0x1e here");
    for (int same = 0; same < 2; same++) {
        step_begin(&l, READLINK, 7);
        l.step.mask = RDUMP_EXPECT_TEXT | RDUMP_EXPECT_TYPE;
        put_u32(&l.results, 1);
        put_u32(&l.results, 5);
        assert_int_equal(buf_append(&l.results, "a/b\nc", 5), 0);
        step_end(&l);
        put_u32(&l.reply, 0);
        put_post(&l.reply, file);
        put_text(&l.reply, same ? "a/b\nc" : "a/b");
        assert_int_equal(lab_judge(&l, 0, 0),
                         same ? VERDICT_AS_RECORDED : VERDICT_DIFFERENT_RESULT);
        if (!same)
            expect_text(&l, "text of the link: \"a/b\\x0ac\" in the trace, \"a/b\" here");
    }
    lab_free(&l);
}

/* A device has its numbers in EXPECT_TYPE, so the values behind it begin later. */
static void devices(void **state)
{
    struct lab_attributes device = file;
    struct lab l;

    (void)state;
    device.type = 4;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, true);
    for (uint32_t minor = 1; minor < 3; minor++) {
        step_begin(&l, GETATTR, 7);
        l.step.mask = RDUMP_EXPECT_TYPE | RDUMP_EXPECT_MODE;
        put_u32(&l.results, 4);
        put_u32(&l.results, 8);
        put_u32(&l.results, minor);
        put_u32(&l.results, 0644);
        step_end(&l);
        put_u32(&l.reply, 0);
        put_fattr3(&l.reply, device);
        assert_int_equal(lab_judge(&l, 0, 0),
                         minor == 1 ? VERDICT_AS_RECORDED : VERDICT_DIFFERENT_RESULT);
    }
    assert_int_equal(l.v.groups, RDUMP_EXPECT_TYPE);
    expect_text(&l, "NF3CHR 8,2 in the trace, NF3CHR 8,1 here");
    lab_free(&l);
}

/* --- ctimes */

static void ctimes(void **state)
{
    struct lab_attributes later = file, earlier = file;
    struct object *o;
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ 0 }, 1, false);
    o = lab_object(&l, 7, 1, 0);
    getattr(&l, file, file);
    lab_judge(&l, 0, 0);
    assert_false(o->has_ctime);
    assert_int_equal(verdict_learn(l.verdicts, &l.step, 7, lab_answer(&l), NULL), 0);
    assert_true(o->has_ctime);
    assert_int_equal(o->ctime.seconds, 5);
    assert_int_equal(o->ctime.nseconds, 999);
    later.ctime = 9;
    getattr(&l, later, later);
    lab_judge(&l, 0, 0);
    assert_int_equal(o->ctime.seconds, 5); /* that was not asked for it */
    earlier.ctime = 4;                     /* the server's clock was set */
    getattr(&l, earlier, earlier);
    assert_int_equal(verdict_learn(l.verdicts, &l.step, 7, lab_answer(&l), NULL), 0);
    assert_int_equal(o->ctime.seconds, 4);
    lab_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes),
        cmocka_unit_test(ignored),
        cmocka_unit_test(absent),
        cmocka_unit_test(link_counts),
        cmocka_unit_test(errors),
        cmocka_unit_test(asked_again),
        cmocka_unit_test(unanswered),
        cmocka_unit_test(identity),
        cmocka_unit_test(identity_of_copies),
        cmocka_unit_test(made),
        cmocka_unit_test(made_without_handle),
        cmocka_unit_test(found_without_handle),
        cmocka_unit_test(rights_and_text),
        cmocka_unit_test(devices),
        cmocka_unit_test(ctimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
