/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/fields_pattern.c
 *
 * Compares fields whose values each server chooses: handles, file numbers, verifiers (patterns.h).
 */
#include "judge/judge_fields.h"

#include <stdio.h>
#include <string.h>

/* Handles and file numbers go with the object that they stand for. */
static uint32_t owner_of(const struct fields *f, const struct place *place)
{
    if (place->field->cls == CLASS_HANDLE && place->field->role & ROLE_NEW_OBJECT)
        return sync_object(f->j, OF_NEW_OBJECT);
    if (place->field->cls != CLASS_HANDLE && place->field->cls != CLASS_FILEID)
        return 0;
    return place->in_list ? f->entry_row : place->has_whose ? fields_object(f, place) : 0;
}

/* The host says that the object is not the same, so the SUT may have another one instead. */
static bool is_not_same(const struct judge *j, const struct place *place)
{
    bool is_found = place->field->cls == CLASS_HANDLE && place->field->role & ROLE_NEW_OBJECT;
    enum whose whose = is_found ? OF_NEW_OBJECT : (enum whose)place->whose;

    return j->partly && (is_found || (place->has_whose && place->field->cls == CLASS_FILEID)) &&
           j->pair->not_same & 1u << (whose == OF_PARENT ? OF_OBJECT : whose);
}

/* |ref| and |sut| in |scope|. */
static struct pattern_of pattern_of(const struct fields *f, enum pattern_scope scope,
                                    const struct item *ref, const struct item *sut)
{
    const struct place *place = ref->place;
    uint32_t object = fields_object(f, place);
    struct pattern_of of = { .ref = values_key(ref), .sut = values_key(sut) };
    uint64_t number = 0;

    if (scope == PATTERN_ENTRY) { /* of the directory's file system, or of this object's */
        number = place->has_whose ? f->fsid[place->whose][REF] : f->fsid[OF_OBJECT][REF];
        if (!number && !place->has_whose)
            number = f->j->states[f->j->pair->object].fsid[REF];
    }
    if (scope == PATTERN_OBJECT)
        number = object;
    else if (scope == PATTERN_LISTING)
        number = (uint64_t)f->j->pair->id;
    of.scope = (number * CLASS_MAX + place->field->cls) * PATTERN_SCOPE_MAX + scope;
    of.owner = scope == PATTERN_OBJECT                            ? object
               : scope == PATTERN_ENTRY || scope == PATTERN_VALUE ? owner_of(f, place)
                                                                  : 0;
    return of;
}

/* Whether an entry's number is not that of the attributes beside it, as where another file system
 * is mounted. */
static bool is_other_number(struct span entry, const struct item *number)
{
    for (uint32_t i = 0; i < entry.count; i++)
        if (entry.items[i].place->has_whose && entry.items[i].place->field->cls == CLASS_FILEID)
            return entry.items[i].value != number->value;
    return false;
}

/* Which object has a handle or file number, only who saw all requests and copies knows. */
static bool is_chosen(const struct place *place)
{
    return place->field->cls == CLASS_HANDLE || place->field->cls == CLASS_FILEID;
}

/* The host of a log knew that the two values belong together. */
static bool is_known_by_host(const struct fields *f, const struct place *place)
{
    return f->j->pair->logged & COUNTERPART_OPEN_CHOSEN && is_chosen(place);
}

static void expect(struct fields *f, const struct patterns *p, const struct pattern_of *of)
{
    for (int side = 0; side < SIDES; side++)
        f->expects[side] = patterns_expect(p, of, side, &f->expected[side]);
}

/* The directory that is listed was moved meanwhile, or the host had it elsewhere on the SUT. */
static bool is_parent_open(const struct fields *f)
{
    const struct judge *j = f->j;

    return j->partly && f->element && strcmp(f->element, "..") == 0 &&
           (j->pair->overlap & OVERLAP_OBJECT || judge_found_in(j, SUT)->call_time <= j->unsettled);
}

/* A number in a listing, without attributes: known from those of the object. */
static int equal_entry(struct fields *f, const struct pattern_of *of, const struct item *ref,
                       const struct item *sut, struct err *err)
{
    struct patterns *p = &f->j->patterns;
    int result;

    if (is_parent_open(f))
        return 1;
    if (!patterns_know(p, of))
        return is_other_number(f->entry, ref) == is_other_number(f->other, sut);
    result = patterns_hold(p, of, err);
    if (result >= 0 && result != PATTERN_HOLDS && is_known_by_host(f, ref->place))
        return patterns_note(p, of, err) < 0 ? -err->code : 1;
    expect(f, p, of);
    return result < 0 ? result : result == PATTERN_HOLDS;
}

static int equal_pattern(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                         const struct item *sut, struct err *err)
{
    struct patterns *p = rule->scope == PATTERN_LISTING ? &f->j->of_listing : &f->j->patterns;
    struct pattern_of of = pattern_of(f, (enum pattern_scope)rule->scope, ref, sut);
    int result;

    f->expects[REF] = f->expects[SUT] = false;
    f->shared[REF] = f->shared[SUT] = 0;
    if (rule->scope == PATTERN_ENTRY) {
        snprintf(f->what, sizeof(f->what), "not that of the object's attributes on one side");
        return equal_entry(f, &of, ref, sut, err);
    }
    if (is_not_same(f->j, ref->place))
        return 1;
    if (!of.owner &&
        (rule->scope == PATTERN_OBJECT || (f->j->partly && ref->place->field->cls == CLASS_HANDLE)))
        return 1; /* the object is not known */
    result = patterns_hold(p, &of, err);
    if (result >= 0 && result != PATTERN_HOLDS && is_known_by_host(f, ref->place))
        result = patterns_note(p, &of, err) < 0 ? -err->code : PATTERN_HOLDS;
    if (result == PATTERN_HOLDS && rule->scope == PATTERN_OBJECT) {
        of = pattern_of(f, PATTERN_ENTRY, ref, sut);
        if (patterns_note(p, &of, err) < 0)
            return -err->code;
        return ref->place->field->cls == CLASS_FILEID ? numbers_check(f, ref, sut, err) : 1;
    }
    if (result >= 0 && result != PATTERN_HOLDS && rule->scope == PATTERN_VALUE &&
        ref->place->field->cls == CLASS_HANDLE) {
        int equal = handles_compare(f, &of, ref, sut, err);

        if (equal != HANDLES_OF_TWO)
            return equal;
    }
    if (rule->scope == PATTERN_OBJECT)
        numbers_forget(f->j, of.owner);
    expect(f, p, &of);
    snprintf(f->what, sizeof(f->what), "%s",
             result == PATTERN_CROSSED       ? "values of two"
             : result == PATTERN_SUT_CHANGED ? "sut changed, ref not"
                                             : "ref changed, sut not");
    return result < 0 ? result : result == PATTERN_HOLDS;
}

int fields_equal_pattern(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                         const struct item *sut, struct err *err)
{
    int equal = equal_pattern(f, rule, ref, sut, err);

    if (equal >= 0 && is_chosen(ref->place))
        *(equal ? &f->j->left_open : &f->j->told) |= COUNTERPART_OPEN_CHOSEN;
    return equal;
}
