/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/feed.h"
#include "capture/capture.h"

enum { PROGRESS_FRAMES = 1 << 15 };

int feed_capture(struct input *input, struct engine *engine, uint64_t base,
                 const struct progress *progress, struct feed *feed, struct err *err)
{
    struct capture *capture = capture_open(input, err);
    struct frame frame;
    int result;

    feed->frames = 0;
    feed->cut = false;
    if (!capture)
        return -err->code;
    while ((result = capture_next(capture, &frame, err)) == 1) {
        feed->frames = frame.number;
        frame.number += base;
        if (engine_frame(engine, &frame, err) < 0) {
            err_prefix(err, "%s: frame %llu", input_name(input), (unsigned long long)feed->frames);
            capture_close(capture);
            return -err->code;
        }
        if (progress && feed->frames % PROGRESS_FRAMES == 0)
            progress->show(progress->ctx, input);
    }
    feed->cut = result == -ERR_INPUT;
    capture_close(capture);
    return feed->cut ? 0 : result;
}
