/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_fields.c
 *
 * Compares two results field by field.
 */
#include "judge/judge_fields.h"

#include <stdio.h>
#include <string.h>

/* What a change of the object leaves alone. */
static bool is_volatile(const struct place *place)
{
    return place->has_whose && place->field->kind != XDR_OPTIONAL &&
           place->field->cls != CLASS_TYPE && place->field->cls != CLASS_FILEID &&
           place->field->cls != CLASS_FSID && place->field->cls != CLASS_DEVICE;
}

static bool is_access_time(const struct place *place)
{
    return place->stamp == STAMP_ATIME;
}

/* What ACCESS and access lists say follows from the mode and the owner. */
static bool is_about_rights(const struct judge *j, const struct place *place)
{
    return j->partly && !place->has_whose &&
           effect_action(&j->pair->half[REF].effect) == ACTION_ASK;
}

/* Of what a name stands for. */
static bool is_about_found(const struct judge *j, const struct place *place)
{
    return j->pair->half[REF].effect.name_role &&
           ((place->has_whose && place->whose == OF_NEW_OBJECT) ||
            (place->field->cls == CLASS_HANDLE && place->field->role & ROLE_NEW_OBJECT));
}

static bool is_about_data(const struct place *place)
{
    return place->field->cls == CLASS_DATA ||
           (!place->in_list && place->field->role & (ROLE_EOF | ROLE_RANGE_LENGTH));
}

/* Attributes from before an operation have no type; those from after it, which follow them, do.
 * 0: nobody knows it. */
static uint32_t type_of(const struct judge *j, enum whose whose)
{
    const struct judge_half *half = j->pair->half;
    uint32_t row = sync_object(j, whose);
    struct attributes ref, sut;

    if (row && j->states[row].type)
        return j->states[row].type;
    return effect_attributes(&half[REF].effect, whose, &ref) &&
                   effect_attributes(&half[SUT].effect, whose, &sut) && ref.type == sut.type
               ? ref.type
               : 0;
}

void fields_begin(struct fields *f, struct judge *j)
{
    *f = (struct fields){ .j = j };
    for (int whose = 0; whose < WHOSE_MAX; whose++)
        f->object_type[whose] = whose == OF_ENTRY ? 0 : type_of(j, (enum whose)whose);
    f->object_type[OF_PARENT] = f->object_type[OF_PARENT2] = NF3DIR;
}

const struct compare_rule *fields_rule(struct fields *f, const struct item *ref,
                                       const struct item *sut)
{
    const struct place *place = ref ? ref->place : sut->place;

    f->given.has_type = place->has_whose && f->object_type[place->whose];
    f->given.type = place->has_whose ? f->object_type[place->whose] : 0;
    f->given.has_ref = ref && values_is_number(ref);
    f->given.ref = ref ? ref->value : 0;
    f->given.has_sut = sut && values_is_number(sut);
    f->given.sut = sut ? sut->value : 0;
    return rules_pick(place->rules, &f->given);
}

static const struct item *handle_of(struct span entry)
{
    for (uint32_t i = 0; i < entry.count; i++)
        if (entry.items[i].place->field->cls == CLASS_HANDLE)
            return &entry.items[i];
    return NULL;
}

/* The object of an entry, by its handle. */
static int find_entry_object(struct fields *f, int side, struct span entry, uint32_t *row,
                             struct err *err)
{
    const struct item *handle = handle_of(entry);

    *row = 0;
    return handle ? judge_object_of(f->j, side, handle, row, err) : 0;
}

static bool has_attributes(struct span entry)
{
    for (uint32_t i = 0; i < entry.count; i++)
        if (entry.items[i].place->has_whose && entry.items[i].place->whose == OF_ENTRY)
            return true;
    return false;
}

