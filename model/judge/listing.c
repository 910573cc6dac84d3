/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/listing.c
 *
 * READDIR and READDIRPLUS: servers list a directory in several replies, split and ordered as they
 * like.  The host puts the replies of each side together by their cookies; they are
 * compared as sets when both sides were listed from the beginning to the end.
 */
#include "base/escape.h"
#include "base/grow.h"
#include "judge/judge_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A further reply. */
struct part {
    struct judge_half half;
    uint8_t *copy; /* of the result and arguments */
};

struct side_listing {
    struct part *parts;
    uint32_t count, cap;
    struct elements elements;
    bool complete, sound; /* to the end; from the beginning, and all replies were understood */
    int64_t begin, end;   /* times */
};

struct listing {
    struct fields *f;
    struct side_listing side[SIDES];
    bool incomplete; /* one of them: what only one side has means nothing */
    char **changed;  /* names, as text, sorted */
    uint32_t changed_count, changed_cap;
};

static const struct item *find_list(const struct body *b, uint32_t *left)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (field_is_list(b->items[i].place->field) &&
            b->items[i].place->field->role & ROLE_ENTRY) {
            *left = b->count - i;
            return &b->items[i];
        }
    return NULL;
}

static const struct item *find_end(const struct body *b)
{
    for (uint32_t i = b->count; i-- > 0;)
        if (b->items[i].place->field->role & ROLE_EOF)
            return &b->items[i];
    return NULL;
}

static int take_reply(struct side_listing *s, const struct judge_half *half, struct err *err)
{
    const struct item *list, *end = find_end(&half->result);
    uint32_t left = 0, before = s->elements.count;

    list = find_list(&half->result, &left);
    s->complete = end && end->value && half->effect.succeeded;
    if (!half->answered || half->result.walked != WALK_OK || !half->effect.succeeded || !list) {
        s->sound = false;
        return 0;
    }
    if (half->reply_time > s->end)
        s->end = half->reply_time;
    if (elements_add(&s->elements, (struct span){ list, lists_length((struct span){ list, left }) },
                     err) < 0)
        return -err->code;
    for (uint32_t i = before; i < s->elements.count; i++)
        s->elements.elements[i].reply = half;
    return 0;
}

/* The values lead into the body, which goes with the next reply: a copy is read. */
static int keep_part(struct judge *j, struct part *part, struct err *err)
{
    struct effect *e = &part->half.effect;

    part->copy = malloc(e->result_body.len + 1u);
    if (!part->copy)
        return err_memory(err, "a listing");
    if (e->result_body.len)
        memcpy(part->copy, e->result_body.data, e->result_body.len);
    e->result_body.data = part->copy;
    e->arguments_body = (struct bytes){ part->copy, 0 };
    e->name = e->name2 = (struct bytes){ part->copy, 0 };
    part->half.data_digest = (struct bytes){ part->copy, 0 };
    return judge_read_result(j, &part->half, err);
}

static int load_parts(struct listing *l, int side, struct err *err)
{
    struct judge *j = l->f->j;
    struct side_listing *s = &l->side[side];
    int result = j->host->part ? 1 : 0;

    while (result > 0) {
        struct part *part;

        if (GROW(s->parts, s->count, s->cap) < 0)
            return err_memory(err, "a listing");
        part = &s->parts[s->count];
        memset(part, 0, sizeof(*part));
        result = j->host->part(j->ctx, j->pair, side, s->count, &part->half, err);
        if (result <= 0)
            break;
        s->count++;
        if (keep_part(j, part, err) < 0)
            return -err->code;
    }
    for (uint32_t i = 0; result == 0 && i < s->count; i++)
        result = take_reply(s, &s->parts[i].half, err);
    return result;
}

/* --- names that were made or taken away in the meantime */

static int add_changed(void *ctx, const char *name, struct err *err)
{
    struct listing *l = ctx;

    if (GROW(l->changed, l->changed_count, l->changed_cap) < 0)
        return err_memory(err, "a listing");
    l->changed[l->changed_count] = strdup(name);
    return l->changed[l->changed_count++] ? 0 : err_memory(err, "a listing");
}

static int find_changed(struct listing *l, int side, struct err *err)
{
    const struct judge *j = l->f->j;
    const struct judge_names to = { add_changed, l };
    const int64_t times[2] = { l->side[side].begin, l->side[side].end };

    return j->host->changed_names && times[0] <= times[1]
               ? j->host->changed_names(j->ctx, j->pair, side, times, &to, err)
               : 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether a name is left out; one that both sides have is known again. */
static int skip(void *ctx, struct bytes name, bool both, struct err *err)
{
    struct listing *l = ctx;
    struct buf text = { 0 };
    int reason = 0;

    if (l->incomplete && !both)
        return 1; /* withheld as a whole */
    if (l->changed_count && escape_name(name, false, &text) == 0 && buf_append(&text, "", 1) == 0 &&
        bsearch(&text.data, l->changed, l->changed_count, sizeof(*l->changed), by_text))
        reason = WITHHELD_CHANGING;
    buf_free(&text);
    if (reason && both && !l->f->j->partly) /* it stands for the same, as it seems */
        return 0;
    if (!reason && both)
        return sync_entry_known(l->f->j, name, err);
    if (!reason)
        reason = sync_entry(l->f->j, name);
    if (!reason)
        return 0;
    if (!both)
        l->f->j->left_open |= COUNTERPART_OPEN_RESULT;
    return judge_withhold(l->f->j, (enum withheld_reason)reason, NULL, err) < 0 ? -err->code : 1;
}

static bool same_names(const struct elements *a, const struct elements *b)
{
    uint64_t sums[2] = { 0, 0 };

    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        struct bytes x = a->elements[i].name, y = b->elements[i].name;

        sums[0] += XXH3_64bits(x.data, x.len);
        sums[1] += XXH3_64bits(y.data, y.len);
    }
    return sums[0] == sums[1];
}

