/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key: files that only their owner may use, and subkeys by RFC 5869. */
#include "anon/cipher.h"
#include "anon/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[128];

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/key.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/site.key", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;

    for (; hex[2 * n]; n++) {
        unsigned value;

        assert_int_equal(sscanf(hex + 2 * n, "%2x", &value), 1);
        out[n] = (uint8_t)value;
    }
    return n;
}

/* RFC 5869 appendix A.1 to A.3. */
static void hkdf_vectors(void **state)
{
    static const struct {
        const char *secret, *salt, *info, *out;
    } cases[] = {
        { "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c",
          "f0f1f2f3f4f5f6f7f8f9",
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865" },
        { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627"
          "28292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f",
          "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384858687"
          "88898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
          "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7"
          "d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
          "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
          "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87" },
        { "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t secret[128], salt[128], info[128], expected[128], out[128];
        size_t len = from_hex(cases[i].out, expected);
        struct err err = { 0 };

        const struct hkdf_input input = { { salt, (uint32_t)from_hex(cases[i].salt, salt) },
                                          { secret, (uint32_t)from_hex(cases[i].secret, secret) },
                                          { info, (uint32_t)from_hex(cases[i].info, info) } };

        assert_int_equal(hkdf(&input, out, len, &err), 0);
        assert_memory_equal(out, expected, len);
    }
}

static void subkeys_differ(void **state)
{
    struct key key = { { 1 } }, other = { { 2 } };
    uint8_t a[64], b[64];
    struct err err = { 0 };

    (void)state;
    assert_int_equal(key_derive(&key, "name", a, 64, &err), 0);
    assert_int_equal(key_derive(&key, "name", b, 64, &err), 0);
    assert_memory_equal(a, b, 64);
    assert_int_equal(key_derive(&key, "names", b, 64, &err), 0);
    assert_memory_not_equal(a, b, 8);
    assert_int_equal(key_derive(&other, "name", b, 64, &err), 0);
    assert_memory_not_equal(a, b, 8);
    assert_int_equal(key_derive(&key, "name", b, 255 * 32 + 1, &err), -ERR_USAGE);
}

static size_t read_file(char text[256])
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, 255);

    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return (size_t)n;
}

static void write_file(const char *text, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    close(fd);
}

static void created_and_loaded(void **state)
{
    struct key key, again, other;
    struct err err = { 0 };
    struct stat st;
    char text[256], hex[2 * KEY_LEN + 1];
    mode_t mask = umask(0777); /* not even the owner */

    (void)state;
    assert_int_equal(key_create(path, KEY_VERSION, &err), 0);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(key_load(&key, path, &err), 0);
    assert_int_equal(key_load(&again, path, &err), 0);
    assert_memory_equal(&key, &again, sizeof(key));
    read_file(text);
    for (int i = 0; i < KEY_LEN; i++)
        snprintf(hex + 2 * i, 3, "%02x", key.secret[i]);
    assert_non_null(strstr(text, hex));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(key_create(path, KEY_VERSION, &err), 0);
    assert_int_equal(key_load(&other, path, &err), 0);
    assert_memory_not_equal(&key, &other, sizeof(key));
    key_forget(&key);
    for (int i = 0; i < KEY_LEN; i++)
        assert_int_equal(key.secret[i], 0);
}

static void never_overwrites(void **state)
{
    char link[160], text[256];
    struct err err = { 0 };

    (void)state;
    write_file("precious", 8);
    assert_int_equal(key_create(path, KEY_VERSION, &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "exists"));
    assert_int_equal(read_file(text), 8);
    assert_string_equal(text, "precious");
    assert_int_equal(key_create(dir, KEY_VERSION, &err), -ERR_USAGE);
    snprintf(link, sizeof(link), "%s/link", dir);
    unlink(path);
    assert_int_equal(symlink(path, link), 0); /* that leads to nothing */
    assert_int_equal(key_create(link, KEY_VERSION, &err), -ERR_USAGE);
    assert_int_equal(access(path, F_OK), -1);
    unlink(link);
    snprintf(link, sizeof(link), "%s/no/such/folder", dir);
    assert_int_equal(key_create(link, KEY_VERSION, &err), -ERR_SYSTEM);
}

static void refuses_what_others_may_use(void **state)
{
    struct err err = { 0 };
    struct key key;

    (void)state;
    assert_int_equal(key_create(path, KEY_VERSION, &err), 0);
    for (mode_t mode = 0; mode < 01000; mode++) {
        assert_int_equal(chmod(path, 0400 | mode), 0);
        assert_int_equal(key_load(&key, path, &err), mode & 077 ? -ERR_INPUT : 0);
    }
}