int fields_enter(struct fields *f, struct span ref, struct span sut, struct err *err)
{
    f->entry = ref;
    f->other = sut;
    f->entry_row = 0;
    f->object_type[OF_ENTRY] = 0;
    if (!has_attributes(ref))
        return 0;
    if (find_entry_object(f, REF, ref, &f->entry_row, err) < 0)
        return -err->code;
    if (f->entry_row || (f->j->partly && handle_of(ref)))
        return 0; /* what is not the same on both sides stays unknown, whatever the SUT sent */
    return find_entry_object(f, SUT, sut, &f->entry_row, err);
}

void fields_leave(struct fields *f)
{
    f->entry = f->other = (struct span){ NULL, 0 };
    f->entry_row = 0;
}

uint32_t fields_object(const struct fields *f, const struct place *place)
{
    if (place->has_whose && place->whose == OF_ENTRY)
        return f->entry_row;
    return place->has_whose ? sync_object(f->j, (enum whose)place->whose) : f->j->pair->object;
}

int fields_row(struct fields *f, int side, const struct place *place, uint32_t *row,
               struct err *err)
{
    if (place->whose == OF_ENTRY)
        return find_entry_object(f, side, side == REF ? f->entry : f->other, row, err);
    *row = sync_row(f->j, side, (enum whose)place->whose);
    return 0;
}

static bool holds_verifier(const struct fields *f, const struct place *place)
{
    return place->stamp != STAMP_CTIME && f->j->states[fields_object(f, place)].verifier;
}

static uint32_t open_time(const struct place *place)
{
    if (place->stamp == STAMP_ATIME)
        return COUNTERPART_OPEN_ATIME;
    if (place->of_before)
        return place->stamp == STAMP_CTIME ? COUNTERPART_OPEN_BEFORE_CTIME
                                           : COUNTERPART_OPEN_BEFORE_MTIME;
    return place->stamp == STAMP_CTIME ? COUNTERPART_OPEN_CTIME : COUNTERPART_OPEN_MTIME;
}

/* What readers of the log cannot know: a difference is left open, or times are the same. */
static void leave_open(struct judge *j, const struct place *place)
{
    static const uint32_t not_same[WHOSE_MAX] = { [OF_OBJECT] = COUNTERPART_NOT_OBJECT,
                                                  [OF_PARENT] = COUNTERPART_NOT_OBJECT,
                                                  [OF_PARENT2] = COUNTERPART_NOT_PARENT2,
                                                  [OF_NEW_OBJECT] = COUNTERPART_NOT_NEW };

    if (place->field->role & ROLE_STATUS || is_about_data(place))
        j->left_open |= COUNTERPART_OPEN_RESULT;
    else if (is_about_rights(j, place))
        j->left_open |= COUNTERPART_NOT_OBJECT;
    else if (place->is_time)
        j->left_open |= open_time(place);
    else
        j->left_open |= not_same[place->whose]; /* the log names the entries that are the same */
}

static int why_rights(const struct judge *j)
{
    return j->pair->not_same & 1u << OF_OBJECT ? WITHHELD_NOT_SAME : sync_rights(j);
}

int fields_open_rights(struct fields *f, const struct place *place)
{
    int reason = is_about_rights(f->j, place) ? why_rights(f->j) : 0;

    if (reason && reason != WITHHELD_OVERLAP)
        leave_open(f->j, place);
    return reason;
}

