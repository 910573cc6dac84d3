/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive_totals.c
 *
 * Counts of the original in the statistics at the end of the anonymized file: "messages.dropped
 * 12".  They are nowhere in the original, so all of them are survivors.
 */
#include "audit/survive_parts.h"

#include <stdlib.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz_."

enum { NAME_MAX_LEN = 48, DIGITS_MAX = 20 };

struct totals {
    struct survive *s;
    uint32_t count;
};

static int add_total(struct totals *t, const char *name, uint64_t value, struct err *err)
{
    struct survive_pair pair = { .numbers = { value, value } };
    uint32_t row;

    if (t->count == SURVIVE_TOTALS) {
        t->s->left_out++;
        return 0;
    }
    t->count++;
    if (survive_row(t->s, 0, name, SURVIVE_TOTAL, SURVIVE_NUMBER, NULL, &row, err) < 0)
        return -err->code;
    return row == TABLE_NONE ? 0 : survive_add(t->s, row, &pair, err);
}

/* A name and a number; another line is no count, and the audit finds it. */
static int add_line(struct totals *t, const char *line, size_t len, struct err *err)
{
    char name[NAME_MAX_LEN + 1], digits[DIGITS_MAX + 1];
    size_t n = 0, d = 0;

    while (n < len && n < NAME_MAX_LEN && strchr(LETTERS, line[n]) && line[n])
        n++;
    if (!n || n == len || line[n] != ' ')
        return 0;
    memcpy(name, line, n);
    name[n] = '\0';
    for (line += n + 1, len -= n + 1; d < len && d < DIGITS_MAX; d++) {
        if (line[d] < '0' || line[d] > '9')
            return 0;
        digits[d] = line[d];
    }
    digits[d] = '\0';
    return d && d == len ? add_total(t, name, strtoull(digits, NULL, 10), err) : 0;
}

static int on_option(void *ctx, const struct block *block, unsigned code, const uint8_t *text,
                     uint32_t len, struct err *err)
{
    uint32_t start = 0;
    int rc = 0;

    (void)block;
    if (code != 1) /* opt_comment */
        return 0;
    for (uint32_t i = 0; rc == 0 && i <= len; i++) {
        if (i < len && text[i] != '\n')
            continue;
        rc = add_line(ctx, (const char *)text + start, i - start, err);
        start = i + 1;
    }
    return rc;
}

static int on_block(void *ctx, const struct block *block, struct err *err)
{
    return block->kind == BLOCK_STATISTICS ? block_options(block, on_option, ctx, err) : 0;
}

int survive_totals(struct survive *s, struct err *err)
{
    struct totals t = { s, 0 };

    return blocks_read(s->options.anonymized, on_block, &t, err);
}