/* Both sent the same names, but only one says that this is all. */
static int compare_end(struct listing *l, struct err *err)
{
    const struct judge_half *half[SIDES];
    const struct item *end[SIDES];
    const struct compare_rule *rule;
    int result;

    for (int side = 0; side < SIDES; side++) {
        struct side_listing *s = &l->side[side];

        half[side] = s->count ? &s->parts[s->count - 1].half : &l->f->j->pair->half[side];
        end[side] = find_end(&half[side]->result);
        if (!end[side])
            return 0;
    }
    rule = fields_rule(l->f, end[REF], end[SUT]);
    if (rule->kind == COMPARE_IGNORED)
        return 0;
    values_difference(end[REF], end[SUT], l->f->what);
    memcpy(l->f->j->found_in, half, sizeof(half));
    result = fields_differ(l->f, KIND_VALUE, rule, end[REF], end[SUT], err);
    l->f->j->found_in[REF] = l->f->j->found_in[SUT] = NULL;
    return result;
}

/* Where names don't count: element by element. */
static bool are_names_ignored(struct listing *l)
{
    const struct elements *e = &l->side[REF].elements;

    for (uint32_t i = 0; e->count && i < e->elements[0].span.count; i++) {
        const struct item *item = &e->elements[0].span.items[i];

        if (item->place->field->role & ROLE_ENTRY_NAME)
            return fields_rule(l->f, item, item)->kind == COMPARE_IGNORED;
    }
    return false;
}

static int compare_sets(struct listing *l, struct err *err)
{
    struct side_listing *ref = &l->side[REF], *sut = &l->side[SUT];
    const struct elements_skip left_out = { skip, l };
    uint32_t left;
    const struct item *list = find_list(&l->f->j->pair->half[REF].result, &left);
    const struct compare_rule *rule;

    if (!list)
        return 0;
    rule = fields_rule(l->f, list, list);
    if (rule->kind == COMPARE_IGNORED) {
        list->place->n.ignored++;
        return 0;
    }
    if (are_names_ignored(l) && ref->complete && sut->complete && ref->sound && sut->sound)
        return elements_compare(l->f, list, &ref->elements, &sut->elements, err);
    if (ref->sound && sut->sound && ref->complete != sut->complete &&
        same_names(&ref->elements, &sut->elements))
        return compare_end(l, err);
    if (!ref->complete || !sut->complete || !ref->sound || !sut->sound) {
        l->incomplete = true;
        list->place->n.withheld++;
        if (judge_withhold(l->f->j, WITHHELD_LISTING, list->place, err) < 0)
            return -err->code;
        if (are_names_ignored(l))
            return 0;
    }
    if (find_changed(l, REF, err) < 0 || find_changed(l, SUT, err) < 0)
        return -err->code;
    if (l->changed_count)
        qsort(l->changed, l->changed_count, sizeof(*l->changed), by_text);
    return elements_compare_names(l->f, list, &ref->elements, &sut->elements, &left_out, err);
}

/* The other fields of further replies, as far as both sides have as many. */
static int compare_parts(struct listing *l, struct err *err)
{
    uint32_t n = l->side[REF].count < l->side[SUT].count ? l->side[REF].count : l->side[SUT].count;
    struct judge_half first[SIDES] = { l->f->j->pair->half[REF], l->f->j->pair->half[SUT] };
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < n; i++) {
        const struct body *ref = &l->side[REF].parts[i].half.result;
        const struct body *sut = &l->side[SUT].parts[i].half.result;

        if (!l->side[REF].parts[i].half.answered || !l->side[SUT].parts[i].half.answered)
            continue;
        l->f->j->pair->half[REF] = l->side[REF].parts[i].half;
        l->f->j->pair->half[SUT] = l->side[SUT].parts[i].half;
        result = fields_compare(l->f, (struct span){ ref->items, ref->count },
                                (struct span){ sut->items, sut->count }, err);
    }
    l->f->j->pair->half[REF] = first[REF];
    l->f->j->pair->half[SUT] = first[SUT];
    return result;
}

int listing_compare(struct fields *f, struct err *err)
{
    struct judge *j = f->j;
    struct listing l = { .f = f };
    const struct body *ref = &j->pair->half[REF].result, *sut = &j->pair->half[SUT].result;
    int result = 0;

    for (int side = 0; result == 0 && side < SIDES; side++) {
        l.side[side].sound = !j->pair->half[side].effect.asked.cookie;
        l.side[side].begin = j->pair->half[side].call_time;
        result = take_reply(&l.side[side], &j->pair->half[side], err);
        if (result == 0 && !l.side[side].complete)
            result = load_parts(&l, side, err);
    }
    f->in_listing = true;
    if (result == 0)
        result = fields_compare(f, (struct span){ ref->items, ref->count },
                                (struct span){ sut->items, sut->count }, err);
    if (result == 0 && f->status_equal && j->pair->half[REF].effect.succeeded)
        result = compare_sets(&l, err);
    if (result == 0 && f->status_equal && j->pair->half[REF].effect.succeeded)
        result = compare_parts(&l, err);
    f->in_listing = false;
    patterns_free(&j->of_listing);
    for (int side = 0; side < SIDES; side++) {
        for (uint32_t i = 0; i < l.side[side].count; i++) {
            free(l.side[side].parts[i].copy);
            body_free(&l.side[side].parts[i].half.result);
        }
        free(l.side[side].parts);
        free(l.side[side].elements.elements);
    }
    for (uint32_t i = 0; i < l.changed_count; i++)
        free(l.changed[i]);
    free(l.changed);
    return result;
}
