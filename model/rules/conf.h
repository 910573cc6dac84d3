/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/conf.h
 *
 * Files with the syntax of policies: comments from # on a line of their own, [groups], and "key =
 * value" lines in them.  Two differences: a key may come several times, and there are no escapes.
 */
#ifndef NFSDIGEST_RULES_CONF_H
#define NFSDIGEST_RULES_CONF_H

#include "base/err.h"

#include <stddef.h>

enum { CONF_FILE_MAX = 1 << 20, CONF_LINE_MAX = 1024 };

struct conf_line {
    unsigned number;
    const char *group; /* without brackets */
    char *key, *value; /* without blanks around; NULL: the group's own line */
};

/* Calls |take| for each line that is not empty or a comment.  Puts "WHERE:LINE: " before its error
 * message.  Returns 0, -ERR_USAGE, or the negative code of |take|. */
int conf_read(const char *where, const char *text,
              int (*take)(void *ctx, const struct conf_line *line, struct err *err), void *ctx,
              struct err *err);

/* Returns the text of a file, ended by a NUL; the caller frees it with free().  After an error
 * returns NULL, with -ERR_USAGE in |err|. */
char *conf_load(const char *path, struct err *err);

#endif
