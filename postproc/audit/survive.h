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
    SURVIVE_DISTINCT = 1 << 16, /* of one field; further ones are only counted */
    SURVIVE_VALUES = 1 << 20,   /* of all fields */
    SURVIVE_BYTES = 32,         /* of a value that are shown */
    SURVIVE_ENDS = 1 << 16,
};

/* Classes of values, in addition to those of item.h. */
enum survive_class {
    SURVIVE_LENGTH = ITEM_CLASSES, /* of bytes and texts */
    SURVIVE_SUFFIX,                /* of names that were changed */
    SURVIVE_BITS,                  /* of modes that were changed */
    SURVIVE_DISTANCE,              /* from a file's time to the time of the capture */
    SURVIVE_CAPTURED,              /* times of packets */
    SURVIVE_INTERVAL,              /* between times of packets */
    SURVIVE_TRANSPORT,
    SURVIVE_PORT,
    SURVIVE_PREFIX,  /* shared by both addresses of a message */
    SURVIVE_MESSAGE, /* lengths of messages */
    SURVIVE_END,     /* of a connection */
    SURVIVE_TOTAL,   /* counts of the original that the anonymized file states at its end */
    SURVIVE_CLASSES
};

/* Says why values of a class stay, in the words of nfsdigest-policy(5). */
struct survive_reason {
    const char *name;    /* of the class */
    const char *topic;   /* in docs/releasing.md's "What no policy hides" */
    const char *kept;    /* if the rule keeps all values; NULL: no built-in rule does */
    const char *special; /* the values that stay if the rule does not keep all; NULL: none */
};
const struct survive_reason *survive_reason(unsigned cls);

struct survive_options {
    const char *original, *anonymized;
    const struct engine_options *engine;
};

struct survive;

/* Compares the two files.  Returns NULL if that is not possible; |err| says why. */
struct survive *survive_run(const struct survive_options *options, struct err *err);
void survive_free(struct survive *survive);

/* Returns the policy that the anonymized file states, or "" if it states none. */
const char *survive_policy(const struct survive *survive);
/* Returns "original" or "anonymized" if that file ended in the middle of a packet.  Returns NULL if
 * neither did. */
const char *survive_cut(const struct survive *survive);

/* Returns the rule of a class, or of a field that has a rule of its own: "keep", "keyed", ...
 * |place| is the field's path.  Returns NULL if the rule is not known.  Called only for the classes
 * of item.h. */
typedef const char *survive_rule(void *ctx, unsigned cls, const char *place);

struct survive_show {
    survive_rule *rule;
    void *ctx;
    const char *policy;
    uint64_t examples; /* of each field */
};
/* Both sort what they print.  They return 0 or a negative code. */
int survive_text(struct survive *survive, const struct survive_show *show, FILE *out,
                 struct err *err);
int survive_json(struct survive *survive, const struct survive_show *show, FILE *out,
                 struct err *err);

#endif
