/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_fs_files.c
 *
 * live/fs: contents, sizes, times, space, and what a crash takes (READ, WRITE, COMMIT, SETATTR,
 * FSSTAT), told by lines (fs_case.h).
 */
#include "fs_case.h"

static void contents(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=600 = OK",
        "7 read f 0 10 = OK  eof",
        "7 write f 0 hello = OK",
        "7 read f 0 10 = OK hello eof",
        "7 read f 0 5 = OK hello eof",
        "7 read f 0 4 = OK hell",
        "7 read f 1 2 = OK el",
        "7 read f 5 2 = OK  eof",
        "7 read f 0xffffffffffffffff 2 = OK  eof",
        "7 read f 0 0 = OK ",
        "7 read f 5 0 = OK  eof",
        "7 used f = 4096",
        "7 write f 10 x = OK",
        "7 read f 0 20 = OK hello.....x eof",
        "7 write f 4094 abcd = OK",
        "7 used f = 8192",
        "7 stat f = - 600 1 7 7 4098",
        "7 read f 4092 20 = OK ..abcd eof",
        "7 write f 1 00 = OK", /* no bytes */
        "7 write f 1 02 = OK",
        "7 read f 0 6 = OK h..lo.",
        /* cut: what is behind the end comes back as zeros */
        "7 set f size=4096 = OK",
        "7 used f = 4096",
        "7 set f size=5000 = OK",
        "7 read f 4094 6 = OK ab....",
        "7 set f size=1 = OK",
        "7 set f size=8 = OK",
        "7 read f 0 8 = OK h....... eof",
        "7 set f size=0 = OK",
        "7 used f = 0",
        /* sparse */
        "7 write f 0x7ffffffffffffffe z = OK",
        "7 stat f = - 600 1 7 7 9223372036854775807",
        "7 used f = 4096",
        "7 read f 0x7ffffffffffffffd 8 = OK .z eof",
        "7 read f 0x4000000000000000 4 = OK ....",
        "7 write f 0x7fffffffffffffff z = FBIG",
        "7 write f 0x7ffffffffffffffe zz = FBIG",
        "7 write f 0xffffffffffffffff z = FBIG",
        "7 write f 0x100000000000 y = OK",
        "7 write f 0x1000 y = OK",
        "7 used f = 12288",
        "7 set f size=0x100000000001 = OK",
        "7 used f = 8192",
        "7 set f size=0x100000000000 = OK",
        "7 used f = 4096",
        "7 set f size=0x8000000000000000 = FBIG",
        /* zeros take no pages */
        "7 create g mode=600 = OK",
        "7 write g 0 065536 = OK",
        "7 used g = 0",
        "7 write g 4096 @4096 = OK",
        "7 used g = 4096",
        "7 write g 0 @65536 = OK",
        "7 used g = 65536",
        "7 stat g = - 600 1 7 7 65536",
        "7 write g 100000 @300000 = OK",
        "7 stat g = - 600 1 7 7 400000",
        "7 read g 99998 4 = OK ..ww",
        "7 mkdir d mode=777 = OK",
        "7 symlink l x = OK",
        "7 fifo p mode=666 = OK",
        "7 read d 0 1 = INVAL",
        "7 read l 0 1 = INVAL",
        "7 read p 0 1 = INVAL",
        "7 write d 0 x = INVAL",
        "7 write p 0 x = INVAL",
        "7 commit d 0 0 = INVAL",
        "7 commit g 0 0 = OK",
        "7 set d size=0 = INVAL",
        "7 set p size=0 = INVAL",
        "7 set l size=0 = INVAL",
    };

    (void)state;
    RUN(lines, 0);
}

