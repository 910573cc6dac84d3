/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/record_stream_out.c
 *
 * What waits to be sent: a queue of pieces.  Most are copies, which fill up chunks; long tails stay
 * where they are.  Contract: record_stream.h.
 */
#include "base/grow.h"
#include "net/record_stream_parts.h"
#include "wire/rpc.h"

#include <stdlib.h>

enum { TAIL_COPIED = 1024, CHUNK_STEP = 4096 };

static void free_chunk(struct record_stream *s, struct chunk *chunk)
{
    if (!chunk)
        return;
    budget_give(&s->memory_out, sizeof(*chunk) + chunk->cap);
    free(chunk);
}

/* A piece of the chunk is gone. */
static void leave_chunk(struct record_stream *s, struct chunk *chunk)
{
    if (chunk && --chunk->pieces == 0 && chunk != s->filling)
        free_chunk(s, chunk);
}

/* Bytes of a new chunk that takes |len| first. */
static uint32_t chunk_size(const struct record_stream *s, uint32_t len)
{
    if (len > RECORD_WRITE)
        return len;
    return budget_crowded(&s->memory_out) ? (len + CHUNK_STEP - 1) / CHUNK_STEP * CHUNK_STEP
                                          : RECORD_WRITE;
}

/* The chunk for |len| more bytes. */
static struct chunk *chunk_for(struct record_stream *s, uint32_t len)
{
    struct chunk *old = s->filling, *chunk = old;
    uint32_t cap;

    if (chunk && len <= chunk->cap - chunk->len)
        return chunk;
    cap = chunk_size(s, len);
    chunk = malloc(sizeof(*chunk) + cap);
    if (!chunk)
        return NULL;
    *chunk = (struct chunk){ .cap = cap };
    budget_take(&s->memory_out, sizeof(*chunk) + cap);
    s->filling = chunk;
    if (old && !old->pieces)
        free_chunk(s, old);
    return chunk;
}

/* Room for the three pieces of a record. */
static int reserve_pieces(struct record_stream *s)
{
    if (s->out_cap - s->out_end >= 3)
        return 0;
    if (s->out_at) {
        memmove(s->out, s->out + s->out_at, (s->out_end - s->out_at) * sizeof(*s->out));
        s->out_end -= s->out_at;
        s->out_at = 0;
    }
    return GROW_TO(s->out, (uint64_t)s->out_end + 3, s->out_cap);
}

static void queue_piece(struct record_stream *s, const uint8_t *data, uint32_t len,
                        struct chunk *chunk)
{
    s->output += len;
    s->out[s->out_end++] = (struct piece){ data, len, chunk };
}

/* Queues what was written to the chunk from |len| bytes on, up to |end|. */
static void queue_copied(struct record_stream *s, const uint8_t *end)
{
    struct chunk *chunk = s->filling;
    uint8_t *data = chunk->data + chunk->len;
    uint32_t len = (uint32_t)(end - data);

    chunk->len += len;
    s->copies += len;
    if (s->out_end > s->out_at && s->out[s->out_end - 1].chunk == chunk) {
        s->out[s->out_end - 1].len += len; /* they are neighbours: chunks fill up in order */
        s->output += len;
        return;
    }
    chunk->pieces++;
    queue_piece(s, data, len, chunk);
}

static uint8_t *copy(uint8_t *to, const void *from, size_t len)
{
    if (len)
        memcpy(to, from, len);
    return to + len;
}

/* Appends a record to the last one that waits, as most can be.  False: it cannot. */
static inline bool append(struct record_stream *s, struct bytes message)
{
    struct chunk *chunk = s->filling;
    uint32_t len = message.len;
    struct piece *last;
    uint8_t *to;

    if (!chunk || s->out_at == s->out_end || (uint64_t)len + RECORD_MARK > chunk->cap - chunk->len)
        return false;
    last = &s->out[s->out_end - 1];
    if (last->chunk != chunk)
        return false;
    to = chunk->data + chunk->len;
    store_be32(to, len | RPC_LAST_FRAGMENT);
    copy(to + RECORD_MARK, message.data, len);
    len += RECORD_MARK;
    chunk->len += len;
    last->len += len;
    s->copies += len;
    s->output += len;
    loop_idle(s->loop, &s->flush);
    return true;
}

