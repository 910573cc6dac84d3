/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/place.h
 *
 * The fields of a procedure's arguments or result in the order of its table, each with its path and
 * its rules.  The fields of a walk are looked up in it.
 */
#ifndef NFSDIGEST_RULES_PLACE_H
#define NFSDIGEST_RULES_PLACE_H

#include "base/table.h"
#include "rules/rules.h"
#include "effect/effect.h"
#include "wire/walk.h"

enum stamp { STAMP_NONE, STAMP_ATIME, STAMP_MTIME, STAMP_CTIME };

struct place_counts {
    uint64_t equal, different, withheld, ignored;
};

struct place {
    const struct field *field;
    char *path; /* for times without the last part: "READ3res.resok.file_attributes.mtime" */
    const struct compare_rule **rules; /* rules_pick; NULL in arguments */
    uint32_t index;
    uint32_t end;   /* index of the first place that is not below this one */
    bool is_time;   /* seconds; includes the fraction, if there is one */
    bool is_part;   /* the fraction of the place before */
    uint32_t scale; /* ns of one unit of the fraction */
    bool counts;    /* in arguments: it counts when requests are compared */
    /* set when a walk first reaches it: */
    bool seen;
    bool in_list;
    bool of_before; /* wcc_attr */
    bool has_whose;
    uint8_t stamp; /* enum stamp: which time of a file */
    uint8_t whose; /* enum whose: the object that it is an attribute of */
    struct place_counts n;
};

struct places {
    const struct program *program;
    const struct procedure *procedure;
    bool result;
    struct place *places;
    uint32_t count;
    struct table by_chain; /* fields that lead to a place, to its index */
};

/* Returns the place of a walk's current field.  NULL: no memory. */
struct place *places_at(struct places *places, const struct visit *visit);

/* Places of the results and arguments of all procedures, made when first needed. */
struct places_set {
    const struct rules *rules; /* live as long */
    uint32_t count, cap;
    struct places **list;
};
struct places_key {
    uint32_t program, version;
    const struct procedure *procedure;
    bool result; /* false: arguments */
};
int places_get(struct places_set *set, const struct places_key *key, struct places **places,
               struct err *err);
void places_set_free(struct places_set *set);

#endif
