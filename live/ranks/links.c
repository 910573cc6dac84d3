/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ranks/links.c
 *
 * Messages between ranks.  The contract is in links.h.
 */
#include "ranks/links_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 256 };

/* --- sending */

int links_send(struct link *link, enum link_kind kind, struct bytes body, struct err *err)
{
    uint8_t first = (uint8_t)kind;
    const struct iovec pieces[] = { { &first, 1 }, { (void *)(uintptr_t)body.data, body.len } };

    if (!link || !link->stream || link->lost || link->over)
        return 0;
    return record_stream_send(link->stream, pieces, body.len ? 2 : 1, err);
}

static int send_all(struct links *l, enum link_kind kind, struct bytes body, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < l->setup.count && result == 0; i++)
        result = links_send(l->of[i], kind, body, err);
    return result;
}

static int send_batch(struct links *l, struct err *err)
{
    struct bytes body = { l->batch.bytes.data, (uint32_t)l->batch.bytes.len };
    int result = body.len ? send_all(l, LINK_OUTCOMES, body, err) : 0;

    outcomes_clear(&l->batch);
    return result;
}

int links_outcome(struct links *l, const struct player_outcome *outcome, struct err *err)
{
    if (outcomes_add(&l->batch, outcome, err) < 0)
        return -ERR_SYSTEM;
    return l->batch.bytes.len < LINKS_BATCH ? 0 : send_batch(l, err);
}

bool links_full(const struct links *l)
{
    return l->full;
}

static void look_at_output(struct links *l)
{
    l->full = false;
    for (uint32_t i = 0; i < l->setup.count; i++)
        if (l->of[i] && l->of[i]->stream && record_stream_output(l->of[i]->stream) > LINKS_OUTPUT)
            l->full = true;
}

int links_stop(struct links *l, int code, const char *text, struct err *err)
{
    uint32_t len = (uint32_t)strnlen(text, TEXT - 1);
    uint8_t body[TEXT];
    int result = send_batch(l, err);

    body[0] = (uint8_t)code;
    memcpy(body + 1, text, len);
    return result < 0 ? result : send_all(l, LINK_STOP, (struct bytes){ body, 1 + len }, err);
}

void links_deaf(struct links *l)
{
    l->deaf = true;
}

int links_send_tally(struct links *l, uint32_t to, const struct buf *tally, struct err *err)
{
    return links_send(l->of[to], LINK_TALLY, (struct bytes){ tally->data, (uint32_t)tally->len },
                      err);
}

int links_end(struct links *l, int code, struct err *err)
{
    uint8_t body = (uint8_t)code;

    l->ended = true;
    return send_all(l, LINK_END, (struct bytes){ &body, 1 }, err);
}

bool links_sending(const struct links *l)
{
    for (uint32_t i = 0; i < l->setup.count; i++)
        if (l->of[i] && l->of[i]->stream && record_stream_output(l->of[i]->stream))
            return true;
    return false;
}

struct bytes links_tally(const struct links *l, uint32_t rank)
{
    const struct link *link = l->of[rank];

    return link ? (struct bytes){ link->tally.data, (uint32_t)link->tally.len }
                : (struct bytes){ 0 };
}

bool links_is_lost(const struct links *l, uint32_t rank)
{
    return rank != l->setup.rank && (!l->of[rank] || l->of[rank]->lost);
}

/* --- what comes */

static int lose(struct link *link, const char *text, struct err *err)
{
    struct links *l = link->links;
    const struct links_host *host = &l->setup.host;

    if (link->lost || link->over || l->ended)
        return 0;
    link->lost = true;
    link->held = false;
    return host->lost(host->ctx, link->rank, text, err);
}

/* Delivers outcomes until the player has no room. */
static int deliver(struct link *link, struct err *err)
{
    const struct links_host *host = &link->links->setup.host;
    struct err why = { 0 };

    while (!link->links->deaf) {
        struct outcomes_reader before = link->reader;
        struct player_outcome outcome;
        int result = outcomes_next(&link->reader, &outcome, &why);

        if (result == 0)
            return 0;
        if (result > 0)
            result = host->outcome(host->ctx, &outcome, &why);
        if (result == 1) {
            link->reader = before;
            return 1;
        }
        if (result == -ERR_INPUT)
            return lose(link, why.text, err);
        if (result < 0) {
            *err = why;
            return result;
        }
    }
    return 0;
}

/* Keeps what is left of the message, and reads no more of the link. */
static int hold(struct link *link, struct err *err)
{
    struct bytes left = link->reader.left;

    link->kept.len = 0;
    if (buf_append(&link->kept, left.data, left.len) < 0)
        return err_memory(err, "messages of other ranks");
    link->reader.left.data = link->kept.data;
    link->held = true;
    record_stream_hold(link->stream);
    return 0;
}

static int take_outcomes(struct link *link, struct bytes body, struct err *err)
{
    int result;

    link->reader = (struct outcomes_reader){ .left = body };
    result = deliver(link, err);
    return result == 1 ? hold(link, err) : result;
}

