/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/input.c
 *
 * Reads the file in large pieces and decompresses gzip and zstd itself, the others through
 * unpack.c.  The first bytes are decompressed at once, so that callers can tell what the file is;
 * the digest is of the bytes as they are given out.  For capture.c and all other readers of files.
 * The contract is in input.h.
 */
#include "capture/input.h"
#include "capture/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { RAW_SIZE = 512 << 10 };

enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD, CODING_OTHER };

struct input {
    const char *path;
    int fd;
    enum coding coding;
    bool raw_end;    /* the file's end was reached */
    bool unfinished; /* the compressed data want more bytes */
    uint8_t *raw;    /* bytes of the file that wait: raw_at .. raw_len */
    size_t raw_at, raw_len;
    uint64_t raw_read;  /* from the file so far */
    uint64_t file_size; /* 0: no regular file */
    bool is_file;
    z_stream gzip;
    ZSTD_DStream *zstd;
    struct unpack *other;
    const char *coding_name; /* "gzip" */
    uint8_t *head;
    size_t head_len, head_at;
    uint64_t offset;
    XXH3_state_t *digest;  /* or NULL */
    struct err failed;     /* code 0: not yet */
    struct live_read live; /* live.live is NULL unless it is still being written */
};

static ssize_t read_file(struct input *in, void *data, size_t len, struct err *err)
{
    ssize_t n;

    if (in->live.live) {
        n = live_read(&in->live, data, len, err);
        if (n < 0)
            return err->code == ERR_SYSTEM ? err_prefix(err, "%s", input_name(in)) : n;
        in->raw_read += (uint64_t)n;
        in->raw_end = n == 0;
        return n;
    }
    do
        n = read(in->fd, data, len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, errno == EISDIR ? ERR_INPUT : ERR_SYSTEM,
                       "%s: cannot be read at byte %llu: %s", input_name(in),
                       (unsigned long long)in->raw_read, strerror(errno));
    in->raw_read += (uint64_t)n;
    in->raw_end = n == 0;
    return n;
}

/* Reads from the file into raw, which is empty. */
static int fill(struct input *in, struct err *err)
{
    ssize_t n = read_file(in, in->raw, RAW_SIZE, err);

    if (n < 0)
        return (int)n;
    in->raw_at = 0;
    in->raw_len = (size_t)n;
    return 0;
}

static int damaged(const struct input *in, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: the %s data are damaged at byte %llu: %s", input_name(in),
                   in->coding_name, (unsigned long long)(in->raw_read - (in->raw_len - in->raw_at)),
                   what);
}

/* One step of the decompressor: how many bytes came out. */
static ssize_t gunzip(struct input *in, void *data, size_t len, struct err *err)
{
    int result;

    if (!in->unfinished) { /* between members (RFC 1952 s2.2); what is no member is no data */
        if (in->raw[in->raw_at] != 0x1f) {
            in->raw_at = in->raw_len;
            return 0;
        }
        if (inflateReset(&in->gzip) != Z_OK)
            return damaged(in, "inflateReset", err);
        in->unfinished = true;
    }
    in->gzip.next_in = in->raw + in->raw_at;
    in->gzip.avail_in = (uInt)(in->raw_len - in->raw_at);
    in->gzip.next_out = data;
    in->gzip.avail_out = (uInt)(len > RAW_SIZE ? RAW_SIZE : len);
    result = inflate(&in->gzip, Z_NO_FLUSH);
    in->raw_at = in->raw_len - in->gzip.avail_in;
    if (result == Z_STREAM_END)
        in->unfinished = false;
    else if (result == Z_MEM_ERROR)
        return err_set(err, ERR_SYSTEM, "%s: out of memory", input_name(in));
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return damaged(in, in->gzip.msg ? in->gzip.msg : "not gzip", err);
    return (uint8_t *)in->gzip.next_out - (uint8_t *)data;
}

static ssize_t unzstd(struct input *in, void *data, size_t len, struct err *err)
{
    ZSTD_inBuffer from = { in->raw, in->raw_len, in->raw_at };
    ZSTD_outBuffer to = { data, len, 0 };
    size_t result = ZSTD_decompressStream(in->zstd, &to, &from);

    if (ZSTD_isError(result))
        return damaged(in, ZSTD_getErrorName(result), err);
    in->raw_at = from.pos;
    in->unfinished = result != 0;
    return (ssize_t)to.pos;
}

/* An unpack_source: what the file has next. */
static ssize_t give_raw(void *ctx, const uint8_t **data, struct err *err)
{
    struct input *in = ctx;
    size_t len;

    if (in->raw_at == in->raw_len && !in->raw_end && fill(in, err) < 0)
        return -err->code;
    *data = in->raw + in->raw_at;
    len = in->raw_len - in->raw_at;
    in->raw_at = in->raw_len;
    return (ssize_t)len;
}

