/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge.c
 *
 * Compares a pair of operations: whether both were answered, their RPC statuses, and then the
 * results.  After that it updates what may differ between the sides.
 */
#include "base/grow.h"
#include "judge/judge_fields.h"
#include "record/record.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- objects */

static struct object_state new_state(void)
{
    const struct last_times nothing = { 0, 0, INT64_MAX, INT64_MIN };

    return (struct object_state){ .last = { nothing, nothing } };
}

struct judge *judge_new(const struct judge_setup *setup, struct err *err)
{
    struct judge *j = calloc(1, sizeof(*j));

    if (!j || GROW_TO(j->states, 1, j->row_cap) < 0) {
        free(j);
        err_memory(err, "objects");
        return NULL;
    }
    j->states[0] = new_state();
    j->rules = setup->rules;
    j->places = setup->places;
    j->clock = setup->clock;
    j->host = setup->host;
    j->ctx = setup->ctx;
    j->patterns.unowned_max = setup->unowned_max;
    j->remade = setup->remade;
    j->partly = setup->partly;
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    for (uint32_t row = 0; row <= j->rows; row++)
        free(j->states[row].data.extents);
    free(j->states);
    free(j->names);
    table_free(&j->by_name);
    table_free(&j->by_number[REF]);
    table_free(&j->by_number[SUT]);
    patterns_free(&j->patterns);
    patterns_free(&j->of_listing);
    body_free(&j->arguments);
    free(j);
}

void judge_set_side(struct judge *j, int side, const struct judge_side *what)
{
    j->side[side] = *what;
}

int judge_add_object(struct judge *j, uint32_t row, const struct judge_object *object,
                     struct err *err)
{
    bool is_new = row > j->rows || !j->states[row].is_there;
    struct object_state *s;

    if (!row || row == UINT32_MAX || GROW_TO(j->states, (uint64_t)row + 1, j->row_cap) < 0)
        return err_memory(err, "objects");
    while (j->rows < row)
        j->states[++j->rows] = new_state();
    s = &j->states[row];
    s->is_there = true;
    s->has_others = object->has_others;
    if (is_new) {
        s->type = object->type;
        s->remade = s->accessed = object->remade;
        memcpy(s->fsid, object->fsid, sizeof(s->fsid));
    }
    return 0;
}

bool judge_is_remade(const struct judge *j, uint32_t row)
{
    return row <= j->rows && j->states[row].remade;
}

void judge_renew(struct judge *j, uint32_t row, bool remade)
{
    struct object_state *s, old;

    if (!row || row > j->rows)
        return;
    s = &j->states[row];
    old = *s;
    sync_names_forget(j, row);
    free(s->data.extents);
    *s = new_state();
    s->is_there = old.is_there;
    s->remade = s->accessed = remade;
    s->has_others = old.has_others;
    s->numbered = old.numbered;
    s->doubtful = old.doubtful;
    s->is_shared = old.is_shared;
    s->type = old.type;
    memcpy(s->fsid, old.fsid, sizeof(s->fsid));
    memcpy(s->number, old.number, sizeof(s->number));
}

void judge_forget(struct judge *j, uint32_t row)
{
    if (!row || row > j->rows)
        return;
    numbers_drop(j, row);
    sync_names_forget(j, row);
    patterns_forget(&j->patterns, row);
    free(j->states[row].data.extents);
    j->states[row] = new_state();
}

void judge_clear_half(struct judge_half *half)
{
    struct body body = half->result;

    *half = (struct judge_half){ 0 };
    half->result.items = body.items;
    half->result.cap = body.cap;
}

void judge_free_half(struct judge_half *half)
{
    body_free(&half->result);
    *half = (struct judge_half){ 0 };
}

/* --- calls of the host */

int judge_differ(struct judge *j, struct difference *d, struct err *err)
{
    d->half[REF] = judge_found_in(j, REF);
    d->half[SUT] = judge_found_in(j, SUT);
    return j->host->differ(j->ctx, j->pair, d, err);
}

int judge_withhold(struct judge *j, enum withheld_reason reason, const struct place *place,
                   struct err *err)
{
    return j->host->withhold(j->ctx, j->pair, reason, place, NULL, err);
}

