/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/wire_sample.h
 *
 * A message body written by hand from the RFC, together with what a walk over it must show: each
 * function appends the XDR of one value and a line "path=value@offset".  Numbers are decimal, bytes
 * hexadecimal, file contents only their length.  Nothing in here looks at the tables.
 */
#ifndef NFSDIGEST_TESTS_WIRE_SAMPLE_H
#define NFSDIGEST_TESTS_WIRE_SAMPLE_H

#include "base/bytes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample {
    uint8_t bytes[4096];
    uint32_t len;
    char lines[32768];
    size_t lines_len;
    char prefix[256];              /* of the paths: "READ3res.resok." */
    uint32_t data_start, data_len; /* file contents with their padding */
};

static inline void sample_reset(struct sample *s)
{
    s->len = s->data_start = s->data_len = 0;
    s->lines_len = 0;
    s->lines[0] = s->prefix[0] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void sample_line(struct sample *s,
                                                                     const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(s->lines + s->lines_len, sizeof(s->lines) - s->lines_len, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(s->lines) - s->lines_len)
        abort();
    s->lines_len += (size_t)n;
}

static inline void sample_hex(struct sample *s, const char *name, const uint8_t *data, uint32_t len,
                              uint32_t offset)
{
    uint32_t i;

    sample_line(s, "%s%s=", s->prefix, name);
    for (i = 0; i < len; i++)
        sample_line(s, "%02x", data[i]);
    sample_line(s, "@%u\n", offset);
}

/* Paths from here to leave begin with |name|. Returns what leave needs. */
static inline size_t enter(struct sample *s, const char *name)
{
    size_t outer = strlen(s->prefix), len = strlen(name);

    if (outer + len + 2 > sizeof(s->prefix))
        abort();
    memcpy(s->prefix + outer, name, len);
    memcpy(s->prefix + outer + len, ".", 2);
    return outer;
}

static inline void leave(struct sample *s, size_t outer)
{
    s->prefix[outer] = '\0';
}

/* Bytes without a line. */
static inline void put_u32(struct sample *s, uint32_t value)
{
    store_be32(s->bytes + s->len, value);
    s->len += 4;
}

static inline void put_raw(struct sample *s, const void *data, uint32_t len)
{
    if (len > sizeof(s->bytes) - s->len - 4)
        abort();
    memcpy(s->bytes + s->len, data, len);
    s->len += len;
    while (s->len % 4) /* padding that is not zero */
        s->bytes[s->len++] = 0xa5;
}

/* Values with their line. */
static inline void u32(struct sample *s, const char *name, uint32_t value)
{
    sample_line(s, "%s%s=%u@%u\n", s->prefix, name, value, s->len);
    put_u32(s, value);
}

static inline void u64(struct sample *s, const char *name, uint64_t value)
{
    sample_line(s, "%s%s=%llu@%u\n", s->prefix, name, (unsigned long long)value, s->len);
    put_u32(s, (uint32_t)(value >> 32));
    put_u32(s, (uint32_t)value);
}

static inline void fixed(struct sample *s, const char *name, const void *data, uint32_t len)
{
    sample_hex(s, name, data, len, s->len);
    put_raw(s, data, len);
}

static inline void opaque(struct sample *s, const char *name, const void *data, uint32_t len)
{
    put_u32(s, len);
    fixed(s, name, data, len);
}

static inline void string(struct sample *s, const char *name, const char *text)
{
    opaque(s, name, text, (uint32_t)strlen(text));
}

static inline void file_data(struct sample *s, const char *name, const void *data, uint32_t len)
{
    put_u32(s, len);
    sample_line(s, "%s%s=data %u@%u\n", s->prefix, name, len, s->len);
    s->data_start = s->len;
    put_raw(s, data, len);
    s->data_len = s->len - s->data_start;
}

/* RFC 1813 s2.6 */
static inline void handle(struct sample *s, const char *name, uint32_t len, uint8_t seed)
{
    uint8_t bytes[64];
    uint32_t i;

    for (i = 0; i < len; i++)
        bytes[i] = (uint8_t)(seed + i * 7);
    opaque(s, name, bytes, len);
}

static inline void nfstime3(struct sample *s, const char *name, uint32_t seconds)
{
    size_t outer = enter(s, name);

    u32(s, "seconds", seconds);
    u32(s, "nseconds", 999999999 - seconds % 7);
    leave(s, outer);
}

static inline void fattr3_at(struct sample *s, const char *name)
{
    size_t outer = enter(s, name);

    u32(s, "type", 1 + s->len % 7);
    u32(s, "mode", 0100644);
    u32(s, "nlink", 3);
    u32(s, "uid", 0xfffffffe);
    u32(s, "gid", 100);
    u64(s, "size", 0x123456789aULL);
    u64(s, "used", 0xffffffffffffffffULL);
    u32(s, "rdev.specdata1", 8);
    u32(s, "rdev.specdata2", 17);
    u64(s, "fsid", 0x8000000000000001ULL);
    u64(s, "fileid", 1000 + s->len);
    nfstime3(s, "atime", 1000000000);
    nfstime3(s, "mtime", 1100000000);
    nfstime3(s, "ctime", 0xffffffff);
    leave(s, outer);
}

static inline void post_op_attr(struct sample *s, const char *name, bool follows)
{
    u32(s, name, follows);
    if (follows)
        fattr3_at(s, name);
}

static inline void wcc_data(struct sample *s, const char *name, bool before, bool after)
{
    size_t outer = enter(s, name);

    u32(s, "before", before);
    if (before) {
        u64(s, "before.size", 4096);
        nfstime3(s, "before.mtime", 5);
        nfstime3(s, "before.ctime", 6);
    }
    post_op_attr(s, "after", after);
    leave(s, outer);
}

/* |how|: 0 sets nothing, 1 sets all with the server's time, 2 sets all. */
static inline void sattr3_at(struct sample *s, const char *name, uint32_t how)
{
    size_t outer = enter(s, name);

    u32(s, "mode.set_it", how != 0);
    if (how)
        u32(s, "mode.mode", 0755);
    u32(s, "uid.set_it", how != 0);
    if (how)
        u32(s, "uid.uid", 1000);
    u32(s, "gid.set_it", how != 0);
    if (how)
        u32(s, "gid.gid", 1001);
    u32(s, "size.set_it", how != 0);
    if (how)
        u64(s, "size.size", 1ULL << 40);
    u32(s, "atime.set_it", how);
    if (how == 2)
        nfstime3(s, "atime.atime", 77);
    u32(s, "mtime.set_it", how);
    if (how == 2)
        nfstime3(s, "mtime.mtime", 88);
    leave(s, outer);
}

#endif
