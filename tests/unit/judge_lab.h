/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/judge_lab.h
 *
 * A judge and a host without a database.  A step is one line of judge_lines.h, a pair of
 * operations, and beside it what the judge says of it.
 *
 * Other lines:
 *     (nothing)             a new judge
 *     live                  a new one of a live host, which has copied all objects
 *     rules TEXT            a new one with these rules, too
 *     unsettled SECONDS     until then, the host made names on the second server
 *     touch ROW             both servers did something to the object, which no pair is about
 *     open ROW              two requests at the same time have set times of the object
 *     forget ROW
 *     untyped ROW           it is another one, and nobody knows its type
 *     others ROW            the object has several handles
 *     clock KEY=VALUE...    offset, error, step, in ns
 */
#ifndef JUDGE_LAB_H
#define JUDGE_LAB_H

#include "judge_lines.h"

/* --- the host */

__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    size_t len = strlen(lab.out);
    va_list ap;

    if (len)
        len += (size_t)snprintf(lab.out + len, sizeof(lab.out) - len, "; ");
    va_start(ap, format);
    vsnprintf(lab.out + len, sizeof(lab.out) - len, format, ap);
    va_end(ap);
}

static inline const char *reason_name(int reason)
{
    static const char *const names[WITHHELD_MAX] = {
        [WITHHELD_OVERLAP] = "overlap",     [WITHHELD_CONFLICT] = "conflict",
        [WITHHELD_ONE_SIDED] = "one-sided", [WITHHELD_ORDER] = "order",
        [WITHHELD_OUTCOME] = "outcome",     [WITHHELD_LISTING] = "listing",
        [WITHHELD_CHANGING] = "changing",   [WITHHELD_STATUS] = "status",
        [WITHHELD_LENGTH] = "length",       [WITHHELD_VERIFIER] = "verifier",
        [WITHHELD_READ] = "read",           [WITHHELD_CUT] = "cut",
        [WITHHELD_NO_REPLY] = "no reply",   [WITHHELD_LOST] = "lost",
        [WITHHELD_NOT_SAME] = "not same",
    };

    return names[reason] ? names[reason] : "?";
}

static inline const char *field_name(const struct place *place)
{
    const char *dot = place ? strrchr(place->path, '.') : NULL;

    return dot ? dot + 1 : "";
}

static inline int lab_object_of(void *ctx, int side, const struct judge_half *half,
                                struct bytes handle, struct bytes entry, uint32_t *row,
                                struct err *err)
{
    (void)ctx, (void)half, (void)entry;
    if (number("fails", side, 0))
        return err_set(err, ERR_SYSTEM, "the host failed");
    *row = (uint32_t)strtoul((const char *)handle.data + 1, NULL, 10) % 100;
    return 0;
}

static inline int lab_differ(void *ctx, const struct judge_pair *pair, const struct difference *d,
                             struct err *err)
{
    (void)ctx, (void)pair, (void)err;
    say("%s%s%s: %s", d->place ? field_name(d->place) : d->field, d->element ? " of " : "",
        d->element ? d->element : "", d->what);
    snprintf(lab.text, sizeof(lab.text), "%s, %s", d->text[REF] ? d->text[REF] : "-",
             d->text[SUT] ? d->text[SUT] : "-");
    return 0;
}

static inline int lab_withhold(void *ctx, const struct judge_pair *pair,
                               enum withheld_reason reason, const struct place *place,
                               const struct difference *d, struct err *err)
{
    (void)ctx, (void)pair, (void)err;
    say("%s%s(%s)", d ? d->place ? field_name(d->place) : d->field : field_name(place),
        d ? "? " : "", reason_name((int)reason));
    return 0;
}

static inline int lab_lost(void *ctx, const struct judge_pair *pair, const struct judge_loss *loss,
                           int64_t *id, struct err *err)
{
    char *text = lab.losses[++lab.loss_count];

    (void)ctx, (void)pair, (void)err;
    if (loss->what == UNSYNC_ATTRIBUTES)
        snprintf(text, 64, "%u", loss->object);
    else if (loss->what == UNSYNC_NAME)
        snprintf(text, 64, "%u.%.*s", loss->object, (int)loss->name.len, loss->name.data);
    else
        snprintf(text, 64, "%u %llu-%llu", loss->object, (unsigned long long)loss->start,
                 (unsigned long long)loss->end);
    say("lost %s (%s)", text, reason_name((int)loss->reason));
    *id = lab.loss_count;
    return 0;
}

static inline int lab_known(void *ctx, const struct judge_pair *pair, int64_t id, struct err *err)
{
    (void)ctx, (void)pair, (void)err;
    say("known %s", lab.losses[id]);
    return 0;
}

static inline int lab_count(void *ctx, int64_t id, uint64_t withheld, struct err *err)
{
    (void)ctx, (void)id, (void)err;
    lab.withheld += withheld;
    return 0;
}

static inline int lab_unanswered(void *ctx, const struct judge_pair *pair, int side,
                                 struct err *err)
{
    (void)ctx, (void)pair, (void)side, (void)err;
    return (int)number("why", REF, 0);
}