int judge_uncertain(struct judge *j, enum withheld_reason reason, struct difference *d,
                    struct err *err)
{
    d->half[REF] = judge_found_in(j, REF);
    d->half[SUT] = judge_found_in(j, SUT);
    return j->host->withhold(j->ctx, j->pair, reason, d->place, d, err);
}

int judge_object_of(struct judge *j, int side, const struct item *item, uint32_t *row,
                    struct err *err)
{
    *row = 0;
    if (j->host->object_of(j->ctx, side, &j->pair->half[side],
                           (struct bytes){ item->data, item->len }, j->entry, row, err) < 0)
        return -err->code;
    if (*row > j->rows)
        *row = 0;
    return 0;
}

/* --- messages */

int judge_read_result(struct judge *j, struct judge_half *half, struct err *err)
{
    const struct effect *e = &half->effect;
    const struct places_key key = { e->program, e->version, e->procedure, true };
    struct places *places;

    half->result.places = NULL;
    half->result.count = 0;
    half->malformed = false;
    if (!e->procedure || !half->answered || e->rpc_status != RPC_SUCCESS ||
        e->reply_flags & SIGHTING_OPAQUE)
        return 0;
    if (places_get(j->places, &key, &places, err) < 0 ||
        body_read(&half->result, places, effect_result(e), err) < 0)
        return -err->code;
    /* what is behind is missing, too; contents of files are withheld by themselves */
    if (half->result.part &&
        half->result.items[half->result.count - 1].place->field->cls != CLASS_DATA)
        half->result.count--;
    half->malformed = half->result.walked == WALK_MALFORMED || half->result.surplus;
    return 0;
}

int judge_read_arguments(struct judge *j, int side, struct err *err)
{
    const struct effect *e = &j->pair->half[side].effect;
    const struct places_key key = { e->program, e->version, e->procedure, false };
    struct places *places;

    if (places_get(j->places, &key, &places, err) < 0)
        return -err->code;
    return body_read(&j->arguments, places, effect_arguments(e), err);
}

/* --- what is no field */

static struct difference event(const struct judge *j, enum difference_kind kind,
                               enum rule_event event, const char *what,
                               const char *const text[SIDES])
{
    return (struct difference){ .kind = kind,
                                .field = rule_event_name(event),
                                .rule = rules_at(j->rules, j->rules->events[event]),
                                .object = j->pair->object,
                                .what = what,
                                .text = { text[REF], text[SUT] } };
}

static int differ_event(struct judge *j, struct difference *d, struct err *err)
{
    return d->rule->kind == COMPARE_IGNORED ? 0 : judge_differ(j, d, err);
}

/* Only one side answered. 0, or negative. */
static int compare_silence(struct judge *j, struct err *err)
{
    const struct judge_half *half = j->pair->half;
    const char *const text[SIDES] = { half[REF].answered ? "answered" : NULL,
                                      half[SUT].answered ? "answered" : NULL };
    struct difference d =
        event(j, KIND_REPLY, EVENT_MISSING_REPLY,
              half[REF].answered ? "only ref answered" : "only sut answered", text);
    int reason = WITHHELD_LOST;

    if (j->host->unanswered)
        reason = j->host->unanswered(j->ctx, j->pair, half[REF].answered ? SUT : REF, err);
    if (!reason && j->pair->overlap & OVERLAP_NAME)
        reason = WITHHELD_OVERLAP;
    if (reason < 0 || d.rule->kind == COMPARE_IGNORED)
        return reason < 0 ? reason : 0;
    if (!reason)
        return judge_differ(j, &d, err);
    return reason == WITHHELD_LOST ? judge_withhold(j, WITHHELD_LOST, NULL, err)
                                   : judge_uncertain(j, (enum withheld_reason)reason, &d, err);
}

