/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* The judge of a live host: what two equal servers may answer although they are equal, and what
 * they may not. */
#include "judge_lab.h"

/* Access times are compared from when they were set to when somebody reads. */
static void test_access_times(void **state)
{
    static const struct lab_line lines[] = {
        { "live" },
        { "GETATTR 2 atime=1500/1600", "atime(read)" }, /* the synchronizer reads */
        { "LOOKUP 1.a new=2 atime=1500/1600", "atime(read)" },
        { "LINK 2 to=1.a atime=1500/1600", "atime(read); atime(read)" },
        { "READDIRPLUS 1 list=a atime=1500/1600", "atime(read); atime(read)" },
        { "SETATTR 2 set=mode atime=1500/1600", "atime(read)" },
        /* set by a client */
        { "SETATTR 2 set=atime setatime=3000 atime=3000/3100", "atime: sut later" },
        { "SETATTR 2 set=atime setatime=3000 atime=3000" },
        { "GETATTR 2 atime=3000/0", "atime: sut from before the trace, ref not" },
        { "WRITE 2 atime=3000/3100", "atime: sut later" },
        { "LOOKUP 1.a new=2 atime=3000/3100", "atime: sut later" },
        { "GETATTR 3 atime=3000/3100", "atime(read)" },
        /* relatime on one server, which finds the change time later there */
        { "READ 2 atime=3000/2120", "atime(read)" },
        { "GETATTR 2 atime=3000/2120", "atime(read)" },
        { "GETATTR 2 atime=2120" },
        { "GETATTR 2 atime=3000/2120", "atime(read)" }, /* equal once is not equal for ever */
        /* to the server's time */
        { "SETATTR 2 set=now atime=2160.0005/2150", "atime: ref of this request, sut earlier" },
        { "SETATTR 2 set=now atime=2170.0005/2175.0005 late=5" },
        { "WRITE 2 late=1 atime=2170.0005/2175.0005" },
        { "GETATTR 2 atime=2170.0005/2175.0005" },
        { "GETATTR 2 atime=2170.0005/2180.0005", "atime: sut later" },
        { "READ 2 atime=2170.0005/2220", "atime(read)" },
        /* refused */
        { "SETATTR 2 status=1 set=now atime=3000/3100", "atime(read)" },
        /* a read that goes on while it is set may come before or after that */
        { "READ 2 takes=1/25" },
        { "SETATTR 2 set=atime setatime=3000 atime=3000" },
        { "GETATTR 2 atime=3000/2250", "atime(read)" },
        { "SETATTR 2 set=atime setatime=3000 atime=3000" },
        { "GETATTR 2 atime=3000/2250", "atime: sut earlier" },
        /* and so may one that failed */
        { "READDIR 1 list=a" },
        { "SETATTR 1 set=atime setatime=3000 atime=3000" },
        { "READDIR 1 status=10005 atime=3000/2300", "atime(read)" },
        { "GETATTR 1 atime=3000/2300", "atime(read)" },
    };

    (void)state;
    RUN(lines);
}

/* What is made on both servers has equal access times from the beginning. */
static void test_made(void **state)
{
    static const struct lab_line lines[] = {
        { "live" },
        { "CREATE 1.a new=12 made=1 atime=2010/0",
          "atime: ref of this request, sut earlier; atime(read)" },
        { "CREATE 1.a new=12 atime=2020/0",
          "atime: ref of this request, sut earlier; atime(read)" },
        { "CREATE 1.b new=13 atime=2030/0", "atime(read); atime(read)" }, /* it was there */
        { "GETATTR 12 atime=2010/0", "atime: sut from before the trace, ref not" },
        { "READ 12 atime=2010/0", "atime(read)" },
        { "GETATTR 12 atime=2010/0", "atime(read)" },
    };

    (void)state;
    RUN(lines);
}

