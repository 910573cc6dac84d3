/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/queue.c
 *
 * A ring of batches.  The producer fills one, the consumer works on another, the rest wait between.
 * A batch is a row of items: a length in eight bytes, then the item, padded to eight.  For the
 * engine's worker, the pcapng writer, the plan and the audit.  The contract is in queue.h.
 */
#include "base/queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 320 }; /* bytes of the next item, to fetch while one is worked on */

struct batch {
    uint8_t *data;
    size_t len, cap;
};

struct queue {
    queue_consume *consume;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch ring[QUEUE_BATCHES];
    unsigned filling;   /* the producer's batch */
    unsigned consuming; /* the consumer's next one */
    unsigned full;      /* batches from |consuming| on; under |lock| */
    bool stop;          /* under |lock| */
    atomic_bool failed; /* then |err| is set */
    struct err err;
};

static size_t padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

static void consume_batch(struct queue *q, const struct batch *batch)
{
    for (size_t at = 0; at < batch->len && !atomic_load(&q->failed);) {
        uint64_t len;

        memcpy(&len, batch->data + at, sizeof(len));
        at += sizeof(len);
        for (size_t line = 0; line < AHEAD; line += 64) /* the producer's processor has them */
            __builtin_prefetch(batch->data + at + padded(len) + line);
        if (q->consume(q->ctx, batch->data + at, len, &q->err) < 0)
            atomic_store(&q->failed, true);
        at += padded(len);
    }
}

static void *run(void *ctx)
{
    struct queue *q = ctx;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->full && !q->stop)
            pthread_cond_wait(&q->changed, &q->lock);
        if (q->stop)
            break;
        pthread_mutex_unlock(&q->lock);
        consume_batch(q, &q->ring[q->consuming]);
        pthread_mutex_lock(&q->lock);
        q->ring[q->consuming].len = 0;
        q->consuming = (q->consuming + 1) % QUEUE_BATCHES;
        q->full--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Signals are for the host's own thread. */
static int start(struct queue *q)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&q->thread, NULL, run, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

struct queue *queue_new(queue_consume *consume, void *ctx, struct err *err)
{
    struct queue *q = calloc(1, sizeof(*q));
    if (!q) {
        err_memory(err, "a queue");
        return NULL;
    }
    q->consume = consume;
    q->ctx = ctx;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    int code = start(q);
    if (code) {
        err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(code));
        free(q);
        return NULL;
    }
    return q;
}

static int failure(const struct queue *q, struct err *err)
{
    if (err)
        *err = q->err;
    return -q->err.code;
}

/* Gives the producer's batch to the consumer, and takes the next when it is free. */
static void submit(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->full++;
    pthread_cond_broadcast(&q->changed);
    while (q->full == QUEUE_BATCHES)
        pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
    q->filling = (q->filling + 1) % QUEUE_BATCHES;
}

static int make_room(struct batch *batch, size_t size, struct err *err)
{
    size_t cap = size > QUEUE_BATCH_BYTES ? size : QUEUE_BATCH_BYTES;
    uint8_t *data = realloc(batch->data, cap);
    if (!data)
        return err_memory(err, "a queue");
    batch->data = data;
    batch->cap = cap;
    return 0;
}

int queue_put(struct queue *q, const struct iovec *pieces, int count, struct err *err)
{
    struct batch *batch = &q->ring[q->filling];
    uint64_t len = 0;
    size_t size;
    uint8_t *to;

    if (atomic_load(&q->failed))
        return failure(q, err);
    for (int i = 0; i < count; i++)
        len += pieces[i].iov_len;
    size = sizeof(len) + padded(len);
    if (batch->len && size > batch->cap - batch->len) {
        submit(q);
        batch = &q->ring[q->filling];
    }
    if (size > batch->cap && make_room(batch, size, err) < 0)
        return -ERR_SYSTEM;
    to = batch->data + batch->len;
    memcpy(to, &len, sizeof(len));
    to += sizeof(len);
    for (int i = 0; i < count; i++) {
        if (pieces[i].iov_len)
            memcpy(to, pieces[i].iov_base, pieces[i].iov_len);
        to += pieces[i].iov_len;
    }
    batch->len += size;
    return 0;
}

void queue_submit(struct queue *q)
{
    if (q->ring[q->filling].len)
        submit(q);
}

int queue_drain(struct queue *q, struct err *err)
{
    queue_submit(q);
    pthread_mutex_lock(&q->lock);
    while (q->full)
        pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return atomic_load(&q->failed) ? failure(q, err) : 0;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    for (unsigned i = 0; i < QUEUE_BATCHES; i++)
        free(q->ring[i].data);
    free(q);
}
