/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* The judge: replies field by field, under the default rules and others. */
#include "judge_lab.h"

static void test_values(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "GETATTR 2" },
        { "GETATTR 2 size=5/6", "size: sut larger", "5, 6" },
        { "GETATTR 2 size=6/5", "size: sut smaller", "6, 5" },
        { "GETATTR 2 mode=0644/0600 uid=1/2", "mode: 044 only ref; uid: sut larger" },
        { "GETATTR 2 mode=0600/0644", "mode: 044 only sut", "0600, 0644" },
        { "GETATTR 2 mode=0100644/0644" }, /* the mask 07777 */
        { "GETATTR 2 type=1/2", "type: NF3REG, NF3DIR" },
        { "GETATTR 1 size=4096/6" }, /* of a directory it is the server's own */
        { "GETATTR 1 nlink=2/3", "nlink: sut larger", "2, 3" },
        { "READ 2 data=one/two", "data: differs",
          "6f6e65 (XXH3 of 10 bytes), 74776f (XXH3 of 10 bytes)" },
        { "READ 2 done=10/9", "count: sut smaller; data(length)" },
        { "READ 2 eof=1/0", "eof: only ref", "yes, no" },
        { "WRITE 2 done=10/9", "count: sut smaller" },
        { "ACCESS 2 attributes=1/0", "obj_attributes: only ref" },
        { "ACCESS 2 attributes=1/0 size=5/6", "obj_attributes: only ref" },
        { "ACCESS 2 access=31/15", "access: 0x10 only ref" },
        { "LOOKUP 1.a new=11 size=5/6", "size: sut larger" },
        { "untyped 1" },
        { "SETATTR 1 bsize=40/64" }, /* its type comes behind it in the same replies */
        { "SETATTR 2 bsize=40/64", "size: sut larger" },
    };

    (void)state;
    RUN(lines);
}

static void test_outcomes(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "GETATTR 2 status=0/70", "status: NFS3_OK, NFS3ERR_STALE; (status)" },
        { "GETATTR 2 status=70/70" },
        { "GETATTR 2 status=70/5", "status: NFS3ERR_STALE, NFS3ERR_IO; (status)" },
        { "GETATTR 2 status=12345/0", "status: 12345, NFS3_OK; (status)" },
        { "GETATTR 2 rpc=5/0", "rpc-status: SYSTEM_ERR, SUCCESS" },
        { "GETATTR 2 rpc=5/5" },
        { "GETATTR 2 silent=both", "(no reply)" },
        { "GETATTR 2 silent=sut", "missing-reply: only ref answered", "answered, -" },
        { "GETATTR 2 silent=ref", "missing-reply: only sut answered", "-, answered" },
        { "GETATTR 2 silent=sut why=16", "(lost)" },
        { "GETATTR 2 silent=sut why=12", "missing-reply? (cut)" },
        { "LOOKUP 1.a silent=sut overlap=e", "missing-reply? (overlap)" },
        { "GETATTR 2 cut=1", "(cut)" },
        { "GETATTR 2 ctime=1000+900000000 cut=1/0",
          "(cut)" }, /* no fraction, not a fraction of 0 */
        { "GETATTR 2 ctime=1000+900000000 cut=0/1", "(cut)" },
        { "GETATTR 2 surplus=1/0", "malformed: only ref's" },
        { "GETATTR 2 surplus=1/0 cut=0/1", "(cut)" }, /* nobody knows */
        { "READ 2 cut=2/0 data=one/two", "data(cut)" },
        { "GETATTR 2 mtime=1000+5/1000+1000000001", "mtime: only sut's",
          "1970-01-01 00:16:40.000000005, 1970-01-01 00:16:40 and 1000000001 ns" },
        { "GETATTR 2 mtime=1000+1000000001/1000+1000000001" },
    };

    (void)state;
    RUN(lines);
}

