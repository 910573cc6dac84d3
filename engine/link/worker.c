/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/worker.h"
#include "base/queue.h"

#include <stdlib.h>

struct worker {
    worker_consume *consume;
    void *ctx;
    struct queue *queue;
};

static int consume(void *ctx, void *data, size_t len, struct err *err)
{
    struct worker *w = ctx;
    struct frame *frame = data;

    (void)len;
    frame->data = (const uint8_t *)data + sizeof(*frame);
    return w->consume(w->ctx, frame, err);
}

struct worker *worker_new(worker_consume *function, void *ctx, struct err *err)
{
    struct worker *w = calloc(1, sizeof(*w));

    if (!w) {
        err_memory(err, "a thread");
        return NULL;
    }
    w->consume = function;
    w->ctx = ctx;
    w->queue = queue_new(consume, w, err);
    if (!w->queue) {
        free(w);
        return NULL;
    }
    return w;
}

int worker_frame(struct worker *w, const struct frame *frame, struct err *err)
{
    const struct iovec pieces[] = { { (void *)frame, sizeof(*frame) },
                                    { (void *)frame->data, frame->cap_len } };

    return queue_put(w->queue, pieces, 2, err);
}

int worker_drain(struct worker *w, struct err *err)
{
    return queue_drain(w->queue, err);
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    queue_free(w->queue);
    free(w);
}
