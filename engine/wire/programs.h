/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/programs.h
 *
 * The tables, one file for each protocol.  program.c lists them in wire_programs; everybody else
 * finds them through program_find.
 */
#ifndef NFSDIGEST_WIRE_PROGRAMS_H
#define NFSDIGEST_WIRE_PROGRAMS_H

#include "wire/field.h"

/* For the tables: defines the type |id| of the fields |id|_fields; its name is the RFC's. */
#define TYPE(id)                                                                                   \
    static struct type id = {                                                                      \
        .name = #id,                                                                               \
        .fields = id##_fields,                                                                     \
    }

/* No arguments, no result. */
extern struct type wire_void;

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

extern const struct program wire_nfs3;                                   /* nfs3.c */
extern const struct program wire_nfsacl2, wire_nfsacl3;                  /* nfsacl.c */
extern const struct program wire_mount1, wire_mount3;                    /* mount.c */
extern const struct program wire_portmap2, wire_rpcbind3, wire_rpcbind4; /* portmap.c */
extern const struct program wire_nlm1, wire_nlm3, wire_nlm4;             /* nlm.c */

#endif