int record_stream_send_with(struct record_stream *s, const struct iovec *pieces, int count,
                            struct bytes tail, struct err *err)
{
    uint64_t copied = RECORD_MARK, padding = -tail.len & 3u, len = tail.len + padding;
    uint8_t *to;

    for (int i = 0; i < count; i++)
        copied += pieces[i].iov_len;
    len += copied - RECORD_MARK;
    if (len >= RPC_LAST_FRAGMENT - RECORD_WRITE)
        return err_set(err, ERR_USAGE, "a record of %llu bytes does not fit into a fragment",
                       (unsigned long long)len);
    if (s->over)
        return 0;
    copied += padding + (tail.len <= TAIL_COPIED ? tail.len : 0);
    if (reserve_pieces(s) < 0 || !chunk_for(s, (uint32_t)copied))
        return err_memory(err, "records to be sent");
    to = s->filling->data + s->filling->len;
    store_be32(to, (uint32_t)len | RPC_LAST_FRAGMENT);
    to += RECORD_MARK;
    for (int i = 0; i < count; i++)
        to = copy(to, pieces[i].iov_base, pieces[i].iov_len);
    if (tail.len > TAIL_COPIED) {
        queue_copied(s, to);
        queue_piece(s, tail.data, tail.len, NULL);
    } else {
        to = copy(to, tail.data, tail.len);
    }
    if (padding)
        to = copy(to, "\0\0\0", padding);
    if (padding || tail.len <= TAIL_COPIED)
        queue_copied(s, to);
    loop_idle(s->loop, &s->flush);
    return 0;
}

int record_stream_send_bytes(struct record_stream *s, struct bytes message, struct bytes tail,
                             struct err *err)
{
    if (!tail.len && !s->over && append(s, message))
        return 0;
    return record_stream_send_with(s, &(struct iovec){ (void *)message.data, message.len }, 1, tail,
                                   err);
}

int record_stream_send(struct record_stream *s, const struct iovec *pieces, int count,
                       struct err *err)
{
    return record_stream_send_with(s, pieces, count, (struct bytes){ 0 }, err);
}

void record_stream_sent(struct record_stream *s, size_t len)
{
    s->writes++;
    s->output -= len;
    while (len) {
        struct piece *piece = &s->out[s->out_at];
        uint32_t part = len < piece->len ? (uint32_t)len : piece->len;

        if (piece->chunk)
            s->copies -= part;
        piece->data += part;
        piece->len -= part;
        len -= part;
        if (!piece->len) {
            s->out_at++;
            leave_chunk(s, piece->chunk);
        }
    }
    if (!s->output) {
        s->out_at = s->out_end = 0;
        free_chunk(s, s->filling);
        s->filling = NULL;
    }
}

uint32_t record_stream_waiting(const struct record_stream *s, struct iovec *pieces, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = s->out_at; i < s->out_end && count < most; i++)
        pieces[count++] = (struct iovec){ (void *)s->out[i].data, s->out[i].len };
    return count;
}

void record_stream_lose(struct record_stream *s)
{
    for (uint32_t i = s->out_at; i < s->out_end; i++)
        leave_chunk(s, s->out[i].chunk);
    free_chunk(s, s->filling);
    s->filling = NULL;
    free(s->out);
    s->out = NULL;
}

uint64_t record_stream_output(const struct record_stream *s)
{
    return s->output;
}

uint64_t record_stream_copies(const struct record_stream *s)
{
    return s->copies;
}

uint64_t record_stream_writes(const struct record_stream *s)
{
    return s->writes;
}
