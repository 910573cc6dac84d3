/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything is an array with an id, or a frame's place in the order of feeding, as its index: both
 * are dense. */
#include "pairs.h"
#include "judged.h"

#include "base/escape.h"

#include <stdio.h>
#include <stdlib.h>

struct path_entry {
    uint32_t parent;
    bool partial; /* begins at an object */
    uint32_t len;
    uint64_t name; /* where its text, escaped, begins in |names| */
};

struct pairs {
    struct engine *engine;
    struct judged *judged; /* or NULL */
    bool ended;
    bool differs;     /* the copy that comes next is not the same bytes as the first */
    uint32_t fed;     /* frames */
    struct buf shown; /* uint32_t, by order of feeding: number; empty while both are the same */
    struct buf order; /* uint32_t, by number: order of feeding; likewise */
    struct buf operations; /* struct pair_operation, by id */
    struct buf messages;   /* struct pair_message, in the order of their coming */
    struct buf frames;     /* uint32_t, by frame: its first message, plus one */
    struct buf types;      /* uint8_t, by object id */
    struct buf paths;      /* struct path_entry, by id */
    struct buf names;
};

/* The element |index| of an array, which grows to hold it; new elements are all zeros. */
static void *element(struct buf *array, size_t size, uint64_t index, struct err *err)
{
    size_t end = (index + 1) * size;
    if (index >= UINT32_MAX) {
        err_set(err, ERR_SYSTEM, "more than 4 G messages, objects or paths for the packet tree");
        return NULL;
    }
    if (end > array->len) {
        if (buf_reserve(array, end - array->len) < 0) {
            err_memory(err, "the packet tree");
            return NULL;
        }
        memset(array->data + array->len, 0, end - array->len);
        array->len = end;
    }
    return array->data + index * size;
}

static const void *existing(const struct buf *array, size_t size, uint64_t index)
{
    return index < array->len / size ? array->data + index * size : NULL;
}

static struct pair_operation *operation(struct pairs *pairs, uint64_t id, struct err *err)
{
    return element(&pairs->operations, sizeof(struct pair_operation), id, err);
}

