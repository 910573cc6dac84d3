/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring of batches.  The producer fills one, the consumer works on another, the rest wait between.
 * A batch is a row of struct frame, each followed by its bytes and padded to eight. */
#include "link/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct batch {
    uint8_t *data;
    size_t len, cap;
};

struct worker {
    worker_consume *consume;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch ring[WORKER_BATCHES];
    unsigned filling;   /* the producer's batch */
    unsigned consuming; /* the consumer's next one */
    unsigned full;      /* batches from |consuming| on; under |lock| */
    bool stop;          /* under |lock| */
    atomic_bool failed; /* then |err| is set */
    struct err err;
};

static void consume_batch(struct worker *w, const struct batch *batch)
{
    for (size_t at = 0; at < batch->len && !atomic_load(&w->failed);) {
        struct frame frame;
        memcpy(&frame, batch->data + at, sizeof frame);
        at += sizeof frame;
        frame.data = batch->data + at;
        at += ((size_t)frame.cap_len + 7) & ~(size_t)7;
        if (w->consume(w->ctx, &frame, &w->err) < 0)
            atomic_store(&w->failed, true);
    }
}

static void *run(void *ctx)
{
    struct worker *w = ctx;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->full && !w->stop)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->stop)
            break;
        pthread_mutex_unlock(&w->lock);
        consume_batch(w, &w->ring[w->consuming]);
        pthread_mutex_lock(&w->lock);
        w->ring[w->consuming].len = 0;
        w->consuming = (w->consuming + 1) % WORKER_BATCHES;
        w->full--;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are for the host's own thread. */
static int start(struct worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

struct worker *worker_new(worker_consume *consume, void *ctx, struct err *err)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(err, ERR_SYSTEM, "no memory");
        return NULL;
    }
    w->consume = consume;
    w->ctx = ctx;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    int code = start(w);
    if (code) {
        err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(code));
        free(w);
        return NULL;
    }
    return w;
}

static int failure(const struct worker *w, struct err *err)
{
    if (err)
        *err = w->err;
    return -w->err.code;
}

/* Gives the producer's batch to the consumer, and takes the next when it is free. */
static void submit(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->full++;
    pthread_cond_broadcast(&w->changed);
    while (w->full == WORKER_BATCHES)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    w->filling = (w->filling + 1) % WORKER_BATCHES;
}

static int make_room(struct batch *batch, size_t size, struct err *err)
{
    size_t cap = size > WORKER_BATCH_BYTES ? size : WORKER_BATCH_BYTES;
    uint8_t *data = realloc(batch->data, cap);
    if (!data)
        return err_set(err, ERR_SYSTEM, "no memory");
    batch->data = data;
    batch->cap = cap;
    return 0;
}

int worker_frame(struct worker *w, const struct frame *frame, struct err *err)
{
    size_t size = sizeof *frame + (((size_t)frame->cap_len + 7) & ~(size_t)7);
    struct batch *batch = &w->ring[w->filling];
    if (atomic_load(&w->failed))
        return failure(w, err);
    if (batch->len && size > batch->cap - batch->len) {
        submit(w);
        batch = &w->ring[w->filling];
    }
    if (size > batch->cap && make_room(batch, size, err) < 0)
        return -ERR_SYSTEM;
    memcpy(batch->data + batch->len, frame, sizeof *frame);
    if (frame->cap_len)
        memcpy(batch->data + batch->len + sizeof *frame, frame->data, frame->cap_len);
    batch->len += size;
    return 0;
}

int worker_drain(struct worker *w, struct err *err)
{
    if (w->ring[w->filling].len)
        submit(w);
    pthread_mutex_lock(&w->lock);
    while (w->full)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return atomic_load(&w->failed) ? failure(w, err) : 0;
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    for (unsigned i = 0; i < WORKER_BATCHES; i++)
        free(w->ring[i].data);
    free(w);
}
