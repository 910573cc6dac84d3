/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit.h
 *
 * Checks an anonymized capture for leaks.  The audit collects everything in the original that
 * identifies somebody, from decoded messages and from raw bytes.  Then it searches every byte of
 * the anonymized file for these secrets, and compares the messages of both captures value by value.
 * It shares no code with engine/anon: the anonymizer trusts its rules, and the audit trusts only
 * what it sees.  The exception is the check with the key (recompute.h), which anonymizes the
 * original again and compares the results.  That part also says what SHA-256 a policy has.
 *
 * Threads: each capture is decoded in its own thread, and secrets are collected in another one.
 * They pass their results on in an order that does not depend on time, so the report is always the
 * same.
 *
 * Memory: two engines, with ahead.h for each; secret.h, search.h, pairs.h and form.h; base/queue.h,
 * with notes on frames; ALIGN_BYTES of messages in slab.h, and as many again on their way there;
 * HITS_MAX hits; with the key, recompute.h.
 */
#ifndef NFSDIGEST_AUDIT_AUDIT_H
#define NFSDIGEST_AUDIT_AUDIT_H

#include "capture/progress.h"
#include "engine.h"

#include <sqlite3.h>
#include <stdio.h>

struct key;
struct policy;

struct audit_options {
    const char *original, *anonymized;
    const char *policy;      /* the expected policy; NULL: the one that the file states */
    const char *policy_file; /* its file, if it is not built in; or NULL */
    const char *allow;       /* a further allow-list, or NULL */
    const struct engine_options *engine;
    /* Or NULL. */
    const struct progress *progress;
    const struct key *key;           /* anonymizes again with it and compares; or NULL */
    const struct policy *key_policy; /* the policy for |key|; NULL: the built-in one of that name */
    uint32_t per_class;              /* bounds of secret.h and pairs.h; 0: their defaults */
};

struct audit;

/* Runs the whole audit.  Returns NULL if the files could not be judged; |err| says why. */
struct audit *audit_run(const struct audit_options *options, struct err *err);
void audit_free(struct audit *audit);

/* Restores an audit from |text|, its redacted report in JSON.  The redacted JSON and HTML reports
 * of the restored audit are byte for byte those of the first one, if only figures were changed in
 * |text|.  Policy and provenance are what the capture says.  |db| may be any database; it is used
 * for SQLite's JSON functions. */
struct audit *audit_restore(sqlite3 *db, const char *text, size_t len, const char *policy,
                            const char *policy_digest, const char *provenance, struct err *err);

uint64_t audit_findings(const struct audit *audit);

/* Returns "original" or "anonymized" if that file ended in the middle of a packet.  Returns NULL if
 * neither did. */
const char *audit_cut(const struct audit *audit);

/* Reports.  |redact| leaves out the data of the original: values, and names of files. */
void audit_text(const struct audit *audit, bool redact, FILE *out);
void audit_json(const struct audit *audit, bool redact, FILE *out);
void audit_html(const struct audit *audit, bool redact, FILE *out);

/* --- accepting findings, one by one --- */

/* A finding.  If one kind and class has too many findings to show, the rest is one item. */
struct audit_item {
    char id[17]; /* the same in every run over the same files */
    const char *kind, *what;
    uint64_t count;
};
typedef int audit_visit(void *ctx, const struct audit_item *item, struct err *err);
/* Calls |visit| for each item until it returns something other than 0.  Returns that. */
int audit_each(const struct audit *audit, audit_visit *visit, void *ctx, struct err *err);
/* Does the same for each kind and class, with an empty |id|. */
int audit_each_class(const struct audit *audit, audit_visit *visit, void *ctx, struct err *err);

/* Writes a file in which the user can add a reason to the identity of each finding, for package
 * --accept.  Comments in it quote the original.  Returns -ERR_USAGE if |path| exists. */
int audit_template(const struct audit *audit, const char *path, struct err *err);

/* After this, reports give only the numbers of findings by kind and class. */
void audit_withhold(struct audit *audit);

/* Prints what can still be inferred, without quoting the original. */
void audit_residual(const struct audit *audit,
                    void (*line)(void *ctx, const char *topic, const char *text), void *ctx);

#endif