/* "times": atime mtime ctime, each the number of a line. */
static void times(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=600 = OK", /* 1 */
        "7 times f = 1 1 1",
        "7 times / = 0 1 1",
        "7 write f 0 x = OK", /* 4 */
        "7 times f = 1 4 4",
        "7 read f 0 1 = OK x eof", /* 6 */
        "7 times f = 6 4 4",
        "7 read f 0 0 = OK ",  /* nothing was asked for */
        "7 write f 0 @0 = OK", /* nothing was written */
        "7 times f = 6 4 4",
        "7 set f mode=644 = OK", /* 11 */
        "7 times f = 6 4 11",
        "7 set f size=1 = OK", /* 13 */
        "7 times f = 6 13 13",
        "7 set f atime=5.7 = OK", /* 15 */
        "7 times f = -995 13 15",
        "7 set f mtime=now = OK", /* 17 */
        "7 times f = -995 17 17",
        "7 set f = OK", /* nothing */
        "7 times f = -995 17 17",
        "7 set f mtime=1.1000000000 = INVAL",
        "7 set f atime=1.1000000000 = INVAL",
        "7 times f = -995 17 17",
        "7 list / = .,..,f", /* 24 */
        "7 times / = 24 1 1",
        "7 symlink l x = OK", /* 26 */
        "7 readlink l = x",   /* 27 */
        "7 times l = 27 26 26",
        "7 create f size=0 = OK", /* 29 */
        "7 times f = -995 29 29",
        "7 times / = 24 26 26",
        "7 lookup f = OK",
        "7 set f guard=1029.5 mode=600 = OK", /* 33 */
        "7 set f guard=1029.5 mode=601 = NOT_SYNC",
        "7 set f guard=1033.6 mode=601 = NOT_SYNC",
        "7 set f guard=1000.5 = NOT_SYNC",
        "7 stat f = - 600 1 7 7 0",
        "7 set f size=10 mtime=9 = OK", /* 38 */
        "7 times f = -995 -991 38",
    };
    static const char *const still[] = {
        "7 create f mode=600 = OK", "7 read f 0 1 = OK  eof", "7 times f = 1 1 1",
        "7 list / = .,..,f",        "7 times / = 0 1 1",
    };

    (void)state;
    RUN(lines, 0);
    RUN(still, .no_atime = true);
}

static struct nfstime3 stuck(void *ctx)
{
    (void)ctx;
    return (struct nfstime3){ 50, 999999998 };
}

/* A guard tells two changes apart even if the clock does not. */
static void time_goes_on(void **state)
{
    struct fs_config config = { .root_mode = 0777, .now = stuck };
    struct fs_caller root = { 0 };
    struct sattr3 set = { .set_mode = true };
    struct fattr3 a;

    (void)state;
    fs = fs_new(&config, NULL);
    fs_attributes(fs, 1, &a);
    assert_int_equal(a.ctime.nseconds, 999999998);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(fs_setattr(fs, &root, 1, &set, NULL), NFS3_OK);
    fs_attributes(fs, 1, &a);
    assert_int_equal(a.ctime.seconds, 51);
    assert_int_equal(a.ctime.nseconds, 1);
    fs_free(fs);
}

static void space(void **state)
{
    static const char *const lines[] = {
        "7 space = 20480/20480/12288 6/5/3",
        "7 create f mode=600 = OK",
        "7 space = 20480/20480/12288 6/4/2",
        "7 write f 0 @8193 = OK",
        "7 space = 20480/8192/0 6/4/2",
        "0 space = 20480/8192/8192 6/4/4",
        "7 write f 12288 x = DQUOT",
        "7 write f 12287 x = OK",
        "7 stat f = - 600 1 7 7 12288",
        "7 write f 0x100000 04096 = OK", /* zeros */
        "0 write f 0x100000 x = DQUOT",  /* the owner's */
        "7 create g = OK",
        "7 mkdir h = OK",
        "7 create i = DQUOT",
        "7 fifo i = DQUOT",
        "7 link g i = OK",
        "8 create j mode=600 = OK",
        "8 write j 0 @12288 = NOSPC",
        "8 stat j = - 600 1 8 8 0",
        "8 write j 0 @8192 = OK",
        "8 create k = OK",
        "9 create l = NOSPC",
        "0 create l = NOSPC",
        "0 set k uid=7 = DQUOT",
        "0 set j uid=7 = DQUOT",
        "7 space = 20480/0/0 6/0/0",
        "7 remove g = OK",
        "7 remove i = OK",
        "0 set k uid=7 = OK",
        "0 set j uid=7 = DQUOT",
        "7 set f size=4096 = OK",
        "7 rmdir h = OK",
        "0 set j uid=7 = OK",
        "7 space = 20480/8192/0 6/2/0",
        "0 create m mode=600 = OK",
        "0 write m 0 @8192 = OK",
        "0 write m 8192 x = NOSPC",
        "7 symlink l @60 = NOSPC",
        "7 remove k = OK",
        "7 symlink l @60 = NOSPC",
        "7 symlink l @59 = OK",
        "7 remove l = OK",
        "7 remove f = OK",
        "7 symlink l @60 = OK",
        "7 used l = 4096",
        "7 space = 20480/0/0 6/2/1",
    };
    static const char *const none[] = {
        "7 space = 1099511627776/1099511627776/1099511627776 2147483647/2147483646/2147483646",
    };

    (void)state;
    RUN(lines, .capacity = 20480, .objects = 6, .user_capacity = 12288, .user_objects = 3);
    RUN(none, 0);
}

