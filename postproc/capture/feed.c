/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/feed.h"
#include "capture/capture.h"
#include "link/worker.h"

enum { PROGRESS_FRAMES = 1 << 15, REST_FRAMES = 1 << 10 };

struct feeding {
    struct engine *engine; /* of the worker's thread */
    const struct input *input;
    uint64_t base;
    struct capture *capture;
    struct worker *worker;
    const struct progress *progress;
    struct feed *feed;
};

static int consume(void *ctx, const struct frame *frame, struct err *err)
{
    struct feeding *f = ctx;

    if (engine_frame(f->engine, frame, err) == 0)
        return 0;
    return err_prefix(err, "%s: frame %llu", input_name(f->input),
                      (unsigned long long)(frame->number - f->base));
}

static int drain(void *worker, struct err *err)
{
    return worker_drain(worker, err);
}

/* All frames of the capture to the worker: what the last capture_next returned, or negative with
 * |failed| set when the engine failed. */
static int pump(const struct feeding *f, bool *failed, struct err *err)
{
    struct frame frame;
    struct live *live = input_live(f->input);
    struct err end = { 0 };
    int result;

    while ((result = capture_next(f->capture, &frame, &end)) == 1) {
        f->feed->frames = frame.number;
        frame.number += f->base;
        if (worker_frame(f->worker, &frame, err) < 0)
            break;
        if (f->feed->frames % PROGRESS_FRAMES == 0)
            progress_show(f->progress, "", f->input);
        if (live && f->feed->frames % REST_FRAMES == 0 && live_rest(live, err) < 0)
            break;
    }
    *failed = result == 1 || worker_drain(f->worker, err) < 0;
    if (*failed)
        return -err->code;
    if (result < 0)
        *err = end;
    return result;
}

int feed_capture(struct input *input, struct engine *engine, uint64_t base,
                 const struct progress *progress, struct feed *feed, struct err *err)
{
    struct feeding f = { .engine = engine,
                         .input = input,
                         .base = base,
                         .capture = capture_open(input, err),
                         .progress = progress,
                         .feed = feed };
    struct live *live = input_live(input);
    bool failed = true;
    int result;

    f.worker = f.capture ? worker_new(consume, &f, err) : NULL;
    result = -err->code;
    feed->frames = 0;
    if (live && f.worker) {
        live->worker = f.worker;
        live->drain = drain;
    }
    if (f.worker)
        result = pump(&f, &failed, err);
    if (live)
        live->drain = NULL;
    feed->cut = !failed && result == -ERR_INPUT;
    worker_free(f.worker);
    engine_unopened(engine, &feed->unopened);
    capture_close(f.capture);
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
