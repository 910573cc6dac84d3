/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/accepted.h
 *
 * Findings of the audit that the maker of a package accepts, each with a reason.  A file names them
 * by their identity (audit_template).  The package states their kind, class, number and reason, but
 * does not quote them.
 *
 * Memory: a row for each kind, class and reason; ACCEPTED_FILE_MAX bytes of the file.
 */
#ifndef NFSDIGEST_PACKAGE_ACCEPTED_H
#define NFSDIGEST_PACKAGE_ACCEPTED_H

#include "audit/audit.h"

#include <stdbool.h>

enum { ACCEPTED_FILE_MAX = 1 << 20, ACCEPTED_REASON_MAX = 200, ACCEPTED_WORD_MAX = 32 };

struct accepted_row {
    char kind[ACCEPTED_WORD_MAX], what[ACCEPTED_WORD_MAX];
    uint64_t count;
    char reason[ACCEPTED_REASON_MAX + 1];
};

struct accepted {
    struct accepted_row *rows;
    uint32_t count, cap;
};

/* Adds to the row of the same kind, class and reason. */
int accepted_add(struct accepted *accepted, const struct accepted_row *row, struct err *err);
void accepted_free(struct accepted *accepted);

/* Reads the findings of |audit| that the file at |path| accepts.  Returns 1 if it does not
 * accept all of them, or accepts others; |err| says which.  Returns -ERR_INPUT if it is not such
 * a file. */
int accepted_read(struct accepted *accepted, const char *path, const struct audit *audit,
                  struct err *err);

/* Returns true if these are exactly the findings of |audit|, by kind and class. */
bool accepted_agree(const struct accepted *accepted, const struct audit *audit);

#endif
