/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* The judge: what is not known to be the same, why, and until when. */
#include "judge_lab.h"

#define ALL "18446744073709551615"

static void test_attributes(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        /* while a change is under way */
        { "GETATTR 2 size=5/6 overlap=o", "size(overlap)" },
        { "GETATTR 2 size=5/6", "size: sut larger" },
        /* types stay what they are */
        { "GETATTR 2 type=1/2 overlap=o", "type: NF3REG, NF3DIR" },
        /* after two changes at once, until all attributes are the same */
        { "SETATTR 2 set=mode overlap=orA", "lost 2 (conflict)" },
        { "GETATTR 2 mode=0644/0600", "mode(conflict)" },
        { "GETATTR 2 mode=0644/0600 size=5/6", "mode(conflict); size(conflict)" },
        { "GETATTR 2", "known 2" },
        { "GETATTR 2 mode=0644/0600", "mode: 044 only ref" },
        /* one that failed on both changed nothing */
        { "SETATTR 2 set=mode status=1 overlap=orA" },
        /* other changes came before */
        { "" },
        { "GETATTR 2 size=5/6 changes=0:7", "lost 2 (order); size(order)" },
        { "GETATTR 2 size=5/6 changes=0:7", "size(order)" },
        { "GETATTR 2 changes=0:7", "known 2" }, /* they made no difference */
        { "GETATTR 2 size=5/6 changes=0:7", "size: sut larger" },
        { "GETATTR 2 size=5/6", "lost 2 (order); size(order)" },
        { "GETATTR 2 size=5/6 overlap=o", "size(overlap)" },
        /* rights, of which a mode and a refusal depend */
        { "" },
        { "ACCESS 2 status=0/13 changes=5:3", "status? (order); (status)" },
        { "ACCESS 2 changes=5:3" },
        { "ACCESS 2 status=0/13 changes=5:3", "status: NFS3_OK, NFS3ERR_ACCES; (status)" },
        /* found or made, and the second directory */
        { "" },
        { "LOOKUP 1.a new=11 size=5/6 overlap=n", "size(overlap)" },
        { "LOOKUP 1.a new=11 size=5/6 changes=2:1", "lost 11 (order); size(order)" },
        { "RENAME 1.a to=3.b uid=5/6 overlap=p", "uid: sut larger; uid(overlap)" },
        { "LOOKUP 1.a new=11/12 size=5/6",
          "object: sut changed, ref not; size(outcome); fileid: sut changed, ref not" },
    };

    (void)state;
    RUN(lines);
}

static void test_one_sided(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "SETATTR 2 set=mode only=ref" }, /* its states tell: other changes came before */
        { "GETATTR 2 mode=0644/0600 changes=0:1", "lost 2 (one-sided); mode(one-sided)" },
        { "" },
        { "SETATTR 2 set=size only=sut", "lost 2 0-" ALL " (one-sided)" },
        { "READ 2 data=one/two changes=0:1", "data? (one-sided)" },
        { "READ 2 changes=0:1" },                               /* ten bytes of all */
        { "READ 2 data=one/two changes=0:1", "data? (order)" }, /* others wrote them */
        { "READ 2 data=one/two offset=10 changes=0:1", "data? (one-sided)" },
        { "" },
        { "REMOVE 1.a only=ref", "lost 1.a (one-sided)" },
        { "LOOKUP 1.a new=11 status=2/0", "status? (one-sided); (status)" },
        { "LOOKUP 1.b new=12 status=2/0", "status: NFS3ERR_NOENT, NFS3_OK; (status)" },
        { "LOOKUP 1.a status=2/2", "known 1.a" },
        { "LOOKUP 1.a new=11 status=2/0", "status: NFS3ERR_NOENT, NFS3_OK; (status)" },
        /* refused on one side only: that is told, and what follows from it is not */
        { "" },
        { "CREATE 1.a new=11 status=0/13",
          "status: NFS3_OK, NFS3ERR_ACCES; (status); lost 1.a (outcome)" },
        { "LOOKUP 1.a new=11 status=0/2", "status? (outcome); (status)" },
        { "CREATE 1.a new=11", "known 1.a" },
        { "REMOVE 1.b silent=sut", "missing-reply: only ref answered; lost 1.b (outcome)" },
        /* one that only looks, or failed, loses nothing */
        { "" },
        { "GETATTR 2 only=ref" },
        { "SETATTR 2 set=size status=1 only=ref" },
        { "LOOKUP 1.a status=2 only=ref" },
        { "READ 2 only=ref" },
        { "GETATTR 2 size=5/6", "size: sut larger" },
    };

    (void)state;
    RUN(lines);
}

