/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/found.h
 *
 * Shared by found*.c: groups in memory.
 *
 * Memory: about 400 bytes for each group and each kind of withheld comparison.  There are as many
 * as there are fields, kinds of difference, and pairs of statuses.
 */
#ifndef NFSDIGEST_COMPARE_FOUND_H
#define NFSDIGEST_COMPARE_FOUND_H

#include "judge/explanations.h"
#include "compare/compare_pairs.h"

enum { EXAMPLES = 3, SLOWEST = 20, TIMED_MAX = 256, UNCERTAIN_KEPT = 1000 };

struct example {
    int64_t discrepancy, alignment, operation[SIDES]; /* 0: none */
    uint32_t object;
};

struct group {
    enum difference_kind kind;
    enum difference_case when;
    bool scrubs; /* found by a shadow's own questions (COUNTERPART_SCRUBS) */
    const struct explanation *explanation; /* set when groups are written */
    enum severity severity;
    uint32_t cause; /* id in table cause, set when groups are written */
    const struct place *place;
    const struct compare_rule *rule;
    uint32_t program, version;
    const struct procedure *procedure; /* or NULL */
    char *field, *what;
    uint64_t count;
    const struct compare_rule *accepted; /* by this rule: only counted; NULL: by none */
    uint32_t number;                     /* id in the table, set when it is written */
    struct example examples[EXAMPLES];
    uint32_t example_count;
};

struct withheld {
    enum withheld_reason reason;
    const struct place *place;
    uint32_t program, version;
    const struct procedure *procedure;
    uint64_t count;
    int64_t ref, sut;
};

struct slow {
    int64_t alignment, ref, sut, latency[SIDES];
};

/* A procedure with latencies. */
struct timed {
    uint32_t program, version;
    const struct procedure *procedure;
    uint64_t count;
};

struct found {
    struct group *groups;
    uint32_t group_count, group_cap;
    struct table by_hash;
    struct withheld *withheld;
    uint32_t withheld_count, withheld_cap;
    struct table by_reason;
    struct timed timed[TIMED_MAX]; /* there are no more procedures */
    uint32_t timed_count;
    struct slow slowest[SLOWEST];
    uint32_t slow_count;
    uint64_t discrepancies, accepted, withheld_total; /* |accepted|: by rules for whole groups */
    uint64_t uncertain[KIND_MAX];
    sqlite3_stmt *put, *frame, *latency, *uncertain_put;
};

/* Writes "NFS READ", or "" if there is no procedure. */
void operation_words(uint32_t program, const struct procedure *procedure, char text[64]);

/* explain.c: explanations in words */
enum { EXPLANATION_MAX = 512 };
/* Fills in the {words} of |template|, a text of schemas/rules/causes.conf.  Returns |text|, or NULL
 * after an error. */
const char *explain_group(struct pairs *p, const struct group *group, const char *template,
                          char text[EXPLANATION_MAX], struct err *err);
/* Returns the side that a difference mentions first: SUT for "only sut". */
int explain_subject(const char *difference);

/* compare_causes.c: what groups have in common. */
struct cause {
    const struct explanation *explanation; /* NULL: the group |number| stands alone */
    enum severity severity;                /* the gravest one of its groups */
    uint64_t count;                        /* discrepancies */
    uint32_t number;                       /* of its first group, as it came up */
};
/* Gives each group its cause, by |explanation| and |severity|.  *|causes|, to be freed with free(),
 * has them in the order of their ids, from 1. */
int causes_find(struct found *f, const struct explanations *explanations, struct cause **causes,
                uint32_t *count, struct err *err);

/* Returns "directory", ..., or NULL: a word of causes.conf and of rules. */
const char *case_name(enum difference_case when);

/* compare_groups.c: tables cause, group, rule, compared, withheld. */
int groups_write(struct pairs *p, struct err *err);
/* latency.c: tables performance, latency, slowest. */
int latency_write(struct pairs *p, struct err *err);
/* phase_table.c: table phase, and column phase of discrepancies. */
int phases_write(struct pairs *p, struct err *err);
/* examples.c: tables step and operation; needs the indexes of the result. */
int examples_write(struct pairs *p, struct err *err);

#endif
