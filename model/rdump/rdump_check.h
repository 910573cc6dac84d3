/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_check.h
 *
 * Reads a whole replay dump and reports errors in it: damage, as its reader does, and records that
 * cannot be right (schemas/rdump.md sections 4 to 8).
 *
 * Memory: 16 bytes for each object, also for those that operations make, and 16 bytes for each
 * entry until the first operation.
 */
#ifndef NFSDIGEST_RDUMP_CHECK_H
#define NFSDIGEST_RDUMP_CHECK_H

#include "rdump/rdump.h"
#include "record/findings.h"

enum { RDUMP_FINDINGS_SHOWN = FINDINGS_SHOWN };

struct rdump_summary {
    uint64_t records[RDUMP_KIND_MAX]; /* seen, by kind */
    struct rdump_end totals;          /* totals of the records seen */
    uint64_t findings;                /* number of errors in the records */
    struct buf text;                  /* the first RDUMP_FINDINGS_SHOWN findings, one a line */
};

/* Checks a dump.  Returns 0 if everything was read (findings are not an error), or a negative code.
 * After an error |out| covers the records before it.  Call wire_init before and rdump_summary_free
 * afterwards. */
int rdump_check(int fd, const char *name, struct rdump_summary *out, struct err *err);
void rdump_summary_free(struct rdump_summary *summary);

/* Checks a dump record by record. */
struct rdump_checker;

struct rdump_checker *rdump_checker_new(struct rdump_summary *out, struct err *err);
/* 0, or -ERR_SYSTEM: no memory. */
int rdump_checker_put(struct rdump_checker *checker, enum rdump_kind kind, const void *record,
                      struct err *err);
/* All objects and entries were put: checks the tree, unless a later record did. */
int rdump_checker_tree(struct rdump_checker *checker, struct err *err);
void rdump_checker_free(struct rdump_checker *checker);

#endif
