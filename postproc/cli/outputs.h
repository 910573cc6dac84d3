/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outputs.h
 *
 * Protects inputs: an output of a command must not replace a file that the command reads, or one
 * that this file names: databases, captures, results, rule files.  Name all of them first, then
 * check, before any work.
 *
 *     outputs_reads, outputs_names, outputs_writes ...; outputs_check; outputs_free
 *
 * Two files are the same if device and inode are equal, or, if they do not exist yet, their
 * resolved names.  A pipe, a device or "-" is written directly, and is never a conflict.
 */
#ifndef NFSDIGEST_CLI_OUTPUTS_H
#define NFSDIGEST_CLI_OUTPUTS_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct outputs_file;

struct outputs {
    struct outputs_file *files;
    uint32_t count, cap;
};

/* Adds an input.  |what| names it in messages ("the trace database") and must live as long as |o|.
 * |option| is the one that may replace the file ("--output"); NULL: none may. */
int outputs_reads(struct outputs *o, const char *what, const char *path, const char *option,
                  struct err *err);

/* Adds the files that a trace database or a result names, if they exist.  Another kind of file is
 * not an error here; the command that reads it reports it. */
int outputs_names(struct outputs *o, const char *path, struct err *err);

/* Adds an output.  Returns -ERR_USAGE if the name is empty. */
int outputs_writes(struct outputs *o, const char *option, const char *path, struct err *err);

/* Adds the files that report_annotate will write for |path|.  |databases|: a result, or the
 * databases of ref and sut.  |captures|: as many are named. */
int outputs_annotates(struct outputs *o, const char *path, const char *const *databases,
                      uint32_t count, uint32_t captures, struct err *err);

/* Returns -ERR_USAGE if an output is the same file as another one; the message names both. */
int outputs_check(const struct outputs *o, struct err *err);

void outputs_free(struct outputs *o);

/* All of that for a command with one input and one output.  |path| NULL: it has no output. */
int outputs_spare(const char *input, const char *option, const char *path, struct err *err);

/* The same for a command with |count| inputs, each of which is a name with |suffix| behind it, and
 * which name no other files.  |path| NULL: it has no output; an empty name is an error. */
int outputs_spare_each(char *const *inputs, uint32_t count, const char *suffix, const char *option,
                       const char *path, struct err *err);

#endif
