/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture.h"
#include "package/originals.h"
#include "package/stage.h"
#include "package/package_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/nfsdigest-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void put(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* FIPS 180-4's examples, as NIST gives them */
static void test_sha256(void **state)
{
    static const struct {
        const char *text, *digest;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    struct sha256 of, none;
    char path[64];
    struct err err;

    (void)state;
    snprintf(path, sizeof(path), "%s/x", folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        put(path, cases[i].text, strlen(cases[i].text));
        assert_int_equal(sha256_file(path, NULL, &of, &err), 0);
        assert_string_equal(of.hex, cases[i].digest);
        assert_int_equal(of.size, strlen(cases[i].text));
        assert_false(of.found);
        assert_true(sha256_is(of.hex));
    }
    unlink(path);
    assert_int_equal(sha256_file(path, NULL, &none, &err), -ERR_SYSTEM);
    assert_false(none.found);
    assert_false(sha256_is("e3b0"));
    of.hex[3] = 'E';
    assert_false(sha256_is(of.hex));
}

/* Wherever it stands, also across the pieces that are read at once. */
static void test_needle(void **state)
{
    enum { LEN = (1 << 18) + 1000 };
    static const char needle[] = "needle";
    char *data = calloc(1, LEN), path[64];
    struct sha256 of;
    struct err err;

    (void)state;
    assert_non_null(data);
    snprintf(path, sizeof(path), "%s/x", folder);
    for (size_t at = 0; at + sizeof(needle) <= LEN;
         at += at > (1 << 18) - 10 ? 1 : (1 << 18) - 10) {
        memset(data, 'n', LEN);
        put(path, data, LEN);
        assert_int_equal(sha256_file(path, needle, &of, &err), 0);
        assert_false(of.found);
        memcpy(data + at, needle, sizeof(needle) - 1);
        put(path, data, LEN);
        assert_int_equal(sha256_file(path, needle, &of, &err), 0);
        assert_true(of.found);
        if (at > (1 << 18) + 10)
            break;
    }
    unlink(path);
    free(data);
}

static void test_paths(void **state)
{
    static const char *const good[] = { "README.md", "captures/001.pcapng", "a", "a/b", "A_1-x.y" };
    static const char *const bad[] = {
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        "../a",
        "a/..",
        "a/../b",
        ".",
        "..",
        ".a",
        "a/.b",
        "a/b/c",
        "a b",
        "a\\b",
        "a\nb",
        "-a",
        "a/-b",
        "a/b/",
        "\xc3"
        "a",
        "a:b",
        "a/b\x01"
        "c",
        "a/./b",
        "C:\\ab",
        "con/../../x",
    };
    char path[MEMBER_PATH_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(member_path_is_safe(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(member_path_is_safe(bad[i]));
    memset(path, 'x', sizeof(path));
    path[MEMBER_PATH_MAX] = '\0';
    assert_false(member_path_is_safe(path));
    path[MEMBER_PATH_MAX - 1] = '\0';
    assert_true(member_path_is_safe(path));
}

static void test_kinds(void **state)
{
    (void)state;
    assert_string_equal(member_kind(MEMBER_CAPTURE)->format, "pcapng");
    assert_string_equal(member_kind("plots/x.svg")->media_type, "image/svg+xml");
    assert_true(member_kind(MEMBER_README)->needed);
    assert_null(member_kind("captures/002.pcapng"));
    assert_null(member_kind("trace.db-journal"));
    assert_null(member_kind("trace.dbx"));
    assert_null(member_kind("trace.d"));
    assert_null(member_kind("plots/svg"));
    assert_null(member_kind("x/plots/x.svg"));
}

static void test_texts(void **state)
{
    static const char *const names[] = { "a", "trace-2026.1", "0_x" };
    static const char *const none[] = { "", "A", "-a", ".a", "a b", "a/b", "\xc3\xbc" };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_true(package_name_is_good(names[i]));
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
        assert_false(package_name_is_good(none[i]));
    assert_true(text_is_plain("a \\ b / c \xc3\xbc", 12, false));
    assert_true(text_is_plain("", 0, false));
    assert_true(text_is_plain("a\n\tb\n", 5, true));
    assert_false(text_is_plain("a\nb", 3, false));
    assert_false(text_is_plain("a\tb", 3, false));
    assert_false(text_is_plain("a\rb", 3, true));
    assert_false(text_is_plain("a\0b", 3, true));
    assert_false(text_is_plain("a\x1b[1m", 5, true));
    assert_false(text_is_plain("\xff", 1, true));
    assert_false(text_is_plain("a\xc3", 2, true));
}

/* Two pcap files of other link types and resolutions: packets as they were, one after the other. */
static void test_originals(void **state)
{
    static const uint32_t micro[] = { 0xa1b2c3d4,      2 | 4 << 16, 0, 0,  65535,      1,
                                      /* packet */ 10, 5,           5, 99, 0x04030201, 5 };
    static const uint32_t nano[] = { 0xa1b23c4d,      2 | 4 << 16, 0, 0, 65535,     113,
                                     /* packet */ 11, 7,           4, 4, 0x0d0c0b0a };
    static const struct {
        int64_t time;
        uint32_t cap_len, wire_len;
        int link_type;
        const char *data;
    } expected[] = {
        { 10000005000, 5, 99, 1, "\x01\x02\x03\x04\x05" },
        { 11000000007, 4, 4, 113, "\x0a\x0b\x0c\x0d" },
    };
    char first[64], second[64], *paths[] = { first, second };
    struct originals o;
    struct capture *capture;
    struct input *input;
    struct frame frame;
    struct stat st;
    struct err err;

    (void)state;
    snprintf(first, sizeof(first), "%s/1", folder);
    snprintf(second, sizeof(second), "%s/2", folder);
    put(first, micro, sizeof(micro) - 3);
    put(second, nano, sizeof(nano));
    assert_int_equal(originals_check(2, paths, &err), 0);
    assert_int_equal(originals_join(&o, folder, 2, paths, &err), 0);
    assert_int_equal(fstat(o.fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(st.st_mode & 077, 0);
    input = input_open(o.path, false, &err);
    assert_non_null(input);
    capture = capture_open(input, &err);
    assert_non_null(capture);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(capture_next(capture, &frame, &err), 1);
        assert_int_equal(frame.time, expected[i].time);
        assert_int_equal(frame.cap_len, expected[i].cap_len);
        assert_int_equal(frame.wire_len, expected[i].wire_len);
        assert_int_equal(frame.link_type, expected[i].link_type);
        assert_memory_equal(frame.data, expected[i].data, expected[i].cap_len);
    }
    assert_int_equal(capture_next(capture, &frame, &err), 0);
    capture_close(capture);
    input_close(input);
    originals_close(&o);
    assert_int_equal(originals_join(&o, folder, 1, paths, &err), 0);
    assert_ptr_equal(o.path, first);
    originals_close(&o);
    unlink(first);
    unlink(second);
    assert_int_equal(originals_check(2, paths, &err), -ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256), cmocka_unit_test(test_needle),
        cmocka_unit_test(test_paths),  cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_texts),  cmocka_unit_test(test_originals),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
