/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/teelog.c
 *
 * Takes pairs of answers: makes the SUT's record, asks the judge, and logs what differs.  For
 * live/shadow; the contract is in teelog.h.
 */
#include "rules/rules.h"
#include "teelog/teelog_parts.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

enum { ANCHORS = 8192 };
enum { ROW_BYTES = 1100 }; /* with its values in the judge; measured */

/* --- records of the reference */

static bool is_full(const struct teelog *log)
{
    return log->options.log_max && log->counts.log_bytes >= log->options.log_max;
}

int teelog_reference_record(struct teelog *log, const struct record *record, struct err *err)
{
    struct record name;

    (void)err;
    if (is_full(log)) /* no operation comes that could need it */
        return 0;
    switch ((enum record_kind)record->kind) {
    case RECORD_FLOW:
    case RECORD_CREDENTIAL:
    case RECORD_OBJECT:
    case RECORD_PATH:
    case RECORD_PROBLEM:
        tee_stream_put(log, REF, record);
        break;
    case RECORD_NAME:
        name = *record;
        name.name.operation = 0; /* most operations are not written */
        tee_stream_put(log, REF, &name);
        break;
    default:
        break;
    }
    return 0;
}

/* --- clocks */

/* The change time after a change of the object tells of the server's clock. */
static void sample_clock(struct teelog *log, int side)
{
    const struct effect *e = &log->pair.half[side].effect;
    struct clock_side *clock = &log->clocks[side];
    struct judge_side what = { .first_time = log->first_time[side], .steps = &log->steps[side] };
    struct err unseen;
    int64_t ctime;

    if (!log->first_time[side])
        what.first_time = log->first_time[side] = e->call_time;
    if (effect_change_time(e, &ctime)) {
        clock_sample(clock, ctime, e->call_time, e->done_time);
        steps_note(&log->steps[side], e, &unseen); /* no memory: the coarsest one is known */
        if (clock->seen & (clock->seen - 1) && clock->seen % 1024)
            return;
    } else if (log->judged) {
        return;
    }
    if (clock_estimate(clock, &what.clock_offset, &what.clock_error, &what.granularity))
        log->clock.offset[side] = what.clock_offset;
    judge_set_side(log->judge, side, &what);
}

/* Times that belong together: the SUT gets each call after the reference, sometimes much later. */
static int add_anchor(struct teelog *log, int64_t ref, int64_t sut, struct err *err)
{
    struct clock_map *m = &log->clock;
    const struct clock_anchor *last = m->count ? &m->anchors[m->count - 1] : NULL;

    if (ref == INT64_MIN || sut == INT64_MIN ||
        (last && (ref <= last->time[REF] || sut <= last->time[SUT])))
        return 0; /* they rise on both sides */
    if (m->count == ANCHORS) {
        m->count /= 2;
        memmove(m->anchors, m->anchors + m->count, m->count * sizeof(*m->anchors));
    }
    return clock_anchor(m, ref, sut, err);
}

static int add_anchors(struct teelog *log, struct err *err)
{
    const struct judge_half *half = log->pair.half;
    int result = add_anchor(log, half[REF].call_time, half[SUT].call_time, err);

    return result < 0 ? result : add_anchor(log, half[REF].reply_time, half[SUT].reply_time, err);
}

/* --- a pair */

static int fill_rows(struct teelog *log, const struct tee_pair *given, struct err *err)
{
    static const enum whose whose[TEE_OBJECTS] = { OF_OBJECT, OF_PARENT2, OF_NEW_OBJECT };
    uint32_t row[TEE_OBJECTS] = { 0 };
    struct judge_pair *pair = &log->pair;

    pair->not_same = pair->accessed = 0;
    pair->made = given->made;
    for (int i = 0; i < TEE_OBJECTS; i++) {
        if (given->object[i] && !(row[i] = tee_row_of(log, given->object[i], err)))
            return -err->code;
        if (!given->known[i])
            pair->not_same |= 1u << whose[i];
        if (judge_is_accessed(log->judge, row[i]))
            pair->accessed |= 1u << whose[i];
    }
    for (int side = 0; side < SIDES; side++) {
        struct judge_half *half = &pair->half[side];

        half->row.object = half->effect.object = row[TEE_OBJECT];
        half->row.parent2 = half->effect.parent2 = row[TEE_PARENT2];
        half->row.new_object = half->effect.new_object = row[TEE_NEW];
    }
    pair->object = row[TEE_OBJECT];
    return 0;
}

