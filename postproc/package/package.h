/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/package.h
 *
 * Makes a release of a trace for the public, in one tar.zst archive: the anonymized capture, the
 * report of the audit, the database and the replay dump that are made from the capture, statistics,
 * plots, formats and checksums.  docs/releasing.md says what is in it.
 *
 * The same captures, key, options and versions of program and libraries give the same bytes: names
 * are sorted, times are the trace's end (or SOURCE_DATE_EPOCH), owners are 0.
 */
#ifndef NFSDIGEST_PACKAGE_PACKAGE_H
#define NFSDIGEST_PACKAGE_PACKAGE_H

#include "base/err.h"
#include "capture/progress.h"
#include "engine.h"

#include <stdio.h>

enum {
    PACKAGE_NAME_MAX = 64,
    PACKAGE_TITLE_MAX = 200,
    PACKAGE_DESCRIPTION_MAX = 64 << 10,
    PACKAGE_TEXT_MAX = 16 << 20, /* maximum bytes of README.md, SHA256SUMS, ... to check */
};
#define PACKAGE_BYTES_MAX (UINT64_C(64) << 30) /* unpacked, unless more is allowed */

struct package_options {
    const char *output;
    bool force; /* replace it */
    const char *key, *policy;
    const char *name;        /* of the folder in the archive; NULL: made from that of the output */
    const char *title;       /* or NULL */
    const char *license;     /* SPDX identifier, or NULL */
    const char *description; /* file with text, or NULL */
    const char *accept;      /* file that accepts findings (accepted.h), or NULL */
    const char *findings;    /* where to write such a file if there are findings, or NULL */
    bool no_database, no_rdump;
    const struct engine_options *engine; /* for reading the captures */
    int64_t date;                        /* of members, s since the epoch; negative: end of trace */
    FILE *report;                        /* gets the audit's report if it has findings */
    bool json;                           /* that report is JSON (schemas/audit.schema.json) */
    const struct progress *progress;     /* or NULL */
};

/* Returns 0; 1 if not all findings of the audit are accepted (|err| says how to go on, and there is
 * no archive); or negative, without an archive. */
int package_make(const struct package_options *options, int count, char **captures,
                 struct err *err);

struct package_check {
    void (*show)(void *ctx, const char *text); /* each finding */
    void *ctx;
    uint64_t bytes_max; /* unpacked */
    uint64_t findings, members, bytes, operations;
    uint64_t accepted; /* findings of the audit; |note| got each kind */
    void (*note)(void *ctx, const char *text);
    const struct progress *progress; /* or NULL */
    char name[PACKAGE_NAME_MAX + 1];
};

/* Unpacks an archive into a private folder below TMPDIR, and removes the folder at the end.
 * Checks all members, makes the package again from its capture, and compares all bytes.  Returns
 * 0, and the number of findings in |check|.  Returns -ERR_INPUT if it is not such an archive, or
 * is cut. */
int package_verify(const char *path, struct package_check *check, struct err *err);

/* --- parts of package_make --- */

struct accepted;
struct facts;
struct audit;
struct policy;
struct stage;

struct package_story { /* the contents of README.md and datapackage.json */
    const struct package_options *options;
    const char *name;
    char *description; /* its text, or NULL */
    char policy_name[64], policy_digest[65];
    const struct facts *facts;
    const struct audit *audit;
    const struct accepted *accepted;
    const struct stage *stage; /* has the members so far */
};

int readme_write(const struct package_story *story, FILE *out, struct err *err);
int datapackage_write(const struct package_story *story, FILE *out, struct err *err);

/* Writes the list of all members as sha256sum (GNU coreutils) does. */
void sums_write(const struct stage *stage, FILE *out);

#endif
