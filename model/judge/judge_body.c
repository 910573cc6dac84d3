/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "judge/judge_body.h"

#include <stdlib.h>
#include <xxhash.h>

static struct item *add_item(struct body *b)
{
    if (GROW(b->items, b->count, b->cap) < 0)
        return NULL;
    return &b->items[b->count++];
}

static uint32_t outer_element(const struct walk *walk)
{
    for (uint32_t i = 1; i <= walk->depth; i++)
        if (walk->steps[i].list)
            return walk->steps[i].index;
    return ELEMENT_NONE;
}

/* A list shows its boolean before each element.  The first boolean stands for the list, and the
 * last one gives the number of elements. */
static bool is_repeat(struct body *b, const struct visit *v)
{
    if (v->field->kind != XDR_LIST)
        return false;
    b->items[b->lists[v->walk->depth]].value = v->index + (v->value ? 1 : 0);
    b->part = false;
    return true;
}

static int take(void *ctx, const struct visit *v)
{
    struct body *b = ctx;
    struct place *place;
    struct item *item;

    if (v->whole)
        return 0;
    place = places_at(b->places, v);
    if (!place)
        goto no_memory;
    if (place->is_part && b->count && b->items[b->count - 1].place + 1 == place) {
        b->items[b->count - 1].value += v->value * place[-1].scale;
        if (v->value * place[-1].scale >= 1000000000u)
            b->items[b->count - 1].over = (uint32_t)v->value;
        b->part = false;
        return 0;
    }
    if (v->index && is_repeat(b, v))
        return 0;
    if (v->field->kind == XDR_LIST)
        b->lists[v->walk->depth] = b->count;
    item = add_item(b);
    if (!item)
        goto no_memory;
    *item = (struct item){ .place = place,
                           .value = place->is_time ? v->value * 1000000000u : v->value,
                           .element = place->in_list ? outer_element(v->walk) : ELEMENT_NONE };
    b->part = v->cut || place->is_time;
    if (field_is_bytes(v->field)) {
        item->data = v->data;
        item->len = v->len;
        item->full_len = v->full_len;
    }
    return 0;

no_memory:
    b->no_memory = true;
    return 1;
}

int body_read(struct body *b, struct places *places, struct kept_body kept, struct err *err)
{
    const struct visitor visitor = { take, b, 0 };
    const struct type *type =
        places->result ? places->procedure->result : places->procedure->arguments;
    struct walk w;

    b->places = places;
    b->count = 0;
    b->no_memory = b->part = false;
    b->walked = kept_walk(&w, type, &kept, &visitor);
    b->part = b->part && b->walked == WALK_TRUNCATED;
    b->surplus = b->walked == WALK_MALFORMED && w.surplus;
    if (b->surplus)
        b->walked = WALK_OK;
    return b->no_memory ? err_memory(err, "a message's values") : 0;
}

void body_free(struct body *b)
{
    free(b->items);
    *b = (struct body){ 0 };
}

uint64_t body_request_key(const struct body *b, const uint8_t *data_digest, size_t digest_len)
{
    const struct places *p = b->places;
    uint64_t numbers[3] = { (uint64_t)p->program->number << 32 | p->program->version,
                            p->procedure->number, (uint64_t)b->walked };
    uint64_t key = XXH3_64bits(numbers, sizeof(numbers));

    for (uint32_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];

        if (!item->place->counts)
            continue;
        numbers[0] = item->place->index;
        numbers[1] = field_is_bytes(item->place->field) ? item->full_len : item->value;
        key = XXH3_64bits_withSeed(numbers, 2 * sizeof(numbers[0]), key);
        if (item->len)
            key = XXH3_64bits_withSeed(item->data, item->len, key);
        if (item->place->field->cls == CLASS_DATA && data_digest)
            key = XXH3_64bits_withSeed(data_digest, digest_len, key);
    }
    return key;
}
