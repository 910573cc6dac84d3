/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/shift.h"
#include "record/frames.h"

#include <errno.h>
#include <stdlib.h>

static bool shift(uint64_t *frame, int64_t by)
{
    uint64_t shifted = *frame + (uint64_t)by;

    if (!*frame)
        return true;
    if (by < 0 ? *frame <= -(uint64_t)by : shifted < *frame || shifted > INT64_MAX)
        return false;
    *frame = shifted;
    return true;
}

int record_shift(struct record *r, int64_t by, struct err *err)
{
    uint64_t *frames[RECORD_FRAMES_MAX];
    bool good = true;

    for (int i = record_frames(r, frames); good && i-- > 0;)
        good = shift(frames[i], by);
    return good ? 0
                : err_set(err, ERR_INPUT,
                          "frame numbers cannot be shifted by %lld: one would be below 1, or too "
                          "large",
                          (long long)by);
}

int record_shift_parse(const char *text, int64_t *by, struct err *err)
{
    char *end;

    errno = 0;
    *by = strtoll(text, &end, 10);
    return errno || end == text || *end
               ? err_set(err, ERR_USAGE, "\"%.100s\" is not a number, such as 1000 or -20", text)
               : 0;
}

static int put(void *ctx, const struct record *r, struct err *err)
{
    const struct shifting *s = ctx;
    struct record shifted = *r;

    return record_shift(&shifted, s->by, err) < 0 ? -err->code
                                                  : s->to.put(s->to.ctx, &shifted, err);
}

struct sink shifting_sink(struct shifting *shifting)
{
    return (struct sink){ put, shifting };
}
