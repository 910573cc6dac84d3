/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/hold.h"

#include <stdlib.h>

struct held_message {
    struct held_message *next, *previous;
    uint64_t ticket;    /* 0 once it may be written */
    struct ready ready; /* its data are allocated; NULL when there are none */
};

void hold_init(struct hold *h, hold_write *write, void *ctx)
{
    memset(h, 0, sizeof(*h));
    h->write = write;
    h->ctx = ctx;
}

static void drop_head(struct hold *h)
{
    struct held_message *head = h->head;

    h->head = head->next;
    if (h->head)
        h->head->previous = NULL;
    else
        h->tail = NULL;
    h->bytes -= sizeof(*head) + head->ready.message.cap_len;
    free((uint8_t *)head->ready.message.data);
    free(head);
}

void hold_free(struct hold *h)
{
    while (h->head)
        drop_head(h);
}

static int write_head(struct hold *h, struct err *err)
{
    int rc = h->write(h->ctx, &h->head->ready, err);

    drop_head(h);
    return rc;
}

/* Everything up to the next that waits. */
static int write_ready(struct hold *h, struct err *err)
{
    int rc = 0;

    while (rc == 0 && h->head && !h->head->ticket)
        rc = write_head(h, err);
    return rc;
}

static int set_message(struct hold *h, struct held_message *m, const struct rewritten *message,
                       struct err *err)
{
    uint8_t *copy = malloc(message->cap_len ? message->cap_len : 1);

    if (!copy)
        return err_memory(err, "messages that wait");
    if (message->cap_len)
        memcpy(copy, message->data, message->cap_len);
    h->bytes += message->cap_len;
    h->bytes -= m->ready.message.data ? m->ready.message.cap_len : 0;
    free((uint8_t *)m->ready.message.data);
    m->ready.message = *message;
    m->ready.message.data = copy;
    return 0;
}

/* After which message this one stands; NULL: before all. */
static struct held_message *place(const struct hold *h, const struct ready *ready)
{
    struct held_message *at = h->tail;
    bool call = ready->at.side == ready->flow.client;

    while (call && at && at->ticket && at->ready.at.frame > ready->at.frame)
        at = at->previous;
    return at;
}

static void insert(struct hold *h, struct held_message *m, struct held_message *after)
{
    m->previous = after;
    m->next = after ? after->next : h->head;
    *(m->next ? &m->next->previous : &h->tail) = m;
    *(after ? &after->next : &h->head) = m;
}

int hold_put(struct hold *h, uint64_t ticket, const struct ready *ready, struct err *err)
{
    struct held_message *m;
    int rc;

    if (!h->head && !ticket)
        return h->write(h->ctx, ready, err);
    m = calloc(1, sizeof(*m));
    if (!m)
        return err_memory(err, "messages that wait");
    m->ticket = ticket;
    m->ready = *ready;
    m->ready.message.data = NULL;
    if ((rc = set_message(h, m, &ready->message, err)) < 0) {
        free(m);
        return rc;
    }
    insert(h, m, ticket ? h->tail : place(h, ready));
    h->bytes += sizeof(*m);
    while (rc == 0 && h->bytes > HOLD_BYTES_MAX) {
        h->overflows += h->head->ticket != 0;
        rc = write_head(h, err);
    }
    return rc < 0 ? rc : write_ready(h, err);
}

int hold_resolve(struct hold *h, uint64_t ticket, const struct ready *ready, struct err *err)
{
    struct held_message *m = h->head;
    int rc;

    while (m && m->ticket != ticket)
        m = m->next;
    if (!m)
        return 0;
    m->ticket = 0;
    m->ready.procedure = ready->procedure;
    m->ready.has_credential = ready->has_credential;
    m->ready.credential = ready->credential;
    rc = set_message(h, m, &ready->message, err);
    return rc < 0 ? rc : write_ready(h, err);
}

int hold_end(struct hold *h, struct err *err)
{
    int rc = 0;

    while (rc == 0 && h->head)
        rc = write_head(h, err);
    return rc;
}
