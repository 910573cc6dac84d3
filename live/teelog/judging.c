/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/judging.c
 *
 * The log as a host of the judge (judge/judge.h, "A live host"): what it asks about objects and
 * listings, and what becomes of its findings.
 */
#include "base/escape.h"
#include "record/format.h"
#include "teelog/teelog_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((uint32_t)OVERLAP_RIGHTS <= (uint32_t)COUNTERPART_OVERLAPS,
               "conditions hold the bits of overlap.h");

void tee_half_fill(struct judge_half *half, const struct record_operation *op, int64_t id)
{
    static const uint8_t no_digest[16];
    struct effect *e = &half->effect;

    judge_clear_half(half);
    *e = (struct effect){ .id = id,
                          .call_time = op->call.time,
                          .done_time = op->reply.frame ? op->reply.time : op->call.time,
                          .timed = true,
                          .program = op->program,
                          .version = op->version,
                          .procedure = procedure_find(op->program, op->version, op->procedure),
                          .pairing = op->pairing,
                          .call_flags = op->call.flags,
                          .reply_flags = op->reply.flags,
                          .rpc_status = op->rpc_status,
                          .status = op->status,
                          .arguments_body = op->arguments,
                          .result_body = op->result,
                          .arguments_length = op->arguments_wire,
                          .result_length = op->result_wire };
    effect_decode(e);
    half->call_time = op->call.time == TIME_NONE ? INT64_MIN : op->call.time;
    half->reply_time = op->reply.frame ? op->reply.time : INT64_MIN;
    half->answered = op->reply.frame;
    half->xid = op->xid;
    half->call_frame = (int64_t)op->call.frame;
    half->reply_frame = (int64_t)op->reply.frame;
    if ((op->call.flags | op->reply.flags) & SIGHTING_DATA &&
        memcmp(op->data_digest, no_digest, sizeof(no_digest)) != 0)
        half->data_digest = (struct bytes){ op->data_digest, sizeof(op->data_digest) };
}

/* --- questions */

static int object_of(void *ctx, int side, const struct judge_half *half, struct bytes handle,
                     struct bytes entry, uint32_t *row, struct err *err)
{
    struct teelog *log = ctx;
    uint32_t object = log->host.object_of ? log->host.object_of(log->host.ctx, side, handle) : 0;

    (void)half, (void)entry;
    if (!object)
        return 0;
    *row = tee_row_of(log, object, err);
    return *row ? 0 : -err->code;
}

static int path_of(void *ctx, uint32_t row, char text[COMPARE_TEXT_MAX], struct err *err)
{
    struct teelog *log = ctx;
    struct buf path = { 0 };

    text[0] = '\0';
    if (!row || !log->host.path_of || row > log->rows.count || !log->rows.rows[row].object)
        return 0;
    if (log->host.path_of(log->host.ctx, log->rows.rows[row].object, &path) < 0 ||
        buf_append(&path, "", 1) < 0) {
        buf_free(&path);
        return err_memory(err, "a path");
    }
    snprintf(text, COMPARE_TEXT_MAX, "%s", (const char *)path.data);
    buf_free(&path);
    return 0;
}

/* The caller waited long enough for the SUT. */
static int unanswered(void *ctx, const struct judge_pair *pair, int side, struct err *err)
{
    (void)ctx, (void)pair, (void)err;
    return side == SUT ? 0 : WITHHELD_LOST;
}

static int part(void *ctx, const struct judge_pair *pair, int side, uint32_t number,
                struct judge_half *half, struct err *err)
{
    const struct teelog *log = ctx;
    const struct tee_listing *l = log->listing;

    (void)pair, (void)err;
    if (!l || number + 1 >= l->count[side]) /* the pair itself has the first one */
        return 0;
    tee_half_fill(half, l->parts[side][number + 1].operation, pair->half[side].effect.id);
    half->row = pair->half[side].row;
    half->effect.object = half->row.object;
    return 1;
}

static int add_name(const struct judge_names *to, struct bytes name, struct err *err)
{
    struct buf text = { 0 };
    int result = escape_name(name, false, &text) < 0 || buf_append(&text, "", 1) < 0
                     ? err_memory(err, "a listing")
                     : to->add(to->ctx, (const char *)text.data, err);

    buf_free(&text);
    return result;
}

static int changed_names(void *ctx, const struct judge_pair *pair, int side, const int64_t times[2],
                         const struct judge_names *to, struct err *err)
{
    const struct teelog *log = ctx;
    struct bytes left = log->changing;

    (void)pair, (void)times;
    for (uint32_t i = 0; side == REF && log->listing && i < log->listing->changed_count; i++)
        if (to->add(to->ctx, log->listing->changed[i], err) < 0)
            return -err->code;
    while (side == REF && !log->listing && left.len)
        if (add_name(to, tee_next_name(&left), err) < 0)
            return -err->code;
    return 0;
}

/* --- findings */

/* The judge takes the name for one that was told. */
uint32_t tee_left_open(const struct teelog *log)
{
    return judge_left_open(log->judge) | (log->left_entry ? COUNTERPART_OPEN_RESULT : 0);
}

static bool changes_something(const struct effect *e)
{
    return (e->object_role | e->name_role | e->name2_role | e->parent2_role) & ROLE_MODIFIES;
}

