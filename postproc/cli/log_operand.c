/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/log_operand.h"

#include <stdio.h>
#include <sys/stat.h>

int log_operand_find(struct log_operand *log, const char *path, struct err *err)
{
    static const char *const names[SIDES] = { "reference.nfsr", "sut.nfsr" };
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    for (int side = 0; side < SIDES; side++) {
        if ((size_t)snprintf(log->path[side], sizeof(log->path[side]), "%s/%s", path,
                             names[side]) >= sizeof(log->path[side]) ||
            stat(log->path[side], &st) < 0)
            return err_set(err, ERR_INPUT,
                           "%s: a directory, but not the log of a shadow: no %s in it", path,
                           names[side]);
        log->operands[side] = log->path[side];
    }
    return 1;
}