static void names_are_bounded(void **state)
{
    static const char *const lines[] = {
        "7 create f = OK",    "7 link f g = OK",      "7 link f h = OK", "7 link f i = NOSPC",
        "7 create i = NOSPC", "7 rename f i = NOSPC", /* for a moment there are two */
        "7 rename f h = OK",                          /* the same file */
        "7 remove f = OK",    "7 link g f = OK",
    };

    (void)state;
    RUN(lines, .objects = 3);
}

static void lost(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=600 = OK",
        "7 write f 0 hello = OK",
        "7 write f 0 jelly u = OK",
        "7 read f 0 9 = OK jelly eof",
        "7 lose = OK",
        "7 read f 0 9 = OK hello eof",
        "7 lose = OK",
        /* size and pages */
        "7 write f 8000 @5000 u = OK",
        "7 write f 0 @8192 u = OK",
        "7 stat f = - 600 1 7 7 13000",
        "7 lose = OK",
        "7 stat f = - 600 1 7 7 5",
        "7 used f = 4096",
        "7 read f 0 9 = OK hello eof",
        /* committed in part: pages and the size up to there */
        "7 write f 0 @8192 u = OK",
        "7 commit f 4096 4096 = OK",
        "7 lose = OK",
        "7 stat f = - 600 1 7 7 8192",
        "7 read f 0 7 = OK hello..",
        "7 read f 4094 4 = OK ..ww",
        "7 write f 0 abc u = OK",
        "7 commit f 0 0 = OK",
        "7 lose = OK",
        "7 read f 0 7 = OK abclo..",
        /* a stable write makes its page stable */
        "7 write f 0 xyz u = OK",
        "7 write f 4 ! = OK",
        "7 lose = OK",
        "7 read f 0 7 = OK xyzl!..",
        /* cut, and then longer: stable */
        "7 write f 0 uvw u = OK",
        "7 set f size=2 = OK",
        "7 lose = OK",
        "7 read f 0 9 = OK xy eof",
        "7 write f 0 abcdef u = OK",
        "7 set f size=4 = OK",
        "7 set f size=9 = OK",
        "7 lose = OK",
        "7 read f 0 9 = OK xy....... eof",
        /* gone */
        "7 write f 0 abcdef u = OK",
        "7 remove f = OK",
        "7 create g mode=600 = OK",
        "7 write g 5 abcdef u = OK",
        "7 lose = OK",
        "7 stat g = - 600 1 7 7 0",
        "7 used g = 0",
    };

    (void)state;
    RUN(lines, .keep_unstable = true);
}

static void nothing_is_lost_without_keeping(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=600 = OK",
        "7 write f 0 hello u = OK",
        "7 lose = OK",
        "7 read f 0 9 = OK hello eof",
    };

    (void)state;
    RUN(lines, 0);
}

