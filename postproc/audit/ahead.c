/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/ahead.c
 *
 * A ring of batches: the thread fills one, the others wait or are taken.  A batch is a row of
 * items: a head, then the item, padded to eight.  The lock is taken for a batch, not for an item.
 * For source.c.  The contract is in ahead.h.
 */
#include "audit/ahead.h"
#include "base/grow.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct head {
    uint64_t len;
    uint64_t kind;
};

struct batch {
    uint8_t *data;
    size_t len, cap, weight;
};

struct ahead {
    ahead_step *step;
    void *ctx;
    pthread_t thread;
    bool started; /* and not joined */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch ring[AHEAD_BATCHES];
    unsigned filling; /* the thread's batch */
    unsigned taking;  /* the other one's */
    size_t at;        /* in that */
    bool taken_up;    /* that one is his */
    unsigned full;    /* under |lock|: batches from |taking| on */
    bool stop, ended; /* under |lock| */
    int result;       /* when |ended| */
    struct err err;
};

static size_t padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

/* False: nobody wants any more. */
static bool submit(struct ahead *a)
{
    bool go_on;

    pthread_mutex_lock(&a->lock);
    a->full++;
    a->filling = (a->filling + 1) % AHEAD_BATCHES;
    pthread_cond_broadcast(&a->changed);
    while (a->full == AHEAD_BATCHES && !a->stop)
        pthread_cond_wait(&a->changed, &a->lock);
    go_on = !a->stop;
    pthread_mutex_unlock(&a->lock);
    return go_on;
}

static void *run(void *ctx)
{
    struct ahead *a = ctx;
    const struct batch *batch;
    bool go_on = true;
    int rc = 1;

    while (rc == 1 && go_on) {
        rc = a->step(a->ctx, &a->err);
        batch = &a->ring[a->filling];
        if (rc == 1 && batch->len + batch->weight >= AHEAD_BYTES)
            go_on = submit(a);
    }
    pthread_mutex_lock(&a->lock);
    if (go_on && a->ring[a->filling].len)
        a->full++;
    a->result = rc < 0 ? rc : 0;
    a->ended = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Signals are for the program's own thread. */
static int start(struct ahead *a, struct err *err)
{
    sigset_t all, before;
    int code;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&a->thread, NULL, run, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    a->started = code == 0;
    return code ? err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(code)) : 0;
}

struct ahead *ahead_new(ahead_step *step, void *ctx, struct err *err)
{
    struct ahead *a = calloc(1, sizeof(*a));

    if (!a) {
        err_memory(err, "a queue");
        return NULL;
    }
    a->step = step;
    a->ctx = ctx;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    return a;
}

int ahead_put(struct ahead *a, unsigned kind, const struct iovec *pieces, int count, size_t weight,
              struct err *err)
{
    struct batch *batch = &a->ring[a->filling];
    struct head head = { 0, kind };
    size_t size;
    uint8_t *to;

    for (int i = 0; i < count; i++)
        head.len += pieces[i].iov_len;
    size = sizeof(head) + padded(head.len);
    if (GROW_TO(batch->data, batch->len + size, batch->cap) < 0)
        return err_memory(err, "a queue");
    to = batch->data + batch->len;
    memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    for (int i = 0; i < count; i++) {
        if (pieces[i].iov_len)
            memcpy(to, pieces[i].iov_base, pieces[i].iov_len);
        to += pieces[i].iov_len;
    }
    batch->len += size;
    batch->weight += weight;
    return 0;
}

/* Waits for a batch: 1, 0 at the end, or negative. */
static int wait_for_batch(struct ahead *a, struct err *err)
{
    int rc = 1;

    if (!a->started && !a->ended && !a->stop && start(a, err) < 0)
        return -err->code;
    pthread_mutex_lock(&a->lock);
    if (a->taken_up) {
        a->ring[a->taking].len = a->ring[a->taking].weight = 0;
        a->taking = (a->taking + 1) % AHEAD_BATCHES;
        a->taken_up = false;
        a->full--;
        pthread_cond_broadcast(&a->changed);
    }
    while (!a->full && !a->ended && !a->stop)
        pthread_cond_wait(&a->changed, &a->lock);
    a->taken_up = a->full > 0;
    if (!a->full) {
        rc = a->result;
        if (rc < 0)
            *err = a->err;
    }
    pthread_mutex_unlock(&a->lock);
    a->at = 0;
    return rc;
}

int ahead_next(struct ahead *a, unsigned *kind, void **data, size_t *len, struct err *err)
{
    struct head head;
    uint8_t *from;

    if (!a->taken_up || a->at == a->ring[a->taking].len) {
        int rc = wait_for_batch(a, err);

        if (rc != 1)
            return rc;
    }
    from = a->ring[a->taking].data + a->at;
    memcpy(&head, from, sizeof(head));
    *kind = (unsigned)head.kind;
    *data = from + sizeof(head);
    *len = head.len;
    a->at += sizeof(head) + padded(head.len);
    return 1;
}

void ahead_stop(struct ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (a->started)
        pthread_join(a->thread, NULL);
    a->started = false;
}

void ahead_free(struct ahead *a)
{
    if (!a)
        return;
    ahead_stop(a);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    for (unsigned i = 0; i < AHEAD_BATCHES; i++)
        free(a->ring[i].data);
    free(a);
}
