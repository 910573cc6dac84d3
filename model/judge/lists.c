/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/lists.c
 *
 * Elements of lists: in their order, as a set, or by their names.
 */
#include "base/grow.h"
#include "judge/judge_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum { LIKE_NAMES_MAX = 256 }; /* names of one side only that are looked for in another writing */

uint32_t lists_length(struct span span)
{
    const struct place *list = span.items[0].place;
    uint32_t n = 1;

    while (n < span.count && span.items[n].place->index > list->index &&
           span.items[n].place->index < list->end)
        n++;
    return n;
}

static int add(struct elements *e, struct span span, uint32_t number, struct err *err)
{
    struct element *new;

    if (GROW(e->elements, e->count, e->cap) < 0)
        return err_memory(err, "a list");
    new = &e->elements[e->count++];
    *new = (struct element){ .span = span, .number = number };
    for (uint32_t i = 0; i < span.count; i++) {
        const struct item *item = &span.items[i];
        uint64_t numbers[2] = { item->place->index, item->value };

        if (item->place->field->role & ROLE_ENTRY_NAME)
            new->name = (struct bytes){ item->data, item->len };
        new->hash = XXH3_64bits_withSeed(numbers, sizeof(numbers), new->hash);
        if (item->len)
            new->hash = XXH3_64bits_withSeed(item->data, item->len, new->hash);
    }
    return 0;
}

/* Each element begins with the same field. */
int elements_add(struct elements *e, struct span list, struct err *err)
{
    uint32_t start = 1, number = 0;
    int result = 0;

    while (result == 0 && start < list.count) {
        uint32_t end = start + 1;

        while (end < list.count && list.items[end].place != list.items[1].place)
            end++;
        result = add(e, (struct span){ list.items + start, end - start }, number++, err);
        start = end;
    }
    return result;
}

/* "type 1, uid 0, perm 07" */
static void element_text(const struct element *element, char text[COMPARE_TEXT_MAX])
{
    size_t len = 0;

    *text = '\0';
    for (uint32_t i = 0; i < element->span.count && len + 1 < COMPARE_TEXT_MAX; i++) {
        const char *name = element->span.items[i].place->field->name;
        char value[COMPARE_TEXT_MAX];

        snprintf(text + len, COMPARE_TEXT_MAX - len, "%s%s %s", len ? ", " : "", name ? name : "",
                 values_text(&element->span.items[i], NULL, value));
        len = strlen(text);
    }
}

static int differ_alone(struct fields *f, const struct item *list, const struct element *element,
                        bool in_ref, const char *how, struct err *err)
{
    char name[COMPARE_TEXT_MAX], text[COMPARE_TEXT_MAX], what[64];
    const struct compare_rule *rule = rules_pick(list->place->rules, &f->given);
    struct difference d = { .kind = KIND_ENTRY,
                            .place = list->place,
                            .rule = rule,
                            .object = f->j->pair->object,
                            .element = name,
                            .what = what };
    struct item item = { .place = list->place };
    int result, reason;

    snprintf(what, sizeof(what), "only %s%s%s", in_ref ? "ref" : "sut", how ? ", other " : "",
             how ? how : "");
    if (element->name.data) {
        for (uint32_t i = 0; i < element->span.count; i++)
            if (element->span.items[i].place->field->role & ROLE_ENTRY_NAME)
                item = element->span.items[i];
        values_text(&item, NULL, name);
    } else {
        snprintf(name, sizeof(name), "%u", element->number);
    }
    element_text(element, text);
    d.text[in_ref ? REF : SUT] = element->name.data ? name : text;
    if (f->in_listing && sync_listed(f->j)) {
        list->place->n.withheld++; /* the directory was not the same */
        return judge_withhold(f->j, WITHHELD_ORDER, list->place, err);
    }
    reason = f->in_listing ? 0 : fields_open_rights(f, list->place);
    if (reason) {
        list->place->n.withheld++;
        return judge_withhold(f->j, (enum withheld_reason)reason, list->place, err);
    }
    list->place->n.different++;
    if (f->in_listing)
        f->j->told |= COUNTERPART_OPEN_RESULT;
    f->j->found_in[in_ref ? REF : SUT] = element->reply;
    result = judge_differ(f->j, &d, err);
    f->j->found_in[in_ref ? REF : SUT] = NULL;
    return result;
}

static int compare_two(struct fields *f, const struct element *ref, const struct element *sut,
                       struct err *err)
{
    char name[COMPARE_TEXT_MAX];
    const char *outer = f->element;
    int result;

    snprintf(name, sizeof(name), "%u", ref->number);
    for (uint32_t i = 0; i < ref->span.count; i++)
        if (ref->span.items[i].place->field->role & ROLE_ENTRY_NAME)
            values_text(&ref->span.items[i], NULL, name);
    f->element = name;
    f->j->found_in[REF] = ref->reply;
    f->j->found_in[SUT] = sut->reply;
    f->j->entry = ref->name;
    result = fields_enter(f, ref->span, sut->span, err);
    if (result == 0)
        result = fields_compare(f, ref->span, sut->span, err);
    fields_leave(f);
    f->j->found_in[REF] = f->j->found_in[SUT] = NULL;
    f->j->entry = (struct bytes){ 0 };
    f->element = outer;
    return result;
}

int elements_compare(struct fields *f, const struct item *list, struct elements *ref,
                     struct elements *sut, struct err *err)
{
    uint32_t i = 0, j = 0;
    int result = 0;

