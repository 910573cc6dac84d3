/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_fs_permit.c
 *
 * live/fs: who may do what, set-id bits, the sticky bit, access lists; told by lines (fs_case.h).
 */
#include "fs_case.h"

static void modes(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=640 = OK",
        "7 access f = rme",
        "8 access f = ",
        "8+7 access f = r",
        "0 access f = rme",
        "7 set f mode=461 = OK",
        "7 access f = r",
        "7+3 access f = r",
        "8+7 access f = rme",
        "9 access f = x",
        "0 access f = rmex",
        "7 mkdir d mode=751 = OK",
        "7 access d = rlmed",
        "8+7 access d = rl",
        "9 access d = l",
        "7 set d mode=200 = OK",
        "7 access d = ",
        "0 access d = rlmed",
        "7 set d mode=640 = OK",
        "7 access d = r",
        "7 lookup d/x = ACCES",
        "7 list d = .,..",
        "7 create d/x = ACCES",
        "8 list d = ACCES",
        "7 set d mode=300 = OK",
        "7 create d/x mode=600 = OK",
        "7 list d = ACCES",
        "7 lookup d/x = OK",
        "7 set d mode=500 = OK",
        "7 remove d/x = ACCES",
        "7 create d/y = ACCES",
        "7 rename d/x e = ACCES",
        "7 link d/x d/y = ACCES",
        "0 remove d/x = OK",
    };
    /* s4.4: files are not opened */
    static const char *const override[] = {
        "7 create f mode=0 = OK",
        "7 write f 0 hello = OK",
        "7 read f 0 5 = OK hello eof",
        "7 set f size=4 = OK",
        "7 access f = ",
        "8 read f 0 5 = ACCES",
        "8 write f 0 x = ACCES",
        "8 set f size=0 = ACCES",
        "7 set f mode=1 = OK",
        "8 read f 0 5 = OK hell eof",
        "8 write f 0 x = ACCES",
        "7 set f mode=2 = OK",
        "8 read f 0 5 = ACCES",
        "8 write f 0 x = OK",
        "8 set f size=3 = OK",
        "0 write f 0 y = OK",
        "0 read f 0 5 = OK yel eof",
    };

    (void)state;
    RUN(lines, 0);
    RUN(override, 0);
}

static void owners(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=646 = OK",
        "8 set f mode=666 = PERM",
        "8 set f uid=8 = PERM",
        "7 set f uid=8 = PERM",
        "7 set f uid=7 = OK",
        "7 set f gid=9 = PERM",
        "7+9 set f gid=9 = OK",
        "7 set f gid=9 = OK", /* it is */
        "8 set f gid=9 = PERM",
        "0 set f uid=4294967295 = INVAL",
        "0 set f gid=4294967295 = INVAL",
        "8 set f atime=now mtime=now = OK",
        "8 set f atime=5 mtime=now = PERM",
        "9 set f mtime=now = ACCES", /* its group may only read */
        "9 set f mtime=7 = PERM",
        "7 set f mode=600 = OK",
        "8 set f mtime=now = ACCES",
        "7 set f mtime=7 = OK",
        "0 set f uid=8 gid=8 mode=17777 mtime=9 size=3 = OK",
        "0 stat f = - 1777 1 8 8 3",
        "7 set f mode=600 = PERM",
        /* nothing of it, where one is refused */
        "8 set f mode=600 size=0x8000000000000000 = FBIG",
        "8 set f mode=600 uid=9 = PERM",
        "8 stat f = - 1777 1 8 8 3",
        "8 symlink l x = OK",
        "8 set l mode=600 = OK",
        "8 stat l = l 777 1 8 8 1",
        "0 set l uid=9 = OK",
        "0 stat l = l 777 1 9 8 1",
        /* made for others */
        "0 create g mode=600 uid=7 gid=8 = OK",
        "0 stat g = - 600 1 7 8 0",
        "7 create h mode=600 uid=8 gid=8 = OK",
        "0 stat h = - 600 1 7 7 0",
    };

    (void)state;
    RUN(lines, 0);
}

