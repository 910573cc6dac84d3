/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/tell_parts.h
 *
 * What tell_control.c and tell_metrics.c name alike.
 */
#ifndef NFSDIGEST_SERVER_TELL_PARTS_H
#define NFSDIGEST_SERVER_TELL_PARTS_H

#include "server/tell.h"

enum { TELL_NUMBER = 12, TELL_ENDS = 7 };

const char *tell_program(enum stats_program program);
/* The name of a procedure; its number, in |text|, if it has none. */
const char *tell_procedure(enum stats_program program, uint32_t number, char text[TELL_NUMBER]);

/* Why connections were closed, apart from clients that closed them, and from messages that are no
 * calls, which UDP has, too. */
struct tell_end {
    const char *why;
    size_t at; /* of its number in struct rpc_server_counts */
};
extern const struct tell_end tell_ends[TELL_ENDS];
uint64_t tell_end_count(const struct rpc_server_counts *counts, unsigned end);

#endif