    while (result == 0) {
        while (i < ref->count && ref->elements[i].used)
            i++;
        while (j < sut->count && sut->elements[j].used)
            j++;
        if (i == ref->count && j == sut->count)
            break;
        if (i == ref->count)
            result = differ_alone(f, list, &sut->elements[j++], false, NULL, err);
        else if (j == sut->count)
            result = differ_alone(f, list, &ref->elements[i++], true, NULL, err);
        else
            result = compare_two(f, &ref->elements[i++], &sut->elements[j++], err);
    }
    return result;
}

static int by_hash(const void *a, const void *b)
{
    const struct element *x = *(struct element *const *)a, *y = *(struct element *const *)b;

    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1)
                              : (x->number > y->number) - (x->number < y->number);
}

/* Marks elements that both sides have. */
static int use_equal(struct elements *ref, struct elements *sut, struct err *err)
{
    struct element **a = calloc(ref->count + 1, sizeof(*a));
    struct element **b = calloc(sut->count + 1, sizeof(*b));
    uint32_t i = 0, j = 0;

    if (!a || !b) {
        free(a);
        free(b);
        return err_memory(err, "a list");
    }
    for (uint32_t k = 0; k < ref->count; k++)
        a[k] = &ref->elements[k];
    for (uint32_t k = 0; k < sut->count; k++)
        b[k] = &sut->elements[k];
    qsort(a, ref->count, sizeof(*a), by_hash);
    qsort(b, sut->count, sizeof(*b), by_hash);
    while (i < ref->count && j < sut->count) {
        if (a[i]->hash == b[j]->hash)
            a[i++]->used = b[j++]->used = true;
        else if (a[i]->hash < b[j]->hash)
            i++;
        else
            j++;
    }
    free(a);
    free(b);
    return 0;
}

int lists_compare(struct fields *f, const struct compare_rule *rule, struct span ref,
                  struct span sut, struct err *err)
{
    struct place *list = ref.items[0].place;
    struct elements a = { 0 }, b = { 0 };
    uint64_t before;
    int result = 0;

    if (rule->kind == COMPARE_IGNORED) {
        list->n.ignored++;
        return 0;
    }
    if (f->j->pair->half[REF].result.walked != WALK_OK ||
        f->j->pair->half[SUT].result.walked != WALK_OK) {
        list->n.withheld++;
        return judge_withhold(f->j, WITHHELD_CUT, list, err);
    }
    before = list->n.different;
    if (elements_add(&a, ref, err) < 0 || elements_add(&b, sut, err) < 0)
        result = -err->code;
    if (result == 0 && rule->kind == COMPARE_SET)
        result = use_equal(&a, &b, err);
    if (result == 0)
        result = elements_compare(f, ref.items, &a, &b, err);
    list->n.equal += list->n.different == before;
    free(a.elements);
    free(b.elements);
    return result;
}

/* --- by names */

static int by_name(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    uint32_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = memcmp(x->name.data, y->name.data, len);

    if (order == 0)
        order = (x->name.len > y->name.len) - (x->name.len < y->name.len);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Names of one side only, as many as are looked through. */
struct lone_names {
    struct bytes names[LIKE_NAMES_MAX];
    uint32_t count;
};

static void find_lone(const struct elements *e, struct lone_names *lone)
{
    lone->count = 0;
    for (uint32_t i = 0; i < e->count && lone->count < LIKE_NAMES_MAX; i++)
        if (!e->elements[i].used)
            lone->names[lone->count++] = e->elements[i].name;
}

/* A name of the other side only that is the same in another writing. */
static const char *like_names(const struct element *element, const struct lone_names *others)
{
    const char *how = NULL;

    for (uint32_t i = 0; !how && i < others->count; i++)
        how = alike_difference(element->name, others->names[i]);
    return how;
}

int elements_compare_names(struct fields *f, const struct item *list, struct elements *ref,
                           struct elements *sut, const struct elements_skip *skip, struct err *err)
{
    uint32_t i = 0, j = 0;
    uint64_t before = list->place->n.different;
    struct lone_names lone[SIDES];
    int result = 0;

    if (ref->count)
        qsort(ref->elements, ref->count, sizeof(*ref->elements), by_name);
    if (sut->count)
        qsort(sut->elements, sut->count, sizeof(*sut->elements), by_name);
    while (result == 0 && (i < ref->count || j < sut->count)) {
        struct element *a = i < ref->count ? &ref->elements[i] : NULL;
        struct element *b = j < sut->count ? &sut->elements[j] : NULL;
        struct element any = { .number = 0 };
        int order = !a ? 1 : !b ? -1 : 0;

        if (!order) {
            struct element x = *a, y = *b;

            x.number = y.number = any.number;
            order = by_name(&x, &y);
        }
        result = skip->is_left_out(skip->ctx, order <= 0 ? a->name : b->name, order == 0, err);
        if (order <= 0)
            i++;
        if (order >= 0)
            j++;
        if (order <= 0 && (result || order == 0))
            a->used = true;
        if (order >= 0 && (result || order == 0))
            b->used = true;
        if (result == 0 && order == 0)
            result = compare_two(f, a, b, err);
        if (result > 0)
            result = 0;
    }
    find_lone(ref, &lone[REF]);
    find_lone(sut, &lone[SUT]);
    for (i = 0; result == 0 && i < ref->count; i++)
        if (!ref->elements[i].used)
            result = differ_alone(f, list, &ref->elements[i], true,
                                  like_names(&ref->elements[i], &lone[SUT]), err);
    for (i = 0; result == 0 && i < sut->count; i++)
        if (!sut->elements[i].used)
            result = differ_alone(f, list, &sut->elements[i], false,
                                  like_names(&sut->elements[i], &lone[REF]), err);
    list->place->n.equal += list->place->n.different == before;
    return result;
}
