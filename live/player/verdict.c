/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict.c
 *
 * Classes of replies, what is asked again, and what is learned of handles and ctimes.  The contract
 * is in verdict.h.
 */
#include "player/verdict_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MILLISECOND INT64_C(1000000)

enum { STALE_WAIT = 10, STALE_TRIES = 100, JUKEBOX_WAIT = 100, JUKEBOX_WAIT_MOST = 5000 }; /* ms */

/* --- the life of verdicts */

/* Bits of attributes, of any |whose|. */
static uint32_t of_any(uint32_t groups)
{
    uint32_t attributes = 0, mask = (1 << EXPECT_GROUPS) - 1, others = groups >> 24 << 24;

    for (unsigned i = 0; i < 4; i++)
        attributes |= groups >> i * EXPECT_GROUPS & mask;
    for (unsigned i = 0; i < 4; i++)
        others |= attributes << i * EXPECT_GROUPS;
    return others;
}

struct verdicts *verdicts_new(const struct verdict_setup *setup, struct err *err)
{
    struct verdicts *v = calloc(1, sizeof(*v));

    if (!v || !pool_init(&v->listings.pool, sizeof(struct listing)) ||
        !pool_init(&v->asides.pool, sizeof(struct aside))) {
        err_memory(err, "verdicts");
        verdicts_free(v);
        return NULL;
    }
    v->setup = *setup;
    v->copies = setup->script->trace.copies ? setup->script->trace.copies : 1;
    v->horizon = setup->script->trace.horizon ? setup->script->trace.horizon : 1;
    v->results = setup->script->trace.results;
    v->ignore = of_any(setup->ignore);
    return v;
}

void verdicts_free(struct verdicts *v)
{
    if (!v)
        return;
    by_number_free(&v->listings, verdict_listing_end);
    by_number_free(&v->asides, verdict_aside_end);
    buf_free(&v->values);
    buf_free(&v->links);
    buf_free(&v->text);
    buf_free(&v->lesson);
    free(v->wanted.all);
    places_set_free(&v->places);
    free(v);
}

void verdict_release(struct verdicts *v, uint64_t number, const struct step *step)
{
    by_number_remove(&v->asides, number, verdict_aside_end);
    if (v->listings.table.used && number + 1 >= v->horizon)
        by_number_remove(&v->listings, number + 1 - v->horizon, verdict_listing_end);
    for (uint32_t i = 0; step && step->more && i < step->more->forget_count; i++)
        objects_forget(v->setup.objects, step->more->forget[i]);
}

uint32_t verdict_single(const struct verdicts *v, const struct step *step, uint32_t number)
{
    if (!number || v->copies == 1)
        return number;
    return (number - 1) % v->copies == step->copy ? (number - 1) / v->copies + 1 : 0;
}

/* --- reading a reply */

static void begin(struct verdicts *v, const struct procedure *procedure, struct verdict *to)
{
    effect_clear_reply(&v->effect); /* it is used for replies only */
    v->effect.procedure = procedure;
    v->absent = v->identity = 0;
    v->learned = false;
    v->names = (struct listing_names){ 0 };
    to->class = VERDICT_AS_RECORDED;
    to->next = NEXT_NOTHING;
    to->wait = 0;
    to->status = to->bytes = to->groups = 0;
    to->contents = to->learned = to->learned_contents = false;
    to->found = 0;
    to->without_rules = VERDICT_AS_RECORDED;
    to->excused = to->rule_count = 0;
    to->text[0] = '\0';
}

/* Why it is not one. */
static __attribute__((noinline)) bool refuse(const struct verdicts *v,
                                             const struct rpc_answer *answer, struct verdict *to)
{
    if (answer->outcome != RPC_ANSWERED || answer->header->status != RPC_SUCCESS)
        verdict_text_unanswered(answer, to->text);
    else
        verdict_text_malformed(&v->effect, to->text);
    to->class = VERDICT_UNANSWERED;
    return false;
}