/* |ref|, |sut|: NULL where there is none. */
static int why_withheld(struct fields *f, const struct place *place, const struct item *ref,
                        const struct item *sut, struct err *err)
{
    struct judge *j = f->j;
    int reason = 0;
    int open = j->pair->logged & COUNTERPART_OPEN_RESULT ? WITHHELD_NOT_SAME : 0;

    if (place->field->role & ROLE_STATUS) {
        reason = ref && sut ? sync_status(j, place->field, ref->value, sut->value, err) : 0;
        return reason ? reason : open;
    }
    if (is_about_data(place)) {
        reason = sync_data(j, err);
        reason = reason ? reason : open;
        return reason || place->field->cls == CLASS_DATA ? reason : sync_attributes(j, OF_OBJECT);
    }
    if (j->partly && f->entry.count && !f->entry_row && has_attributes(f->entry))
        return WITHHELD_NOT_SAME;
    if (j->partly && is_about_found(j, place) && j->pair->overlap & OVERLAP_NAME)
        return WITHHELD_OVERLAP;
    if (is_about_rights(j, place))
        return why_rights(j);
    if (!is_volatile(place))
        return 0;
    if (place->is_time && j->pair->logged & open_time(place))
        return WITHHELD_ORDER;
    if (place->stamp == STAMP_CTIME && sut &&
        (int64_t)sut->value - j->side[SUT].clock_offset <= j->unsettled &&
        !(ref && times_changed_now(f, ref)))
        return WITHHELD_NOT_SAME;
    if (place->is_time && holds_verifier(f, place))
        return WITHHELD_VERIFIER;
    if (place->is_time && open_times_has(j, fields_object(f, place), (enum stamp)place->stamp))
        return WITHHELD_CONFLICT;
    if (place->whose == OF_ENTRY) {
        uint32_t row = f->entry_row;

        if (j->pair->overlap & OVERLAP_OBJECT)
            return WITHHELD_OVERLAP;
        if (j->pair->object &&
            j->pair->change[CHANGES_OBJECT] != j->states[j->pair->object].accepted)
            return sync_order(j, j->pair->object); /* after other changes of the directory */
        if (row && j->states[row].order)
            return WITHHELD_ORDER;
        return row && j->states[row].lost & 1 << UNSYNC_ATTRIBUTES ? j->states[row].reason : 0;
    }
    reason = sync_attributes(j, (enum whose)place->whose);
    if (!reason && place->is_time && j->pair->change[CHANGE_LAST] &&
        place->whose != OF_NEW_OBJECT && place->whose != OF_PARENT2 && !is_access_time(place))
        reason = WITHHELD_ORDER; /* it is the time of another request */
    if (reason && reason != WITHHELD_OVERLAP && reason != WITHHELD_NOT_SAME &&
        !sync_is_other(j, (enum whose)place->whose))
        return sync_count(j, (enum whose)place->whose, err) < 0 ? -err->code : reason;
    return reason;
}

static enum difference_case case_of(const struct fields *f, const struct place *place)
{
    const struct effect *e = &f->j->pair->half[REF].effect;

    if (!place->has_whose)
        return CASE_ANY;
    if (place->field->cls == CLASS_COUNT && f->object_type[place->whose])
        return f->object_type[place->whose] == 2 ? CASE_DIRECTORY : CASE_NO_DIRECTORY;
    if (place->field->cls == CLASS_MODE && place->whose == OF_NEW_OBJECT && effect_makes_name(e))
        return e->asked.bits & ASKED_MODE ? CASE_ASKED : CASE_NOT_ASKED;
    return CASE_ANY;
}

int fields_differ(struct fields *f, enum difference_kind kind, const struct compare_rule *rule,
                  const struct item *ref, const struct item *sut, struct err *err)
{
    struct place *place = ref ? ref->place : sut->place;
    char texts[SIDES][COMPARE_TEXT_MAX];
    const struct item *items[SIDES] = { ref, sut };
    struct difference d = { .kind = kind,
                            .when = case_of(f, place),
                            .place = place,
                            .rule = rule,
                            .element = f->element,
                            .what = f->what };
    int reason = why_withheld(f, place, ref, sut, err);

    if (reason < 0)
        return reason;
    if (reason && reason != WITHHELD_OVERLAP)
        leave_open(f->j, place);
    if (!reason && place->is_time && is_access_time(place) &&
        (access_is_open(f->j, (enum whose)place->whose) ||
         sync_reads_differ(f->j, (enum whose)place->whose, fields_object(f, place))))
        reason = WITHHELD_READ;
    if (is_volatile(place) && !place->of_before && reason != WITHHELD_READ)
        f->j->differs[place->whose] = true;
    if (reason && !(place->field->role & ROLE_STATUS) && !is_about_data(place)) {
        place->n.withheld++;
        return judge_withhold(f->j, (enum withheld_reason)reason, place, err);
    }
    d.object = fields_object(f, place);
    d.has_number = true;
    for (int side = 0; side < SIDES; side++) {
        if (!items[side]) {
            d.has_number = false;
            continue;
        }
        d.text[side] = values_text(items[side], &f->j->pair->half[side].data_digest, texts[side]);
        if (kind == KIND_PATTERN && f->expects[side])
            values_expected(items[side], f->expected[side], texts[side]);
        if (kind == KIND_PATTERN && f->shared[side] && numbers_text(f, side, texts[side], err) < 0)
            return -err->code;
        d.number[side] = items[side]->value;
        d.has_number = d.has_number && values_is_number(items[side]);
    }
    if (reason) {
        place->n.withheld++;
        return judge_uncertain(f->j, (enum withheld_reason)reason, &d, err);
    }
    place->n.different++;
    if (place->is_time) /* there is one bit for all objects: what differs must not be hidden */
        f->j->told |= open_time(place);
    return judge_differ(f->j, &d, err);
}

