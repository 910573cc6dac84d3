/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pieces/lead.h"
#include "base/grow.h"

#include <stdlib.h>

enum { SAMPLE_BYTES = 1 << 20 };
#define EARLY INT64_C(3600000000000) /* ns */

/* The time of the packet at byte |at|.  TIME_NONE: it has none, or the file ends there. */
static int time_at(const char *path, const struct capture_shape *shape, uint64_t at, int64_t *time,
                   struct err *err)
{
    struct part part;
    struct frame frame;
    int rc = part_open(&part, path, shape, at, err);

    *time = TIME_NONE;
    if (rc < 0)
        return rc;
    rc = part_next(&part, UINT64_MAX, &frame, err);
    if (rc == 1)
        *time = frame.time;
    part_close(&part);
    return rc == -ERR_SYSTEM ? rc : 0;
}

/* Of interfaces that were described in between, times can mean anything. */
static bool is_early(int64_t time, int64_t first)
{
    return time != TIME_NONE && first != TIME_NONE && time < first - EARLY;
}

static bool is_long_enough(const struct lead *lead, int64_t begin, int64_t end)
{
    return begin == TIME_NONE || end == TIME_NONE ||
           (end >= begin && (uint64_t)end - (uint64_t)begin >= (uint64_t)lead->time);
}

int lead_find(const struct lead *lead, const char *path, const struct capture_shape *shape,
              uint64_t from, uint64_t *begin, struct err *err)
{
    uint64_t bytes = lead->bytes ? lead->bytes : 1;
    int64_t end, time, first = TIME_NONE;
    int rc = 0;

    if (from >= shape->size) /* behind the last packet: its own time says nothing */
        end = TIME_NONE;
    else
        rc = time_at(path, shape, from, &end, err);
    if (rc == 0 && shape->pcapng)
        rc = time_at(path, shape, shape->head, &first, err);
    if (is_early(end, first))
        end = TIME_NONE;
    for (; rc == 0; bytes *= 2) {
        if (bytes >= from) {
            *begin = shape->head;
            break;
        }
        rc = find_packet(path, shape, from - bytes, begin, err);
        if (rc == 0 && *begin < from)
            rc = time_at(path, shape, *begin, &time, err);
        if (rc == 0 && *begin < from && (is_long_enough(lead, time, end) || is_early(time, first)))
            break;
    }
    return rc;
}

/* Where packets begin, about every SAMPLE_BYTES, and when. */
struct samples {
    struct sample {
        uint64_t at;
        int64_t time;
    } *list;
    uint32_t count, cap;
};

static int sample(struct part *part, struct samples *s, struct err *err)
{
    struct frame frame;
    uint64_t at = part->next;
    int64_t last = TIME_NONE;
    int rc;

    while ((rc = part_next(part, UINT64_MAX, &frame, err)) == 1) {
        if (!s->count || at >= s->list[s->count - 1].at + SAMPLE_BYTES) {
            if (GROW(s->list, s->count, s->cap) < 0)
                return err_memory(err, "a lead-in");
            s->list[s->count++] = (struct sample){ at, frame.time };
        }
        at = part->next;
        last = frame.time > last ? frame.time : last;
    }
    if (rc == -ERR_SYSTEM || GROW(s->list, s->count, s->cap) < 0)
        return rc == -ERR_SYSTEM ? rc : err_memory(err, "a lead-in");
    s->list[s->count++] = (struct sample){ at, last };
    return 0;
}

static uint64_t choose(const struct lead *lead, const struct samples *s)
{
    const struct sample *end = &s->list[s->count - 1];
    uint32_t i = s->count - 1;

    while (i && (end->at - s->list[i].at < lead->bytes ||
                 !is_long_enough(lead, s->list[i].time, end->time)))
        i--;
    return s->list[i].at;
}

/* A compressed file. */
static int open_whole(const struct lead *lead, const char *path, struct part *part, struct err *err)
{
    struct samples samples = { 0 };
    struct frame frame;
    uint64_t begin = 0;
    int rc = part_open(part, path, NULL, 0, err);

    if (rc < 0)
        return rc;
    rc = sample(part, &samples, err);
    if (rc == 0)
        begin = choose(lead, &samples);
    free(samples.list);
    part_close(part);
    if (rc == 0)
        rc = part_open(part, path, NULL, 0, err);
    while (rc == 0 && part->next < begin) {
        int more = part_next(part, UINT64_MAX, &frame, err);

        rc = more < 0 ? more : 0;
        if (!more) /* it became shorter meanwhile */
            break;
    }
    if (rc < 0)
        part_close(part);
    return rc;
}

int lead_open_end(const struct lead *lead, const char *path, struct part *part, struct err *err)
{
    struct capture_shape shape;
    uint64_t begin, end;
    int rc;

    if (capture_shape_read(path, &shape, err) < 0)
        return open_whole(lead, path, part, err);
    /* the time of the last packet that can be found */
    rc = find_packet(path, &shape, shape.size - (shape.size < 65536 ? shape.size : 65536), &end,
                     err);
    if (rc == 0)
        rc = lead_find(lead, path, &shape, end, &begin, err);
    return rc < 0 ? rc : part_open(part, path, &shape, begin, err);
}