/* Whether it shows that the objects are not equal any more.  Attributes that a server cannot keep,
 * and its own choices, would differ again after each copy. */
static bool shows_state(const struct judge_pair *pair, const struct difference *d)
{
    const struct judge_half *half = pair->half;
    const struct field *field = d->place ? d->place->field : NULL;

    switch (d->kind) {
    case KIND_STATUS:
        return half[REF].effect.succeeded != half[SUT].effect.succeeded;
    case KIND_RPC:
    case KIND_REPLY:
        return changes_something(&half[REF].effect);
    case KIND_ENTRY:
    case KIND_COUNT:
        return half[REF].effect.procedure && half[REF].effect.procedure->result->roles & ROLE_ENTRY;
    case KIND_VALUE:
        return field &&
               (field->cls == CLASS_DATA || field->cls == CLASS_SIZE || field->cls == CLASS_TYPE ||
                field->cls == CLASS_PATH || field->role & (ROLE_EOF | ROLE_RANGE_LENGTH));
    default:
        return false;
    }
}

/* Attributes that only clients' requests change. */
static bool is_kept(const struct difference *d)
{
    const struct field *field = d->place ? d->place->field : NULL;

    return d->kind == KIND_VALUE && field && d->place->has_whose &&
           (field->cls == CLASS_MODE || field->cls == CLASS_UID || field->cls == CLASS_GID ||
            field->cls == CLASS_SIZE || field->cls == CLASS_TYPE);
}

static int withhold(void *ctx, const struct judge_pair *pair, enum withheld_reason reason,
                    const struct place *place, const struct difference *difference, struct err *err)
{
    struct teelog *log = ctx;

    (void)pair, (void)err;
    log->counts.withheld_values[reason] += !log->scrubs;
    if ((difference || !place) && reason != WITHHELD_STATUS && log->verdict->what == TEE_AGREES)
        log->verdict->what = TEE_WITHHELD;
    return 0;
}

static int differ(void *ctx, const struct judge_pair *pair, const struct difference *d,
                  struct err *err)
{
    struct teelog *log = ctx;
    struct tee_verdict *v = log->verdict;
    const struct procedure *procedure = pair->half[REF].effect.procedure;

    if (d->kind == KIND_ENTRY && log->names_left) {
        log->left_entry = true;
        return withhold(ctx, pair, WITHHELD_CHANGING, d->place, d, err);
    }
    if (!v->differences++)
        snprintf(v->text, sizeof(v->text), "%s %.60s: reference %.40s, SUT %.40s",
                 procedure ? procedure->name : "?", d->place ? d->place->path : d->field,
                 d->text[REF] ? d->text[REF] : "nothing", d->text[SUT] ? d->text[SUT] : "nothing");
    v->what = TEE_DIFFERS;
    v->kinds |= 1u << d->kind;
    v->state_differs |= shows_state(pair, d);
    if (!v->differs && is_kept(d) && d->object && d->object <= log->rows.count)
        v->differs = log->rows.rows[d->object].object;
    log->counts.differences[d->kind] += !log->scrubs;
    tee_group_add(log, d);
    return 0;
}

/* Rows lose their state when their object is made the same again: nobody asks for these numbers. */
static int lost(void *ctx, const struct judge_pair *pair, const struct judge_loss *loss,
                int64_t *id, struct err *err)
{
    (void)pair, (void)loss, (void)err;
    *id = ++((struct teelog *)ctx)->lost;
    return 0;
}

static int known(void *ctx, const struct judge_pair *pair, int64_t id, struct err *err)
{
    (void)ctx, (void)pair, (void)id, (void)err;
    return 0;
}

static int count(void *ctx, int64_t id, uint64_t withheld, struct err *err)
{
    (void)ctx, (void)id, (void)withheld, (void)err;
    return 0;
}

static const struct judge_host host = {
    .object_of = object_of,
    .differ = differ,
    .withhold = withhold,
    .lost = lost,
    .known = known,
    .count = count,
    .unanswered = unanswered,
    .part = part,
    .changed_names = changed_names,
    .path_of = path_of,
};

/* --- owners */

int tee_judge_open(struct teelog *log, struct err *err)
{
    const struct judge_setup setup = { .places = &log->places,
                                       .rules = log->rules,
                                       .clock = &log->clock,
                                       .host = &host,
                                       .ctx = log,
                                       .unowned_max = TEELOG_UNOWNED,
                                       .partly = log->host.object_of };

    log->clocks = calloc(SIDES, sizeof(*log->clocks));
    if (!log->clocks)
        return err_memory(err, "clocks");
    log->judge = judge_new(&setup, err);
    if (!log->judge)
        return -err->code;
    for (int side = 0; side < SIDES; side++) /* a listing may be judged before clocks are known */
        judge_set_side(log->judge, side, &(struct judge_side){ .steps = &log->steps[side] });
    return 0;
}

void tee_judge_free(struct teelog *log)
{
    judge_free(log->judge);
    for (int side = 0; side < SIDES; side++) {
        judge_free_half(&log->pair.half[side]);
        steps_free(&log->steps[side]);
    }
    clock_map_free(&log->clock);
    free(log->clocks);
}