static ssize_t unpack_other(struct input *in, void *data, size_t len, struct err *err)
{
    struct err why;
    ssize_t n;

    if (!in->other && !(in->other = unpack_new(in->coding_name, give_raw, in, &why)))
        n = -why.code;
    else
        n = unpack_read(in->other, data, len, &why);
    if (n == -ERR_INPUT && in->raw_end)
        return err_set(err, ERR_INPUT,
                       "%s: the %s data end in the middle or are damaged, at byte %llu: %s",
                       input_name(in), in->coding_name, (unsigned long long)in->raw_read, why.text);
    if (n == -ERR_INPUT)
        return damaged(in, why.text, err);
    if (n < 0)
        *err = why;
    return n;
}

/* Decompressed bytes, past the head. */
static ssize_t produce(struct input *in, void *data, size_t len, struct err *err)
{
    if (in->coding == CODING_OTHER)
        return unpack_other(in, data, len, err);
    for (;;) {
        ssize_t n;

        if (in->raw_at == in->raw_len && !in->raw_end) {
            if (in->coding == CODING_PLAIN) /* spares a copy */
                return read_file(in, data, len, err);
            if (fill(in, err) < 0)
                return -err->code;
        }
        if (in->coding == CODING_PLAIN) {
            size_t have = in->raw_len - in->raw_at;

            if (len > have)
                len = have;
            memcpy(data, in->raw + in->raw_at, len);
            in->raw_at += len;
            return (ssize_t)len;
        }
        if (in->raw_at == in->raw_len && in->raw_end && !in->unfinished)
            return 0;
        n = in->coding == CODING_GZIP ? gunzip(in, data, len, err) : unzstd(in, data, len, err);
        if (n != 0)
            return n;
        if (in->raw_end && in->raw_at == in->raw_len && in->unfinished)
            return err_set(
                err, ERR_INPUT,
                "%s: the %s data end in the middle, at byte %llu (byte %llu of the contents)",
                input_name(in), in->coding_name, (unsigned long long)in->raw_read,
                (unsigned long long)in->offset);
    }
}

