/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/output_queue.h"

#include <stdlib.h>

struct queued_message {
    struct queued_message *next, *previous;
    uint64_t ticket;    /* 0 once it may be written */
    struct ready ready; /* its data is allocated, or NULL */
};

void output_queue_init(struct output_queue *q, output_queue_write *write, void *ctx)
{
    memset(q, 0, sizeof(*q));
    q->write = write;
    q->ctx = ctx;
}

static void drop_head(struct output_queue *q)
{
    struct queued_message *head = q->head;

    q->head = head->next;
    if (q->head)
        q->head->previous = NULL;
    else
        q->tail = NULL;
    q->bytes -= sizeof(*head) + head->ready.message.cap_len;
    free((uint8_t *)head->ready.message.data);
    free(head);
}

void output_queue_free(struct output_queue *q)
{
    while (q->head)
        drop_head(q);
}

static int write_head(struct output_queue *q, struct err *err)
{
    int rc = q->write(q->ctx, &q->head->ready, err);

    drop_head(q);
    return rc;
}

/* Writes the messages up to the next one that waits. */
static int write_ready(struct output_queue *q, struct err *err)
{
    int rc = 0;

    while (rc == 0 && q->head && !q->head->ticket)
        rc = write_head(q, err);
    return rc;
}

static int set_message(struct output_queue *q, struct queued_message *m,
                       const struct rewritten *message, struct err *err)
{
    uint8_t *copy = malloc(message->cap_len ? message->cap_len : 1);

    if (!copy)
        return err_memory(err, "messages that wait");
    if (message->cap_len)
        memcpy(copy, message->data, message->cap_len);
    q->bytes += message->cap_len;
    q->bytes -= m->ready.message.data ? m->ready.message.cap_len : 0;
    free((uint8_t *)m->ready.message.data);
    m->ready.message = *message;
    m->ready.message.data = copy;
    return 0;
}

/* Returns the message after which |ready| belongs; NULL: it is the first. */
static struct queued_message *place(const struct output_queue *q, const struct ready *ready)
{
    struct queued_message *at = q->tail;
    bool call = ready->at.side == ready->flow.client;

    while (call && at && at->ticket && at->ready.at.frame > ready->at.frame)
        at = at->previous;
    return at;
}

static void insert(struct output_queue *q, struct queued_message *m, struct queued_message *after)
{
    m->previous = after;
    m->next = after ? after->next : q->head;
    *(m->next ? &m->next->previous : &q->tail) = m;
    *(after ? &after->next : &q->head) = m;
}

int output_queue_put(struct output_queue *q, uint64_t ticket, const struct ready *ready,
                     struct err *err)
{
    struct queued_message *m;
    int rc;

    if (!q->head && !ticket)
        return q->write(q->ctx, ready, err);
    m = calloc(1, sizeof(*m));
    if (!m)
        return err_memory(err, "messages that wait");
    m->ticket = ticket;
    m->ready = *ready;
    m->ready.message.data = NULL;
    if ((rc = set_message(q, m, &ready->message, err)) < 0) {
        free(m);
        return rc;
    }
    insert(q, m, ticket ? q->tail : place(q, ready));
    q->bytes += sizeof(*m);
    while (rc == 0 && q->bytes > OUTPUT_QUEUE_MAX) {
        q->overflows += q->head->ticket != 0;
        rc = write_head(q, err);
    }
    return rc < 0 ? rc : write_ready(q, err);
}

int output_queue_resolve(struct output_queue *q, uint64_t ticket, const struct ready *ready,
                         struct err *err)
{
    struct queued_message *m = q->head;
    int rc;

    while (m && m->ticket != ticket)
        m = m->next;
    if (!m)
        return 0;
    m->ticket = 0;
    m->ready.procedure = ready->procedure;
    m->ready.has_credential = ready->has_credential;
    m->ready.credential = ready->credential;
    rc = set_message(q, m, &ready->message, err);
    return rc < 0 ? rc : write_ready(q, err);
}

int output_queue_end(struct output_queue *q, struct err *err)
{
    int rc = 0;

    while (rc == 0 && q->head)
        rc = write_head(q, err);
    return rc;
}
