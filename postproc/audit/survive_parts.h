/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive_parts.h
 *
 * Shared by the files of survive.h.
 */
#ifndef NFSDIGEST_AUDIT_SURVIVE_PARTS_H
#define NFSDIGEST_AUDIT_SURVIVE_PARTS_H

#include "audit/audit_parts.h"
#include "audit/survive.h"

enum survive_kind { SURVIVE_NUMBER, SURVIVE_BYTE_STRING, SURVIVE_ADDRESS };

/* One distinct value of the original in a field. */
struct survive_value {
    uint64_t key[2]; /* of row and value */
    uint64_t uses, same;
    uint64_t number;
    uint32_t len, row;
    bool special; /* may stay under any rule: 0, root, "..", ... */
    uint8_t data[SURVIVE_BYTES];
};

struct survive_row {
    char place[WALK_PATH_MAX];
    const char *wireshark; /* display filter, or NULL */
    uint8_t cls, kind;
    uint8_t base; /* of parts of values: the class of the whole values, whose rule decides */
    uint64_t values, same, same_special;
    uint64_t more;      /* values above the limit of distinct ones */
    uint64_t more_same; /* those of |more| that are the same */
    uint32_t distinct;
    uint32_t first, count; /* for reports: its survivors in |order| */
    uint64_t distinct_same, distinct_special;
    double by_chance; /* distinct other values that would be the same if pseudonyms were random */
};

struct survive_end {
    int64_t time;
    uint16_t port[2]; /* of the end that closed it, and of the other */
    uint8_t kind;     /* enum flow_end_kind */
};

struct survive {
    struct audit audit; /* aligns, and decides what may stay */
    struct audit_options options;
    struct survive_row *rows;
    uint32_t row_count, row_cap;
    struct table row_of;   /* by hash of the place in the tables */
    struct table row_name; /* by hash of name and class */
    struct survive_value *values;
    uint32_t value_count, value_cap;
    struct table value_of;
    uint32_t *order; /* survivors, for reports */
    uint32_t *item_rows;
    uint32_t item_cap;
    struct survive_end *ends[2];
    uint32_t end_count[2], end_cap[2];
    uint64_t left_out; /* values and ends that were not compared, as there were too many */
    int64_t last_time[2];
    bool has_last;
};

struct survive_pair {
    struct pair_value original, anonymized;
    uint64_t numbers[2];
    bool special;
};

/* Finds or makes the row of |place|.  |hash| is the place in the tables; 0: look it up by name.
 * |*row| is TABLE_NONE if there are too many.  Fails only if there is no memory. */
int survive_row(struct survive *s, uint64_t hash, const char *place, unsigned cls, unsigned kind,
                const char *wireshark, uint32_t *row, struct err *err);
/* Adds a value of the row, and the value at its place in the anonymized file. */
int survive_add(struct survive *s, uint32_t row, const struct survive_pair *pair, struct err *err);

/* survive_pair.c: compares two messages that belong together.  |c| has read both. */
int survive_messages(struct survive *s, const struct comparer *c, const struct audit_message *o,
                     const struct audit_message *n, struct err *err);

/* survive_ends.c: callbacks for source.h; survive_ends compares both after all was read */
int survive_original_over(void *survive, const struct flow_over *over, struct err *err);
int survive_over(void *survive, const struct flow_over *over, struct err *err);
int survive_ends(struct survive *s, struct err *err);

/* survive_totals.c: reads the counts at the anonymized file's end, at most SURVIVE_TOTALS */
enum { SURVIVE_TOTALS = 256 };
int survive_totals(struct survive *s, struct err *err);

#endif
