/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "relay/relay_parts.h"

#include <time.h>

int64_t relay_copy_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void relay_copy_open(struct pair *pair, uint16_t flags)
{
    struct relay_open open = pair->ends;
    const struct ring_entry e = {
        .connection = pair->number, .time = relay_copy_clock(), .kind = RELAY_OPEN, .flags = flags
    };

    open.to_server = pair->to_server.offset;
    open.to_client = pair->to_client.offset;
    if (pair->relay->setup.ring)
        ring_put_whole(pair->relay->setup.ring, &e,
                       (struct bytes){ (const uint8_t *)&open, sizeof(open) });
}

static struct ring_entry bytes_of(const struct pair *pair, const struct pass *pass, int64_t time)
{
    return (struct ring_entry){
        .connection = pair->number, .offset = pass->offset, .time = time, .kind = pass->kind
    };
}

void relay_copy_bytes(struct pair *pair, const struct pass *pass, struct bytes bytes, int64_t time)
{
    const struct ring_entry e = bytes_of(pair, pass, time);

    ring_put(pair->relay->setup.ring, &e, bytes);
}

uint8_t *relay_copy_begin(struct pair *pair, uint32_t want, uint32_t *room)
{
    return ring_begin(pair->relay->setup.ring, want, room);
}

void relay_copy_end(struct pair *pair, const struct pass *pass, uint32_t len, int64_t time)
{
    const struct ring_entry e = bytes_of(pair, pass, time);

    ring_end(pair->relay->setup.ring, &e, len);
}

void relay_copy_mark(struct pair *pair, uint16_t kind, uint64_t offset, uint16_t flags)
{
    const struct ring_entry e = { .connection = pair->number,
                                  .offset = offset,
                                  .time = relay_copy_clock(),
                                  .kind = kind,
                                  .flags = flags };

    if (pair->relay->setup.ring)
        ring_put_whole(pair->relay->setup.ring, &e, (struct bytes){ 0 });
}

static void copy_one(const struct relay *relay, const uint8_t *mark)
{
    const struct ring_entry e = { .time = relay_copy_clock(), .kind = RELAY_MARK };

    if (relay->setup.ring)
        ring_put_whole(relay->setup.ring, &e, (struct bytes){ mark, RELAY_MARK_SIZE });
}

void relay_copy_marks(const struct relay *relay)
{
    for (uint32_t i = 0; i < relay->marks.count; i++)
        copy_one(relay, relay->marks.mark[i]);
}

void relay_mark(struct relay *relay, const uint8_t *mark)
{
    if (relay_marks_add(&relay->marks, mark))
        copy_one(relay, mark);
}
