/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/tree_script.h
 *
 * Writes a tree as a script that makes it: a POSIX shell script, or an mtree specification.
 */
#ifndef NFSDIGEST_REPORT_TREE_SCRIPT_H
#define NFSDIGEST_REPORT_TREE_SCRIPT_H

#include "plan/tree.h"

#include <stdio.h>

/* Both write what is below |under| (tree_walk).  |unmade| gets the number of entries that no file
 * system can hold. */
int tree_shell(struct tree *tree, const char *under, FILE *out, uint64_t *unmade, struct err *err);
int tree_mtree(struct tree *tree, const char *under, FILE *out, uint64_t *unmade, struct err *err);

#endif