/* Reads the answer into |v->effect|.  Returns false if it is none, and says why. */
static inline __attribute__((always_inline)) bool read_answer(struct verdicts *v,
                                                              const struct procedure *procedure,
                                                              const struct rpc_answer *answer,
                                                              bool by_form, struct verdict *to)
{
    struct effect *e = &v->effect;
    bool has_status = procedure->result->roles & ROLE_STATUS;

    begin(v, procedure, to);
    if (answer->outcome != RPC_ANSWERED || answer->header->status != RPC_SUCCESS)
        return refuse(v, answer, to);
    e->result_body = answer->body;
    e->rpc_status = RPC_SUCCESS;
    e->status = has_status && answer->body.len >= 4 ? load_be32(answer->body.data) : 0;
    if (by_form)
        shapes_decode_reply(&v->shapes, e);
    else
        effect_decode_reply(e);
    if (e->result != WALK_OK)
        return refuse(v, answer, to);
    to->status = (uint32_t)e->status;
    if (procedure->action == ACTION_READ)
        to->bytes = e->contents.len;
    else if (procedure->action == ACTION_WRITE && e->has_done)
        to->bytes = (uint32_t)e->done;
    return true;
}

/* The status is another one. */
static void classify(const struct step *step, struct verdict *to)
{
    to->class = !step->status ? VERDICT_NEW_ERROR
                : !to->status ? VERDICT_VANISHED_ERROR
                              : VERDICT_DIFFERENT_ERROR;
    verdict_text_status(step->procedure, step->status, to->status, to->text);
}

/* The same for calls that are too few to come in forms. */
static __attribute__((noinline)) bool read_other(struct verdicts *v,
                                                 const struct procedure *procedure,
                                                 const struct rpc_answer *answer,
                                                 struct verdict *to)
{
    return read_answer(v, procedure, answer, false, to);
}

/* Whether the server, whose status is another one, may answer otherwise soon. */
static bool ask_again(const struct verdicts *v, const struct step *step, const struct aside *aside,
                      uint32_t again, struct verdict *to)
{
    if (to->status == NFS3ERR_JUKEBOX) {
        to->wait = again < 6 ? JUKEBOX_WAIT << again : JUKEBOX_WAIT_MOST;
        to->wait = to->wait < JUKEBOX_WAIT_MOST ? to->wait : JUKEBOX_WAIT_MOST;
    } else if (v->setup.late_stale && step->status == NFS3ERR_STALE && !to->status &&
               again < STALE_TRIES) {
        to->wait = STALE_WAIT;
    } else {
        return false;
    }
    to->wait *= MILLISECOND;
    to->next = NEXT_AGAIN;
    if (aside) {
        to->next = NEXT_LIST_ON;
        to->with.cookie = aside->cookie;
        memcpy(to->with.verifier, aside->verifier, sizeof(aside->verifier));
    }
    return true;
}

/* --- what is learned */

/* Enters what the step makes; without a handle it is known who should have made it. */
static struct object *enter_made(struct verdicts *v, uint64_t number, uint32_t made,
                                 struct err *err)
{
    struct object *o = objects_add(v->setup.objects, made, err);

    if (o)
        o->maker = (int64_t)number;
    return o;
}

/* Gives an object the handle that the reply shows for what was found or made. */
static int learn_handle(struct verdicts *v, uint64_t number, const struct step *step,
                        uint32_t object, struct err *err)
{
    struct attributes a;
    struct object *o;

    v->learned = true;
    o = object == step->made ? enter_made(v, number, object, err)
                             : objects_add(v->setup.objects, object, err);
    if (!o)
        return -ERR_SYSTEM;
    if (effect_attributes(&v->effect, OF_NEW_OBJECT, &a))
        o->type = a.type;
    else if (!o->type && step->procedure)
        o->type = step->procedure->type;
    return objects_set_handle(v->setup.objects, step->server, o, v->effect.new_handle, err);
}

