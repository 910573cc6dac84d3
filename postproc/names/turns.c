/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/turns.c
 *
 * Puts the records of a piece back into the order in which its engine took messages, for names.c.
 * The contract is in turns.h.
 */
#include "names/turns.h"
#include "base/grow.h"
#include "pieces/state.h"
#include "record/frames.h"

#include <stdlib.h>

static int open_reader(struct turns *t, struct turns_reader *r, struct err *err)
{
    int rc;

    r->input = input_open(t->path, false, err);
    if (!r->input)
        return -err->code;
    r->blocks = (struct block_reader){
        .format = &nfsr_format, .read = input_read, .ctx = r->input, .name = t->path
    };
    rc = block_reader_begin(&r->blocks, err);
    return rc == NFSR_NOT_MINE ? err_set(err, ERR_INPUT, "%s: not a record stream", t->path) : rc;
}

static void close_reader(struct turns_reader *r)
{
    block_reader_free(&r->blocks);
    input_close(r->input);
}

int turns_open(struct turns *t, const char *name, struct err *err)
{
    int rc;

    state_path(t->path, name, ".nfsr");
    rc = open_reader(t, &t->ahead, err);
    return rc < 0 ? rc : open_reader(t, &t->behind, err);
}

void turns_close(struct turns *t)
{
    for (uint32_t i = 0; i < t->slot_count; i++)
        free(t->slots[i].waiting);
    free(t->slots);
    free(t->hosts);
    free(t->credentials);
    arena_free(&t->arena);
    piece_flows_free(&t->flows);
    close_reader(&t->ahead);
    close_reader(&t->behind);
}

static int bad(const struct turns *t, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: %s: it does not belong to its .border: make the piece again", t->path,
                   what);
}

/* Frames of the lead-in may be from before the capture only if the file is not what it says. */
static int count_frame(const struct turns *t, uint64_t *frame, struct err *err)
{
    if (*frame && *frame + t->base <= t->border->lead)
        return bad(t, "a frame from before the capture", err);
    if (*frame > t->border->lead + t->border->frames)
        return bad(t, "a frame from behind the piece", err);
    *frame = turns_frame(t, *frame);
    return 0;
}

/* Makes the frames of a record those of the capture. */
static int count_frames(const struct turns *t, struct record *r, struct err *err)
{
    uint64_t *frames[RECORD_FRAMES_MAX];
    int rc = 0;

    for (int i = record_frames(r, frames); rc == 0 && i-- > 0;)
        rc = count_frame(t, frames[i], err);
    return rc;
}

static int read_record(struct turns *t, struct turns_reader *r, struct record *record,
                       struct err *err)
{
    unsigned kind;
    int rc = r->ended ? 0 : block_reader_next(&r->blocks, &kind, record, err);

    if (rc != 1) {
        r->ended = true;
        return rc;
    }
    record->kind = (uint8_t)kind;
    r->records++;
    rc = count_frames(t, record, err);
    return rc < 0 ? rc : 1;
}

static int take_object(struct turns *t, const struct record_object *o, struct err *err)
{
    /* ids are given in a row; a known one may come again */
    if (!o->id || o->id > UINT32_MAX / 2 || o->id > (uint64_t)t->host_count + 1)
        return bad(t, "objects are not numbered in a row", err);
    if (GROW_ZERO(t->hosts, o->id + 1, t->host_cap) < 0)
        return err_memory(err, "objects");
    if (o->id > t->host_count)
        t->host_count = (uint32_t)o->id;
    t->hosts[o->id] = host_id(t->objects, &o->server);
    return t->hosts[o->id] ? 0 : err_memory(err, "hosts");
}

static int take_credential(struct turns *t, const struct record_credential *c, struct err *err)
{
    struct record_credential copy = *c;

    if (!c->id || c->id > (uint64_t)t->credential_count + 1)
        return bad(t, "credentials are not numbered in a row", err);
    if (GROW_ZERO(t->credentials, (uint64_t)c->id + 1, t->credential_cap) < 0)
        return err_memory(err, "credentials");
    if (c->id > t->credential_count)
        t->credential_count = c->id;
    copy.gids.data = arena_copy(&t->arena, c->gids.data, c->gids.len);
    copy.machine.data = arena_copy(&t->arena, c->machine.data, c->machine.len);
    copy.body.data = arena_copy(&t->arena, c->body.data, c->body.len);
    if (!copy.gids.data || !copy.machine.data || !copy.body.data)
        return err_memory(err, "credentials");
    t->credentials[c->id] = copy;
    return 0;
}

/* The server of an operation: that of its objects, which may have several addresses, or else the
 * one that the call went to. */
