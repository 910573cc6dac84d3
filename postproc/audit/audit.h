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
 * Memory: two engines, and ahead.h for each; with the key, recompute.h; secret.h, search.h, pairs.h
 * and form.h; base/queue.h of notes on frames from which to collect; ALIGN_BYTES of messages in
 * slab.h, and as many again on their way there; HITS_MAX hits.
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
    const char *policy;      /* what is expected; NULL: what the file says of itself */
    const char *policy_file; /* its file when it is one's own, or NULL */
    const char *allow;       /* a further allow-list, or NULL */
    const struct engine_options *engine;
    /* Or NULL. */
    const struct progress *progress;
    const struct key *key;           /* with it all is made again and compared, or NULL */
    const struct policy *key_policy; /* by this one; NULL: the built-in one of the name */
    uint32_t per_class;              /* bounds of secret.h and pairs.h; 0: theirs */
};

struct audit;

/* Does all of it. NULL: neither file could be judged, |err| says why. */
struct audit *audit_run(const struct audit_options *options, struct err *err);
void audit_free(struct audit *audit);

/* The audit of which |text|, a redacted report in JSON, tells: its redacted reports in JSON and
 * HTML are, byte for byte, those of that audit, when nothing but figures was changed in |text|.
 * Policy and provenance are what the capture says.  |db|: any, for SQLite's functions of JSON. */
struct audit *audit_restore(sqlite3 *db, const char *text, size_t len, const char *policy,
                            const char *policy_digest, const char *provenance, struct err *err);

uint64_t audit_findings(const struct audit *audit);

/* Whether a file ended in the middle of a packet: "original", "anonymized", or NULL. */
const char *audit_cut(const struct audit *audit);

/* Reports.  |redact| leaves out what the original says: values, and names of files. */
void audit_text(const struct audit *audit, bool redact, FILE *out);
void audit_json(const struct audit *audit, bool redact, FILE *out);
void audit_html(const struct audit *audit, bool redact, FILE *out);

/* --- accepting findings, one by one --- */

/* A finding; or those of one kind and class that are too many to be shown, as one. */
struct audit_item {
    char id[17]; /* the same in every run over the same files */
    const char *kind, *what;
    uint64_t count;
};
typedef int audit_visit(void *ctx, const struct audit_item *item, struct err *err);
/* Calls |visit| for each until it returns something else than 0, which is returned. */
int audit_each(const struct audit *audit, audit_visit *visit, void *ctx, struct err *err);
/* The same for each kind and class, with an empty |id|. */
int audit_each_class(const struct audit *audit, audit_visit *visit, void *ctx, struct err *err);

/* Writes a file in which reasons can be put behind the identities of findings, for package
 * --accept; comments in it quote the original.  -ERR_USAGE: |path| exists. */
int audit_template(const struct audit *audit, const char *path, struct err *err);

/* From here on reports give the numbers of findings by kind and class, and no finding. */
void audit_withhold(struct audit *audit);

/* Prints what can still be inferred, without quoting the original. */
void audit_residual(const struct audit *audit,
                    void (*line)(void *ctx, const char *topic, const char *text), void *ctx);

#endif
