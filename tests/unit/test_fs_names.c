/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_fs_names.c
 *
 * live/fs: names that come, go and move (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME,
 * LINK, LOOKUP, READDIR), told by lines (fs_case.h).
 */
#include "fs_case.h"

static void made(void **state)
{
    static const char *const lines[] = {
        "7 mkdir d mode=755 = OK",
        "7 stat d = d 755 2 7 7 64",
        "7 create d/f mode=640 = OK",
        "7 stat d/f = - 640 1 7 7 0",
        "7 mkdir d/e mode=700 = OK",
        "7 stat d = d 755 3 7 7 128",
        "7 symlink d/l to/there = OK",
        "7 stat d/l = l 777 1 7 7 8",
        "7 readlink d/l = to/there",
        "7 readlink d/f = INVAL",
        "7 fifo d/p mode=600 = OK",
        "7 sock d/s mode=600 = OK",
        "7 stat d/p = p 600 1 7 7 0",
        "7 stat d/s = s 600 1 7 7 0",
        "7 chr d/c mode=600 1 3 = PERM",
        "0 chr d/c mode=600 1 3 = OK",
        "0 blk d/b mode=660 8 1 = OK",
        "0 stat d/c = c 600 1 0 0 0",
        "0 rdev d/b = 8 1",
        "0 bad d/x = BADTYPE",
        "7 list d = .,..,f,e,l,p,s,c,b",
        "7 list d 2 = f,e,l,p,s,c,b",
        "7 list d 7 = c,b",
        "7 list d 8 = b",
        "7 list d 9 = ",
        "7 list d 10 = BAD_COOKIE",
        "7 list d/f = NOTDIR",
        "7 lookup d/f = OK",
        "7 lookup d/. = OK",
        "7 lookup d/.. = OK",
        "7 lookup .. = OK",
        "7 lookup d/no = NOENT",
        "7 lookup d/f/x = NOTDIR",
        "7 create d/f/x = NOTDIR",
        "7 symlink d/m @4095 = OK",
        "7 used d/m = 4096",
        "7 used d/l = 0",
        "7 symlink d/n @4096 = NAMETOOLONG",
        "7 symlink d/n @0 = INVAL",
    };

    (void)state;
    RUN(lines, 0);
}

static void names_that_cannot_be(void **state)
{
    static const char *const lines[] = {
        "7 create @255 mode=600 = OK",
        "7 lookup @255 = OK",
        "7 remove @255 = OK",
        "7 create @256 = NAMETOOLONG",
        "7 create @0 = ACCES",
        "7 lookup @256 = NAMETOOLONG",
        "7 lookup @0 = ACCES",
        "7 mkdir . = EXIST",
        "7 mkdir .. = EXIST",
        "7 create . = EXIST",
        "7 symlink .. x = EXIST",
        "7 fifo . = EXIST",
        "7 remove . = ACCES",
        "7 remove .. = ACCES",
        "7 rmdir . = INVAL",
        "7 rmdir .. = EXIST",
        "7 create f = OK",
        "7 mkdir d mode=777 = OK",
        "7 rename f . = INVAL",
        "7 rename d .. = INVAL",
        "7 rename . e = INVAL",
        "7 rename .. e = INVAL",
        "7 link f . = EXIST",
        "7 link f d/.. = EXIST",
        "7 rename f @256 = NAMETOOLONG",
        "7 rename @256 f = NAMETOOLONG",
        "7 link f @256 = NAMETOOLONG",
        "7 remove @256 = NAMETOOLONG",
        "7 create ... = OK",
        "7 create .x = OK",
        "7 list / = .,..,f,d,...,.x",
    };
    struct fs_caller root = { 0 };
    uint32_t object;

    (void)state;
    RUN(lines, 0);
    case_begin((struct fs_config){ 0 });
    for (uint32_t c = 0; c < 256; c++) {
        uint8_t byte = (uint8_t)c;
        struct fs_new new_object = { .type = NF3REG };
        enum nfsstat3 status =
            fs_make(fs, &root, fs_root(fs), (struct bytes){ &byte, 1 }, &new_object, &object);

        assert_int_equal(status, !c || c == '/' ? NFS3ERR_ACCES
                                 : c == '.'     ? NFS3ERR_EXIST
                                                : NFS3_OK);
    }
    case_end();
}

static void created_again(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=600 = OK",
        "7 write f 0 hello = OK",
        "7 create f mode=644 = OK",
        "7 stat f = - 600 1 7 7 5",
        "7 create f mode=644 size=2 = OK",
        "7 stat f = - 600 1 7 7 2",
        "8 create f size=0 = ACCES",
        "8 create f = OK",
        "7 guarded f = EXIST",
        "7 excl f abc = EXIST",
        "7 guarded g mode=600 size=3 = OK",
        "7 stat g = - 600 1 7 7 3",
        "7 excl e abc = OK",
        "7 stat e = - 0 1 7 7 0",
        "7 excl e abc = OK",
        "7 excl e abd = EXIST",
        "7 set e mode=644 atime=now mtime=now = OK",
        "7 write e 0 x = OK",
        "7 excl e abc = OK",
        "7 guarded e = EXIST",
        "7 mkdir d = OK",
        "7 create d = EXIST",
        "7 mkdir d = EXIST",
        "7 excl d abc = EXIST",
        "7 symlink f x = EXIST",
        "7 fifo f = EXIST",
        "7 create big size=0x8000000000000000 = FBIG",
        "7 create big size=0x7fffffffffffffff = OK",
        "7 stat big = - 0 1 7 7 9223372036854775807",
        "7 used big = 0",
        "7 create h mode=600 mtime=5.7 atime=now = OK",
        "7 times h = 31 -995 31",
        "7 create i mtime=5.1000000000 = INVAL",
    };

    (void)state;
    RUN(lines, 0);
}

