/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_rules.h
 *
 * The rules of lint: schemas/lint.conf, which is built in, has their texts and the statuses that
 * RFC 1813 lists for each procedure.  The code that finds violations is in the other files of this
 * room.
 */
#ifndef NFSDIGEST_LINT_LINT_RULES_H
#define NFSDIGEST_LINT_LINT_RULES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* By the names in lint.conf. */
enum lint_id {
    LINT_MALFORMED_REPLY,
    LINT_MALFORMED_CALL,
    LINT_STATUS_UNDEFINED,
    LINT_STATUS_UNLISTED,
    LINT_NANOSECONDS,
    LINT_TYPE_UNDEFINED,
    LINT_TYPE_WRONG,
    LINT_TYPE_CHANGED,
    LINT_FILEID_CHANGED,
    LINT_READ_COUNT,
    LINT_READ_DATA,
    LINT_READ_EOF,
    LINT_WRITE_COUNT,
    LINT_WRITE_COMMITTED,
    LINT_WRITE_DATA,
    LINT_VERIFIER_RETURNED,
    LINT_VERIFIER_CHANGED,
    LINT_GUARD,
    LINT_GUARD_REFUSED,
    LINT_LISTING_SIZE,
    LINT_LISTING_DOUBLE,
    LINT_LISTING_NAME,
    LINT_SIZE_WRITTEN,
    LINT_SIZE_SET,
    LINT_CHANGED_UNSEEN,
    LINT_LINK_COUNT,
    LINT_READ_CONTENTS,
    LINT_READ_DIFFERS,
    LINT_STALE_WORKS,
    LINT_LISTING_LOSS,
    LINT_LISTING_AGAIN,
    LINT_NAME_LOST,
    LINT_NAME_RETURNED,
    LINT_NAME_CHANGED,
    LINT_HANDLE_CHANGED,
    LINT_MAKE_EXISTS,
    LINT_EXECUTED_TWICE,
    LINT_ANSWERS_DIFFER,
    LINT_STABLE_LOST,
    LINT_NOT_SENT_AGAIN,
    LINT_UNCOMMITTED,
    LINT_FILEID_SHARED,
    LINT_ACCESS_GRANTED,
    LINT_ACCESS_DENIED,
    LINT_WRITE_LIMIT,
    LINT_XID_REUSED,
    LINT_RULES
};

enum lint_level { LINT_ERROR = 1, LINT_SUSPECT, LINT_NOTE };

struct lint_rule {
    const char *name;    /* "read-count" */
    char *source, *text; /* "RFC 1813 s3.3.6"; a sentence that is true if there is no finding */
    enum lint_level level;
    bool blames_client;
};

enum { LINT_PROCEDURES = 22, LINT_STATUS_BITS = 128 };
struct lint_rules {
    struct lint_rule rule[LINT_RULES];
    uint64_t listed[LINT_PROCEDURES][LINT_STATUS_BITS / 64]; /* bits: see lint_listed */
};

/* Reads the rules from schemas/lint.conf. */
int lint_rules_load(struct lint_rules *rules, struct err *err);
/* Reads rules from |text|; messages name it |where|. */
int lint_rules_read(struct lint_rules *rules, const char *where, const char *text, struct err *err);
void lint_rules_free(struct lint_rules *rules);

/* Returns the number of the rule with this name, or -1. */
int lint_rule_find(const char *name);
/* Returns "error", "suspect" or "note". */
const char *lint_level_name(enum lint_level level);

/* Returns true if the RFC lists this status for this procedure of NFSv3. */
bool lint_listed(const struct lint_rules *rules, uint32_t procedure, uint32_t status);

#endif
