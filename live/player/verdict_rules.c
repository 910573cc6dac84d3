/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_rules.c
 *
 * Which differences the rules of "nfsdigest compare" allow (rules/rules.h).  A rule names a field
 * of the reply, and the trace's value is its ref, the reply's its sut.  Only called for
 * differences, so replays without any pay nothing.  The contract is in verdict_parts.h.
 */
#include "player/verdict_parts.h"

#include <stdio.h>

/* --- the field of a value */

static struct places *places_of(struct verdicts *v, const struct step *step)
{
    const struct places_key key = { step->program, NFS3_VERSION, step->procedure, true };
    struct places *places;
    struct err err;

    v->places.rules = v->setup.rules;
    if (places_get(&v->places, &key, &places, &err) == 0)
        return places;
    v->no_memory = true;
    return NULL;
}

/* The first field of the result that has a role. */
static struct place *place_of_role(struct verdicts *v, const struct step *step, uint32_t role)
{
    struct places *places = places_of(v, step);

    for (uint32_t i = 0; places && i < places->count; i++)
        if (places->places[i].field->role & role)
            return &places->places[i];
    return NULL;
}

struct search {
    struct places *places;
    const uint8_t *at;
    struct place *found;
    bool no_memory;
};

static int stop_at(void *ctx, const struct visit *visit)
{
    struct search *s = ctx;

    if (visit->data != s->at || visit->whole)
        return 0;
    s->found = places_at(s->places, visit);
    s->no_memory = !s->found;
    return 1;
}

/* The field whose value begins at |at| in the reply at hand. */
static struct place *place_at(struct verdicts *v, const struct step *step, const uint8_t *at)
{
    struct search s = { .places = places_of(v, step), .at = at };
    const struct visitor visitor = { stop_at, &s, 0 };
    struct bytes body = v->effect.result_body;
    struct walk w;

    if (!s.places)
        return NULL;
    walk(&w, v->effect.procedure->result, body.data, body.len, body.len, false, &visitor);
    v->no_memory |= s.no_memory;
    return s.found;
}

/* --- rules */

/* Notes that the rule has allowed something.  False: there are too many of them. */
static bool note(struct verdict *to, uint32_t rule)
{
    for (uint32_t i = 0; i < to->rule_count; i++)
        if (to->rules[i] == rule)
            return true;
    if (to->rule_count == VERDICT_RULES)
        return false;
    to->rules[to->rule_count++] = rule;
    return true;
}

/* Two numbers of |place|. */
static bool allows(const struct place *place, struct rule_case given, uint64_t ref, uint64_t sut,
                   struct verdict *to)
{
    const struct compare_rule *rule;

    if (ref == sut)
        return true;
    if (!place)
        return false;
    given.has_ref = given.has_sut = true;
    given.ref = ref;
    given.sut = sut;
    rule = rules_pick(place->rules, &given);
    return rule_allows(rule, ref, sut) && note(to, rule->id);
}

bool verdict_rules_status(struct verdicts *v, const struct step *step, struct verdict *to)
{
    struct rule_case given = { .has_status = true, .status = step->status };

    return v->setup.rules &&
           allows(place_of_role(v, step, ROLE_STATUS), given, step->status, to->status, to);
}

bool verdict_rules_role(struct verdicts *v, const struct step *step, uint32_t role,
                        struct verdict *to)
{
    struct rule_case given = { .has_status = true, .status = step->status };
    const struct compare_rule *rule;
    const struct place *place;

    if (!v->setup.rules)
        return false;
    place = place_of_role(v, step, role);
    rule = place ? rules_pick(place->rules, &given) : NULL;
    return rule && rule->kind == COMPARE_IGNORED && note(to, rule->id);
}

/* --- groups of attributes */

/* The words of a group, and where RFC 1813 s2.6 has them in a fattr3. */
static uint32_t words_of(unsigned group, uint8_t at[3])
{
    static const uint8_t offsets[EXPECT_GROUPS][3] = { [EXPECT_TYPE] = { 0, 36, 40 },
                                                       [EXPECT_MODE] = { 4 },
                                                       [EXPECT_OWNER] = { 12, 16 },
                                                       [EXPECT_NLINK] = { 8 },
                                                       [EXPECT_LINKS] = { 8 } };

    memcpy(at, offsets[group], 3);
    return group == EXPECT_TYPE ? 3 : group == EXPECT_OWNER ? 2 : 1;
}