static void set_id(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=6755 = OK",
        "7 stat f = - 6755 1 7 7 0",
        "0 write f 0 x = OK",
        "7 stat f = - 6755 1 7 7 1",
        "7 write f 0 x = OK",
        "7 stat f = - 755 1 7 7 1",
        "7 set f mode=6745 = OK",
        "7 set f size=0 = OK",
        "7 stat f = - 2745 1 7 7 0", /* mandatory locking, not set-id */
        "7 set f mode=6777 = OK",
        "8 write f 0 x = OK",
        "7 stat f = - 777 1 7 7 1",
        "7 set f mode=6755 = OK",
        "0 set f uid=8 = OK",
        "7 stat f = - 755 1 8 7 1",
        "8 set f mode=6755 = OK", /* not of that group */
        "7 stat f = - 4755 1 8 7 1",
        "8+7 set f mode=6755 = OK",
        "7 stat f = - 6755 1 8 7 1",
        "8+9+7 set f gid=9 = OK",
        "7 stat f = - 755 1 8 9 1",
        "0 set f uid=9 mode=6755 = OK",
        "7 stat f = - 755 1 9 9 1",
        /* directories: what is made in it gets its group */
        "7 mkdir d mode=2777 = OK",
        "8 create d/f mode=644 = OK",
        "8 stat d/f = - 644 1 8 7 0",
        "8 mkdir d/d mode=755 = OK",
        "8 stat d/d = d 2755 2 8 7 64",
        "8 symlink d/l x = OK",
        "8 stat d/l = l 777 1 8 7 1",
        "8 create d/g mode=2755 = OK",
        "8 stat d/g = - 755 1 8 7 0",
        "8+7 create d/h mode=2755 = OK",
        "8 stat d/h = - 2755 1 8 7 0",
        "0 set d uid=8 = OK",
        "8 stat d = d 2777 3 8 7 224",
        "8 excl d/e abc = OK",
        "8 stat d/e = - 0 1 8 7 0",
    };

    (void)state;
    RUN(lines, 0);
}

static void sticky(void **state)
{
    static const char *const lines[] = {
        "7 mkdir d mode=1777 = OK",
        "8 create d/f = OK",
        "9 remove d/f = ACCES",
        "9 rename d/f d/g = ACCES",
        "9 rename d/f g = ACCES",
        "9 create g = OK",
        "9 rename g d/f = ACCES",
        "9 create d/h = OK",
        "8 rename d/f d/h = ACCES",
        "7 rename d/f d/h = OK",
        "8 remove d/h = OK",
        "9 mkdir d/e mode=755 = OK",
        "8 rmdir d/e = ACCES",
        "9 rmdir d/e = OK",
        "9 create d/i = OK",
        "0 remove d/i = OK",
        /* a directory of somebody else cannot get another ".." */
        "9 mkdir e mode=755 = OK",
        "8 rename e x = OK",
        "8 mkdir y mode=777 = OK",
        "8 rename x y/x = ACCES",
        "9 rename x y/x = OK",
    };

    (void)state;
    RUN(lines, 0);
}

static void lists(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=640 = OK",
        "7 acl f = u:rw-,g:r--,o:---",
        "7 default f = -",
        "8 setacl f u:rw-,g:r--,o:--- = PERM",
        "7 setacl f u:rw-,u8:rw-,g:r--,g9:--x,m:rwx,o:--- = OK",
        "7 acl f = u:rw-,u8:rw-,g:r--,g9:--x,m:rwx,o:---",
        "7 stat f = - 670 1 7 7 0",
        "8 access f = rme",
        "9 access f = x",
        "6+7 access f = r",
        "6+7+9 access f = rx",
        "6 access f = ",
        /* the mask is the mode's group */
        "7 set f mode=640 = OK",
        "7 acl f = u:rw-,u8:rw-,g:r--,g9:--x,m:r--,o:---",
        "8 access f = r",
        "9 access f = ",
        "6+7 access f = r",
        "8+7 access f = r",
        "0 access f = rme",
        /* matching groups that do not grant: others' bits do not count */
        "7 setacl f u:rw-,g:---,g9:---,m:rwx,o:rwx = OK",
        "9 access f = ",
        "6+7 access f = ",
        "6 access f = rmex",
        /* any order; a list that is no more than the mode goes */
        "7 setacl f o:r--,g:rw-,u:rwx = OK",
        "7 stat f = - 764 1 7 7 0",
        "7 setacl f o:r--,g:r--,u:rwx,m:r-- = OK",
        "7 acl f = u:rwx,g:r--,o:r--",
        "7 setacl f o:r--,g:r--,u:rwx,m:rw- = OK",
        "7 acl f = u:rwx,g:r--,m:rw-,o:r--",
        "7 stat f = - 764 1 7 7 0",
        "7 setacl f - = OK",
        "7 acl f = u:rwx,g:rw-,o:r--",
        /* not lists */
        "7 setacl f u:rwx,g:r-- = INVAL",
        "7 setacl f u:rwx,o:r-- = INVAL",
        "7 setacl f g:rwx,o:r-- = INVAL",
        "7 setacl f u:rwx,u:r--,g:r--,o:r-- = INVAL",
        "7 setacl f u:rwx,u8:r--,g:r--,o:r-- = INVAL",
        "7 setacl f u:rwx,u8:r--,u8:r--,g:r--,m:r--,o:r-- = INVAL",
        "7 setacl f u:rwx,g8:r--,g8:r--,g:r--,m:r--,o:r-- = INVAL",
        "7 setacl f u:rwx,g:r--,m:r--,m:r--,o:r-- = INVAL",
        "7 symlink l x = OK",
        "7 setacl l u:rwx,g:r--,o:r-- = NOTSUPP",
        "7 acl l = u:rwx,g:rwx,o:rwx",
        "7 setdefault f u:rwx,g:r--,o:r-- = ACCES",
        "7 setdefault f - = OK",
        /* set-id, by somebody who is not of the group */
        "7+9 set f gid=9 mode=2755 = OK",
        "7+9 set f mode=2755 = OK",
        "7 setacl f u:rwx,g:r-x,o:r-x = OK",
        "7 stat f = - 755 1 7 9 0",
        /* the owner is the owner, whatever else names him */
        "7 setacl f u:r--,u7:rwx,g:rwx,m:rwx,o:rwx = OK",
        "7 access f = r",
    };

    (void)state;
    RUN(lines, 0);
}

