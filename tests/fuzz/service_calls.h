/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/service_calls.h
 *
 * Arguments of any procedure out of a fuzzer's bytes, by the tables: handles that earlier replies
 * gave, names from a small pool, numbers near boundaries.  Bytes that are used up are zeros.
 */
#ifndef NFSDIGEST_TESTS_SERVICE_CALLS_H
#define NFSDIGEST_TESTS_SERVICE_CALLS_H

#include "wire/write.h"

#include <stdio.h>
#include <stdlib.h>

enum { POOL_HANDLES = 64, POOL_HANDLE = 32, LARGEST_DATA = (1 << 20) + 8 };

struct input {
    const uint8_t *data;
    size_t left;
};

struct maker {
    struct input *in;
    uint8_t handles[POOL_HANDLES][POOL_HANDLE]; /* a ring */
    uint32_t lengths[POOL_HANDLES], handle_count;
    uint8_t cookie_verifier[8]; /* the server's */
    uint32_t seconds;           /* the time of the file systems */
    uint32_t length;            /* of data: the count before it */
    uint8_t scratch[1100];
};

static uint8_t take(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->data++;
}

static uint64_t take_number(struct input *in, uint32_t bytes)
{
    uint64_t value = 0;

    while (bytes--)
        value = value << 8 | take(in);
    return value;
}

static void pool_handle(struct maker *m, struct bytes handle)
{
    uint32_t at = m->handle_count++ % POOL_HANDLES;

    memcpy(m->handles[at], handle.data, handle.len);
    m->lengths[at] = handle.len;
}

/* --- values by their classes */

static struct bytes make_handle(struct maker *m)
{
    uint32_t known = m->handle_count < POOL_HANDLES ? m->handle_count : POOL_HANDLES;
    uint8_t which = take(m->in);
    uint32_t at = which % known;

    if (which < 0xf0)
        return (struct bytes){ m->handles[at], m->lengths[at] };
    memset(m->scratch, 0, POOL_HANDLES);
    memcpy(m->scratch, m->handles[at], m->lengths[at]);
    switch (which & 7) {
    case 0:
        return (struct bytes){ m->scratch, 0 };
    case 1: /* as MOUNT 1 gives it */
        return (struct bytes){ m->scratch, 32 };
    case 2:
        return (struct bytes){ m->scratch, 64 };
    case 3:
        return (struct bytes){ m->scratch, 65 };
    default:
        m->scratch[take(m->in) % 20] ^= (uint8_t)(1 << (which & 7));
        return (struct bytes){ m->scratch, 20 };
    }
}

static struct bytes make_name(struct maker *m)
{
    static const char *const names[] = { ".", "..", "", "a/b", "x", "y", "z", "\xff\x01" };
    uint8_t which = take(m->in);
    char *text = (char *)m->scratch;
    uint32_t len;

    if (which < 160)
        return (struct bytes){ m->scratch, (uint32_t)snprintf(text, 8, "%u", which % 40) };
    if (which < 240)
        return (struct bytes){ (const uint8_t *)names[which % 8],
                               (uint32_t)strlen(names[which % 8]) };
    if (which < 250) { /* any bytes */
        len = take(m->in) % 16;
        for (uint32_t i = 0; i < len; i++)
            m->scratch[i] = take(m->in);
        return (struct bytes){ m->scratch, len };
    }
    memset(m->scratch, which, sizeof(m->scratch));
    return (struct bytes){ m->scratch,
                           (const uint32_t[]){ 254, 255, 256, 257, 1024, 1025 }[which - 250] };
}

/* Of MOUNT, and texts of symbolic links. */
static struct bytes make_path(struct maker *m)
{
    static const char *const paths[] = { "/w",      "/r", "/s", "/w/", "/w/1", "/w//1/2",
                                         "/r/../w", "/",  "",   "/ww", "w",    "/w/x/y/z" };
    uint8_t which = take(m->in);

    if (which >= 128)
        return make_name(m);
    return (struct bytes){ (const uint8_t *)paths[which % 12],
                           (uint32_t)strlen(paths[which % 12]) };
}