static void refuses_other_files(void **state)
{
    struct key key;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(key_load(&key, dir, &err), -ERR_INPUT);
    assert_int_equal(key_load(&key, path, &err), -ERR_INPUT); /* is not there */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(key_load(&key, path, &err), -ERR_INPUT); /* and does not wait */
    assert_non_null(strstr(err.text, "regular"));
}

static void refuses_damage(void **state)
{
    char text[256], bad[256];
    struct err err = { 0 };
    struct key key;
    size_t len;

    (void)state;
    assert_int_equal(key_create(path, KEY_VERSION, &err), 0);
    len = read_file(text);
    for (size_t n = 0; n < len; n++) {
        write_file(text, n);
        assert_int_equal(key_load(&key, path, &err), -ERR_INPUT);
    }
    memcpy(bad, text, len);
    bad[len] = '\n';
    write_file(bad, len + 1);
    assert_int_equal(key_load(&key, path, &err), -ERR_INPUT);
    for (size_t i = 0; i < len; i++) {
        memcpy(bad, text, len + 1);
        bad[i] = 'G';
        write_file(bad, len);
        assert_int_equal(key_load(&key, path, &err), -ERR_INPUT);
        for (int k = 0; k < KEY_LEN; k++)
            assert_int_equal(key.secret[k], 0);
        /* of the secret, the message shows nothing */
        for (size_t at = len - 1 - 2 * KEY_LEN; at + 6 < len; at++) {
            char piece[7] = "";

            memcpy(piece, text + at, 6);
            assert_null(strstr(err.text, piece));
        }
    }
    write_file(text, len);
    assert_int_equal(key_load(&key, path, &err), 0);
}

/* Old keys stay what they were; those of programs to come are refused, not misread. */
static void versions_are_told_apart(void **state)
{
    struct err err = { 0 };
    struct key key;
    char text[256];
    size_t len;

    (void)state;
    for (uint32_t version = KEY_VERSION_1; version <= KEY_VERSION; version++) {
        unlink(path);
        assert_int_equal(key_create(path, version, &err), 0);
        assert_int_equal(key_load(&key, path, &err), 0);
        assert_int_equal(key.version, version);
    }
    unlink(path);
    assert_int_equal(key_create(path, 0, &err), -ERR_USAGE);
    assert_int_equal(key_create(path, KEY_VERSION + 1, &err), -ERR_USAGE);
    assert_int_equal(key_create(path, KEY_VERSION, &err), 0);
    len = read_file(text);
    text[strcspn(text, "\n") - 1] = '0' + KEY_VERSION + 1;
    write_file(text, len);
    assert_int_equal(key_load(&key, path, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "version 3"));
}

/* In a process that reads with the rights of user 1000, but acts as user 2000; 0: it could load. */
static int load_as_other(uid_t owner)
{
    pid_t child;
    int status;

    assert_int_equal(chown(path, owner, (gid_t)-1), 0);
    child = fork();
    if (child == 0) {
        struct key key;
        struct err err = { 0 };

        if (setresuid(owner, 2000, 0) != 0)
            _exit(99);
        setfsuid(owner);
        _exit(-key_load(&key, path, &err));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Only root can give files away; without, the file below is simply one's own. */
static void refuses_what_others_own(void **state)
{
    struct err err = { 0 };
    struct key key;

    (void)state;
    assert_int_equal(key_create(path, KEY_VERSION, &err), 0);
    assert_int_equal(key_load(&key, path, &err), 0);
    if (geteuid() == 0) {
        assert_int_equal(chmod(dir, 0711), 0);
        assert_int_equal(load_as_other(1000), ERR_INPUT);
        assert_int_equal(load_as_other(2000), 0);
        assert_int_equal(load_as_other(0), 0);
    }
}

static void dumps_are_refused(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (child == 0) {
        struct rlimit limit;

        key_refuse_dumps();
        if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur || prctl(PR_GET_DUMPABLE))
            _exit(1);
        abort();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_false(WCOREDUMP(status));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hkdf_vectors),
        cmocka_unit_test(subkeys_differ),
        TEST(created_and_loaded),
        TEST(never_overwrites),
        TEST(refuses_what_others_may_use),
        TEST(refuses_other_files),
        TEST(refuses_damage),
        TEST(versions_are_told_apart),
        TEST(refuses_what_others_own),
        cmocka_unit_test(dumps_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
