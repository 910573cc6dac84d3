/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/piece_list.h
 *
 * Names of pieces from the command line and from a file with one a line: a hundred thousand of them
 * are too many for a command line.
 *
 * Memory: the names.
 */
#ifndef NFSDIGEST_CLI_PIECE_LIST_H
#define NFSDIGEST_CLI_PIECE_LIST_H

#include "base/err.h"

#include <stdint.h>

struct piece_list { /* all zeros: empty */
    char **names;
    uint32_t count, cap;
};

/* Takes |count| names, and then those of the file |path|, if it is not NULL.  Empty lines are left
 * out.  -ERR_INPUT: the file cannot be opened. */
int piece_list_read(struct piece_list *list, char **names, int count, const char *path,
                    struct err *err);
void piece_list_free(struct piece_list *list);

#endif
