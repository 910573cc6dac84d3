/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/explanations.h
 *
 * Explanations of groups in words: from schemas/rules/causes.conf, which is built in, or a default
 * text if no cause there matches.
 */
#ifndef NFSDIGEST_JUDGE_EXPLANATIONS_H
#define NFSDIGEST_JUDGE_EXPLANATIONS_H

#include "base/err.h"

#include <stdint.h>

/* Severity of a difference, the most severe first. */
enum severity {
    SEVERITY_OUTCOME = 1, /* outcomes and contents */
    SEVERITY_REPLIES,
    SEVERITY_ATTRIBUTES,
    SEVERITY_LIMITS,
    SEVERITY_PERFORMANCE,
    SEVERITY_MAX
};

struct explanation {
    char *name, *kind, *operation, *field, *difference, *when; /* NULL: matches anything */
    char *title, *text; /* |title|: of all its groups, in a few words; NULL: none */
    uint8_t severity;   /* enum severity; 0: the kind decides */
};

struct explanations {
    struct explanation *list;
    uint32_t count, cap;
};

struct explained {
    const char *kind, *operation, *field, *difference; /* as table group has them */
    const char *when;                                  /* case_name(); NULL: no particular case */
};

int explanations_load(struct explanations *explanations, struct err *err);
/* Reads explanations from |text|.  Error messages name it |where|. */
int explanations_read(struct explanations *explanations, const char *where, const char *text,
                      struct err *err);
void explanations_free(struct explanations *explanations);

/* Returns "outcome", ... */
const char *severity_name(enum severity severity);

/* Returns the first explanation that matches, or NULL. */
const struct explanation *explanations_find(const struct explanations *explanations,
                                            const struct explained *of);

#endif