static int server_of(struct turns *t, const struct record_operation *op, uint32_t *host,
                     struct err *err)
{
    const uint64_t objects[] = { op->object, op->object2, op->new_object };

    for (int i = 0; i < 3; i++) {
        if (!objects[i])
            continue;
        if (objects[i] > t->host_count || !t->hosts[objects[i]])
            return bad(t, "an operation refers to an object that is not there", err);
        *host = t->hosts[objects[i]];
        return 0;
    }
    if (!op->flow || op->flow > t->flows.count)
        return bad(t, "an operation refers to a connection that is not there", err);
    *host = host_id(t->objects, &t->flows.all[op->flow].record.server);
    return *host ? 0 : err_memory(err, "hosts");
}

static int take_operation(struct turns *t, const struct record_operation *op, struct err *err)
{
    uint64_t at = op->id - t->order->lead_operation - 1;
    struct turns_slot *slot;

    t->seen++;
    if (op->id <= t->order->lead_operation)
        return 0;
    if (t->seen > t->border->operations && !op->call.frame)
        return 0; /* a reply that waits: its id is none yet */
    if (at >= t->border->operations + t->border->waiting || at >= UINT32_MAX / 2)
        return bad(t, "more operations than there can be", err);
    if (GROW_ZERO(t->slots, at + 1, t->slot_cap) < 0)
        return err_memory(err, "operations");
    if (at >= t->slot_count)
        t->slot_count = (uint32_t)at + 1;
    slot = &t->slots[at];
    if (slot->waiting || slot->taken)
        return bad(t, "an operation comes twice", err);
    if (server_of(t, op, &slot->host, err) < 0)
        return -err->code;
    slot->waiting = naming_begin(op, err);
    return slot->waiting ? 0 : -ERR_SYSTEM;
}

/* The first reader takes a record. */
static int go_ahead(struct turns *t, struct err *err)
{
    struct record r;
    int rc = read_record(t, &t->ahead, &r, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return bad(t, "operations are missing", err);
    switch (r.kind) {
    case RECORD_FLOW:
        return piece_flows_take(&t->flows, &r.flow, r.flow.id > t->order->lead_flow, err);
    case RECORD_OBJECT:
        return take_object(t, &r.object, err);
    case RECORD_CREDENTIAL:
        return take_credential(t, &r.credential, err);
    case RECORD_OPERATION:
        return take_operation(t, &r.operation, err);
    default:
        return 0;
    }
}

/* Gives the caller all calls up to that of the operation |id|. */
static int take_calls(struct turns *t, uint64_t id, struct err *err)
{
    uint64_t lead = t->order->lead_operation;
    int rc = 0;

    while (rc == 0 && lead + t->next < id) {
        while (rc == 0 && (t->next >= t->slot_count || !t->slots[t->next].waiting))
            rc = go_ahead(t, err);
        if (rc == 0)
            rc = t->call(t->ctx, &t->slots[t->next], err);
        if (rc == 0)
            t->slots[t->next++].taken = true;
    }
    return rc;
}

bool turns_at_end(const struct turns *t)
{
    return t->operations > t->border->operations;
}

/* All calls that were taken before the operation was complete. */
static int before_operation(struct turns *t, const struct record_operation *op, struct err *err)
{
    uint64_t later = 0;

    t->operations++;
    if (t->operations > t->border->operations + t->border->waiting)
        return bad(t, "more operations than there can be", err);
    if (turns_at_end(t)) /* replies that wait get their ids later */
        return op->call.frame ? take_calls(t, op->id, err) : 0;
    if (!order_next(t->order, &t->turn, &later))
        return bad(t, "its .order has fewer operations", err);
    if (op->id + later > t->order->lead_operation + t->border->operations + t->border->waiting)
        return bad(t, "its .order is another one", err);
    return take_calls(t, op->id + later, err);
}

int turns_next(struct turns *t, struct record *r, struct err *err)
{
    int rc = read_record(t, &t->behind, r, err);

    if (rc <= 0)
        return rc;
    rc = 0;
    while (rc == 0 && t->ahead.records < t->behind.records)
        rc = go_ahead(t, err);
    if (rc == 0 && r->kind == RECORD_OPERATION)
        rc = before_operation(t, &r->operation, err);
    return rc < 0 ? rc : 1;
}

struct turns_slot *turns_slot(struct turns *t, uint64_t id)
{
    uint64_t at = id - t->order->lead_operation - 1;

    if (id <= t->order->lead_operation || at >= t->slot_count || !t->slots[at].taken)
        return NULL;
    return &t->slots[at];
}
