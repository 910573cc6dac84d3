/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/tree_print.h
 *
 * Prints a tree as text or JSON.
 */
#ifndef NFSDIGEST_CLI_TREE_PRINT_H
#define NFSDIGEST_CLI_TREE_PRINT_H

#include "plan/plan.h"
#include "plan/tree.h"

/* Each goes to standard output, and shows what is below |under| (tree_walk). */
int tree_text(struct tree *tree, const char *under, struct err *err);
int tree_json(struct tree *tree, const char *under, struct err *err);

void tree_growth_text(const struct tree *tree);
void tree_growth_json(const struct tree *tree);
/* |text|: scratch */
int tree_inferred_text(const struct inference *inference, struct buf *text, struct err *err);
int tree_inferred_json(const struct inference *inference, struct buf *text, struct err *err);
/* What rdump and deps say of the same trace (plan_print.h). */
void tree_summary_text(const struct plan_counts *counts);
void tree_summary_json(const struct plan_counts *counts);

#endif