/* Nobody can set change times; requests that come late show in them. */
static void test_change_times(void **state)
{
    static const struct lab_line lines[] = {
        { "live" },
        { "GETATTR 2 ctime=1500/1600" },
        { "SETATTR 2 ctime=1500/1600" }, /* it sets nothing */
        { "GETATTR 2 ctime=1500/1600" },
        { "SETATTR 2 set=mode ctime=2040/1600" }, /* the first one may be of the copy */
        { "GETATTR 2 ctime=2040/1600", "ctime: sut from before the trace, ref not" },
        /* late on the second server, for which requests waited */
        { "SETATTR 3 set=mode ctime=2060.0005/2069.0005 late=9" },
        { "GETATTR 3 ctime=2060.0005/2069.0005" },
        { "GETATTR 3 ctime=2060.0005/2068", "ctime: sut later" },
        { "SETATTR 3 ctime=2060.0005/2069.0005" },
        { "GETATTR 3 ctime=2060.0005/2069.0005" },
        { "WRITE 4 ctime=2110.0005/2118 mtime=2110.0005/2118 late=8" },
        { "SETATTR 4 set=mode ctime=2120.0005 mtime=2110.0005/2118" },
        { "GETATTR 4 ctime=2120.0005 mtime=2110.0005/2118" },
        { "GETATTR 4 ctime=2120.0005 mtime=2110.0005/2117", "mtime: sut later" },
        /* RENAME of it, which is about two directories */
        { "touch 5 late=7" },
        { "GETATTR 5 ctime=2150/2157" },
        { "SETATTR 5 set=mode ctime=2170.0005" },
        { "touch 5 late=7" },
        { "GETATTR 5 ctime=2180/2187" },
        { "GETATTR 5 ctime=2170.0005" }, /* a server that does not set it then */
        { "GETATTR 5 ctime=2170.0005/2187", "ctime: sut later" },
        /* requests wait on the second server from then on; these did not */
        { "live" },
        { "SETATTR 3 set=mode ctime=2010.0005" },
        { "GETATTR 3 mtime=2008.3/2008.2" },
        { "GETATTR 3 mtime=2008.3/2008", "mtime: sut earlier" },
        /* the copy of a directory gives its files names, which changes them on the second server */
        { "live" },
        { "SETATTR 3 set=mode ctime=2010.0005" },
        { "GETATTR 3 ctime=2010.0005/2018", "ctime: sut later" },
        { "unsettled 2019" },
        { "GETATTR 3 ctime=2010.0005/2018", "ctime(not same)" },
        { "GETATTR 3 ctime=2010.0005/2020", "ctime: sut later" },
        /* one that changes nothing, just when somebody else did */
        { "live" },
        { "SETATTR 6 bctime=2010.0005 ctime=2010.0005/1600" },
        { "GETATTR 6 ctime=2010.0005/1600" },
        /* one that has changed it on the first server, as that says itself */
        { "live" },
        { "unsettled 1700" },
        { "GETATTR 6 ctime=1500/1600" },
        { "SETATTR 6 set=mode bctime=1500/1600 ctime=2020.0005/1600",
          "ctime: ref of this request, sut earlier" },
        { "live" },
        { "SETATTR 6 set=mode bctime=1500/1600 ctime=2010.0005/2010.0006" },
    };

    (void)state;
    RUN(lines);
}

/* Two requests at the same time have set them, and each server has those of another one. */
static void test_open_times(void **state)
{
    static const struct lab_line lines[] = {
        { "live" },
        { "GETATTR 2 mtime=1500/1600", "mtime: both from before the trace" },
        { "SETATTR 2 set=mode ctime=2020.0005" },
        { "open 2" },
        { "GETATTR 2 mtime=1500/1600 ctime=2020.0005/2015", "mtime(conflict); ctime(conflict)" },
        { "GETATTR 2 mtime=1500/1600 mode=1/2", "mode: 01 only ref, 02 only sut; mtime(conflict)" },
        { "LOOKUP 1.a new=2 mtime=1500/1600", "mtime(conflict)" },
        /* one that sets nothing, and one that sets the change time alone */
        { "SETATTR 2 bctime=2060.0005 ctime=2060.0005 mtime=1500/1600", "mtime(conflict)" },
        { "GETATTR 2 ctime=2060.0005/2015", "ctime(conflict)" },
        { "SETATTR 2 set=mode bctime=2060.0005/2015 ctime=2080.0005 mtime=1500/1600",
          "ctime(conflict); mtime(conflict)" },
        { "GETATTR 2 mtime=1500/1600 ctime=2080.0005/2015", "mtime(conflict); ctime: sut earlier" },
        /* one that was not alone */
        { "WRITE 2 overlap=o ctime=2100.0005 mtime=2100.0005/2103", "mtime(conflict)" },
        { "GETATTR 2 mtime=1500/1600", "mtime(conflict)" },
        /* one that changes the contents; what was before it is still open */
        { "WRITE 2 bmtime=1500/1600 ctime=2120.0005 mtime=2120.0005", "mtime(conflict)" },
        { "GETATTR 2 mtime=1500/1600", "mtime: both from before the trace" },
        /* to a client's time */
        { "open 3" },
        { "SETATTR 3 set=mtime setmtime=1500 ctime=2140.0005 mtime=1500" },
        { "GETATTR 3 mtime=1500/1600", "mtime: both from before the trace" },
        /* names of a directory */
        { "open 1" },
        { "CREATE 1.a new=4 bctime=1 ctime=2160.0005 mtime=2160.0005" },
        { "GETATTR 1 mtime=1500/1600", "mtime: both from before the trace" },
        { "open 1" },
        { "LINK 4 to=1.b bctime=1 ctime=2180.0005 mtime=2180.0005" },
        { "GETATTR 1 mtime=1500/1600", "mtime: both from before the trace" },
        /* made the same again */
        { "open 1" },
        { "forget 1" },
        { "GETATTR 1 mtime=1500/1600", "mtime: both from before the trace" },
        /* the access time */
        { "SETATTR 5 set=atime setatime=3000 atime=3000" },
        { "GETATTR 5 atime=3000/0", "atime: sut from before the trace, ref not" },
        { "open 5" },
        { "GETATTR 5 atime=3000/0", "atime(read)" },
    };

    (void)state;
    RUN(lines);
}