/* Both answered, or what is made of it. 1: go on; 0: nothing to compare; negative. */
static int compare_replies(struct judge *j, struct err *err)
{
    const struct judge_half *half = j->pair->half;
    const char *name[SIDES];
    struct difference d;
    char what[96];

    if (!half[REF].answered && !half[SUT].answered)
        return judge_withhold(j, WITHHELD_NO_REPLY, NULL, err);
    if (!half[REF].answered || !half[SUT].answered)
        return compare_silence(j, err);
    if (half[REF].effect.rpc_status == half[SUT].effect.rpc_status)
        return half[REF].effect.rpc_status == RPC_SUCCESS;
    for (int side = 0; side < SIDES; side++) {
        name[side] = rpc_status_name((uint32_t)half[side].effect.rpc_status);
        if (!name[side])
            name[side] = "?";
    }
    snprintf(what, sizeof(what), "%.40s, %.40s", name[REF], name[SUT]);
    d = event(j, KIND_RPC, EVENT_RPC_STATUS, what, name);
    return differ_event(j, &d, err);
}

/* Of |cut| so much is missing that nobody knows if it is malformed as |other| is. */
static bool form_unknown(const struct body *cut, const struct body *other)
{
    return cut->walked == WALK_TRUNCATED && cut->count + cut->part <= other->count;
}

static int compare_form(struct judge *j, struct err *err)
{
    const struct judge_half *half = j->pair->half;
    const char *const text[SIDES] = { half[REF].malformed ? "malformed" : "well-formed",
                                      half[SUT].malformed ? "malformed" : "well-formed" };
    struct difference d = event(j, KIND_MALFORMED, EVENT_MALFORMED,
                                half[REF].malformed ? "only ref's" : "only sut's", text);

    if (half[REF].malformed == half[SUT].malformed ||
        form_unknown(&half[half[REF].malformed ? SUT : REF].result,
                     &half[half[REF].malformed ? REF : SUT].result))
        return 0;
    return differ_event(j, &d, err);
}

static int compare_results(struct judge *j, struct fields *f, struct err *err)
{
    const struct judge_half *ref = &j->pair->half[REF], *sut = &j->pair->half[SUT];

    if (!ref->result.places || !sut->result.places)
        return 0;
    if (compare_form(j, err) < 0)
        return -err->code;
    if ((ref->result.walked != WALK_OK || sut->result.walked != WALK_OK) &&
        judge_withhold(j, WITHHELD_CUT, NULL, err) < 0)
        return -err->code;
    if (ref->effect.procedure->result->roles & ROLE_ENTRY)
        return listing_compare(f, err);
    return fields_compare(f, (struct span){ ref->result.items, ref->result.count },
                          (struct span){ sut->result.items, sut->result.count }, err);
}

static int compare(struct judge *j, struct fields *f, struct err *err)
{
    int result = compare_replies(j, err);

    if (result > 0 && (sync_before(j, err) < 0 || access_before(j, err) < 0))
        return -err->code;
    return result > 0 ? compare_results(j, f, err) : result;
}

/* --- */

static bool are_rows_known(const struct judge *j, const struct judge_pair *pair)
{
    bool known = pair->object <= j->rows;

    for (int side = 0; side < SIDES; side++)
        known = known && pair->half[side].row.object <= j->rows &&
                pair->half[side].row.parent2 <= j->rows &&
                pair->half[side].row.new_object <= j->rows;
    return known;
}

int judge_pair(struct judge *j, struct judge_pair *pair, struct err *err)
{
    struct fields f;

    if (!are_rows_known(j, pair))
        return err_set(err, ERR_INPUT, "pair %lld is about an object that is not known",
                       (long long)pair->id);
    j->pair = pair;
    j->sets_access_time = false;
    j->left_open = j->told = 0;
    memset(j->differs, 0, sizeof(j->differs));
    memset(j->compared, 0, sizeof(j->compared));
    if (judge_read_result(j, &pair->half[REF], err) < 0 ||
        judge_read_result(j, &pair->half[SUT], err) < 0)
        return -err->code;
    fields_begin(&f, j);
    if (pair->kind == ALIGN_PAIR && compare(j, &f, err) < 0)
        return -err->code;
    before_note(j);
    access_after(j);
    return sync_after(j, f.status_equal, f.data_equal, err);
}

void judge_note_unsettled(struct judge *j, int64_t time)
{
    j->unsettled = time;
}

uint32_t judge_left_open(const struct judge *j)
{
    return j->partly ? j->left_open & ~j->told : 0;
}

int judge_finish(struct judge *j, struct err *err)
{
    return sync_names_finish(j, err);
}
