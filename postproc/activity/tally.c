/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/tally.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int64_t tally_get(struct tally *t, const int64_t key[ACTIVITY_KEY])
{
    uint64_t hash = XXH3_64bits(key, ACTIVITY_KEY * sizeof(*key));
    uint32_t at;

    for (uint32_t i = table_first(&t->table, hash, &at); i != TABLE_NONE;
         i = table_next(&t->table, hash, &at))
        if (memcmp(t->entries[i].key, key, sizeof(t->entries[i].key)) == 0)
            return i;
    if (t->count == ACTIVITY_GROUPS) {
        t->beyond++;
        return TALLY_BEYOND;
    }
    if (GROW(t->entries, t->count, t->cap) < 0 || table_add(&t->table, hash, t->count) < 0)
        return TALLY_NO_MEMORY;
    t->entries[t->count] = (struct tally_entry){ .label = NULL };
    memcpy(t->entries[t->count].key, key, sizeof(t->entries->key));
    return t->count++;
}

void tally_free(struct tally *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        free(t->entries[i].label);
    free(t->entries);
    table_free(&t->table);
}

int couples_count(struct couples *p, uint32_t a, uint32_t b)
{
    const uint32_t both[] = { a, b };
    uint64_t hash = XXH3_64bits(both, sizeof(both));
    uint32_t at;

    for (uint32_t i = table_first(&p->table, hash, &at); i != TABLE_NONE;
         i = table_next(&p->table, hash, &at))
        if (p->couples[i].a == a && p->couples[i].b == b) {
            p->couples[i].operations++;
            return 0;
        }
    if (p->count == ACTIVITY_COUPLES)
        return 0;
    if (GROW(p->couples, p->count, p->cap) < 0 || table_add(&p->table, hash, p->count) < 0)
        return -1;
    p->couples[p->count++] = (struct couple){ a, b, 1 };
    return 0;
}

void couples_free(struct couples *p)
{
    free(p->couples);
    table_free(&p->table);
}

/* --- a heap whose first entry is the one that goes next */

static int larger_first(const void *a, const void *b)
{
    const struct top_entry *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static void swap(struct top_entry *a, struct top_entry *b)
{
    struct top_entry kept = *a;

    *a = *b;
    *b = kept;
}

static void sink(struct top *top)
{
    for (uint32_t i = 0, child; (child = 2 * i + 1) < top->count; i = child) {
        struct top_entry *e = top->entries;

        if (child + 1 < top->count && larger_first(&e[child + 1], &e[child]) > 0)
            child++;
        if (larger_first(&e[i], &e[child]) >= 0)
            break;
        swap(&e[i], &e[child]);
    }
}

void top_offer(struct top *top, int64_t value, int64_t id)
{
    const struct top_entry entry = { value, id };
    struct top_entry *e = top->entries;

    if (top->count < top->most) {
        uint32_t i = top->count++;

        e[i] = entry;
        for (; i && larger_first(&e[i], &e[(i - 1) / 2]) > 0; i = (i - 1) / 2)
            swap(&e[i], &e[(i - 1) / 2]);
    } else if (top->most && larger_first(&entry, &e[0]) < 0) {
        e[0] = entry;
        sink(top);
    }
}

void top_sort(struct top *top)
{
    qsort(top->entries, top->count, sizeof(*top->entries), larger_first);
}