static void test_outcomes(void **state)
{
    static const struct lab_line lines[] = {
        /* rights that are changed at the same time */
        { "live" },
        { "ACCESS 2 access=1/3 overlap=r", "access(overlap)" },
        { "ACCESS 2 access=1/3", "access: 0x2 only sut" },
        { "GETACL 2 acl=75/7 overlap=r", "aclcnt(overlap); aclent(overlap)" },
        { "GETACL 2 acl=75/7", "aclcnt: sut smaller; aclent of 1: only ref" },
        { "LOOKUP 1.. new=1 nlink=6/7 overlap=o", "nlink(overlap)" },
        { "SETATTR 2 status=22/13 overlap=r", "status? (overlap); (status)" },
        { "SETATTR 2 status=13/22 overlap=r", "status? (overlap); (status)" },
        { "SETATTR 2 status=22/13", "status: NFS3ERR_INVAL, NFS3ERR_ACCES; (status)" },
        { "SETATTR 2 status=22/0 overlap=r", "status: NFS3ERR_INVAL, NFS3_OK; (status)" },
        /* the first entry is too long only on the reference */
        { "live" },
        { "READDIR 1 status=10005/0 list=a", "status? (listing); (status)" },
        { "READDIR 1 status=10005/0 list=a asks=100",
          "status: NFS3ERR_TOOSMALL, NFS3_OK; (status)" },
        { "READDIR 1 status=10005/0 list=a cookie=1 asks=100", "status? (listing); (status)" },
        { "READDIR 1 status=0/10005 list=a", "status: NFS3_OK, NFS3ERR_TOOSMALL; (status)" },
    };

    (void)state;
    RUN(lines);
}

/* While names of a directory change, a listing may have these or not, but all others. */
static void test_listed(void **state)
{
    static const struct lab_line lines[] = {
        { "live" },
        { "READDIR 1 list=a,b/a overlap=o changed=b/-", "(changing)" },
        { "READDIR 1 list=a/a,b overlap=o changed=b/-", "(changing)" },
        { "READDIR 1 list=a,b/a overlap=o changed=c/-", "entries of b: only ref" },
        { "READDIR 1 list=a/a,b overlap=o", "entries of b: only sut" },
        /* ".." may be where the directory was before, or where a synchronizer keeps it */
        { "live" },
        { "GETATTR 2 fileid=6/60" },
        { "GETATTR 3 fileid=7/70" },
        { "READDIR 1 list=.. efileid=6/70 overlap=o" },
        { "unsettled 2045" },
        { "READDIR 1 list=.. efileid=6/70" },
        { "READDIR 1 list=.. efileid=6/70",
          "fileid of ..: not that of the object's attributes on one side" },
        { "live" },
        { "GETATTR 2 fileid=6/60" },
        { "GETATTR 3 fileid=7/70" },
        { "READDIR 1 list=a efileid=6/70 overlap=o",
          "fileid of a: not that of the object's attributes on one side" },
        { "READDIRPLUS 1 list=a esize=5/6 mode=1/2 overlap=o", "mode(overlap); size(overlap)" },
    };

    (void)state;
    RUN(lines);
}