static void test_names(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "CREATE 1.a new=11 overlap=eE", "lost 1 (conflict); lost 1.a (conflict)" },
        { "LOOKUP 1.a new=11 status=0/2", "status? (conflict); (status)" },
        { "LOOKUP 1.a new=11 overlap=e" }, /* nobody knows what it found */
        { "LOOKUP 1.a new=11 status=0/2", "status? (conflict); (status)" },
        { "LOOKUP 1.a new=11", "known 1.a" },
        { "LOOKUP 1.a new=11 status=0/2", "status: NFS3_OK, NFS3ERR_NOENT; (status)" },
        { "LOOKUP 1.a new=11 status=0/2 overlap=e", "status? (overlap); (status)" },
        /* both names of RENAME */
        { "RENAME 1.a to=3.b only=sut", "lost 1.a (one-sided); lost 3.b (one-sided)" },
        { "LOOKUP 3.b new=11 status=0/2", "status? (one-sided); (status)" },
        { "RENAME 3.b to=1.a", "known 1; known 3.b; known 1.a" },
        /* another change of the name was the last one, and made no difference */
        { "" },
        { "LOOKUP 1.a new=11 status=0/2 changes=7:5", "status? (order); (status)" },
        { "LOOKUP 1.a new=11 changes=7:5" },
        { "LOOKUP 1.a new=11 status=0/2 changes=7:5", "status: NFS3_OK, NFS3ERR_NOENT; (status)" },
        { "LOOKUP 1.a new=11 status=0/2", "status? (order); (status)" },
        { "LOOKUP 1.a new=11" },
        { "LOOKUP 1.a new=11 status=0/2", "status: NFS3_OK, NFS3ERR_NOENT; (status)" },
        /* what no change of a name brings about is the server's own */
        { "CREATE 1.a new=11 overlap=eE", "lost 1 (conflict); lost 1.a (conflict)" },
        { "LOOKUP 1.a new=11 status=0/10006", "status: NFS3_OK, NFS3ERR_SERVERFAULT; (status)" },
    };

    (void)state;
    RUN(lines);
}

/* Contents, by byte ranges. */
static void test_contents(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "WRITE 2 offset=10 count=10 overlap=odD", "lost 2 (conflict); lost 2 10-20 (conflict)" },
        { "READ 2 offset=15 data=one/two", "data? (conflict); known 2" },
        { "READ 2 offset=20 data=one/two", "data: differs" },
        { "READ 2 offset=0 data=one/two", "data: differs" },
        { "READ 2 offset=10 count=5 done=5", "" }, /* its first half */
        { "READ 2 offset=15 count=5 done=5 data=one/two", "data? (conflict)" },
        { "READ 2 offset=10 count=5 done=5 data=one/two", "data: differs" },
        { "WRITE 2 offset=15 count=5 done=5", "known 2 10-20" },
        { "READ 2 offset=15 count=5 done=5 data=one/two", "data: differs" },
        { "READ 2 offset=15 data=one/two overlap=d", "data? (overlap)" },
        /* the middle of them */
        { "" },
        { "WRITE 2 offset=0 count=30 done=30 overlap=dD attributes=0",
          "lost 2 (conflict); lost 2 0-30 (conflict)" },
        { "READ 2 offset=10 attributes=0" },
        { "READ 2 offset=10 data=one/two attributes=0", "data: differs" },
        { "READ 2 offset=0 data=one/two attributes=0", "data? (conflict)" },
        { "READ 2 offset=20 data=one/two attributes=0", "data? (conflict)" },
        { "WRITE 2 offset=0 count=30 done=30 attributes=0", "known 2 0-30" },
        /* one side alone wrote */
        { "" },
        { "WRITE 2 offset=0 only=ref data=one", "lost 2 0-10 (one-sided)" },
        { "READ 2 data=one/two", "data? (one-sided)" },
        { "READ 2 data=one/two eof=1/0", "eof? (one-sided); data? (one-sided)" },
        { "WRITE 2 offset=0 data=three", "known 2 0-10" },
        { "READ 2 data=three/two", "data: differs" },
        /* equal requests wrote the same bytes last, whatever came before */
        { "" },
        { "WRITE 2 offset=0 data=three" },
        { "READ 2 data=three/two changes=0:9", "data: differs" },
        { "" },
        { "WRITE 2 offset=0 only=ref", "lost 2 0-10 (one-sided)" },
        { "READ 2", "known 2 0-10" },
        { "READ 2 data=one/two changes=0:9", "data? (order)" },
    };

    (void)state;
    RUN(lines);
}

/* Access times depend on who read, times on who wrote last. */
static void test_times_of_others(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "GETATTR 2 atime=1500/1600 changes=3:1", "atime(read)" },
        { "GETATTR 2 changes=3:1" },
        { "GETATTR 2 atime=1500/1600 changes=3:1", "atime: both from before the trace" },
        { "READ 2 only=ref" },
        { "GETATTR 2 atime=1500/1600 changes=3:1", "atime(read)" },
        { "GETATTR 2 mtime=1500/1600 changes=9:1", "lost 2 (order); mtime(order)" },
        { "GETATTR 2 atime=1500/1600 mtime=1500/1600",
          "atime: both from before the trace; mtime: both from before the trace" },
    };

    (void)state;
    RUN(lines);
}