/* Of two types at once nothing holds that is only for one. */
static void give_type(const struct verdict *to, unsigned whose, const struct attributes *a,
                      struct rule_case *given)
{
    uint32_t bit = EXPECT_ATTRIBUTE(whose, EXPECT_TYPE);

    given->has_type = a->type && !((to->groups | to->excused) & bit);
    given->type = a->type;
}

static bool allows_attributes(struct verdicts *v, const struct step *step, unsigned bit,
                              const struct bytes values[2], struct verdict *to)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };
    unsigned group = bit % EXPECT_GROUPS, whose = bit / EXPECT_GROUPS;
    struct rule_case given = { .has_status = true, .status = step->status };
    const uint8_t *fattr3 = v->effect.fattr3[order[whose]];
    struct attributes a;
    uint32_t words;
    uint8_t at[3];

    if (!effect_attributes(&v->effect, order[whose], &a))
        return false;
    if (group != EXPECT_TYPE)
        give_type(to, whose, &a, &given);
    if (group == EXPECT_SIZE)
        return allows(place_at(v, step, fattr3 + 20), given, load_be64(values[0].data),
                      load_be64(values[1].data), to);
    words = words_of(group, at);
    for (uint32_t i = 0; i < words && 4 * i < values[0].len && 4 * i < values[1].len; i++)
        if (!allows(place_at(v, step, fattr3 + at[i]), given, load_be32(values[0].data + 4 * i),
                    load_be32(values[1].data + 4 * i), to))
            return false;
    return true;
}

/* --- other groups */

static bool allows_text(struct verdicts *v, const struct step *step, const struct bytes values[2],
                        struct verdict *to)
{
    struct rule_case given = { .has_status = true, .status = step->status };
    const struct place *place = place_of_role(v, step, ROLE_LINK_TEXT);
    const struct compare_rule *rule = place ? rules_pick(place->rules, &given) : NULL;
    const struct bytes texts[] = { { values[0].data + 4, values[0].len - 4 },
                                   { values[1].data + 4, values[1].len - 4 } };

    return rule && rule_allows_bytes(rule, texts[0], texts[1]) && note(to, rule->id);
}

bool verdict_rules_group(struct verdicts *v, const struct step *step, unsigned bit,
                         const struct bytes values[2], struct verdict *to)
{
    struct rule_case given = { .has_status = true, .status = step->status };
    uint32_t ref = load_be32(values[0].data), sut = load_be32(values[1].data);

    if (!v->setup.rules)
        return false;
    if (bit < 4 * EXPECT_GROUPS)
        return allows_attributes(v, step, bit, values, to);
    switch (1u << bit) {
    case EXPECT_IDENTITY:
        return verdict_rules_role(v, step, ROLE_NEW_OBJECT, to);
    case EXPECT_ACCESS:
        return allows(place_of_role(v, step, ROLE_SETS), given, ref, sut, to);
    case EXPECT_TEXT:
        return allows_text(v, step, values, to);
    case EXPECT_READ:
        return allows(place_of_role(v, step, ROLE_RANGE_LENGTH), given, ref, sut, to) &&
               allows(place_of_role(v, step, ROLE_EOF), given, load_be32(values[0].data + 4),
                      load_be32(values[1].data + 4), to);
    case EXPECT_NAMES:
        return verdict_rules_role(v, step, ROLE_ENTRY, to);
    default: /* EXPECT_BEHIND */
        return verdict_rules_role(v, step, ROLE_ENTRY, to) ||
               verdict_rules_role(v, step, ROLE_ENTRY_OBJECT, to);
    }
}

char *verdict_difference(struct verdict *to, uint32_t groups, bool allowed)
{
    bool says = allowed ? !to->text[0] : to->class == VERDICT_AS_RECORDED;

    if (allowed) {
        to->excused |= groups;
    } else {
        to->class = VERDICT_DIFFERENT_RESULT;
        to->groups |= groups;
    }
    return says ? to->text : NULL;
}