/* Who reads the log of a live host has only some of the pairs, and what was left open of them. */
static void test_logged(void **state)
{
    static const struct lab_line lines[] = {
        /* a change that came late to one side */
        { "live" },
        { "WRITE 4 ctime=2010.0005/2018 mtime=2010.0005/2018 late=8" },
        { "GETATTR 4 mtime=2010.0005/2018 mode=1/2 keep=1", "mode: 01 only ref, 02 only sut" },
        { "live" },
        { "GETATTR 4 mtime=2010.0005/2018 mode=1/2",
          "mode: 01 only ref, 02 only sut; mtime: ref of this request, sut earlier" },
        { "GETATTR 4 mtime=2010.0005/2018 mode=1/2 logged=1",
          "mode: 01 only ref, 02 only sut; mtime(order)" },
        { "GETATTR 4 mtime=2010.0005/2018 ctime=2010.0005/2018 logged=1", "mtime(order)" },
        /* what is the same for anybody is not noted */
        { "live" },
        { "GETATTR 4 mtime=2010/2010.05 keep=1" },
        { "GETATTR 4 mtime=2010/2015 logged=1", "mtime: sut later" },
        /* nor is what would hide that another time of the pair differs */
        { "live" },
        { "WRITE 4 ctime=2010.0005/2018 mtime=2010.0005/2018 late=8" },
        { "LINK 4 to=1.a mtime=2010.0005/2018 keep=1", "mtime: sut later" }, /* the directory's */
        { "live" },
        { "LINK 4 to=1.a mtime=2010.0005/2018 logged=1",
          "mtime: ref of this request, sut earlier; mtime: ref of this request, sut earlier" },
        /* contents and attributes, after two changes at once */
        { "live" },
        { "WRITE 4 offset=0 count=4 overlap=odAD", "lost 4 (conflict); lost 4 0-4 (conflict)" },
        { "READ 4 offset=0 count=4 data=a/b mode=1/2 keep=1", "mode(conflict); data? (conflict)" },
        { "live" },
        { "READ 4 offset=0 count=4 data=a/b mode=1/2",
          "mode: 01 only ref, 02 only sut; data: differs" },
        { "READ 4 offset=0 count=4 data=a/b mode=1/2 logged=1",
          "mode(not same); data? (not same)" },
        /* rights that were changed out of order */
        { "live" },
        { "GETACL 2 acl=75/7 changes=5:1 keep=1", "aclcnt(order); aclent(order)" },
        { "live" },
        { "GETACL 2 acl=75/7 logged=1", "aclcnt(not same); aclent(not same)" },
        /* times from before that were read too late, by less than times may differ */
        { "live" },
        { "SETATTR 2 set=mode mtime=2019.9" },
        { "SETATTR 2 set=mode bmtime=2019.9/2020.0005 mtime=2020.0005 keep=1",
          "mtime: sut of this request, ref earlier" },
        { "live" },
        { "GETATTR 3" },
        { "SETATTR 2 set=mode bmtime=2019.9/2020.0005 mtime=2020.0005" },
        { "SETATTR 2 set=mode bmtime=2019.9/2020.0005 mtime=2020.0005 logged=1",
          "mtime: sut of this request, ref earlier" },
        /* the synchronizer made the object again, and no pair that was logged says so */
        { "live" },
        { "READDIRPLUS 1 list=a handle=4 efileid=10/30 keep=1" },
        { "live" },
        { "READDIRPLUS 1 list=a handle=4 efileid=10/20" },
        { "READDIRPLUS 1 list=a handle=4 efileid=10/30",
          "fileid of a: not that of the object's attributes on one side; fileid of a: sut changed, "
          "ref not" },
        { "live" },
        { "READDIRPLUS 1 list=a handle=4 efileid=10/20" },
        { "READDIRPLUS 1 list=a handle=4 efileid=10/30 logged=1" },
        { "READDIRPLUS 1 list=a handle=4 efileid=10/31",
          "fileid of a: not that of the object's attributes on one side; fileid of a: sut changed, "
          "ref not" },
        { "live" },
        { "GETATTR 4 fileid=11/20 keep=1" },
        { "live" },
        { "GETATTR 4 fileid=10/20" },
        { "GETATTR 4 fileid=11/20 logged=1" },
        { "GETATTR 4 fileid=11/21", "fileid: sut changed, ref not" },
        /* but a number that did change */
        { "live" },
        { "GETATTR 4 fileid=10/20" },
        { "GETATTR 4 fileid=10/21 keep=1", "fileid: sut changed, ref not" },
        { "live" },
        { "GETATTR 4 fileid=10/20" },
        { "GETATTR 4 fileid=10/21 logged=1", "fileid: sut changed, ref not" },
    };

    (void)state;
    RUN(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access_times), cmocka_unit_test(test_made),
        cmocka_unit_test(test_change_times), cmocka_unit_test(test_open_times),
        cmocka_unit_test(test_outcomes),     cmocka_unit_test(test_listed),
        cmocka_unit_test(test_logged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