static uint32_t conditions_of(const struct teelog *log, const struct tee_pair *given)
{
    static const uint32_t not_same[TEE_OBJECTS] = { COUNTERPART_NOT_OBJECT, COUNTERPART_NOT_PARENT2,
                                                    COUNTERPART_NOT_NEW };
    static const uint32_t changed[TEE_OBJECTS] = { COUNTERPART_CHANGED_OBJECT,
                                                   COUNTERPART_CHANGED_PARENT2,
                                                   COUNTERPART_CHANGED_NEW };
    static const uint32_t made[TEE_OBJECTS] = { COUNTERPART_MADE_OBJECT, COUNTERPART_MADE_PARENT2,
                                                COUNTERPART_MADE_NEW };
    static const uint32_t accessed[TEE_OBJECTS] = { COUNTERPART_READ_OBJECT,
                                                    COUNTERPART_READ_PARENT2,
                                                    COUNTERPART_READ_NEW };
    uint32_t bits = COUNTERPART_LIVE | (given->overlap & COUNTERPART_OVERLAPS);

    for (int i = 0; i < TEE_OBJECTS; i++) {
        uint32_t row = given->object[i] ? tee_row_find(log, given->object[i]) : 0;

        bits |= given->known[i] ? 0 : not_same[i];
        bits |= row && !judge_is_remade(log->judge, row) ? changed[i] : 0;
        bits |= given->object[i] && !tee_row_is_logged(log, row) ? made[i] : 0;
        if (given->object[i] && judge_is_accessed(log->judge, row) &&
            !(i == TEE_NEW && given->made))
            bits |= accessed[i];
    }
    return bits | (given->scrubs ? COUNTERPART_SCRUBS : 0);
}

/* The contents of a READ's reply; nothing for other procedures. */
static struct bytes contents_of_reply(const struct record_operation *op, struct bytes message)
{
    struct effect e = { .id = 1,
                        .program = op->program,
                        .version = op->version,
                        .procedure = procedure_find(op->program, op->version, op->procedure),
                        .rpc_status = op->rpc_status,
                        .status = op->status,
                        .result_length = op->result_wire };

    if (!e.procedure || e.procedure->action != ACTION_READ || op->result_wire > message.len)
        return (struct bytes){ 0 };
    e.result_body =
        (struct bytes){ message.data + (message.len - op->result_wire), op->result_wire };
    effect_decode_reply(&e);
    return e.contents;
}

static bool may_log(struct teelog *log, const struct tee_verdict *v)
{
    const struct judge_half *half = log->pair.half;
    bool tells_clock = log->clock_pairs < CLOCK_PAIRS && half[REF].effect.succeeded &&
                       half[SUT].effect.succeeded && half[REF].effect.object_role & ROLE_MODIFIES;

    if (v->what != TEE_DIFFERS && !log->options.record_all && !tells_clock)
        return false;
    log->clock_pairs += tells_clock;
    if (!log->log_err.code && !is_full(log))
        return true;
    log->counts.not_logged += v->what == TEE_DIFFERS;
    return false;
}

static int log_pair(struct teelog *log, const struct tee_pair *given, uint32_t conditions,
                    struct tee_verdict *v, struct err *err)
{
    struct tee_logged what = { .number = log->counts.logged + 1,
                               .half = { given->reference, log->sut.last },
                               .conditions = conditions };

    if (tee_sut_note_same(log, given->reference, err) < 0)
        return -err->code;
    if (tee_sut_dots_are_open(log, log->sut.last))
        what.conditions |= COUNTERPART_OPEN_DOTS;
    if (tee_sut_objects(log, log->sut.last, err) < 0)
        return -err->code;
    if (v->what == TEE_DIFFERS) {
        what.contents[REF] = given->contents;
        what.contents[SUT] = contents_of_reply(log->sut.last, given->sut.reply);
    }
    tee_log_pair(log, &what);
    if (log->log_err.code)
        return 0;
    v->number = what.number;
    tee_groups_logged(log, what.number);
    log->counts.logged++;
    tee_rows_logged(log, given->object);
    return 0;
}

/* All parts of a listing: those that belong together have one number. */
static int log_listing(struct teelog *log, const struct tee_listing *l, uint32_t conditions,
                       struct tee_verdict *v, struct err *err)
{
    uint32_t most = l->count[REF] > l->count[SUT] ? l->count[REF] : l->count[SUT];

