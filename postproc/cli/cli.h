/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cli.h
 *
 * Shared by subcommands.  A subcommand returns its exit code, or the negative code of an error
 * whose text is in |err|; main prints that.  Exit codes: 0 done; 1 a check or audit found
 * something; 2 usage; 3 input that cannot be used, or only in part; 4 the system: disk, memory, a
 * closed pipe.
 */
#ifndef NFSDIGEST_CLI_CLI_H
#define NFSDIGEST_CLI_CLI_H

#include "capture/progress.h"
#include "engine.h"

#include <stdio.h>

enum { EXIT_FINDINGS = 1 };

int cmd_ingest(int argc, char **argv, struct err *err);
int cmd_record(int argc, char **argv, struct err *err);
int cmd_anonymize(int argc, char **argv, struct err *err);
int cmd_piece(int argc, char **argv, struct err *err);
int cmd_join(int argc, char **argv, struct err *err);
int cmd_names(int argc, char **argv, struct err *err);
int cmd_info(int argc, char **argv, struct err *err);
int cmd_top(int argc, char **argv, struct err *err);
int cmd_ops(int argc, char **argv, struct err *err);
int cmd_who(int argc, char **argv, struct err *err);
int cmd_tree(int argc, char **argv, struct err *err);
int cmd_deps(int argc, char **argv, struct err *err);
int cmd_concurrency(int argc, char **argv, struct err *err);
int cmd_rdump(int argc, char **argv, struct err *err);
int cmd_phase(int argc, char **argv, struct err *err);
int cmd_outage(int argc, char **argv, struct err *err);
int cmd_hang(int argc, char **argv, struct err *err);
int cmd_starve(int argc, char **argv, struct err *err);
int cmd_lint(int argc, char **argv, struct err *err);
int cmd_compare(int argc, char **argv, struct err *err);
int cmd_report(int argc, char **argv, struct err *err);
int cmd_check(int argc, char **argv, struct err *err);
int cmd_audit(int argc, char **argv, struct err *err);
int cmd_key(int argc, char **argv, struct err *err);
int cmd_policy(int argc, char **argv, struct err *err);
int cmd_policy_survives(int argc, char **argv, struct err *err); /* below it */
int cmd_package(int argc, char **argv, struct err *err);
int cmd_unmask(int argc, char **argv, struct err *err);

/* Prints "nfsdigest: |text|" on standard error. */
void say(const char *text);
/* The same for an error: in color on a terminal. */
void say_error(const char *text);

/* Flushes standard output.  Returns 0 or -ERR_SYSTEM. */
int finish_output(struct err *err);

/* Prints messages.  If standard error is a terminal and reading takes long, it also shows there in
 * a line how far reading has come.  progress_clear removes that line. */
extern const struct progress progress_line;
void progress_clear(void);

#endif