/* A reply's own fault is one whatever came before. */
static int violate(struct fields *f, const struct item *ref, const struct item *sut,
                   struct err *err)
{
    const struct rules *rules = f->j->rules;
    char texts[SIDES][COMPARE_TEXT_MAX];
    struct difference d = { .kind = KIND_MALFORMED,
                            .place = ref->place,
                            .rule = rules_at(rules, rules->events[EVENT_MALFORMED]),
                            .object = fields_object(f, ref->place),
                            .element = f->element,
                            .what = ref->over ? "only ref's" : "only sut's",
                            .text = { values_text(ref, NULL, texts[REF]),
                                      values_text(sut, NULL, texts[SUT]) } };

    if (ref->place->has_whose)
        f->j->differs[ref->place->whose] = true;
    ref->place->n.different++;
    return judge_differ(f->j, &d, err);
}

static bool equal_bytes(const struct fields *f, const struct compare_rule *rule,
                        const struct item *a, const struct item *b)
{
    const struct judge_half *half = f->j->pair->half;

    if (a->place->field->cls == CLASS_DATA)
        return a->full_len == b->full_len &&
               half[REF].data_digest.len == half[SUT].data_digest.len &&
               memcmp(half[REF].data_digest.data, half[SUT].data_digest.data,
                      half[REF].data_digest.len) == 0;
    return a->full_len == b->full_len && rule_allows_bytes(rule, (struct bytes){ a->data, a->len },
                                                           (struct bytes){ b->data, b->len });
}

static int compare_item(struct fields *f, const struct item *ref, const struct item *sut,
                        struct err *err)
{
    struct place *place = ref->place;
    const struct compare_rule *rule = fields_rule(f, ref, sut);
    enum difference_kind kind = KIND_VALUE;
    int equal;

    f->what[0] = '\0';
    if (rule->kind == COMPARE_IGNORED) {
        place->n.ignored++;
        return 0;
    }
    if (is_volatile(place) && !place->of_before)
        f->j->compared[place->whose] = true;
    if (place->field->cls == CLASS_DATA &&
        (f->j->pair->half[REF].effect.reply_flags | f->j->pair->half[SUT].effect.reply_flags) &
            SIGHTING_PARTIAL) {
        place->n.withheld++; /* the digest is of what was captured */
        return judge_withhold(f->j, WITHHELD_CUT, place, err);
    }
    if (place->field->cls == CLASS_DATA && ref->full_len != sut->full_len && !f->count_equal) {
        place->n.withheld++; /* the count beside it says so */
        return judge_withhold(f->j, WITHHELD_LENGTH, place, err);
    }
    if (!ref->over != !sut->over &&
        rules_at(f->j->rules, f->j->rules->events[EVENT_MALFORMED])->kind != COMPARE_IGNORED)
        return violate(f, ref, sut, err);
    if (rule->kind == COMPARE_PATTERN) {
        kind = KIND_PATTERN;
        equal = fields_equal_pattern(f, rule, ref, sut, err);
    } else if (place->is_time && rule->kind == COMPARE_TOLERANCE) {
        kind = KIND_TIME;
        equal = times_equal(f, rule, ref, sut);
        if (equal && !times_are_plain(f, rule, ref, sut))
            leave_open(f->j, place);
    } else if (field_is_bytes(place->field)) {
        equal = equal_bytes(f, rule, ref, sut);
    } else {
        equal = rule_allows(rule, ref->value, sut->value);
        if (rule->kind == COMPARE_AT_LEAST || rule->kind == COMPARE_AT_MOST)
            kind = KIND_ORDER;
    }
    if (equal < 0)
        return equal;
    if (equal) {
        if (place->is_time && is_access_time(place))
            sync_reads_known(f->j, (enum whose)place->whose, fields_object(f, place));
        place->n.equal++;
        return 0;
    }
    if (place->field->kind == XDR_OPTIONAL)
        kind = KIND_PRESENCE;
    if (place->field->role & ROLE_STATUS)
        kind = KIND_STATUS;
    if (place->is_time && !*f->what)
        snprintf(f->what, sizeof(f->what), "sut %s", sut->value > ref->value ? "later" : "earlier");
    if (!*f->what)
        values_difference(ref, sut, f->what);
    return fields_differ(f, kind, rule, ref, sut, err);
}