    for (uint32_t i = 0; i < l->count[REF]; i++)
        if (tee_sut_note_same(log, l->parts[REF][i].operation, err) < 0)
            return -err->code;
    for (uint32_t i = 0; i < l->count[SUT]; i++)
        if (tee_sut_dots_are_open(log, l->parts[SUT][i].operation))
            conditions |= COUNTERPART_OPEN_DOTS;
    for (uint32_t i = 0; i < most; i++) {
        struct tee_logged what = { .conditions = conditions };

        for (int side = 0; side < SIDES; side++)
            if (i < l->count[side])
                what.half[side] = l->parts[side][i].operation;
        if (what.half[SUT] && tee_sut_objects(log, l->parts[SUT][i].operation, err) < 0)
            return -err->code;
        if (what.half[REF] && what.half[SUT])
            what.number = log->counts.logged + 1;
        tee_log_pair(log, &what);
        if (log->log_err.code)
            return 0;
        log->counts.logged += what.number != 0;
        if (!i)
            v->number = what.number;
    }
    tee_groups_logged(log, v->number);
    tee_rows_logged(log, l->pair.object);
    return 0;
}

static void count(struct teelog *log, const struct tee_verdict *v)
{
    struct teelog_counts *c = &log->counts;

    log->changed = true;
    if (log->scrubs) {
        c->scrubbed++;
        c->scrubs_differ += v->what == TEE_DIFFERS;
        return;
    }
    c->pairs++;
    c->agree += v->what == TEE_AGREES;
    c->differ += v->what == TEE_DIFFERS;
    c->withheld += v->what == TEE_WITHHELD;
    c->unanswered += log->pair.half[REF].answered != log->pair.half[SUT].answered;
}

/* Compares |log->pair|, whose halves are filled in. */
static int judge(struct teelog *log, const struct tee_pair *given, struct tee_verdict *v,
                 struct err *err)
{
    log->verdict = v;
    log->left_entry = false;
    log->known_groups = log->group_count;
    log->pair.id = (int64_t)++log->judged;
    log->pair.kind = ALIGN_PAIR;
    log->pair.overlap = given->overlap;
    if (fill_rows(log, given, err) < 0)
        return -err->code;
    return judge_pair(log->judge, &log->pair, err);
}

static int finish_listing(struct teelog *log, struct tee_listing *l, struct tee_verdict *v,
                          struct err *err)
{
    const int64_t id = (int64_t)log->judged + 1;
    struct tee_pair first = l->pair;
    uint32_t conditions;
    int result;

    if (l->crowded || !l->count[REF] || !l->count[SUT]) {
        log->counts.listings_left++;
        return 0;
    }
    v->what = TEE_AGREES;
    first.overlap = l->overlap;
    first.known[TEE_OBJECT] = l->known;
    first.names_left = log->names_left = l->names_left;
    conditions = conditions_of(log, &first);
    for (int side = 0; side < SIDES; side++)
        tee_half_fill(&log->pair.half[side], l->parts[side][0].operation, id);
    log->listing = l;
    result = judge(log, &first, v, err);
    if (result == 0) {
        conditions |= tee_left_open(log);
        count(log, v);
        result = may_log(log, v) ? log_listing(log, l, conditions, v, err) : 0;
    }
    log->listing = NULL;
    return result;
}

static int take_listing(struct teelog *log, const struct tee_pair *given, struct tee_verdict *v,
                        struct err *err)
{
    const int64_t until[SIDES] = { given->reference ? given->reference->reply.time : 0,
                                   given->further_count
                                       ? given->further[given->further_count - 1].arrived
                                       : given->sut.arrived };
    struct tee_listing *listing;
    int result;

    v->what = TEE_WITHHELD;
    teelog_accessed(log, given->object[TEE_OBJECT], until);
    if (tee_listing_take(log, given, log->sut.last, &listing, err) < 0)
        return -err->code;
    if (!given->listing_ends)
        return 0;
    result = finish_listing(log, listing, v, err);
    tee_listing_free(log, listing);
    return result;
}

int teelog_pair(struct teelog *log, const struct tee_pair *given, struct tee_verdict *v,
                struct err *err)
{
    const int64_t id = (int64_t)log->judged + 1;
    struct tee_pair part = *given;
    uint32_t conditions;

    *v = (struct tee_verdict){ .what = TEE_AGREES };
    log->scrubs = given->scrubs;
    log->changing = given->changing;
    log->names_left = given->names_left;
    if (tee_sut_read(log, &given->sut, err) < 0)
        return -err->code;
    if (given->listing)
        return take_listing(log, given, v, err);
    if (!given->reference || !log->sut.last) { /* the engine took the call for one that it knows */
        v->what = TEE_WITHHELD;
        log->counts.pairs += !given->scrubs;
        log->counts.withheld += !given->scrubs;
        return 0;
    }
    tee_half_fill(&log->pair.half[REF], given->reference, id);
    tee_half_fill(&log->pair.half[SUT], log->sut.last, id);
    tee_listing_of(log, &part);
    if (part.listing)
        return take_listing(log, &part, v, err);
    sample_clock(log, REF);
    sample_clock(log, SUT);
    if (add_anchors(log, err) < 0)
        return -err->code;
    conditions = conditions_of(log, given);
    if (judge(log, given, v, err) < 0)
        return -err->code;
    conditions |= tee_left_open(log);
    count(log, v);
    if (log->pair.half[REF].effect.succeeded &&
        teelog_names(log, given->object, &log->pair.half[REF].effect, err) < 0)
        return -err->code;
    return may_log(log, v) ? log_pair(log, given, conditions, v, err) : 0;
}