/* Of two lists, both are set or none. */
static void both_lists(void **state)
{
    static const char *const lines[] = {
        "7 mkdir d mode=755 = OK", /* 1 */
        "7 setboth d u:rwx,u8:r-x,g:r-x,m:r-x,o:--- u:rwx,g:rwx = INVAL",
        "7 setboth d u:rwx,g:r-x u:rwx,g:rwx,o:rwx = INVAL",
        "8 setboth d u:rwx,g:r-x,o:--- u:rwx,g:rwx,o:rwx = PERM",
        "7 acl d = u:rwx,g:r-x,o:r-x",
        "7 default d = -",
        "7 times d = 1 1 1",
        "7 setboth d u:rwx,u8:r-x,g:r-x,m:r-x,o:--- u:rwx,g:rwx,o:r-- = OK", /* 8 */
        "7 acl d = u:rwx,u8:r-x,g:r-x,m:r-x,o:---",
        "7 default d = u:rwx,g:rwx,o:r--",
        "7 stat d = d 750 2 7 7 64",
        "7 times d = 1 1 8",
        "7 setboth d u:rwx,g:---,o:--- - = OK", /* 13 */
        "7 acl d = u:rwx,g:---,o:---",
        "7 default d = -",
        "7 create f mode=640 = OK",
        "7 setboth f u:rwx,g:rwx,o:rwx u:rwx,g:rwx,o:rwx = ACCES",
        "7 acl f = u:rw-,g:r--,o:---",
        "7 setboth f u:rwx,g:rwx,o:rwx - = OK",
        "7 acl f = u:rwx,g:rwx,o:rwx",
    };

    (void)state;
    RUN(lines, 0);
}

static void inherited(void **state)
{
    static const char *const lines[] = {
        "7 mkdir d mode=755 = OK",
        "7 default d = -",
        "7 setdefault d u:rwx,u8:rwx,g:r-x,m:rwx,o:--- = OK",
        "7 default d = u:rwx,u8:rwx,g:r-x,m:rwx,o:---",
        "7 acl d = u:rwx,g:r-x,o:r-x",
        "7 create d/f mode=664 = OK",
        "7 acl d/f = u:rw-,u8:rwx,g:r-x,m:rw-,o:---",
        "7 stat d/f = - 660 1 7 7 0",
        "8 access d/f = rme",
        "7 mkdir d/e mode=777 = OK",
        "7 acl d/e = u:rwx,u8:rwx,g:r-x,m:rwx,o:---",
        "7 default d/e = u:rwx,u8:rwx,g:r-x,m:rwx,o:---",
        "8 create d/e/g mode=600 = OK",
        "8 acl d/e/g = u:rw-,u8:rwx,g:r-x,m:---,o:---",
        "7 symlink d/l x = OK",
        "7 acl d/l = u:rwx,g:rwx,o:rwx",
        "7 setacl d u:rwx,u8:r-x,g:r-x,m:r-x,o:--- = OK",
        "7 default d = u:rwx,u8:rwx,g:r-x,m:rwx,o:---",
        "7 setdefault d - = OK",
        "7 default d = -",
        "7 acl d = u:rwx,u8:r-x,g:r-x,m:r-x,o:---",
        "7 setdefault d u:rwx,g:r-x,o:r-- = OK",
        "7 create d/h mode=777 = OK",
        "7 acl d/h = u:rwx,g:r-x,o:r--",
        "7 mkdir d/i mode=777 = OK",
        "7 default d/i = u:rwx,g:r-x,o:r--",
        "7 setacl d - = OK",
        "7 default d = u:rwx,g:r-x,o:r--",
        "7 rmdir d/i = OK",
    };

    (void)state;
    RUN(lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes),      cmocka_unit_test(owners), cmocka_unit_test(set_id),
        cmocka_unit_test(sticky),     cmocka_unit_test(lists),  cmocka_unit_test(inherited),
        cmocka_unit_test(both_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