/* The number of what was found or made, or 0.  An object whose handle was not known gets it. */
static int identify(struct verdicts *v, uint64_t number, const struct step *step, uint32_t *to,
                    struct err *err)
{
    struct bytes handle = v->effect.new_handle;
    const struct object *o;
    uint32_t expected;

    *to = 0;
    if (!handle.len) {
        v->absent |= EXPECT_IDENTITY;
        return 0;
    }
    if (step->made) {
        *to = step->made;
        return learn_handle(v, number, step, step->made, err);
    }
    *to = objects_number(v->setup.objects, step->server, handle);
    expected = *to || step->status ? 0 : verdict_expected_identity(v, step);
    if (!expected)
        return 0;
    o = objects_find(v->setup.objects, expected);
    if (o && o->handle_len)
        return 0;
    *to = expected;
    return learn_handle(v, number, step, expected, err);
}

/* Learns from a success. */
static inline int learn(struct verdicts *v, uint64_t number, const struct step *step,
                        struct verdict *to, struct err *err)
{
    uint32_t new_object = 0;
    int result = 0;

    if (step->procedure->result->roles & ROLE_NEW_OBJECT) {
        result = identify(v, number, step, &new_object, err);
        if (result < 0)
            return -ERR_SYSTEM;
        v->identity = verdict_single(v, step, new_object);
        to->found = new_object;
        to->learned = v->learned;
    }
    if (step->has & STEP_CHANGES)
        verdict_contents_learn(v, step, new_object);
    to->learned_contents = true;
    return 0;
}

/* --- verdicts */

/* The reply has no handle of what was made: the verdict so far waits for one. */
static int look_up(struct verdicts *v, uint64_t number, struct verdict *to, struct err *err)
{
    struct aside *aside = by_number_add(&v->asides, number);

    if (!aside)
        return err_memory(err, "a verdict");
    to->next = NEXT_LOOKUP;
    aside->looks_up = true;
    aside->verdict = *to;
    return 0;
}

/* The status is that of the trace. */
static int judge(struct verdicts *v, uint64_t number, const struct step *step, struct aside *aside,
                 struct verdict *to, struct err *err)
{
    enum action action = step->procedure->action;
    bool succeeded = v->effect.succeeded, lacks_handle;

    if (succeeded && learn(v, number, step, to, err) < 0)
        return -ERR_SYSTEM;
    if (step->has & STEP_LISTS && succeeded) {
        if (verdict_listing(v, number, step, aside, to, err) < 0)
            return -ERR_SYSTEM;
        if (to->next != NEXT_NOTHING)
            return 0;
    }
    lacks_handle = v->absent & EXPECT_IDENTITY;
    if (!(lacks_handle && step->mask == EXPECT_IDENTITY))
        verdict_values(v, step, to);
    if (action == ACTION_READ && succeeded)
        verdict_contents(v, step, to);
    if (lacks_handle && action == ACTION_MAKE && (step->made || verdict_expected_identity(v, step)))
        return look_up(v, number, to, err);
    return 0;
}

/* Rules may allow an error that the trace does not have, or has. */
static void excuse_error(struct verdicts *v, const struct step *step, struct verdict *to)
{
    to->without_rules = to->class;
    if (verdict_rules_status(v, step, to))
        to->class = VERDICT_AS_RECORDED;
}

/* Nothing shows what the step should have made. */
static int made_nothing(struct verdicts *v, uint64_t number, const struct step *step,
                        struct err *err)
{
    return step->made && !enter_made(v, number, step->made, err) ? -ERR_SYSTEM : 0;
}

/* The status is another one.  Kept apart from what is judged all the time. */
static __attribute__((noinline)) int judge_status(struct verdicts *v, uint64_t number,
                                                  const struct step *step,
                                                  const struct aside *aside, uint32_t again,
                                                  struct verdict *to, struct err *err)
{
    int result = 0;