static inline int lab_part(void *ctx, const struct judge_pair *pair, int side, uint32_t index,
                           struct judge_half *half, struct err *err)
{
    const char *list = word("more", side);

    (void)ctx, (void)pair, (void)err;
    if (index || !list || !*list)
        return 0;
    make_op(half, &lab.parts[side], side, "more");
    store_be32(lab.parts[side].result + lab.parts[side].len[1] - 4, 1); /* the end */
    return 1;
}

static inline int lab_changed(void *ctx, const struct judge_pair *pair, int side,
                              const int64_t times[2], const struct judge_names *to, struct err *err)
{
    const char *name = word("changed", side);

    (void)ctx, (void)pair;
    assert_true(times[0] <= times[1]);
    return name ? to->add(to->ctx, name, err) : 0;
}

static inline int lab_removed(void *ctx, int side, uint32_t row, const int64_t times[2],
                              struct err *err)
{
    (void)ctx, (void)err;
    assert_true(times[0] <= times[1]);
    return row && number("removed", side, 0) == row;
}

static inline int lab_earlier(void *ctx, const struct judge_pair *pair, int side,
                              const struct judge_earlier *to, struct err *err)
{
    (void)ctx, (void)err;
    for (int i = lab.op_count - 1; i > 0; i--) {
        struct op *op = &lab.ops[side][i];

        if (op->effect.id && op->effect.object == pair->object &&
            to->take(to->ctx, &op->effect,
                     (struct bytes){ (const uint8_t *)op->data, (uint32_t)strlen(op->data) }))
            break;
    }
    return 0;
}

static inline int lab_path(void *ctx, uint32_t row, char text[COMPARE_TEXT_MAX], struct err *err)
{
    (void)ctx, (void)err;
    snprintf(text, COMPARE_TEXT_MAX, "/%u", row);
    return 0;
}

/* --- steps */

static inline void lab_close(void)
{
    judge_free(lab.judge);
    places_set_free(&lab.places);
    rules_free(lab.rules);
    for (int side = 0; side < SIDES; side++) {
        judge_free_half(&lab.pair.half[side]);
        steps_free(&lab.steps[side]);
    }
    clock_map_free(&lab.clock);
    memset(&lab, 0, sizeof(lab));
}

static inline void lab_open(const char *rules, bool is_live)
{
    static const struct judge_host host = { lab_object_of, lab_differ,  lab_withhold,   lab_lost,
                                            lab_known,     lab_count,   lab_unanswered, lab_part,
                                            lab_changed,   lab_removed, lab_earlier,    lab_path };
    const char *const names[] = { "default", "lab" };
    const char *texts[] = { NULL, rules };
    struct judge_setup setup = { .host = &host, .partly = is_live };

    lab_close();
    lab.is_live = is_live;
    wire_init();
    for (const struct rules_builtin *b = rules_builtins; b->name; b++)
        if (strcmp(b->name, "default") == 0)
            texts[0] = b->text;
    if (rules_read(names, texts, rules ? 2 : 1, &lab.rules, &lab.err) < 0)
        fail_msg("%s", lab.err.text);
    lab.places.rules = setup.rules = lab.rules;
    setup.places = &lab.places;
    setup.clock = &lab.clock;
    lab.judge = judge_new(&setup, &lab.err);
    assert_non_null(lab.judge);
    for (int side = 0; side < SIDES; side++) {
        lab.side[side] = (struct judge_side){ .first_time = (int64_t)START * SECOND,
                                              .granularity = 1,
                                              .steps = &lab.steps[side] };
        judge_set_side(lab.judge, side, &lab.side[side]);
    }
    for (uint32_t row = 1; row <= OBJECTS; row++) {
        const struct judge_object o = { row == 1 ? 2 : 1, { 7, 7 }, .remade = is_live };

        assert_int_equal(judge_add_object(lab.judge, row, &o, &lab.err), 0);
    }
}

static inline void set_clock(void)
{
    for (int side = 0; side < SIDES; side++) {
        struct judge_side *s = &lab.side[side];

        s->clock_offset = (int64_t)number("offset", side, (uint64_t)s->clock_offset);
        s->clock_error = (int64_t)number("error", side, (uint64_t)s->clock_error);
        s->granularity = (int64_t)number("step", side, (uint64_t)s->granularity);
        lab.clock.offset[side] = s->clock_offset;
        judge_set_side(lab.judge, side, s);
    }
}

/* As a live host does. */
static inline void set_accessed(struct judge_pair *pair)
{
    const struct judge_half *half = &pair->half[REF];

    pair->accessed = 0;
    if (lab.is_live)
        pair->accessed =
            (judge_is_accessed(lab.judge, half->row.object) ? 1u << OF_OBJECT : 0) |
            (judge_is_accessed(lab.judge, half->row.parent2) ? 1u << OF_PARENT2 : 0) |
            (judge_is_accessed(lab.judge, half->row.new_object) ? 1u << OF_NEW_OBJECT : 0);
}

