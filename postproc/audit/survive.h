/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive.h
 *
 * Finds values of an original that are unchanged in its anonymized capture.  Both are aligned as
 * for an audit, and compared value by value, place by place; so is the data beside messages.  A
 * value that only appears at another place does not count here: the audit finds it.  Counts that
 * the anonymized file states at its end are listed as they are.
 *
 * Memory: two engines, ALIGN_BYTES of messages, SURVIVE_VALUES distinct values (88 bytes, and up to
 * 43 for finding them), SURVIVE_ENDS ends of connections.
 */
#ifndef NFSDIGEST_AUDIT_SURVIVE_H
#define NFSDIGEST_AUDIT_SURVIVE_H

#include "audit/item.h"

#include <stdio.h>

enum {
    SURVIVE_ROWS = 4096,
    SURVIVE_DISTINCT = 1 << 16, /* of one field: more are not told apart */
    SURVIVE_VALUES = 1 << 20,   /* of all fields */
    SURVIVE_BYTES = 32,         /* of a value that are shown */
    SURVIVE_ENDS = 1 << 16,
};

/* What values are of, beyond the classes of item.h. */
enum survive_class {
    SURVIVE_LENGTH = ITEM_CLASSES, /* of bytes and texts */
    SURVIVE_SUFFIX,                /* of names that were changed */
    SURVIVE_BITS,                  /* of modes that were changed */
    SURVIVE_DISTANCE,              /* of a file's time from that of the capture */
    SURVIVE_CAPTURED,              /* times of packets */
    SURVIVE_INTERVAL,              /* between these */
    SURVIVE_TRANSPORT,
    SURVIVE_PORT,
    SURVIVE_PREFIX,  /* that both addresses of a message share */
    SURVIVE_MESSAGE, /* lengths of messages */
    SURVIVE_END,     /* of a connection */
    SURVIVE_TOTAL,   /* counts of the original that the anonymized file states at its end */
    SURVIVE_CLASSES
};

/* Why values of a class stay, in the words of nfsdigest-policy(5). */
struct survive_reason {
    const char *name;    /* of the class */
    const char *topic;   /* in docs/releasing.md's "What no policy hides" */
    const char *kept;    /* where the rule keeps all; NULL: no built-in policy has such a rule */
    const char *special; /* which ones stay where the rule does not; NULL: none */
};
const struct survive_reason *survive_reason(unsigned cls);

struct survive_options {
    const char *original, *anonymized;
    const struct engine_options *engine;
};

struct survive;

/* NULL: they could not be compared, |err| says why. */
struct survive *survive_run(const struct survive_options *options, struct err *err);
void survive_free(struct survive *survive);

/* What the anonymized file says of itself; "" if it says nothing. */
const char *survive_policy(const struct survive *survive);
/* Whether a file ended in the middle of a packet: "original", "anonymized", or NULL. */
const char *survive_cut(const struct survive *survive);

/* The rule of a class, and of a field where it has one of its own, as "keep" or "keyed"; NULL: it
 * is not known.  Only asked of the classes of item.h; |place| is the field's path. */
typedef const char *survive_rule(void *ctx, unsigned cls, const char *place);

struct survive_show {
    survive_rule *rule;
    void *ctx;
    const char *policy;
    uint64_t examples; /* of each field */
};
/* Both sort what they print; 0 or negative. */
int survive_text(struct survive *survive, const struct survive_show *show, FILE *out,
                 struct err *err);
int survive_json(struct survive *survive, const struct survive_show *show, FILE *out,
                 struct err *err);

#endif