/* --- owners */

/* Whoever runs for days must hear of it before the end. */
static void look_at_disk(struct teelog *log)
{
    if (!log->log_err.code || log->counts.failed)
        return;
    log->counts.failed = true;
    if (log->host.failed)
        log->host.failed(log->host.ctx, log->log_err.text);
}

static int on_timer(void *ctx, struct err *err)
{
    struct teelog *log = ctx;
    struct err unwritten;

    tee_streams_flush(log);
    if (log->changed || log->append) {
        log->changed = false;
        if (tee_summary_write(log, &unwritten) < 0 && !log->log_err.code)
            log->log_err = unwritten;
    }
    look_at_disk(log);
    return loop_set(log->loop, &log->timer, loop_now(log->loop) + SECOND, err);
}

static void take_options(struct teelog *log, const struct teelog_options *options)
{
    log->options = *options;
    log->options.rules = NULL;
    log->options.on_mismatch = options->on_mismatch ? strdup(options->on_mismatch) : NULL;
    if (!log->options.objects)
        log->options.objects = TEELOG_OBJECTS;
    if (!log->options.contents)
        log->options.contents = TEELOG_CONTENTS;
    log->rows.most = log->options.objects < 64 ? 64 : log->options.objects;
}

static int open_parts(struct teelog *log, const struct teelog_options *options, struct err *err)
{
    if (!log->dir || (options->on_mismatch && !log->options.on_mismatch))
        return err_memory(err, "a log");
    if (rules_load(options->rules, options->rule_count, &log->rules, err) < 0)
        return -err->code;
    log->places.rules = log->rules;
    if (tee_streams_open(log, err) < 0 || tee_sut_open(log, err) < 0 ||
        tee_judge_open(log, err) < 0)
        return -err->code;
    return loop_set(log->loop, &log->timer, loop_clock() + SECOND, err);
}

struct teelog *teelog_open(struct loop *loop, const char *dir, const struct teelog_options *options,
                           const struct teelog_host *host, struct err *err)
{
    struct teelog *log = calloc(1, sizeof(*log));

    if (!log) {
        err_memory(err, "a log");
        return NULL;
    }
    log->loop = loop;
    log->host = *host;
    log->dir = strdup(dir);
    log->timer = (struct timer){ .due = on_timer, .ctx = log };
    log->command.watch.fd = -1;
    log->stream[REF].fd = log->stream[SUT].fd = -1;
    take_options(log, options);
    if (open_parts(log, options, err) == 0)
        return log;
    teelog_free(log);
    return NULL;
}

void teelog_free(struct teelog *log)
{
    if (!log)
        return;
    loop_unset(log->loop, &log->timer);
    tee_command_free(log);
    for (uint32_t i = 0; i < TEELOG_LISTINGS; i++)
        tee_listing_free(log, &log->listings[i]);
    tee_judge_free(log);
    tee_sut_free(log);
    tee_streams_free(log);
    tee_rows_free(&log->rows);
    places_set_free(&log->places);
    rules_free(log->rules);
    free((char *)(uintptr_t)log->options.on_mismatch);
    free(log->dir);
    free(log);
}

int teelog_end(struct teelog *log, struct err *err)
{
    int result;

    if (!log)
        return 0;
    tee_streams_end(log);
    result = tee_summary_write(log, err);
    if (log->log_err.code)
        result = err_set(err, log->log_err.code, "%s", log->log_err.text);
    teelog_free(log);
    return result;
}

void teelog_set_summary(struct teelog *log, int (*append)(void *ctx, struct buf *to), void *ctx)
{
    log->append = append;
    log->append_ctx = ctx;
}

const struct teelog_counts *teelog_counts(const struct teelog *log)
{
    return &log->counts;
}

uint64_t teelog_memory(const struct teelog *log)
{
    return sizeof(*log) + SIDES * sizeof(struct clock_side) +
           (uint64_t)log->rows.count * ROW_BYTES + (uint64_t)log->sut.handles.count * 48 +
           log->listing_bytes + log->sut.whole.cap;
}