/* Ids that do not fit are not shown. */
static uint32_t narrow(uint64_t value)
{
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static int64_t latency(const struct record_operation *op)
{
    if (!op->call.frame || !op->reply.frame || op->call.time == TIME_NONE ||
        op->reply.time == TIME_NONE)
        return PAIRS_NO_LATENCY;
    return op->reply.time - op->call.time;
}

static void fill_operation(struct pair_operation *to, const struct record_operation *from,
                           uint8_t pairing)
{
    *to = (struct pair_operation){
        .xid = from->xid,
        .program = from->program,
        .version = from->version,
        .procedure = from->procedure,
        .offset = from->offset,
        .count = from->count,
        .has_offset = from->call.flags & SIGHTING_OFFSET,
        .has_count = from->call.flags & SIGHTING_COUNT,
        .call_time = from->call.time,
        .latency = latency(from),
        .call_frame = narrow(from->call.frame),
        .reply_frame = narrow(from->reply.frame),
        .depends_on = narrow(from->depends_on),
        .pairing = pairing,
    };
}

static int put_object(struct pairs *pairs, const struct record_object *object, struct err *err)
{
    uint8_t *type = element(&pairs->types, 1, object->id, err);
    if (!type)
        return -ERR_SYSTEM;
    *type = object->type;
    return 0;
}

static int put_path(struct pairs *pairs, const struct record_path *path, struct err *err)
{
    struct path_entry *entry = element(&pairs->paths, sizeof *entry, path->id, err);
    if (!entry)
        return -ERR_SYSTEM;
    char start[32] = "";
    bool partial = !path->parent && path->object, mounted = !path->parent && !path->object;
    uint64_t name = pairs->names.len;
    if (partial) /* as the database writes it */
        snprintf(start, sizeof start, "[#%llu]%s", (unsigned long long)path->object,
                 path->name.len ? "/" : "");
    if (buf_append(&pairs->names, start, strlen(start)) < 0 ||
        escape_name(path->name, mounted, &pairs->names) < 0)
        return err_memory(err, "the packet tree");
    *entry = (struct path_entry){
        .parent = path->parent < path->id ? path->parent : 0, /* no circles */
        .partial = partial,
        .len = (uint32_t)(pairs->names.len - name),
        .name = name,
    };
    return 0;
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct pairs *pairs = ctx;
    struct pair_operation *op;
    switch (record->kind) {
    case RECORD_FLOW:
        return pairs->judged ? judged_flow(pairs->judged, &record->flow, err) : 0;
    case RECORD_OBJECT:
        return put_object(pairs, &record->object, err);
    case RECORD_PATH:
        return put_path(pairs, &record->path, err);
    case RECORD_REPEAT:
        pairs->differs = record->repeat.differs;
        return 0;
    case RECORD_OPERATION:
        op = operation(pairs, record->operation.id, err);
        if (!op)
            return -ERR_SYSTEM;
        fill_operation(op, &record->operation, record->operation.pairing);
        return 0;
    default:
        return 0;
    }
}

static uint8_t object_type(const struct pairs *pairs, const struct record_operation *op)
{
    const uint8_t *type = existing(&pairs->types, 1, op->object);
    return type ? *type : OBJECT_UNKNOWN;
}

/* Puts message |index| at the end of its frame's list. */
static int link_message(struct pairs *pairs, uint64_t frame, uint32_t index, struct err *err)
{
    uint32_t *at = element(&pairs->frames, sizeof *at, frame, err);
    struct pair_message *messages = (struct pair_message *)pairs->messages.data;
    if (!at)
        return -ERR_SYSTEM;
    while (*at)
        at = &messages[*at - 1].next;
    *at = index + 1;
    return 0;
}

/* The first of its kind, of which |copy| is a copy; NULL: its frame was not captured. */
static const struct pair_message *original(const struct pairs *pairs,
                                           const struct pair_operation *op,
                                           const struct pair_message *copy)
{
    uint32_t frame = copy->is_reply ? op->reply_frame : op->call_frame;
    const uint32_t *first = existing(&pairs->frames, sizeof *first, frame);
    const struct pair_message *messages = (const struct pair_message *)pairs->messages.data;
    for (uint32_t at = frame && first ? *first : 0; at; at = messages[at - 1].next)
        if (messages[at - 1].operation == copy->operation &&
            messages[at - 1].is_reply == copy->is_reply && !messages[at - 1].repeat)
            return &messages[at - 1];
    return NULL;
}

/* With a copy the engine does not say again what the operation is about, nor the result. */
static void fill_copy(struct pair_message *copy, const struct pair_message *from)
{
    copy->status = copy->differs ? STATUS_NONE : from->status;
    copy->rpc_status = copy->differs ? STATUS_NONE : from->rpc_status;
    copy->object = from->object;
    copy->object2 = from->object2;
    copy->new_object = from->new_object;
    copy->path = from->path;
    copy->path2 = from->path2;
    copy->object_type = from->object_type;
}

static int message(void *ctx, const struct engine_message *seen, struct err *err)
{
    struct pairs *pairs = ctx;
    const struct record_operation *from = seen->operation;
    size_t index = pairs->messages.len / sizeof(struct pair_message);
    struct pair_message *to = element(&pairs->messages, sizeof *to, index, err);
    struct pair_operation *op = operation(pairs, from->id, err);
    bool knows_result = seen->is_reply && !seen->repeat;
    if (!to || !op)
        return -ERR_SYSTEM;
    /* unless it is complete already, this is the best that is known */
    if (!op->call_frame && !op->reply_frame)
        fill_operation(op, from, PAIRS_WAITING);
    if (seen->is_reply && op->pairing == PAIRS_WAITING)
        fill_operation(op, from, from->pairing);
    *to = (struct pair_message){
        .operation = narrow(from->id),
        .object = narrow(from->object),
        .object2 = narrow(from->object2),
        .new_object = narrow(from->new_object),
        .path = from->path,
        .path2 = from->path2,
        .status = knows_result ? from->status : STATUS_NONE,
        .rpc_status = knows_result ? from->rpc_status : STATUS_NONE,
        .sighting = (uint16_t)seen->sighting->flags,
        .object_type = object_type(pairs, from),
        .repeat = seen->repeat,
        .is_reply = seen->is_reply,
        .differs = seen->repeat && pairs->differs,
    };
    const struct pair_message *first = to->repeat ? original(pairs, op, to) : NULL;
    if (first)
        fill_copy(to, first);
    if (pairs->judged && judged_message(pairs->judged, seen, err) < 0)
        return -err->code;
    return link_message(pairs, seen->sighting->frame, (uint32_t)index, err);
}

struct pairs *pairs_new(const struct engine_options *options, bool judge, struct err *err)
{
    struct pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs) {
        err_memory(err, "the packet tree");
        return NULL;
    }
    struct sink sink = { put, pairs };
    struct engine_observer observer = { message, pairs };
    if (judge)
        pairs->judged = judged_new(err);
    if (!judge || pairs->judged)
        pairs->engine = engine_new(options, &sink, &observer, err);
    if (!pairs->engine) {
        pairs_free(pairs);
        return NULL;
    }
    return pairs;
}

