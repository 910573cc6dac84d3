/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/key.c
 *
 * Makes, reads and checks key files.  For the program and the plugin nfsanon.  The contract is in
 * key.h.
 */
#include "anon/key.h"
#include "anon/cipher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The whole file: these words, the version's digit and a line feed, the secret in hexadecimal, a
 * line feed. */
static const char head[] = "nfsdigest anonymization key ";
static const char salt[] = "nfsdigest anonymization 1";

enum {
    WORDS_LEN = sizeof(head) - 1,
    HEAD_LEN = WORDS_LEN + 2,
    FILE_LEN = HEAD_LEN + 2 * KEY_LEN + 1
};

static int make_secret(uint8_t secret[KEY_LEN], struct err *err)
{
    size_t len = 0;

    while (len < KEY_LEN) {
        ssize_t n = getrandom(secret + len, KEY_LEN - len, 0);

        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_SYSTEM, "no random numbers: %s", strerror(errno));
        len += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void put_hex(char *to, const uint8_t *data, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        *to++ = digits[data[i] >> 4];
        *to++ = digits[data[i] & 15];
    }
}

int key_create(const char *path, uint64_t version, struct err *err)
{
    char text[FILE_LEN];
    uint8_t secret[KEY_LEN];
    bool written;
    int fd, error;

    if (version < KEY_VERSION_1 || version > KEY_VERSION)
        return err_set(err, ERR_USAGE, "no such version of the mapping: %llu; use %d or %d",
                       (unsigned long long)version, KEY_VERSION_1, KEY_VERSION);
    if (make_secret(secret, err) < 0)
        return -ERR_SYSTEM;
    memcpy(text, head, WORDS_LEN);
    text[WORDS_LEN] = (char)('0' + version);
    text[WORDS_LEN + 1] = '\n';
    put_hex(text + HEAD_LEN, secret, KEY_LEN);
    text[FILE_LEN - 1] = '\n';
    explicit_bzero(secret, sizeof(secret));
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        explicit_bzero(text, sizeof(text));
        if (errno == EEXIST)
            return err_set(err, ERR_USAGE, "%s exists: a key is never overwritten", path);
        return err_set(err, ERR_SYSTEM, "%s: cannot create: %s", path, strerror(errno));
    }
    /* the umask may have taken away the owner's own right to read it */
    written = fchmod(fd, 0600) == 0 && write_all(fd, text, sizeof(text)) && fsync(fd) == 0;
    error = errno;
    explicit_bzero(text, sizeof(text));
    if (close(fd) != 0 && written) {
        written = false;
        error = errno;
    }
    if (written)
        return 0;
    unlink(path); /* O_EXCL: it is ours */
    return err_set(err, ERR_SYSTEM, "%s: cannot write: %s", path, strerror(error));
}

/* Whether nobody can have read or made it who should not have. */
static int check_file(int fd, const char *path, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s: not a key file: not a regular file", path);
    if (st.st_mode & 077)
        return err_set(err, ERR_INPUT,
                       "%s: its mode is %04o, so others than its owner can read it.  If you are "
                       "sure that nobody "
                       "did, use \"chmod 600\"; if not, make a new key",
                       path, (unsigned)st.st_mode & 07777);
    /* root's key may be read by a process that has given up being root, but kept the capability */
    if (st.st_uid != geteuid() && st.st_uid != 0 && geteuid() != 0)
        return err_set(err, ERR_INPUT, "%s: belongs to user %u, who may know this key", path,
                       (unsigned)st.st_uid);
    return 0;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_head(struct key *key, const char *text, ssize_t len, const char *path,
                      struct err *err)
{
    char digit;

    if (len < HEAD_LEN || memcmp(text, head, WORDS_LEN) != 0 || text[HEAD_LEN - 1] != '\n')
        return err_set(err, ERR_INPUT, "%s: not a key file: does not begin with the line \"%s%d\"",
                       path, head, KEY_VERSION);
    digit = text[WORDS_LEN];
    if (digit < '0' + KEY_VERSION_1 || digit > '0' + KEY_VERSION)
        return err_set(
            err, ERR_INPUT,
            digit > '0' + KEY_VERSION && digit <= '9'
                ? "%s: a key of version %c of the mapping: this program knows 1 to %d"
                : "%s: not a key file: \"%c\" is not a version of the mapping from 1 to %d",
            path, digit, KEY_VERSION);
    key->version = (uint32_t)(digit - '0');
    return 0;
}

static int parse(struct key *key, const char *text, ssize_t len, const char *path, struct err *err)
{
    uint8_t *secret = key->secret;

    if (parse_head(key, text, len, path, err) < 0)
        return -ERR_INPUT;
    if (len != FILE_LEN || text[FILE_LEN - 1] != '\n')
        return err_set(err, ERR_INPUT, "%s: not a key file: not of %d bytes", path, FILE_LEN);
    for (int i = 0; i < KEY_LEN; i++) {
        int high = hex_value(text[HEAD_LEN + 2 * i]), low = hex_value(text[HEAD_LEN + 2 * i + 1]);

        if (high < 0 || low < 0)
            return err_set(err, ERR_INPUT,
                           "%s: not a key file: offset %d is not a hexadecimal digit", path,
                           HEAD_LEN + 2 * i + (high >= 0));
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return 0;
}

int key_load(struct key *key, const char *path, struct err *err)
{
    /* a pipe without a writer must not make it wait */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;
    char text[FILE_LEN + 1];
    ssize_t len = 0, n = 1;

    if (fd < 0)
        return err_set(err, ERR_INPUT, "%s: cannot read the key: %s", path, strerror(errno));
    result = check_file(fd, path, err);
    while (result == 0 && n && len < (ssize_t)sizeof(text)) {
        n = read(fd, text + len, sizeof(text) - (size_t)len);
        if (n < 0 && errno != EINTR)
            result = err_set(err, ERR_INPUT, "%s: cannot read the key: %s", path, strerror(errno));
        len += n > 0 ? n : 0;
    }
    close(fd);
    if (result == 0)
        result = parse(key, text, len, path, err);
    if (result < 0)
        key_forget(key);
    explicit_bzero(text, sizeof(text));
    return result;
}

int key_derive(const struct key *key, const char *label, void *out, size_t len, struct err *err)
{
    const struct hkdf_input input = { { (const uint8_t *)salt, sizeof(salt) - 1 },
                                      { key->secret, KEY_LEN },
                                      { (const uint8_t *)label, (uint32_t)strlen(label) } };

    return hkdf(&input, out, len, err);
}

void key_refuse_dumps(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &limit);
    }
    /* a program that takes dumps from a pipe (core(5)) may do so whatever the limit */
    prctl(PR_SET_DUMPABLE, 0);
}

void key_forget(struct key *key)
{
    explicit_bzero(key, sizeof(*key));
}
