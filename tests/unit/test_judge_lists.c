/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* The judge: listings as sets, in several replies, of directories that change meanwhile. */
#include "judge_lab.h"

static void test_listings(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "READDIR 1 list=a,b" },
        { "READDIR 1 list=a,b/b,a" },
        { "READDIR 1 list=a,b/a", "entries of b: only ref" },
        { "READDIR 1 list=a/a,b", "entries of b: only sut" },
        { "READDIR 1 list=a,b,d/a,c",
          "entries of b: only ref; entries of d: only ref; entries of c: only sut" },
        { "READDIR 1 list=/" },
        { "READDIR 1 list=name/NAME",
          "entries of name: only ref, other case; entries of NAME: only sut, other case" },
        { "READDIR 1 status=0/13 list=a", "status: NFS3_OK, NFS3ERR_ACCES; (status)" },
        /* in several replies, split as each server likes */
        { "READDIR 1 list=a/a,b more=b,c/c eof=0/0" },
        { "READDIR 1 list=a/a,b,c more=b,c eof=0/1" },
        { "READDIR 1 list=a/a,b more=b,c/d eof=0/0",
          "entries of c: only ref; entries of d: only sut" },
        /* not to the end: what one side lacks means nothing */
        { "READDIR 1 list=a,b/a eof=1/0", "entries(listing)" },
        { "READDIR 1 list=a,b/a,b eof=1/0", "eof: only ref" },
        { "READDIR 1 list=a,b/a eof=0/0", "entries(listing)" },
        { "READDIR 1 list=b cookie=7", "entries(listing)" },
        { "READDIR 1 list=a cut=1", "(cut); entries(listing)" },
    };

    (void)state;
    RUN(lines);
}

static void test_entries(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "READDIRPLUS 1 list=a,b" },
        { "READDIRPLUS 1 list=a,b esize=5/6", "size of a: sut larger; size of b: sut larger" },
        { "READDIRPLUS 1 list=a,b/b,a emode=0644/0600",
          "mode of a: 044 only ref; mode of b: 044 only ref" },
        { "READDIRPLUS 1 list=a,b/a esize=5/6", "size of a: sut larger; entries of b: only ref" },
        /* attributes of an object that is not known to be the same */
        { "SETATTR 11 set=size overlap=oA",
          "lost 11 (conflict); lost 11 0-18446744073709551615 (conflict)" },
        { "READDIRPLUS 1 list=a,b esize=5/6", "size(conflict); size of b: sut larger" },
        { "" },
        { "GETATTR 11 size=5/6 changes=0:7", "lost 11 (order); size(order)" },
        { "READDIRPLUS 1 list=a esize=5/6", "size(order)" },
        { "READDIRPLUS 1 list=a esize=5/6 overlap=o", "size(overlap)" },
        /* file numbers in listings are those of the attributes */
        { "" },
        { "LOOKUP 1.a new=11 fileid=11/110" },
        { "READDIR 1 list=a efileid=11/110" },
        { "READDIR 1 list=a efileid=11/111",
          "fileid of a: not that of the object's attributes on one side" },
        /* numbers of a listing that nothing else told of */
        { "" },
        { "READDIR 1 list=a efileid=11/110" },
        { "READDIR 1 list=a efileid=11/111" },
    };

    (void)state;
    RUN(lines);
}

/* Names that come and go. */
static void test_changing(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "READDIR 1 list=a,b/a changed=b/-", "(changing)" },
        { "READDIR 1 list=a,b/a changed=-/b", "(changing)" },
        { "READDIR 1 list=a,b/a changed=c", "entries of b: only ref" },
        { "READDIR 1 list=a,b/a,b changed=b" },
        /* after a change of one side only a name is not known, until both have it */
        { "CREATE 1.b new=12 only=ref", "lost 1.b (one-sided)" },
        { "READDIR 1 list=a,b/a", "(one-sided)" },
        { "READDIR 1 list=a,b,c/a", "(one-sided); entries of c: only ref" },
        { "READDIR 1 list=a,b/a,b", "known 1.b" },
        { "READDIR 1 list=a,b/a", "entries of b: only ref" },
        /* of a directory that was changed in another order */
        { "READDIR 1 list=a,b/a changes=0:5", "entries(order)" },
    };

    (void)state;
    RUN(lines);
}

static void test_rules(void **state)
{
    static const struct lab_line lines[] = {
        { "rules [fields]\n*.entries = ignored" },
        { "READDIR 1 list=a/b" },
        { "rules [fields]\n*.entries.name = ignored" },
        { "READDIRPLUS 1 list=a/b esize=5/5" },
        { "READDIRPLUS 1 list=a/b esize=5/6", "size of a: sut larger" },
        { "rules [fields]\n*.entries.name = ignored" },
        { "READDIRPLUS 1 list=a,b/a", "entries of b: only ref" },
        { "rules [fields]\n*.reply.eof = ignored" },
        { "READDIR 1 list=a,b/a,b eof=1/0" },
    };

    (void)state;
    RUN(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listings),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_changing),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