int links_round(struct links *l, struct err *err)
{
    int result = send_batch(l, err);

    look_at_output(l);
    for (uint32_t i = 0; i < l->setup.count && result == 0; i++) {
        struct link *link = l->of[i];

        if (!link || !link->held)
            continue;
        result = deliver(link, err);
        if (result == 1) {
            result = 0;
        } else if (result == 0) {
            link->held = false;
            result = record_stream_resume(link->stream, err);
        }
    }
    return result;
}

static int take_stop(struct link *link, struct bytes body, struct err *err)
{
    const struct links_host *host = &link->links->setup.host;
    char text[TEXT] = "";
    uint32_t len = body.len ? body.len - 1 : 0;

    if (len)
        snprintf(text, sizeof(text), "%.*s", (int)(len < TEXT ? len : TEXT - 1),
                 (const char *)body.data + 1);
    return host->stop(host->ctx, link->rank, body.len ? body.data[0] : 0, text, err);
}

static int take(struct link *link, uint8_t kind, struct bytes body, struct err *err)
{
    const struct links_host *host = &link->links->setup.host;

    if (link->rank == UINT32_MAX)
        return kind == LINK_HELLO ? links_hello(link, body, err) : -ERR_INPUT;
    if (link->lost)
        return 0;
    switch (kind) {
    case LINK_OUTCOMES:
        return take_outcomes(link, body, err);
    case LINK_STOP:
        return take_stop(link, body, err);
    case LINK_TALLY:
        link->tally.len = 0;
        if (buf_append(&link->tally, body.data, body.len) < 0)
            return err_memory(err, "the tally of a rank");
        return host->end(host->ctx, link->rank, -1, err);
    case LINK_END:
        link->over = link->links->ended = true;
        return host->end(host->ctx, link->rank, body.len ? body.data[0] : ERR_SYSTEM, err);
    default:
        return lose(link, "it sent a message of no known kind", err);
    }
}

/* Whoever is not a rank is put out. */
void links_put_out(struct link *link)
{
    struct link **at = &link->links->unknown;

    while (*at && *at != link)
        at = &(*at)->next;
    if (*at)
        *at = link->next;
    if (link->links->listeners)
        listeners_left(link->links->listeners, &link->peer);
    links_remove(link);
}

static int on_record(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct link *link = ctx;
    bool unknown = link->rank == UINT32_MAX;
    int result = -ERR_INPUT;

    if (len)
        result = take(link, data[0], (struct bytes){ data + 1, len - 1 }, err);
    if (result == -ERR_INPUT && unknown) {
        links_put_out(link);
        return 0;
    }
    return result == -ERR_INPUT ? lose(link, "it sent an empty message", err) : result;
}

static int on_over(void *ctx, enum record_end end, int errno_value, struct err *err)
{
    struct link *link = ctx;
    char text[TEXT];

    if (link->rank == UINT32_MAX) {
        links_put_out(link);
        return 0;
    }
    record_stream_free(link->stream);
    link->stream = NULL;
    link->held = false;
    snprintf(text, sizeof(text), "%s",
             end == RECORD_FAILED     ? strerror(errno_value)
             : end == RECORD_TOO_LONG ? "it sent a message that is too long"
                                      : "its process has ended");
    return lose(link, text, err);
}

/* --- the life of links */

struct link *links_add(struct links *l, int fd, uint32_t record_max, struct err *err)
{
    /* A rank must always read, or two that wait for each other would do so for ever. */
    const struct record_limits limits = { .record_max = record_max, .output_stop = UINT32_MAX };
    struct link *link = calloc(1, sizeof(*link));
    struct record_host host = { .record = on_record, .over = on_over, .ctx = link };

    if (!link) {
        err_memory(err, "links between ranks");
        return NULL;
    }
    link->links = l;
    link->rank = UINT32_MAX;
    link->stream = record_stream_new(l->setup.loop, fd, &limits, &host, err);
    if (!link->stream) {
        free(link);
        return NULL;
    }
    return link;
}

void links_remove(struct link *link)
{
    if (!link)
        return;
    if (link->stream)
        record_stream_free(link->stream);
    buf_free(&link->kept);
    buf_free(&link->tally);
    free(link);
}

struct links *links_new(const struct links_setup *setup, struct err *err)
{
    struct links *l = calloc(1, sizeof(*l));

    if (setup->count > LINKS_RANKS_MAX) {
        err_set(err, ERR_USAGE, "%u ranks: at most %d can play together", setup->count,
                LINKS_RANKS_MAX);
        free(l);
        return NULL;
    }
    if (l)
        l->of = calloc(setup->count, sizeof(struct link *));
    if (!l || !l->of) {
        free(l);
        err_memory(err, "links between ranks");
        return NULL;
    }
    l->setup = *setup;
    return l;
}

void links_free(struct links *l)
{
    if (!l)
        return;
    while (l->unknown)
        links_put_out(l->unknown);
    for (uint32_t i = 0; i < l->setup.count; i++)
        links_remove(l->of[i]);
    listeners_free(l->listeners);
    outcomes_free(&l->batch);
    free(l->of);
    free(l);
}
