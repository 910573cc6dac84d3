/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/control_parts.h
 *
 * Shared by the files of the control socket: its commands.
 */
#ifndef NFSDIGEST_NET_CONTROL_PARTS_H
#define NFSDIGEST_NET_CONTROL_PARTS_H

#include "net/control.h"

struct control_table {
    const struct control_command *commands;
    uint32_t count;
    void *ctx;
};

struct control_commands {
    struct control_table *tables;
    uint32_t count, cap;
};

/* control_line.c: runs one line of |len| bytes, with a NUL after them, and appends the answer's
 * line.  Overwrites |line|.  Returns 0, or -ERR_SYSTEM without memory for the answer. */
int control_line(const struct control_commands *commands, char *line, size_t len, struct buf *out);

#endif