static uint64_t make_offset(struct input *in)
{
    static const uint64_t edges[] = {
        0,         4095,       4096,           4097,       65536,
        1u << 20,  1u << 31,   UINT32_MAX,     1ull << 40, INT64_MAX - 1ull,
        INT64_MAX, 1ull << 63, UINT64_MAX - 1, UINT64_MAX
    };
    uint8_t which = take(in);

    return which < 128   ? which * UINT64_C(300)
           : which < 224 ? edges[which % 14]
                         : take_number(in, 8);
}

static uint32_t make_count(struct input *in)
{
    static const uint32_t edges[] = {
        0, 1, 88, 128, 512, 4095, 4096, 8192, 9000, 32768, 65536, 1 << 20, (1 << 20) + 1, UINT32_MAX
    };
    uint8_t which = take(in);

    return which < 128   ? which * 5u
           : which < 224 ? edges[which % 14]
                         : (uint32_t)take_number(in, 4);
}

static struct bytes make_data(struct maker *m)
{
    static uint8_t data[LARGEST_DATA];
    uint8_t how = take(m->in);
    uint32_t len = how & 0xf0 ? m->length : make_count(m->in);

    if (len > sizeof(data))
        len = sizeof(data);
    memset(data, how & 3 ? how : 0, len);
    if (how & 4 && len)
        data[len / 2] = 1;
    return (struct bytes){ data, len };
}

static uint32_t make_id(struct input *in)
{
    static const uint32_t ids[] = { 0, 7, 8, 9, 65534, UINT32_MAX };

    return ids[take(in) % 6];
}

/* One of the named values, or of the arms; one more case is any number. */
static uint64_t make_choice(struct input *in, const struct field *f)
{
    uint8_t which = take(in);
    uint32_t count = 0, at;

    while (f->names ? f->names[count].name != NULL : !f->arms[count].is_end)
        count++;
    at = which % (count + 1);
    if (at == count)
        return which;
    return f->names ? f->names[at].value : f->arms[at].value;
}

static uint64_t make_value(struct maker *m, const struct field *f)
{
    struct input *in = m->in;
    uint8_t which;

    if (f->names || f->kind == XDR_UNION)
        return make_choice(in, f);
    switch (f->cls) {
    case CLASS_OFFSET:
    case CLASS_SIZE:
        return make_offset(in);
    case CLASS_COUNT:
        return m->length = make_count(in);
    case CLASS_UID:
    case CLASS_GID:
        return make_id(in);
    case CLASS_TIME:
        return m->seconds - take(in) / 16;
    case CLASS_INTERVAL:
        return take(in) < 200 ? 5 : (uint32_t)take_number(in, 4);
    case CLASS_MODE:
        which = take(in);
        return which < 32 ? which : which << 3 | 7u;
    case CLASS_COOKIE:
        return take(in);
    default:
        return take(in) < 128 ? take(in) : take_number(in, 4);
    }
}

static struct bytes make_bytes(struct maker *m, const struct field *f)
{
    switch (f->cls) {
    case CLASS_HANDLE:
        return make_handle(m);
    case CLASS_PATH:
        return make_path(m);
    case CLASS_DATA:
        return make_data(m);
    case CLASS_VERIFIER:
        memcpy(m->scratch, m->cookie_verifier, 8);
        m->scratch[7] ^= take(m->in) & 7 ? 0 : take(m->in);
        return (struct bytes){ m->scratch, 8 };
    default:
        return make_name(m);
    }
}

static int fill(void *ctx, struct fill *to)
{
    struct maker *m = ctx;
    const struct field *f = to->field;
    uint8_t byte;

    switch (f->kind) {
    case XDR_FIXED:
    case XDR_OPAQUE:
    case XDR_STRING:
        to->bytes = make_bytes(m, f);
        break;
    case XDR_BOOL:
    case XDR_OPTIONAL:
    case XDR_LIST:
        to->value = take(m->in) & 1;
        break;
    case XDR_ARRAY:
        byte = take(m->in);
        to->value = byte < 240 ? byte % 8 : byte * 4u;
        break;
    default:
        to->value = make_value(m, f);
    }
    return 0;
}

/* Appends arguments.  A value that the tables do not allow ends them early. */
static void make_arguments(struct maker *m, struct xdr_put *to, const struct type *type)
{
    struct filler filler = { fill, m };
    struct err err;

    write_body(to, type, false, &filler, &err);
}

#endif
