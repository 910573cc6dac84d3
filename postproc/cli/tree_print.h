/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/tree_print.h
 *
 * Prints a tree as text or JSON.
 */
#ifndef NFSDIGEST_CLI_TREE_PRINT_H
#define NFSDIGEST_CLI_TREE_PRINT_H

#include "plan/plan.h"
#include "plan/tree.h"

/* These print to standard output.  They show what is below |under| (tree_walk). */
int tree_text(struct tree *tree, const char *under, struct err *err);
int tree_json(struct tree *tree, const char *under, struct err *err);

void tree_growth_text(const struct tree *tree);
void tree_growth_json(const struct tree *tree);
/* |text| is a buffer to work with. */
int tree_inferred_text(const struct inference *inference, struct buf *text, struct err *err);
int tree_inferred_json(const struct inference *inference, struct buf *text, struct err *err);
/* These print the same figures that rdump and deps print for the trace (plan_print.h). */
void tree_summary_text(const struct plan_counts *counts);
void tree_summary_json(const struct plan_counts *counts);

#endif