static void removed(void **state)
{
    static const char *const lines[] = {
        "7 mkdir d mode=755 = OK",   "7 create d/f = OK",    "7 remove d = ISDIR",
        "7 rmdir d/f = NOTDIR",      "7 rmdir d = NOTEMPTY", "7 remove d/no = NOENT",
        "7 rmdir d/no = NOENT",      "8 remove d/f = ACCES", "7 link d/f d/g = OK",
        "7 stat d/g = - 0 2 7 7 0",  "7 remove d/f = OK",    "7 stat d/g = - 0 1 7 7 0",
        "7 times d/g = 2 2 11",      "7 remove d/g = OK",    "7 times d = 1 14 14",
        "7 stat / = d 777 3 0 0 96", "7 rmdir d = OK",       "7 stat / = d 777 2 0 0 64",
        "7 lookup d = NOENT",        "7 create f = OK",      "7 remove f/x = NOTDIR",
        "7 list / = .,..,f",         "7 list / 3 = f",
    };

    (void)state;
    RUN(lines, 0);
}

static void renamed(void **state)
{
    static const char *const lines[] = {
        "7 mkdir a mode=755 = OK",
        "7 mkdir b mode=755 = OK",
        "7 create a/f mode=600 = OK",
        "7 rename a/f a/g = OK",
        "7 list a = .,..,g",
        "7 times a/g = 3 3 4",
        "7 times a = 5 4 4",
        "7 rename a/g b/h = OK",
        "7 list a = .,..",
        "7 list b = .,..,h",
        "7 path b/h = /b/h",
        /* over another one: its place stays */
        "7 create b/i = OK",
        "7 create b/j = OK",
        "7 rename b/j b/h = OK",
        "7 list b = .,..,h,i",
        "7 list b 3 = i",
        "7 stat b/h = - 0 1 7 7 0",
        /* the same object: nothing */
        "7 link b/h b/k = OK",
        "7 rename b/h b/k = OK",
        "7 list b = .,..,h,i,k",
        "7 rename b/h b/h = OK",
        /* directories */
        "7 mkdir a/d mode=755 = OK",
        "7 stat a = d 755 3 7 7 96",
        "7 rename a/d b/d = OK",
        "7 stat a = d 755 2 7 7 64",
        "7 stat b = d 755 3 7 7 192",
        "7 path b/d = /b/d",
        "7 rename b b/d/x = INVAL",
        "7 rename b b/x = INVAL",
        "7 mkdir b/d/e mode=755 = OK",
        "7 rename b/d/e b = NOTEMPTY",
        "7 rename b/h b/d = ISDIR",
        "7 rename b/d b/h = NOTDIR",
        "7 rename a b/d = NOTEMPTY",
        "7 rmdir b/d/e = OK",
        "7 rename a b/d = OK",
        "7 list / = .,..,b",
        "7 stat / = d 777 3 0 0 96",
        "7 stat b = d 755 3 7 7 192",
        "7 rename b/no b/x = NOENT",
        "7 rename b/h/x b/x = NOTDIR",
        "7 rename b/h b/i/x = NOTDIR",
        "8 rename b/h c = ACCES",
        "8 mkdir e mode=755 = OK",
        "7 rename b/h e/h = ACCES",
        "8 rename b/h e/h = ACCES",
        "7 lookup b/d/.. = OK",
    };

    (void)state;
    RUN(lines, 0);
}

static void linked(void **state)
{
    static const char *const lines[] = {
        "7 create f mode=600 = OK",
        "7 mkdir d mode=755 = OK",
        "7 link f d/g = OK",
        "7 times f = 1 1 3",
        "7 times d = 2 3 3",
        "7 stat f = - 600 2 7 7 0",
        "7 link f d/g = EXIST",
        "7 link d e = INVAL",
        "7 link f f/x = NOTDIR",
        "8 link f d/h = ACCES",
        "8 link f h = OK",
        "7 symlink s x = OK",
        "7 link s t = OK",
        "7 stat t = l 777 2 7 7 1",
        "7 remove f = OK",
        "7 path d/g = /d/g",
        "7 path h = /h",
        "7 remove h = OK",
        "7 stat d/g = - 600 1 7 7 0",
    };

    (void)state;
    RUN(lines, 0);
}

static void too_many_links(void **state)
{
    struct fs_caller root = { 0 };
    struct fs_new new_object = { .type = NF3REG };
    uint32_t file;

    (void)state;
    case_begin((struct fs_config){ 0 });
    assert_int_equal(fs_make(fs, &root, 1, (struct bytes){ (uint8_t *)"f", 1 }, &new_object, &file),
                     NFS3_OK);
    for (uint32_t i = 1; i < FS_LINK_MAX; i++) {
        char name[16];
        struct bytes bytes = { (uint8_t *)name, (uint32_t)snprintf(name, sizeof(name), "%u", i) };

        assert_int_equal(fs_link(fs, &root, file, 1, bytes), NFS3_OK);
    }
    case_line("0 link f one-more = MLINK", 0);
    case_line("0 remove 77 = OK", 0);
    case_line("0 link f one-more = OK", 0);
    case_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made),           cmocka_unit_test(names_that_cannot_be),
        cmocka_unit_test(removed),        cmocka_unit_test(created_again),
        cmocka_unit_test(renamed),        cmocka_unit_test(linked),
        cmocka_unit_test(too_many_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
