/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/deps_print.h
 *
 * Dependencies as text, JSON and a graph for Graphviz.
 */
#ifndef NFSDIGEST_CLI_DEPS_PRINT_H
#define NFSDIGEST_CLI_DEPS_PRINT_H

#include "plan/deps_pick.h"

/* These print one line on standard output. */
int deps_item_text(struct deps_pick *pick, const struct deps_item *item, struct err *err);
int deps_item_json(struct deps_pick *pick, const struct deps_item *item, struct err *err);

/* |chain|: by enum granularity, the length of the longest chain in which each operation waits for
 * the one before it. */
void deps_summary_text(const struct plan_counts *counts, const uint64_t chain[2]);
void deps_summary_json(const struct plan_counts *counts, const uint64_t chain[2]);

/* deps_dot.c */
enum { DEPS_DOT_NODES = 4096, DEPS_DOT_EDGES = 65536 };
struct deps_dot;

struct deps_dot *deps_dot_new(struct err *err);
/* Adds an operation; the graph owns |item| then.  Returns -ERR_USAGE if there are more than
 * DEPS_DOT_NODES operations, or more than DEPS_DOT_EDGES dependencies. */
int deps_dot_add(struct deps_dot *dot, struct deps_item *item, struct err *err);
/* Writes the graph; |path| "-" is standard output. */
int deps_dot_write(struct deps_dot *dot, struct deps_pick *pick, const char *path, struct err *err);
void deps_dot_free(struct deps_dot *dot);

#endif
