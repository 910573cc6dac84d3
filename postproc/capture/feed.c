/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/feed.h"
#include "capture/capture.h"
#include "link/worker.h"

enum { PROGRESS_FRAMES = 1 << 15 };

/* Where the engine is: in the worker's thread. */
struct feeding {
    struct engine *engine;
    const struct input *input;
    uint64_t base;
};

static int consume(void *ctx, const struct frame *frame, struct err *err)
{
    struct feeding *f = ctx;

    if (engine_frame(f->engine, frame, err) == 0)
        return 0;
    return err_prefix(err, "%s: frame %llu", input_name(f->input),
                      (unsigned long long)(frame->number - f->base));
}

/* All frames of the capture to the worker: what the last capture_next returned, or negative with
 * |failed| set when the engine failed. */
static int pump(struct capture *capture, struct worker *worker, const struct feeding *f,
                const struct progress *progress, struct feed *feed, bool *failed, struct err *err)
{
    struct frame frame;
    struct err end = { 0 };
    int result;

    while ((result = capture_next(capture, &frame, &end)) == 1) {
        feed->frames = frame.number;
        frame.number += f->base;
        if (worker_frame(worker, &frame, err) < 0)
            break;
        if (feed->frames % PROGRESS_FRAMES == 0)
            progress_show(progress, "", f->input);
    }
    *failed = result == 1 || worker_drain(worker, err) < 0;
    if (*failed)
        return -err->code;
    if (result < 0)
        *err = end;
    return result;
}

int feed_capture(struct input *input, struct engine *engine, uint64_t base,
                 const struct progress *progress, struct feed *feed, struct err *err)
{
    struct feeding f = { engine, input, base };
    struct capture *capture = capture_open(input, err);
    struct worker *worker = capture ? worker_new(consume, &f, err) : NULL;
    bool failed = true;
    int result = -err->code;

    feed->frames = 0;
    if (worker)
        result = pump(capture, worker, &f, progress, feed, &failed, err);
    feed->cut = !failed && result == -ERR_INPUT;
    worker_free(worker);
    engine_unopened(engine, &feed->unopened);
    capture_close(capture);
    return feed->cut ? 0 : result;
}

void feed_note_unopened(const struct unopened *unopened, const char *name, struct err *note)
{
    if (unopened->packets)
        err_set(note, ERR_NONE,
                "%.200s: %llu packets in encapsulations (%s) are not opened here; tshark -q -z "
                "nfspair,out=-,decap=wireshark has Wireshark open them",
                name, (unsigned long long)unopened->packets, unopened->names);
}
