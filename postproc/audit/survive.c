/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive.c
 *
 * Keeps what is compared: a row for each field and class, an entry for each distinct value.  What
 * is above the bounds is counted, and not told apart.  survive_run lets audit_align.c find the
 * pairs of messages; survive_pair.c, survive_ends.c and survive_totals.c add the values.  For
 * "nfsdigest policy survives".  The contract is in survive.h, what the parts share in
 * survive_parts.h.
 */
#include "audit/survive_parts.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>

/* --- rows --- */

static uint64_t name_hash(const char *place, unsigned cls)
{
    return XXH3_64bits_withSeed(place, strlen(place), cls + 1);
}

static uint32_t find_row(const struct survive *s, const char *place, unsigned cls)
{
    uint64_t hash = name_hash(place, cls);
    uint32_t at, slot;

    for (slot = table_first(&s->row_name, hash, &at); slot != TABLE_NONE;
         slot = table_next(&s->row_name, hash, &at))
        if (s->rows[slot].cls == cls && strcmp(s->rows[slot].place, place) == 0)
            break;
    return slot;
}

static int new_row(struct survive *s, const char *place, unsigned cls, unsigned kind,
                   const char *wireshark)
{
    struct survive_row *row;

    if (GROW(s->rows, s->row_count, s->row_cap) < 0)
        return -ERR_SYSTEM;
    if (table_add(&s->row_name, name_hash(place, cls), s->row_count) < 0)
        return -ERR_SYSTEM;
    row = &s->rows[s->row_count++];
    memset(row, 0, sizeof(*row));
    snprintf(row->place, sizeof(row->place), "%s", place);
    row->cls = (uint8_t)cls;
    row->kind = (uint8_t)kind;
    row->wireshark = wireshark;
    return 0;
}

int survive_row(struct survive *s, uint64_t hash, const char *place, unsigned cls, unsigned kind,
                const char *wireshark, uint32_t *row, struct err *err)
{
    *row = find_row(s, place, cls);
    if (*row == TABLE_NONE && s->row_count < SURVIVE_ROWS) {
        *row = s->row_count;
        if (new_row(s, place, cls, kind, wireshark) < 0)
            return err_memory(err, "fields");
    }
    if (hash && *row != TABLE_NONE && table_add(&s->row_of, hash, *row) < 0)
        return err_memory(err, "fields");
    return 0;
}

/* --- values --- */

static struct survive_value *find_value(const struct survive *s, const uint64_t key[2])
{
    uint32_t at, slot;

    for (slot = table_first(&s->value_of, key[0], &at); slot != TABLE_NONE;
         slot = table_next(&s->value_of, key[0], &at))
        if (s->values[slot].key[1] == key[1])
            return &s->values[slot];
    return NULL;
}

static struct survive_value *new_value(struct survive *s, uint32_t row,
                                       const struct survive_pair *pair, const uint64_t key[2])
{
    struct survive_value *v;
    uint32_t len = pair->original.len;

    if (GROW(s->values, s->value_count, s->value_cap) < 0)
        return NULL;
    if (table_add(&s->value_of, key[0], s->value_count) < 0)
        return NULL;
    v = &s->values[s->value_count++];
    memset(v, 0, sizeof(*v));
    memcpy(v->key, key, sizeof(v->key));
    v->row = row;
    v->number = pair->numbers[0];
    v->len = len;
    v->special = pair->special;
    if (len)
        memcpy(v->data, pair->original.data, len < SURVIVE_BYTES ? len : SURVIVE_BYTES);
    return v;
}

int survive_add(struct survive *s, uint32_t at, const struct survive_pair *pair, struct err *err)
{
    struct survive_row *row = &s->rows[at];
    bool number = row->kind == SURVIVE_NUMBER, same;
    const void *data = number ? (const void *)&pair->numbers[0] : pair->original.data;
    uint32_t len = number ? 8 : pair->original.len;
    XXH128_hash_t hash = XXH3_128bits_withSeed(data, len, at + 1);
    uint64_t key[2] = { hash.low64, hash.high64 };
    struct survive_value *v = find_value(s, key);

    same = number ? pair->numbers[0] == pair->numbers[1]
                  : len == pair->anonymized.len &&
                        (!len || memcmp(data, pair->anonymized.data, len) == 0);
    row->values++;
    row->same += same;
    row->same_special += same && pair->special;
    if (!v && (row->distinct == SURVIVE_DISTINCT || s->value_count == SURVIVE_VALUES)) {
        row->more++;
        row->more_same += same;
        return 0;
    }
    if (!v) {
        v = new_value(s, at, pair, key);
        if (!v)
            return err_memory(err, "values");
        row->distinct++;
    }
    v->uses++;
    v->same += same;
    return 0;
}

/* --- all of it --- */

static int run(struct survive *s, struct err *err)
{
    struct audit *a = &s->audit;
    int rc = allow_load(&a->allow, NULL, err);

    if (rc == 0)
        rc = audit_stated(a, err);
    if (rc == 0)
        rc = align_captures(a, err);
    if (rc == 0)
        rc = survive_ends(s, err);
    if (rc == 0)
        rc = survive_totals(s, err);
    if (rc == 0 && !a->matched)
        return err_set(err, ERR_INPUT, "no message of one capture is in the other");
    return rc;
}

struct survive *survive_run(const struct survive_options *options, struct err *err)
{
    struct survive *s = calloc(1, sizeof(*s));

    if (!s) {
        err_memory(err, "fields");
        return NULL;
    }
    s->options = (struct audit_options){ .original = options->original,
                                         .anonymized = options->anonymized,
                                         .engine = options->engine };
    s->audit.options = &s->options;
    s->audit.survive = s;
    if (run(s, err) == 0)
        return s;
    survive_free(s);
    return NULL;
}

void survive_free(struct survive *s)
{
    if (!s)
        return;
    allow_free(&s->audit.allow);
    table_free(&s->row_of);
    table_free(&s->row_name);
    table_free(&s->value_of);
    free(s->rows);
    free(s->values);
    free(s->order);
    free(s->item_rows);
    free(s->ends[0]);
    free(s->ends[1]);
    free(s);
}

const char *survive_policy(const struct survive *s)
{
    return s->audit.stated_policy;
}

const char *survive_cut(const struct survive *s)
{
    return audit_cut(&s->audit);
}
