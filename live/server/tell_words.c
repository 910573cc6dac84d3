/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server/tell_parts.h"
#include "wire/field.h"

#include <stddef.h>
#include <stdio.h>

/* The second version has the procedures that the first one lacks. */
static const struct {
    uint32_t program, version, other;
} programs[STATS_PROGRAMS] = {
    [STATS_NFS] = { NFS3_PROGRAM, 3, 3 },
    [STATS_MOUNT] = { MOUNT_PROGRAM, 3, 1 },
    [STATS_NFSACL] = { NFSACL_PROGRAM, 3, 3 },
    [STATS_PORTMAP] = { PORTMAP_PROGRAM, 2, 4 },
};

const char *tell_program(enum stats_program program)
{
    return program_name(programs[program].program);
}

const char *tell_procedure(enum stats_program program, uint32_t number, char text[TELL_NUMBER])
{
    const struct procedure *p =
        procedure_find(programs[program].program, programs[program].version, number);

    if (!p)
        p = procedure_find(programs[program].program, programs[program].other, number);
    if (p)
        return p->name;
    snprintf(text, TELL_NUMBER, "%u", number);
    return text;
}

const struct tell_end tell_ends[TELL_ENDS] = {
    { "too_long", offsetof(struct rpc_server_counts, too_long) },
    { "cut", offsetof(struct rpc_server_counts, cut) },
    { "slow", offsetof(struct rpc_server_counts, slow) },
    { "idle", offsetof(struct rpc_server_counts, idle) },
    { "hoarded", offsetof(struct rpc_server_counts, hoards) },
    { "fault", offsetof(struct rpc_server_counts, dropped) },
    { "broken", offsetof(struct rpc_server_counts, broken) },
};

uint64_t tell_end_count(const struct rpc_server_counts *counts, unsigned end)
{
    return *(const uint64_t *)((const char *)counts + tell_ends[end].at);
}
