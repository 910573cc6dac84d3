/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/causes.h
 *
 * Explanations of groups in words: schemas/rules/causes.conf, which is built in, and what is said
 * where that knows nothing.
 */
#ifndef NFSDIGEST_COMPARE_CAUSES_H
#define NFSDIGEST_COMPARE_CAUSES_H

#include "base/err.h"

#include <stdint.h>

/* How grave a difference is, the gravest first. */
enum severity {
    SEVERITY_OUTCOME = 1, /* and contents */
    SEVERITY_REPLIES,
    SEVERITY_ATTRIBUTES,
    SEVERITY_LIMITS,
    SEVERITY_PERFORMANCE,
    SEVERITY_MAX
};

struct cause {
    char *name, *kind, *operation, *field, *difference, *when, *text; /* NULL: fits anything */
    uint8_t severity; /* enum severity; 0: the kind decides */
};

struct causes {
    struct cause *causes;
    uint32_t count, cap;
};

struct cause_of {
    const char *kind, *operation, *field, *difference; /* as table group has them */
    const char *when; /* case_name(); NULL: of no particular case */
};

int causes_load(struct causes *causes, struct err *err);
/* From a text that is called |where|. */
int causes_read(struct causes *causes, const char *where, const char *text, struct err *err);
void causes_free(struct causes *causes);

/* "outcome", ... */
const char *severity_name(enum severity severity);

/* The first that fits, or NULL. */
const struct cause *causes_find(const struct causes *causes, const struct cause_of *of);

#endif