void pairs_free(struct pairs *pairs)
{
    if (!pairs)
        return;
    engine_free(pairs->engine);
    judged_free(pairs->judged);
    buf_free(&pairs->shown);
    buf_free(&pairs->order);
    buf_free(&pairs->operations);
    buf_free(&pairs->messages);
    buf_free(&pairs->frames);
    buf_free(&pairs->types);
    buf_free(&pairs->paths);
    buf_free(&pairs->names);
    free(pairs);
}

static int set_number(struct pairs *pairs, uint32_t fed, uint32_t number, struct err *err)
{
    uint32_t *shown = element(&pairs->shown, sizeof *shown, fed, err);
    uint32_t *order = element(&pairs->order, sizeof *order, number, err);
    if (!shown || !order)
        return -ERR_SYSTEM;
    if (*order)
        ((uint32_t *)pairs->shown.data)[*order] = 0; /* that frame was thrown away */
    *shown = number;
    *order = fed;
    return 0;
}

/* Notes that the frame to come, |pairs->fed|, has |number|. */
static int note_number(struct pairs *pairs, uint32_t number, struct err *err)
{
    if (!pairs->shown.len && number == pairs->fed)
        return 0;
    if (!pairs->shown.len)
        for (uint32_t i = 1; i < pairs->fed; i++)
            if (set_number(pairs, i, i, err) < 0)
                return -ERR_SYSTEM;
    return set_number(pairs, pairs->fed, number, err);
}

int pairs_frame(struct pairs *pairs, const struct frame *frame, struct err *err)
{
    struct frame fed = *frame;
    if (pairs->ended)
        return 0;
    fed.number = ++pairs->fed;
    if (note_number(pairs, narrow(frame->number), err) < 0)
        return -ERR_SYSTEM;
    return engine_frame(pairs->engine, &fed, err);
}

uint32_t pairs_count(const struct pairs *pairs)
{
    return pairs->fed;
}

uint32_t pairs_shown(const struct pairs *pairs, uint32_t frame)
{
    const uint32_t *shown = existing(&pairs->shown, sizeof *shown, frame);
    if (!pairs->shown.len)
        return frame;
    return shown ? *shown : 0;
}

uint32_t pairs_fed(const struct pairs *pairs, uint32_t number)
{
    const uint32_t *order = existing(&pairs->order, sizeof *order, number);
    if (!pairs->order.len)
        return number;
    return order ? *order : 0;
}

int pairs_end(struct pairs *pairs, struct err *err)
{
    if (pairs->ended)
        return 0;
    pairs->ended = true;
    if (engine_end(pairs->engine, false, err) < 0)
        return -err->code;
    return pairs->judged ? judged_end(pairs->judged, err) : 0;
}

const struct judged *pairs_judged(const struct pairs *pairs)
{
    return pairs->judged;
}

const struct pair_message *pairs_first(const struct pairs *pairs, uint32_t frame)
{
    const uint32_t *first = existing(&pairs->frames, sizeof *first, pairs_fed(pairs, frame));
    if (!first || !*first)
        return NULL;
    return existing(&pairs->messages, sizeof(struct pair_message), *first - 1);
}

const struct pair_message *pairs_next(const struct pairs *pairs, const struct pair_message *m)
{
    if (!m->next)
        return NULL;
    return existing(&pairs->messages, sizeof *m, m->next - 1);
}

const struct pair_operation *pairs_operation(const struct pairs *pairs, uint32_t id)
{
    return id ? existing(&pairs->operations, sizeof(struct pair_operation), id) : NULL;
}

static const struct path_entry *path_entry(const struct pairs *pairs, uint32_t path)
{
    return path ? existing(&pairs->paths, sizeof(struct path_entry), path) : NULL;
}

/* Whether a slash is between the text of |parent| and what is below it: a MOUNT path may end with
 * one. */
static bool needs_slash(const struct pairs *pairs, const struct path_entry *parent)
{
    return !parent->len || pairs->names.data[parent->name + parent->len - 1] != '/';
}

char *pairs_path(const struct pairs *pairs, uint32_t path, bool *partial)
{
    const struct path_entry *entry, *parent;
    size_t at = 0;
    char *text;
    *partial = false;
    for (entry = path_entry(pairs, path); entry; entry = parent) {
        parent = path_entry(pairs, entry->parent);
        at += entry->len + (parent && needs_slash(pairs, parent));
        *partial = entry->partial;
    }
    text = malloc(at + 1);
    if (!text)
        return NULL;
    text[at] = 0; /* filled from the end: leaves come first */
    for (entry = path_entry(pairs, path); entry; entry = parent) {
        parent = path_entry(pairs, entry->parent);
        at -= entry->len;
        if (entry->len)
            memcpy(text + at, pairs->names.data + entry->name, entry->len);
        if (parent && needs_slash(pairs, parent))
            text[--at] = '/';
    }
    return text;
}