/* Numbers come back late, with another generation; what was in between is stale. */
static void generations(void **state)
{
    struct fs_caller root = { 0 };
    struct fs_new new_object = { .type = NF3REG };
    struct bytes name = { (uint8_t *)"f", 1 };
    uint32_t a, b, seen = 0;

    (void)state;
    case_begin((struct fs_config){ .first_generation = UINT32_MAX - 1 });
    case_line("7 create g = OK", 0);
    assert_int_equal(fs_find(fs, 0, 1), 0);
    assert_int_equal(fs_find(fs, 1, 1), 0);
    assert_int_equal(fs_find(fs, 1, UINT32_MAX - 1), 1);
    assert_int_equal(fs_find(fs, UINT32_MAX, 1), 0);
    assert_int_equal(fs_make(fs, &root, 1, name, &new_object, &a), NFS3_OK);
    assert_int_equal(fs_generation(fs, a), UINT32_MAX - 1);
    assert_int_equal(fs_remove(fs, &root, 1, name, false), NFS3_OK);
    assert_int_equal(fs_find(fs, a, UINT32_MAX - 1), 0);
    assert_int_equal(fs_make(fs, &root, 1, name, &new_object, &b), NFS3_OK);
    assert_int_equal(b, a);
    assert_int_equal(fs_generation(fs, b), UINT32_MAX);
    assert_int_equal(fs_remove(fs, &root, 1, name, false), NFS3_OK);
    case_line("7 create h = OK", 0); /* the number has no more generations */
    assert_int_not_equal(case_find("h"), a);
    assert_int_equal(fs_find(fs, a, 0), 0);
    case_end();
    /* of ten free ones the one that is free for the longest comes first */
    case_begin((struct fs_config){ 0 });
    for (char c = '0'; c <= '9'; c++)
        assert_int_equal(fs_make(fs, &root, 1, (struct bytes){ (uint8_t *)&c, 1 }, &new_object, &a),
                         NFS3_OK);
    for (char c = '9'; c >= '0'; c--)
        assert_int_equal(fs_remove(fs, &root, 1, (struct bytes){ (uint8_t *)&c, 1 }, false),
                         NFS3_OK);
    for (char c = '0'; c <= '9'; c++) {
        assert_int_equal(fs_make(fs, &root, 1, (struct bytes){ (uint8_t *)&c, 1 }, &new_object, &a),
                         NFS3_OK);
        assert_true(!seen || a == seen - 1);
        seen = a;
    }
    assert_null(fs_mirror(fs, mirror));
    assert_null(fs_differ(fs, mirror));
    case_end();
}

static void all_set(void **state)
{
    struct fattr3 to = { .mode = 07755,
                         .uid = 5,
                         .gid = 6,
                         .size = 10000,
                         .atime = { 1, 2 },
                         .mtime = { 3, 4 },
                         .ctime = { 5, 6 } },
                  is;

    (void)state;
    case_begin((struct fs_config){ .user_capacity = 4096 });
    case_line("7 create f mode=600 = OK", 0);
    case_line("7 write f 0 @4096 = OK", 0);
    assert_int_equal(fs_set_all(fs, case_find("f"), &to), NFS3_OK);
    case_line("7 stat f = - 7755 1 5 6 10000", 0);
    fs_attributes(fs, case_find("f"), &is);
    assert_int_equal(is.ctime.seconds, 5);
    assert_int_equal(is.mtime.nseconds, 4);
    assert_int_equal(is.used, 4096);
    to.ctime.nseconds = 1000000000;
    assert_int_equal(fs_set_all(fs, case_find("f"), &to), NFS3ERR_INVAL);
    to.ctime.nseconds = 0;
    to.size = UINT64_MAX;
    assert_int_equal(fs_set_all(fs, case_find("f"), &to), NFS3ERR_FBIG);
    assert_int_equal(fs_set_all(fs, 1, &to), NFS3_OK);
    case_line("7 stat / = d 7755 2 5 6 96", 0);
    case_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents),    cmocka_unit_test(times),
        cmocka_unit_test(space),       cmocka_unit_test(time_goes_on),
        cmocka_unit_test(lost),        cmocka_unit_test(nothing_is_lost_without_keeping),
        cmocka_unit_test(all_set),     cmocka_unit_test(names_are_bounded),
        cmocka_unit_test(generations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
