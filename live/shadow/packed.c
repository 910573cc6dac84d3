/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/packed.c
 *
 * Requests that wait for the SUT, when these are many: messages of clients are much alike.  MOST
 * requests at a time are packed together when BEHIND have come to the queue after them, and one by
 * one unpacked when somebody asks for what they say.  Where the SUT keeps pace, nothing is packed.
 *
 * Memory of a GETATTR that is packed: about 30 bytes, beside those of struct request and struct
 * touch; the bytes of all MOST go when the last one is unpacked.  Those of MOST requests are kept
 * unpacked, as the next one that is asked for is mostly one of them.
 */
#include "shadow/shadow_parts.h"

#include <stdlib.h>
#include <zstd.h>

enum {
    BEHIND = 256,
    MOST = 64,      /* as many as |place| of struct request can tell apart */
    LEAST = 16,     /* fewer are not worth it */
    LONGEST = 2048, /* bytes of messages: longer ones have contents, which do not shrink */
    LEVEL = 3,
};

struct packed {
    uint32_t users; /* requests */
    uint32_t len;
    uint8_t bytes[];
};

static uint32_t messages_len(const struct request_rest *rest)
{
    return rest->call_len + rest->reply_len + rest->packed_len;
}

/* --- packing */

static bool is_fit(const struct request *r)
{
    return r->stage == STAGE_WAITING && !r->is_packed && !r->rest->sut &&
           messages_len(r->rest) <= LONGEST;
}

static int put(struct buf *to, const struct request_rest *rest)
{
    struct request_rest kept = *rest;

    kept.call = kept.answer = NULL;
    if (buf_append(to, &kept, sizeof(kept)) < 0 || buf_append(to, rest->call, rest->call_len) < 0)
        return -ERR_SYSTEM;
    return buf_append(to, rest->answer, rest->reply_len + rest->packed_len);
}

/* NULL: not worth it, or no memory. */
static struct packed *pack_bytes_of(struct packing *p)
{
    const size_t len = p->bytes.len, most = ZSTD_compressBound(len);
    struct packed *packed;
    size_t shorter;

    if (!p->compressor)
        p->compressor = ZSTD_createCCtx();
    if (!p->compressor || buf_reserve(&p->bytes, most) < 0)
        return NULL;
    shorter =
        ZSTD_compressCCtx(p->compressor, p->bytes.data + len, most, p->bytes.data, len, LEVEL);
    /* it stays beside those that were opened: what hardly shrinks is better left as it is */
    packed = ZSTD_isError(shorter) || shorter > len / 2 ? NULL : malloc(sizeof(*packed) + shorter);
    if (packed) {
        packed->len = (uint32_t)shorter;
        memcpy(packed->bytes, p->bytes.data + len, shorter);
    }
    return packed;
}

static void leave_to(struct request *r, struct packed *packed)
{
    struct request_rest *rest = r->rest;

    reading_drop(r->shadow, r);
    free(rest->call);
    free(rest->answer);
    free(rest);
    r->packed = packed;
    r->is_packed = true;
    r->place = packed->users++ & (MOST - 1);
}

static void pack_next(struct shadow *s)
{
    struct packing *p = &s->packing;
    struct request *fit[MOST];
    struct packed *packed;
    uint32_t count = 0;

    p->opened = NULL;
    p->bytes.len = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        struct request *r = request_at(s, p->next);

        p->next = r->next;
        if (!is_fit(r))
            continue;
        if (put(&p->bytes, r->rest) < 0)
            return;
        fit[count++] = r;
    }
    packed = count < LEAST ? NULL : pack_bytes_of(p);
    if (!packed)
        return;
    packed->users = 0;
    for (uint32_t i = 0; i < count; i++)
        leave_to(fit[i], packed);
}

void packed_pack(struct shadow *s)
{
    while (s->packing.next &&
           s->queued - request_at(s, s->packing.next)->number > (uint32_t)BEHIND + MOST)
        pack_next(s);
}

/* --- unpacking */

static int open_bytes(struct packing *p, const struct packed *packed)
{
    unsigned long long len = ZSTD_getFrameContentSize(packed->bytes, packed->len);

    if (p->opened == packed)
        return 0;
    p->opened = NULL;
    p->bytes.len = 0;
    if (!p->decompressor)
        p->decompressor = ZSTD_createDCtx();
    if (!p->decompressor || len == ZSTD_CONTENTSIZE_ERROR || buf_reserve(&p->bytes, len) < 0 ||
        ZSTD_decompressDCtx(p->decompressor, p->bytes.data, len, packed->bytes, packed->len) != len)
        return -ERR_SYSTEM;
    p->bytes.len = len;
    p->opened = packed;
    return 0;
}

static uint8_t *copy_of(const uint8_t *bytes, uint32_t len)
{
    uint8_t *copy = malloc((size_t)len + 1);

    if (copy)
        memcpy(copy, bytes, len);
    return copy;
}

/* NULL: no memory. */
static struct request_rest *take(const struct packing *p, uint32_t place)
{
    struct request_rest *rest = malloc(sizeof(*rest));
    const uint8_t *at = p->bytes.data;

    if (!rest)
        return NULL;
    memcpy(rest, at, sizeof(*rest));
    for (; place; place--) {
        at += sizeof(*rest) + messages_len(rest);
        memcpy(rest, at, sizeof(*rest));
    }
    at += sizeof(*rest);
    rest->call = copy_of(at, rest->call_len);
    rest->answer = copy_of(at + rest->call_len, rest->reply_len + rest->packed_len);
    if (rest->call && rest->answer)
        return rest;
    free(rest->call);
    free(rest->answer);
    free(rest);
    return NULL;
}

void packed_drop(struct request *r)
{
    struct packing *p = &r->shadow->packing;
    struct packed *packed = r->packed;

    r->is_packed = false;
    r->rest = NULL;
    if (--packed->users)
        return;
    if (p->opened == packed)
        p->opened = NULL;
    free(packed);
}

struct request_rest *packed_open(const struct request *packed)
{
    struct request *r = request_at(packed->shadow, packed->id);
    struct packing *p = &r->shadow->packing;
    struct request_rest *rest = open_bytes(p, r->packed) < 0 ? NULL : take(p, r->place);

    if (!rest) {
        p->failed = true;
        p->none = (struct request_rest){ 0 };
        return &p->none;
    }
    packed_drop(r);
    r->rest = rest;
    return rest;
}

void packed_free(struct shadow *s)
{
    buf_free(&s->packing.bytes);
    ZSTD_freeCCtx(s->packing.compressor);
    ZSTD_freeDCtx(s->packing.decompressor);
    s->packing = (struct packing){ 0 };
}
