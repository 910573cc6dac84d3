/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/blocks.h"
#include "audit/leak.h"

#include <stdlib.h>

/* The item that begins at |offset| or last before it: they are in their order. */
uint32_t leak_item_at(const struct items *items, uint32_t offset)
{
    uint32_t low = 0, high = items->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (items->all[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

void leak_find(struct leak *l, const struct secret *s, const struct hit *raw, uint32_t at)
{
    struct audit *a = l->audit;
    struct finding f = { .kind = FOUND_LEAK,
                         .what = secret_class_name(s->cls),
                         .offset = raw ? (int64_t)raw->offset : -1,
                         .frame = raw ? raw->frame : 0,
                         .original_frame = s->frame };

    if (l->message) {
        f.frame = l->message->frame;
        item_path(l->message, &l->items, leak_item_at(&l->items, at), f.place);
    } else {
        snprintf(f.place, sizeof(f.place), "%s",
                 raw && raw->block == BLOCK_PACKET ? "outside of messages"
                                                   : block_kind_name(raw ? raw->block : 0));
    }
    f.original = f.anonymized = quote_bytes(s->data, s->len);
    snprintf(f.text, sizeof(f.text), "%s%s", s->form == FORM_REVERSED ? "reversed" : "",
             s->frame ? "" : "from the original file's metadata");
    a->leaks[s->cls].findings += s->len >= SECRET_LONG;
    audit_find(a, &f);
}

struct doubtful {
    uint32_t count;    /* hits of which all bytes depend on the key */
    uint32_t partial;  /* hits beside bytes that stay */
    uint32_t first;    /* index of a hit of either kind */
    uint32_t freest;   /* of the partial ones, that with the most bytes that depend on the key */
    uint8_t free_most; /* their number */
    uint32_t crossing; /* hits that lie in two values */
    uint32_t least;    /* of these, that with the fewest bytes that count */
};

static void note_doubtful(const struct leak *l, uint32_t index, struct doubtful *x)
{
    const struct hit *hit = &l->hits[index];

    if (!x->count && !x->partial && !x->crossing)
        x->first = index;
    if (hit->crosses) {
        if (!x->crossing++ || hit->free_len < l->hits[x->least].free_len)
            x->least = index;
    } else if (!hit->free_len) {
        x->count++;
    } else {
        x->partial++;
        if (hit->free_len > x->free_most) {
            x->free_most = hit->free_len;
            x->freest = index;
        }
    }
}

/* Whether the bytes of |s| that count in |hit| come |count| times, more often than chance has. */
static bool is_part_too_often(const struct chains *chains, const struct secret *s,
                              const struct hit *hit, uint32_t count, double limit)
{
    return count && chance_of(count, MODEL_ERROR * chains_expected(chains, s->data + hit->free_at,
                                                                   hit->free_len, count)) < limit;
}

/* Whether there are more of them than chance has.  Of those beside bytes that stay, chance needs
 * the others only. */
static bool is_too_many(const struct leak *l, const struct secret *s, const struct doubtful *x,
                        double limit)
{
    const struct chains *chains = &l->audit->chains;

    if (x->count && chance_of(x->count, MODEL_ERROR * chains_expected(chains, s->data, s->len,
                                                                      x->count)) < limit)
        return true;
    return is_part_too_often(chains, s, &l->hits[x->freest], x->partial, limit) ||
           is_part_too_often(chains, s, &l->hits[x->least], x->crossing, limit);
}

int leak_judge_doubtful(struct leak *l, struct err *err)
{
    struct audit *a = l->audit;
    struct doubtful *found = calloc(a->secrets.count + 1, sizeof(*found));

    if (!found)
        return err_memory(err, "hits");
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->hits[i].is_doubtful && l->hits[i].state == HIT_OPEN)
            note_doubtful(l, i, &found[l->hits[i].secret]);
    }
    for (uint32_t i = 0; i < a->secrets.count; i++) {
        const struct secret *s = leak_secret(l, i);
        struct leak_row *row = &a->leaks[s->cls];

        row->short_count += s->len < SECRET_LONG;
        row->doubtful += found[i].count;
        row->expected += chains_expected(&a->chains, s->data, s->len, found[i].count);
    }
    for (unsigned c = 0; c < SECRET_MAX; c++)
        a->leaks[c].probability =
            chance_of(a->leaks[c].doubtful, MODEL_ERROR * a->leaks[c].expected);
    for (uint32_t i = 0; i < a->secrets.count; i++) {
        const struct secret *s = leak_secret(l, i);
        double limit = CHANCE_LIMIT / a->secrets.classes[s->cls].count;

        if ((found[i].count && a->leaks[s->cls].probability < CHANCE_LIMIT) ||
            is_too_many(l, s, &found[i], limit))
            leak_find(l, s, &l->hits[found[i].first], 0);
    }
    free(found);
    return 0;
}

void leak_judge_long(struct leak *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (!l->hits[i].is_doubtful && l->hits[i].state == HIT_OPEN &&
            l->audit->leaks[leak_secret(l, l->hits[i].secret)->cls].findings < LEAKS_MAX)
            leak_find(l, leak_secret(l, l->hits[i].secret), &l->hits[i], 0);
}