/* All of an object can be dropped, and its row used for another one. */
static void test_forget(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "WRITE 2 offset=0 overlap=odAD", "lost 2 (conflict); lost 2 0-10 (conflict)" },
        { "CREATE 1.a new=11 overlap=eE attributes=0", "lost 1 (conflict); lost 1.a (conflict)" },
        { "CREATE 1.b new=12 overlap=eE attributes=0", "lost 1.b (conflict)" },
        { "CREATE 3.c new=13 overlap=eE attributes=0", "lost 3 (conflict); lost 3.c (conflict)" },
        { "GETATTR 2 fileid=5/50", "known 2" },
        { "forget 2" },
        { "GETATTR 4 fileid=5/51" }, /* nobody holds that number */
        { "READ 2 data=one/two fileid=6/60", "data: differs" },
        { "LOOKUP 1.b new=12 status=0/2", "status? (conflict); (status)" },
        { "forget 1" },
        { "LOOKUP 1.a new=11 status=0/2", "status: NFS3_OK, NFS3ERR_NOENT; (status)" },
        { "LOOKUP 1.b new=12 status=0/2", "status: NFS3_OK, NFS3ERR_NOENT; (status)" },
        { "LOOKUP 3.c new=13 status=0/2", "status? (conflict); (status)" },
        { "forget 41" },
        { "forget 0" },
    };

    (void)state;
    RUN(lines);
}

/* Objects, names and byte ranges come and go: nothing is left behind. */
static void test_bounded(void **state)
{
    char line[64];
    uint32_t patterns, names, values;

    (void)state;
    lab_open(NULL, false);
    for (int round = 0; round < 200; round++) {
        lab.op_count = 0;
        snprintf(line, sizeof(line), "WRITE 2 offset=%d overlap=odD", round * 20);
        lab_step(line);
        lab_step("CREATE 1.a new=11 overlap=eE");
        snprintf(line, sizeof(line), "GETATTR 3 fileid=%d/%d", round + 1, round + 1001);
        lab_step(line);
        judge_forget(lab.judge, 1);
        judge_forget(lab.judge, 2);
        judge_forget(lab.judge, 3);
        judge_forget(lab.judge, 11);
        if (round == 1) {
            patterns = lab.judge->patterns.by_key.used;
            names = lab.judge->by_name.used;
            values = lab.judge->by_number[REF].used;
        }
        lab.loss_count = 0;
    }
    assert_int_equal(lab.judge->patterns.by_key.used, patterns);
    assert_int_equal(lab.judge->by_name.used, names);
    assert_int_equal(lab.judge->by_number[REF].used, values);
    assert_int_equal(names, 0);
    assert_int_equal(values, 0);
    assert_true(lab.judge->patterns.count < 64);
    lab_close();
    /* at most EXTENTS_MAX byte ranges; the closest ones become one */
    lab_open(NULL, false);
    for (int i = 0; i < EXTENTS_MAX + 20; i++) {
        lab.op_count = lab.loss_count = 0;
        snprintf(line, sizeof(line), "WRITE 2 offset=%d overlap=odD",
                 i == 7 ? i * 40 - 25 : i * 40);
        lab_step(line);
        assert_true(lab.judge->states[2].data.count <= EXTENTS_MAX);
    }
    assert_int_equal(lab.judge->states[2].data.count, EXTENTS_MAX);
    for (int i = 0; i < EXTENTS_MAX + 20; i++)
        assert_int_equal(
            sync_extent(&lab.judge->states[2], (uint64_t)i * 40 + 2, (uint64_t)i * 40 + 3),
            i == 7 ? 0 : WITHHELD_CONFLICT);
    lab_close();
}

/* The judge says at the end what was withheld because of names that are still lost. */
static void test_finish(void **state)
{
    (void)state;
    lab_open(NULL, false);
    lab_step("CREATE 1.a new=11 overlap=eE");
    lab_step("LOOKUP 1.a new=11 status=0/2");
    lab_step("LOOKUP 1.a new=11 status=2/0");
    assert_int_equal(lab.withheld, 0);
    assert_int_equal(judge_finish(lab.judge, &lab.err), 0);
    assert_int_equal(lab.withheld, 2);
    lab_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),      cmocka_unit_test(test_one_sided),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_contents),
        cmocka_unit_test(test_times_of_others), cmocka_unit_test(test_forget),
        cmocka_unit_test(test_bounded),         cmocka_unit_test(test_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