    classify(step, to);
    if (ask_again(v, step, aside, again, to))
        return 0;
    if (v->effect.succeeded)
        result = learn(v, number, step, to, err);
    if (!result)
        result = made_nothing(v, number, step, err);
    excuse_error(v, step, to);
    return result;
}

int verdict_reply(struct verdicts *v, uint64_t number, const struct step *step,
                  const struct rpc_answer *answer, uint32_t again, struct verdict *to,
                  struct err *err)
{
    struct aside *aside = by_number_find(&v->asides, number);
    int result = 0;

    if (!read_answer(v, step->procedure, answer, true, to))
        result = made_nothing(v, number, step, err);
    else if (to->status != step->status)
        result = judge_status(v, number, step, aside, again, to, err);
    else
        result = judge(v, number, step, aside, to, err);
    if (aside && (result < 0 || to->next == NEXT_NOTHING))
        by_number_remove(&v->asides, number, verdict_aside_end);
    return !result && v->no_memory ? err_memory(err, "rules") : result;
}

/* The LOOKUP's answer shows what the step found or made. */
static void looked_up(struct verdicts *v, const struct step *step, uint32_t found,
                      struct verdict *to)
{
    uint32_t expected = verdict_expected_identity(v, step);
    char *text;

    if (step->made || !expected || found == expected || v->ignore & EXPECT_IDENTITY)
        return;
    text =
        verdict_difference(to, EXPECT_IDENTITY, verdict_rules_role(v, step, ROLE_NEW_OBJECT, to));
    if (text)
        snprintf(text, VERDICT_TEXT,
                 "object found: %" PRIu32 " in the trace, another one here (by LOOKUP)", expected);
}

int verdict_looked_up(struct verdicts *v, uint64_t number, const struct step *step,
                      const struct rpc_answer *answer, struct verdict *to, struct err *err)
{
    struct aside *aside = by_number_find(&v->asides, number);
    const struct procedure *lookup = procedure_find(NFS3_PROGRAM, NFS3_VERSION, NFSPROC3_LOOKUP);
    uint32_t found = 0;
    struct verdict of_lookup;
    int result = 0;

    if (read_other(v, lookup, answer, &of_lookup) && v->effect.succeeded &&
        v->effect.new_handle.len)
        result = identify(v, number, step, &found, err);
    *to = (struct verdict){ .class = VERDICT_AS_RECORDED, .status = step->status };
    if (aside && aside->looks_up)
        *to = aside->verdict;
    to->next = NEXT_NOTHING;
    by_number_remove(&v->asides, number, verdict_aside_end);
    to->found = found;
    to->learned = v->learned;
    to->learned_contents = false; /* the reply did not say of what */
    if (result < 0)
        return -ERR_SYSTEM;
    if (v->effect.succeeded && v->effect.new_handle.len) {
        looked_up(v, step, found, to);
        return 0;
    }
    to->class = VERDICT_DIFFERENT_RESULT;
    if (of_lookup.class == VERDICT_AS_RECORDED)
        verdict_text_status(lookup, NFS3_OK, of_lookup.status, of_lookup.text);
    snprintf(to->text, sizeof(to->text),
             "the reply has no handle, and LOOKUP does not find the name: %.180s", of_lookup.text);
    return made_nothing(v, number, step, err);
}

int verdict_learn(struct verdicts *v, const struct step *step, uint32_t object,
                  const struct rpc_answer *answer, struct err *err)
{
    const struct procedure *getattr = procedure_find(NFS3_PROGRAM, NFS3_VERSION, NFSPROC3_GETATTR);
    struct object *o = objects_find(v->setup.objects, object);
    struct verdict of_getattr;
    struct attributes a;

    (void)step;
    (void)err;
    if (o && read_other(v, getattr, answer, &of_getattr) &&
        effect_attributes(&v->effect, OF_OBJECT, &a) && !a.is_over) {
        o->ctime =
            (struct nfstime3){ (uint32_t)(a.ctime / 1000000000), (uint32_t)(a.ctime % 1000000000) };
        o->has_ctime = true;
    }
    return 0;
}