/* What conditions of rules, and later fields, depend on. */
static void note(struct fields *f, const struct item *ref, const struct item *sut)
{
    const struct place *place = ref->place;

    if (place->field->role & ROLE_STATUS) {
        f->status_equal = ref->value == sut->value;
        f->given.has_status = true;
        f->given.status = (uint32_t)ref->value;
    }
    if (place->has_whose && place->field->cls == CLASS_TYPE) {
        uint32_t row = place->whose == OF_ENTRY ? 0 : sync_object(f->j, (enum whose)place->whose);

        /* of two kinds at once nothing holds that is only for one */
        f->object_type[place->whose] = ref->value == sut->value ? (uint32_t)ref->value : 0;
        if (row && ref->value == sut->value) /* the trace may only have guessed it */
            f->j->states[row].type = (uint32_t)ref->value;
    }
    if (place->has_whose && place->field->cls == CLASS_FSID) {
        const uint64_t fsid[SIDES] = { ref->value, sut->value };

        memcpy(f->fsid[place->whose], fsid, sizeof(fsid));
        if (place->whose != OF_ENTRY)
            memcpy(f->j->states[fields_object(f, place)].fsid, fsid, sizeof(fsid));
    }
    if (place->field->role & ROLE_RANGE_LENGTH)
        f->count_equal = ref->value == sut->value;
    if (place->field->cls == CLASS_DATA)
        f->data_equal = ref->full_len == sut->full_len &&
                        equal_bytes(f, rules_pick(place->rules, &f->given), ref, sut);
}

int fields_compare(struct fields *f, struct span ref, struct span sut, struct err *err)
{
    uint32_t i = 0, j = 0;
    int result = 0;

    while (result == 0 && i < ref.count && j < sut.count) {
        const struct item *a = &ref.items[i], *b = &sut.items[j];

        if (a->place != b->place) { /* below something that only one side has */
            if (a->place->index < b->place->index)
                i++;
            else
                j++;
            continue;
        }
        if (field_is_list(a->place->field)) {
            struct span x = { a, lists_length((struct span){ a, ref.count - i }) };
            struct span y = { b, lists_length((struct span){ b, sut.count - j }) };

            if (!(f->in_listing && a->place->field->role & ROLE_ENTRY))
                result = lists_compare(f, fields_rule(f, a, b), x, y, err);
            i += x.count;
            j += y.count;
            continue;
        }
        note(f, a, b);
        if (!(f->in_listing && a->place->field->role & ROLE_EOF))
            result = compare_item(f, a, b, err);
        if (result == 0 && a->place->field->role & ROLE_STATUS && !f->status_equal)
            return judge_withhold(f->j, WITHHELD_STATUS, NULL, err);
        i++;
        j++;
    }
    return result;
}