/* Chooses the decompressor by the first bytes (RFC 1952 s2.3.1, RFC 8878 s3.1.1). */
static int recognize(struct input *in, struct err *err)
{
    static const uint8_t gzip_magic[] = { 0x1f, 0x8b, 0x08 };
    static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
    size_t have = 0;

    while (have < UNPACK_MAGIC_MAX) { /* a pipe may give single bytes */
        ssize_t n = read_file(in, in->raw + have, RAW_SIZE - have, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    in->raw_len = have;
    if (have >= sizeof(zstd_magic) && memcmp(in->raw, zstd_magic, sizeof(zstd_magic)) == 0) {
        in->coding = CODING_ZSTD;
        in->coding_name = "zstd";
        in->zstd = ZSTD_createDStream();
        if (!in->zstd)
            return err_set(err, ERR_SYSTEM, "%s: out of memory", input_name(in));
    } else if (have >= sizeof(gzip_magic) && memcmp(in->raw, gzip_magic, sizeof(gzip_magic)) == 0) {
        if (inflateInit2(&in->gzip, 15 + 16) != Z_OK)
            return err_set(err, ERR_SYSTEM, "%s: out of memory", input_name(in));
        in->coding = CODING_GZIP;
        in->coding_name = "gzip";
    } else if ((in->coding_name = unpack_recognize(in->raw, have))) {
        in->coding = CODING_OTHER;
    }
    return 0;
}

/* Fills the head; an error on the way waits until reading comes to it. */
static void read_head(struct input *in)
{
    const size_t enough = in->live.live ? INPUT_HEAD_LIVE : INPUT_HEAD_MAX;

    while (in->head_len < enough && !in->failed.code) {
        ssize_t n = produce(in, in->head + in->head_len, enough - in->head_len, &in->failed);

        if (n <= 0)
            break;
        in->head_len += (size_t)n;
        in->offset = in->head_len;
    }
    in->offset = 0;
}

int input_want_digest(struct input *in, struct err *err)
{
    if (!in->digest)
        in->digest = XXH3_createState();
    if (!in->digest)
        return err_memory(err, "a digest");
    XXH3_128bits_reset(in->digest);
    return 0;
}

static struct input *open_input(const char *path, bool digest, struct live *live, struct err *err)
{
    struct input *in = calloc(1, sizeof(*in));
    const int flags = O_RDONLY | O_CLOEXEC;
    struct stat st;

    if (!in) {
        err_memory(err, "an input");
        return NULL;
    }
    in->path = path;
    /* a named pipe need not have a writer yet */
    in->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, live ? flags | O_NONBLOCK : flags);
    if (in->fd < 0) {
        err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
        input_close(in);
        return NULL;
    }
    if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        in->file_size = live ? 0 : (uint64_t)st.st_size;
        in->is_file = in->fd != STDIN_FILENO;
        posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    in->raw = malloc(RAW_SIZE);
    in->head = malloc(INPUT_HEAD_MAX);
    if (!in->raw || !in->head) {
        err_memory(err, "an input");
        input_close(in);
        return NULL;
    }
    if (digest && input_want_digest(in, err) < 0) {
        input_close(in);
        return NULL;
    }
    in->live = (struct live_read){ .live = live, .fd = in->fd };
    if (recognize(in, err) < 0) {
        input_close(in);
        return NULL;
    }
    read_head(in);
    return in;
}

struct input *input_open(const char *path, bool digest, struct err *err)
{
    return open_input(path, digest, NULL, err);
}

struct input *input_open_part(const char *path, size_t head, uint64_t from, struct err *err)
{
    struct input *in = open_input(path, false, NULL, err);

    if (!in)
        return NULL;
    if (in->coding != CODING_PLAIN || !in->is_file) {
        err_set(err, ERR_USAGE, "%s: cannot be read in parts: %s", input_name(in),
                in->is_file ? "it is compressed" : "it is not a regular file");
    } else if (in->failed.code) {
        *err = in->failed;
    } else if (lseek(in->fd, (off_t)from, SEEK_SET) < 0) {
        err_set(err, ERR_SYSTEM, "%s: byte %llu cannot be reached: %s", input_name(in),
                (unsigned long long)from, strerror(errno));
    } else {
        in->head_len = head < in->head_len ? head : in->head_len;
        in->raw_at = in->raw_len = 0;
        in->raw_end = false;
        in->raw_read = from;
        return in;
    }
    input_close(in);
    return NULL;
}

struct input *input_open_live(const char *path, struct live *live, struct err *err)
{
    return open_input(path, true, live, err);
}

struct live *input_live(const struct input *in)
{
    return in->live.live;
}

void input_end_live(struct input *in)
{
    live_end(&in->live);
}

uint64_t input_raw_offset(const struct input *in)
{
    return in->raw_read;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    if (in->coding == CODING_GZIP)
        inflateEnd(&in->gzip);
    ZSTD_freeDStream(in->zstd);
    unpack_free(in->other);
    XXH3_freeState(in->digest);
    free(in->raw);
    free(in->head);
    free(in);
}

const char *input_path_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *input_name(const struct input *in)
{
    return input_path_name(in->path);
}

bool input_is_file(const struct input *in)
{
    return in->is_file;
}

size_t input_head(const struct input *in, const uint8_t **data)
{
    *data = in->head;
    return in->head_len;
}

/* Of a live input: the rest of the head is what is read first. */
static void keep_head(struct input *in, const void *data, size_t len)
{
    if (len > INPUT_HEAD_MAX - in->head_len)
        len = INPUT_HEAD_MAX - in->head_len;
    memcpy(in->head + in->head_len, data, len);
    in->head_len += len;
    in->head_at = in->head_len;
}

ssize_t input_read(void *ctx, void *data, size_t len, struct err *err)
{
    struct input *in = ctx;
    size_t have = in->head_len - in->head_at;
    ssize_t n;

    if (have) {
        n = (ssize_t)(len < have ? len : have);
        memcpy(data, in->head + in->head_at, (size_t)n);
        in->head_at += (size_t)n;
    } else {
        n = in->failed.code ? -in->failed.code : produce(in, data, len, &in->failed);
        if (n < 0) {
            if (err)
                *err = in->failed;
            return n;
        }
    }
    if (in->live.live && !have)
        keep_head(in, data, (size_t)n);
    in->offset += (uint64_t)n;
    if (in->digest)
        XXH3_128bits_update(in->digest, data, (size_t)n);
    return n;
}

uint64_t input_offset(const struct input *in)
{
    return in->offset;
}

int input_drain(struct input *in, struct err *err)
{
    uint8_t *waste = malloc(RAW_SIZE);
    ssize_t n;

    if (!waste)
        return err_memory(err, "an input");
    do
        n = input_read(in, waste, RAW_SIZE, err);
    while (n > 0);
    free(waste);
    return (int)n;
}

static void canonical(XXH128_hash_t hash, uint8_t digest[INPUT_DIGEST_LEN])
{
    XXH128_canonical_t out;

    XXH128_canonicalFromHash(&out, hash);
    memcpy(digest, out.digest, INPUT_DIGEST_LEN);
}

void input_digest(const struct input *in, uint8_t digest[INPUT_DIGEST_LEN])
{
    canonical(XXH3_128bits_digest(in->digest), digest);
}

void input_head_digest(const struct input *in, size_t len, uint8_t digest[INPUT_DIGEST_LEN])
{
    canonical(XXH3_128bits(in->head, len < in->head_len ? len : in->head_len), digest);
}

double input_progress(const struct input *in)
{
    if (!in->file_size)
        return -1;
    return (double)(in->raw_read - (in->raw_len - in->raw_at)) / (double)in->file_size;
}