static void test_rules(void **state)
{
    static const struct lab_line lines[] = {
        { "rules [classes]\nsize = tolerance 10" },
        { "GETATTR 2 size=100/110" },
        { "GETATTR 2 size=100/111", "size: sut larger" },
        { "rules [classes]\nsize = tolerance 10%" },
        { "GETATTR 2 size=1000/901" },
        { "GETATTR 2 size=1000/899", "size: sut smaller" },
        { "rules [fields]\n*.size = at-least\n*.uid = at-most" },
        { "GETATTR 2 size=100/110 uid=5/4" },
        { "GETATTR 2 size=100 uid=5" },
        { "GETATTR 2 size=100/99 uid=5/6", "uid: sut larger; size: sut smaller" },
        { "rules [fields]\n*.size = ignored" },
        { "GETATTR 2 size=100/110 uid=5/4", "uid: sut smaller" },
        { "rules [fields]\nGETATTR3res.*.size = ignored" },
        { "GETATTR 2 size=100/110" },
        { "ACCESS 2 size=100/110", "size: sut larger" },
        { "rules [fields]\n*.size = ignored if status=NFS3_OK" },
        { "ACCESS 2 size=100/110" },
        { "ACCESS 2 status=70 size=100/110", "size: sut larger" },
        { "rules [fields]\n*.mode = mask 0700" },
        { "GETATTR 2 mode=0644/0600" },
        { "GETATTR 2 mode=0644/0444", "mode: 0200 only ref" },
        { "rules [messages]\nmissing-reply = ignored\nrpc-status = ignored" },
        { "GETATTR 2 silent=sut" },
        { "GETATTR 2 rpc=5/0" },
        { "rules [fields]\n*.status = bitwise\n*.status = ignored if ref=NFS3ERR_NOENT" },
        { "GETATTR 2 status=2/70", "(status)" },
        { "GETATTR 2 status=70/2", "status: NFS3ERR_STALE, NFS3ERR_NOENT; (status)" },
    };

    (void)state;
    RUN(lines);
}

/* Values of a server's own. */
static void test_patterns(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "GETATTR 2 fileid=5/50" },
        { "GETATTR 2 fileid=5/50" },
        { "GETATTR 2 fileid=5/51", "fileid: sut changed, ref not", "5, 51 (50 expected)" },
        { "GETATTR 2 fileid=5/50" }, /* one wrong reply is one difference */
        { "GETATTR 2 fileid=5/52", "fileid: sut changed, ref not" },
        { "GETATTR 2 fileid=5/52" }, /* and so is a change for good */
        { "GETATTR 2 fileid=6/52", "fileid: ref changed, sut not" },
        { "GETATTR 3 fileid=7/70" },
        /* two files with one number on one side, while the other has two */
        { "" },
        { "GETATTR 2 fileid=5/50" },
        { "GETATTR 3 fileid=5/60", "fileid: ref the same for two files, sut not",
          "5 (also /2), 60" },
        { "GETATTR 3 fileid=5/60" }, /* told once */
        { "" },
        { "GETATTR 2 fileid=5/50" },
        { "GETATTR 3 fileid=6/60" },
        { "GETATTR 4 fileid=5/60", "fileid: ref the same for two files, sut not",
          "5 (also /2), 60" },
        { "" },
        { "GETATTR 2 fileid=5/50" },
        { "GETATTR 3 fileid=5/60 removed=2/0" }, /* the first may be gone */
        { "" },
        { "GETATTR 2 fileid=5/50" },
        { "GETATTR 3 fileid=5/50" }, /* hard links, on both */
        /* file systems and handles belong together one to one */
        { "" },
        { "GETATTR 2 fsid=1/2" },
        { "GETATTR 3 fsid=1/3", "fsid: sut changed, ref not" },
        { "GETATTR 4 fsid=1/2" },
        { "" },
        { "LOOKUP 1.a new=11" },
        { "LOOKUP 1.a new=11 handle=11/12 attributes=0", "object: sut changed, ref not" },
        { "LOOKUP 1.a new=11 handle=11" },
        /* a further handle of the same file is told once */
        { "others 11" },
        { "LOOKUP 1.a new=11 handle=11/111", "object: sut changed, ref not: the same file" },
        { "LOOKUP 1.a new=11 handle=11/11" },
        { "LOOKUP 1.a new=11 handle=11/111" },
        { "LOOKUP 1.a new=11 handle=11/111" },
        /* verifiers of WRITE are the server's, whatever the file */
        { "" },
        { "WRITE 2 verf=9/90" },
        { "WRITE 3 verf=9/90" },
        { "WRITE 3 verf=9/91", "verf: sut changed, ref not" },
        { "WRITE 3 verf=10/92" }, /* both started anew */
    };

    (void)state;
    RUN(lines);
}

/* What the host says to a question comes back. */
static void test_errors(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "LOOKUP 1.a new=11" },
        { "LOOKUP 1.a new=11 handle=11/12 fails=1", "error: the host failed" },
        { "READDIRPLUS 1 list=a fails=1/0", "error: the host failed" },
        { "LOOKUP 1.a new=11 handle=11/13 fails=0/1", "error: the host failed" },
        { "GETATTR 41", "error: pair 5 is about an object that is not known" },
    };

    (void)state;
    RUN(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_rules),  cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
