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

static int bad(const struct turns *t, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: %s: it does not belong to its .border: make the piece again", t->path,
                   what);
}

/* The arrays of operations are as long as the border says.  So each operation must have cost the
 * files a byte of the order, or be a call or reply that waits. */
static bool is_counted(const struct turns *t)
{
    const struct border *b = t->border;

    return b->operations <= t->order->turns.len &&
           b->waiting <= (uint64_t)b->end.call_count + b->held;
}

int turns_open(struct turns *t, const char *name, struct err *err)
{
    int rc;

    state_path(t->path, name, ".nfsr");
    if (!is_counted(t))
        return bad(t, "more operations than there can be", err);
    t->input = input_open(t->path, false, err);
    if (!t->input)
        return -err->code;
    t->blocks = (struct block_reader){
        .format = &nfsr_format, .read = input_read, .ctx = t->input, .name = t->path
    };
    rc = block_reader_begin(&t->blocks, err);
    return rc == NFSR_NOT_MINE ? err_set(err, ERR_INPUT, "%s: not a record stream", t->path) : rc;
}

void turns_close(struct turns *t)
{
    for (uint32_t i = 0; i < t->slot_count; i++)
        free(t->slots[i].waiting);
    for (uint32_t i = t->kept_first; i < t->kept_count; i++) {
        free(t->kept[i].waiting);
        free(t->kept[i].record);
    }
    free(t->kept);
    free(t->record);
    free(t->slots);
    free(t->hosts);
    free(t->credentials);
    arena_free(&t->arena);
    piece_flows_free(&t->flows);
    block_reader_free(&t->blocks);
    input_close(t->input);
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

/* Keeps one until its turn. */
static int keep(struct turns *t, struct turns_kept kept, struct err *err)
{
    if (t->kept_first > t->kept_count / 2 && t->kept_first > 64) {
        t->kept_count -= t->kept_first;
        memmove(t->kept, t->kept + t->kept_first, t->kept_count * sizeof(*t->kept));
        t->kept_first = 0;
    }
    if (GROW(t->kept, t->kept_count, t->kept_cap) < 0)
        return err_memory(err, "records");
    t->kept[t->kept_count++] = kept;
    return 0;
}

/* Keeps a copy of a record that is not an operation, with its |bytes| or NULL. */
static int keep_record(struct turns *t, const struct record *r, const struct bytes *bytes,
                       struct err *err)
{
    size_t len = bytes ? bytes->len : 0;
    struct record *copy = malloc(sizeof(*copy) + len);
    int rc;

    if (!copy)
        return err_memory(err, "records");
    *copy = *r;
    if (len)
        memcpy(copy + 1, bytes->data, len);
    if (bytes) /* the same member of the copy */
        ((struct bytes *)(void *)((char *)copy + ((const char *)bytes - (const char *)r)))->data =
            (const uint8_t *)(copy + 1);
    rc = keep(t, (struct turns_kept){ .record = copy }, err);
    if (rc < 0)
        free(copy);
    return rc;
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
    if (!t->server_host || !address_equal(&t->server, &o->server)) {
        t->server = o->server;
        t->server_host = host_id(t->objects, &o->server);
    }
    t->hosts[o->id] = t->server_host;
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

/* Keeps an operation that began before the piece, or a reply without a call. */
static int keep_operation(struct turns *t, const struct record_operation *op, struct err *err)
{
    struct waiting *w = naming_begin(op, true, err);
    int rc = w ? keep(t, (struct turns_kept){ .waiting = w }, err) : -ERR_SYSTEM;

    if (rc < 0)
        free(w);
    return rc;
}

static int take_operation(struct turns *t, const struct record_operation *op, struct err *err)
{
    uint64_t at = op->id - t->order->lead_operation - 1;
    struct turns_slot *slot;

    t->seen++;
    /* the id of a reply that waits is none yet */
    if (op->id <= t->order->lead_operation || (t->seen > t->border->operations && !op->call.frame))
        return keep_operation(t, op, err);
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
    slot->waiting = naming_begin(op, true, err);
    if (!slot->waiting)
        return -ERR_SYSTEM;
    return keep(t, (struct turns_kept){ .slot = (uint32_t)at + 1 }, err);
}

/* Takes a record of the piece. */
static int take_record(struct turns *t, struct record *r, struct err *err)
{
    int rc = 0;

    if (r->kind == RECORD_OBJECT) /* most of a lead-in's records; nobody asks for their frames */
        return take_object(t, &r->object, err);
    rc = count_frames(t, r, err);
    if (rc < 0)
        return rc;
    switch (r->kind) {
    case RECORD_FLOW:
        return piece_flows_take(&t->flows, &r->flow, r->flow.id > t->order->lead_flow, err);
    case RECORD_CREDENTIAL:
        return take_credential(t, &r->credential, err);
    case RECORD_OPERATION:
        return take_operation(t, &r->operation, err);
    case RECORD_REPEAT:
    case RECORD_CONNECTION_EVENT:
    case RECORD_END:
        return keep_record(t, r, NULL, err);
    case RECORD_PROBLEM:
        return keep_record(t, r, &r->problem.text, err);
    case RECORD_COUNTER:
        return keep_record(t, r, &r->counter.name, err);
    default: /* the pass makes its own */
        return 0;
    }
}

/* Begins to fetch the memory that the call of |r| needs, if its arguments begin with a handle. */
static uint64_t expect(const struct turns *t, const struct record *r)
{
    const struct bytes body = r->operation.arguments;
    uint32_t len;

    if (r->kind != RECORD_OPERATION || body.len < 4)
        return 0;
    len = load_be32(body.data);
    if (!len || len > body.len - 4)
        return 0;
    /* of the server of the latest object: most captures have one */
    return object_expect(t->objects, t->server_host, (struct bytes){ body.data + 4, len });
}

/* Decodes records of one block, if there are none.  Returns 1, or 0 at the end, or a negative code.
 */
static int decode(struct turns *t, struct err *err)
{
    int rc = 1;

    if (t->decoded_first < t->decoded_count)
        return 1;
    t->decoded_first = t->decoded_count = 0;
    do {
        struct record *r = &t->decoded[t->decoded_count];
        unsigned kind;

        rc = block_reader_next(&t->blocks, &kind, r, err);
        if (rc != 1)
            break;
        r->kind = (uint8_t)kind;
        t->hashes[t->decoded_count++] = expect(t, r);
    } while (t->decoded_count < TURNS_DECODED && block_reader_within(&t->blocks));
    for (uint32_t i = 0; i < t->decoded_count; i++)
        if (t->hashes[i])
            object_fetch(t->objects, t->hashes[i]);
    return rc;
}

/* Takes a record.  Returns 1, or 0 at the end, or a negative code. */
static int go_ahead(struct turns *t, struct err *err)
{
    int rc = decode(t, err);

    if (rc != 1)
        return rc;
    rc = take_record(t, &t->decoded[t->decoded_first++], err);
    return rc < 0 ? rc : 1;
}

/* Reads a record, which must be there. */
static int needed(struct turns *t, struct err *err)
{
    int rc = go_ahead(t, err);

    return rc == 0 ? bad(t, "operations are missing", err) : rc < 0 ? rc : 0;
}

/* Gives the caller all calls up to that of the operation |id|. */
static int take_calls(struct turns *t, uint64_t id, struct err *err)
{
    uint64_t lead = t->order->lead_operation;
    int rc = 0;

    while (rc == 0 && lead + t->next < id) {
        while (rc == 0 && (t->next >= t->slot_count || !t->slots[t->next].waiting))
            rc = needed(t, err);
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

/* All calls that were taken before the operation |id| was complete. */
static int before_operation(struct turns *t, uint64_t id, bool has_call, struct err *err)
{
    uint64_t later = 0;

    t->operations++;
    if (t->operations > t->border->operations + t->border->waiting)
        return bad(t, "more operations than there can be", err);
    if (turns_at_end(t)) /* replies that wait get their ids later */
        return has_call ? take_calls(t, id, err) : 0;
    if (!order_next(t->order, &t->turn, &later))
        return bad(t, "its .order has fewer operations", err);
    if (id + later > t->order->lead_operation + t->border->operations + t->border->waiting)
        return bad(t, "its .order is another one", err);
    return take_calls(t, id + later, err);
}

/* The turn of an operation. */
static int turn(struct turns *t, const struct turns_kept *kept, struct turned *next,
                struct err *err)
{
    const struct waiting *w = kept->slot ? t->slots[kept->slot - 1].waiting : kept->waiting;
    uint64_t id = kept->slot ? t->order->lead_operation + kept->slot : w->operation.id;
    int rc = before_operation(t, id, w->operation.call.frame != 0, err);

    next->waiting = kept->waiting;
    if (kept->slot) { /* slots may have moved */
        next->slot = turns_slot(t, id);
        next->waiting = t->slots[kept->slot - 1].waiting;
    }
    return rc;
}

int turns_next(struct turns *t, struct turned *next, struct err *err)
{
    struct turns_kept kept;
    int rc = 1;

    free(t->record);
    t->record = NULL;
    *next = (struct turned){ 0 };
    while (rc == 1 && t->kept_first == t->kept_count) {
        t->kept_first = t->kept_count = 0;
        rc = go_ahead(t, err);
    }
    if (rc != 1)
        return rc;
    kept = t->kept[t->kept_first++];
    next->record = t->record = kept.record;
    if (kept.record)
        return 1;
    rc = turn(t, &kept, next, err);
    if (rc < 0)
        free(kept.waiting);
    return rc < 0 ? rc : 1;
}

struct turns_slot *turns_slot(struct turns *t, uint64_t id)
{
    uint64_t at = id - t->order->lead_operation - 1;

    if (id <= t->order->lead_operation || at >= t->slot_count || !t->slots[at].taken)
        return NULL;
    return &t->slots[at];
}