static inline void touch(uint32_t row)
{
    int64_t times[SIDES][2];

    lab.op_count++;
    for (int side = 0; side < SIDES; side++) {
        times[side][0] = lab_called(side);
        times[side][1] = times[side][0] + lab_takes(side);
    }
    judge_note_change(lab.judge, row, times);
}

static uint32_t lab_kept; /* stays when there is a new judge */

static inline void make_pair(void)
{
    static const char letters[] = "opndeADEr";
    static const uint32_t bits[] = { OVERLAP_OBJECT, OVERLAP_PARENT2, OVERLAP_NEW,
                                     OVERLAP_DATA,   OVERLAP_NAME,    CONFLICT_ATTRIBUTES,
                                     CONFLICT_DATA,  CONFLICT_NAME,   OVERLAP_RIGHTS };
    struct judge_pair *pair = &lab.pair;
    const char *only = word("only", REF), *overlap = word("overlap", REF);
    const char *changes = word("changes", REF);
    char target[64];

    pair->id = ++lab.op_count;
    assert_true(lab.op_count < OPS_MAX);
    pair->kind = only ? ALIGN_ONE_SIDED : ALIGN_PAIR;
    pair->overlap = 0;
    for (int i = 0; i < 9; i++)
        pair->overlap |= has(overlap, letters[i]) ? bits[i] : 0;
    memset(pair->change, 0, sizeof(pair->change));
    for (int n = 0, key, value; changes && sscanf(changes, "%d:%d%n", &key, &value, &n) == 2;) {
        pair->change[key] = value;
        changes += n + (changes[n] == ',');
    }
    assert_int_equal(sscanf(lab.line, "%*s %63s", target), 1);
    pair->object = subject_of(target).row;
    pair->made = number("made", REF, 0);
    pair->logged = number("logged", REF, 0) ? COUNTERPART_LIVE | lab_kept : 0;
    pair->not_same = pair->logged & COUNTERPART_NOT_OBJECT ? 1u << OF_OBJECT : 0;
    for (int side = 0; side < SIDES; side++) {
        judge_clear_half(&pair->half[side]);
        if (!only || strcmp(only, side == REF ? "ref" : "sut") == 0)
            make_op(&pair->half[side], &lab.ops[side][lab.op_count], side, "list");
    }
    set_accessed(pair);
}

/* Runs one step; |lab.out| is what the judge said. */
static inline void lab_step(const char *line)
{
    char copy[1024];
    uint32_t row;

    snprintf(copy, sizeof(copy), "%s", line);
    lab.out[0] = '\0';
    if (!*line) {
        lab_open(NULL, false);
    } else if (strcmp(line, "live") == 0) {
        lab_open(NULL, true);
    } else if (strncmp(line, "rules ", 6) == 0) {
        lab_open(line + 6, false);
    } else if (sscanf(line, "forget %u", &row) == 1) {
        judge_forget(lab.judge, row);
        judge_add_object(lab.judge, row, &(struct judge_object){ row == 1 ? 2 : 1, { 7, 7 } },
                         &lab.err);
    } else if (sscanf(line, "open %u", &row) == 1) {
        judge_note_open_times(lab.judge, row);
        assert_true(judge_has_open_times(lab.judge, row));
    } else if (sscanf(line, "untyped %u", &row) == 1) {
        judge_forget(lab.judge, row);
        judge_add_object(lab.judge, row, &(struct judge_object){ .type = 0 }, &lab.err);
    } else if (sscanf(line, "others %u", &row) == 1) {
        judge_add_object(lab.judge, row, &(struct judge_object){ .has_others = true }, &lab.err);
    } else {
        lab.line = copy;
        if (strncmp(line, "clock ", 6) == 0) {
            set_clock();
        } else if (sscanf(line, "unsettled %u", &row) == 1) {
            judge_note_unsettled(lab.judge, (int64_t)row * SECOND);
        } else if (sscanf(line, "touch %u", &row) == 1) {
            touch(row);
        } else {
            make_pair();
            if (judge_pair(lab.judge, &lab.pair, &lab.err) < 0)
                say("error: %s", lab.err.text);
            if (number("keep", REF, 0))
                lab_kept = judge_left_open(lab.judge);
        }
        lab.line = NULL;
    }
}

/* Each line by itself, or after those before it back to "". */
static inline void lab_run(const struct lab_line *steps, size_t count)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        lab_step(steps[i].line);
        if (strcmp(lab.out, steps[i].says ? steps[i].says : "") != 0 ||
            (steps[i].text && strcmp(lab.text, steps[i].text) != 0)) {
            print_error("line %zu: %s\n    says \"%s\" (%s),\n    not  \"%s\" (%s)\n", i,
                        steps[i].line, lab.out, lab.text, steps[i].says ? steps[i].says : "",
                        steps[i].text ? steps[i].text : "any");
            wrong++;
        }
    }
    lab_close();
    if (wrong)
        fail_msg("%d lines", wrong);
}

#define RUN(steps) lab_run(steps, sizeof(steps) / sizeof((steps)[0]))

#endif
