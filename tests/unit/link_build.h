/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/link_build.h
 *
 * For the tests of engine/link: packets built front to back, and a link that keeps
 * what it delivered last.  Every frame is fed from an allocation of just its captured size.
 */
#ifndef NFSDIGEST_TESTS_LINK_BUILD_H
#define NFSDIGEST_TESTS_LINK_BUILD_H

#include "base/bytes.h"
#include "link/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct build {
    uint8_t data[140000];
    uint32_t len;
};

static inline void put(struct build *b, const void *data, uint32_t len)
{
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

static inline void put8(struct build *b, uint8_t v)
{
    b->data[b->len++] = v;
}

static inline void put16(struct build *b, uint16_t v)
{
    store_be16(b->data + b->len, v);
    b->len += 2;
}

static inline void put32(struct build *b, uint32_t v)
{
    store_be32(b->data + b->len, v);
    b->len += 4;
}

static inline void put_hex(struct build *b, const char *text)
{
    for (; *text; text += 2) {
        unsigned v;

        assert_int_equal(sscanf(text, "%2x", &v), 1);
        put8(b, (uint8_t)v);
    }
}

static inline void put_zeros(struct build *b, uint32_t len)
{
    memset(b->data + b->len, 0, len);
    b->len += len;
}

static inline void put_ethernet(struct build *b, uint16_t type)
{
    put(b, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
    put16(b, type);
}

/* Returns where the header is, for end_ipv4 once the payload is there. 192.0.2.1 > 198.51.100.2 */
static inline uint32_t put_ipv4(struct build *b, uint8_t protocol)
{
    uint32_t at = b->len;

    put16(b, 0x4500);
    put_zeros(b, 6);
    put8(b, 64);
    put8(b, protocol);
    put16(b, 0);
    put(b, "\xc0\0\x02\x01\xc6\x33\x64\x02", 8);
    return at;
}

static inline void end_ipv4(struct build *b, uint32_t at)
{
    store_be16(b->data + at + 2, (uint16_t)(b->len - at));
}

static inline uint32_t put_ipv6(struct build *b, uint8_t next)
{
    uint32_t at = b->len;

    put32(b, 0x60000000);
    put16(b, 0);
    put8(b, next);
    put8(b, 64);
    put(b, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
    put(b, "\x20\x01\x0d\xb8\0\0\0\x01\0\0\0\0\0\0\0\x02", 16);
    return at;
}

static inline void end_ipv6(struct build *b, uint32_t at)
{
    store_be16(b->data + at + 4, (uint16_t)(b->len - at - 40));
}

/* |size| bytes of data, each telling its place. */
static inline void put_udp(struct build *b, uint16_t port, uint32_t size)
{
    put16(b, 40000);
    put16(b, port);
    put16(b, (uint16_t)(size + 8));
    put16(b, 0);
    for (uint32_t i = 0; i < size; i++)
        put8(b, (uint8_t)(i * 7 + (i >> 8)));
}

static inline void put_udp4(struct build *b, uint32_t size)
{
    uint32_t ip = put_ipv4(b, 17);

    put_udp(b, 9999, size);
    end_ipv4(b, ip);
}

static inline void put_udp6(struct build *b, uint32_t size)
{
    uint32_t ip = put_ipv6(b, 17);

    put_udp(b, 9999, size);
    end_ipv6(b, ip);
}

/* Makes a UDP datagram of |len| bytes between the addresses above: length and checksum. */
static inline void seal_udp(uint8_t *data, uint32_t len, int version)
{
    static const uint8_t four[] = { 192, 0, 2, 1, 198, 51, 100, 2 };
    static const uint8_t six[] = { 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
                                   0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2 };
    const uint8_t *addresses = version == 4 ? four : six;
    uint64_t sum = 17 + len;

    store_be16(data + 4, (uint16_t)len);
    store_be16(data + 6, 0);
    for (uint32_t i = 0; i < (version == 4 ? sizeof(four) : sizeof(six)); i++)
        sum += (uint32_t)addresses[i] << (i % 2 ? 0 : 8);
    for (uint32_t i = 0; i < len; i++)
        sum += (uint32_t)data[i] << (i % 2 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    store_be16(data + 6, sum == 0xffff ? 0xffff : (uint16_t)~sum);
}

struct catcher {
    struct link *link;
    uint64_t frames;
    unsigned count;         /* deliveries */
    struct ip_payload last; /* |data| is not valid any more */
    struct buf data;        /* of the last */
    unsigned lost;          /* deliveries with a hole, which are not among those */
    struct buf lost_data;   /* of the last of them */
    char source[ADDRESS_TEXT_MAX], destination[ADDRESS_TEXT_MAX];
    int answer; /* what the callback returns */
};

static inline int catch_payload(void *ctx, const struct frame *frame,
                                const struct ip_payload *payload, struct err *err)
{
    struct catcher *c = ctx;

    assert_true(payload->cap_len <= payload->wire_len);
    if (payload->hole) {
        assert_true(payload->first_frame && payload->first_frame <= frame->number);
        assert_true(frame->number <= c->frames && payload->cap_len < payload->wire_len);
        c->lost++;
        c->lost_data.len = 0;
        return buf_append(&c->lost_data, payload->data, payload->cap_len);
    }
    assert_true(payload->reassembled ? frame->number <= c->frames : frame->number == c->frames);
    c->count++;
    c->last = *payload;
    c->data.len = 0;
    assert_int_equal(buf_append(&c->data, payload->data, payload->cap_len), 0);
    address_text(&payload->source, c->source);
    address_text(&payload->destination, c->destination);
    return c->answer ? err_set(err, ERR_SYSTEM, "said no") : 0;
}

static inline void catcher_init(struct catcher *c)
{
    memset(c, 0, sizeof(*c));
    c->link = link_new(catch_payload, c);
    assert_non_null(c->link);
}

static inline void catcher_free(struct catcher *c)
{
    link_free(c->link);
    buf_free(&c->data);
    buf_free(&c->lost_data);
}

static inline int feed_at(struct catcher *c, int link_type, const uint8_t *data, uint32_t cap_len,
                          uint32_t wire_len, int64_t time, struct err *err)
{
    uint8_t *exact = malloc(cap_len ? cap_len : 1);
    struct frame frame = { ++c->frames, time, exact, cap_len, wire_len, link_type };
    int rc;

    assert_non_null(exact);
    memcpy(exact, data, cap_len);
    if (!cap_len) /* not one byte may be read then */
        frame.data = exact + 1;
    rc = link_frame(c->link, &frame, err);
    free(exact);
    return rc;
}

/* Feeds |b| and returns the number of deliveries. */
static inline unsigned feed(struct catcher *c, int link_type, const struct build *b)
{
    unsigned before = c->count;

    assert_int_equal(feed_at(c, link_type, b->data, b->len, b->len, 0, NULL), 0);
    return c->count - before;
}

/* True if the last delivery was what put_udp made, with |size| bytes of data. */
static inline bool is_udp(const struct catcher *c, uint16_t port, uint32_t size)
{
    struct build *b = calloc(1, sizeof(*b));
    bool same;

    assert_non_null(b);
    put_udp(b, port, size);
    same = c->last.protocol == 17 && c->data.len == b->len && c->last.wire_len == b->len &&
           memcmp(c->data.data, b->data, b->len) == 0;
    free(b);
    return same;
}

struct wanted_counter {
    const char *name;
    uint64_t value;
    bool found;
};

static inline int find_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    struct wanted_counter *wanted = ctx;

    (void)err;
    if (strcmp(name, wanted->name) == 0) {
        assert_false(wanted->found);
        wanted->found = true;
        wanted->value = value;
        assert_true(value > 0);
    }
    return 0;
}

/* The value of counter |name|, 0 when it isn't shown. */
static inline uint64_t counter(const struct catcher *c, const char *name)
{
    struct wanted_counter wanted = { .name = name };

    assert_int_equal(link_counters(c->link, find_counter, &wanted, NULL), 0);
    return wanted.value;
}

#endif
