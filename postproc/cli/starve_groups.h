/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/starve_groups.h
 *
 * Which group of "starve" a call belongs to: a client, a connection or an export of its service.
 * For starve_read.c.
 */
#ifndef NFSDIGEST_CLI_STARVE_GROUPS_H
#define NFSDIGEST_CLI_STARVE_GROUPS_H

#include "base/table.h"
#include "cli/starve.h"
#include "store/exports.h"

struct starve_groups {
    uint32_t *of_flow; /* groups; by export: services */
    uint32_t flows;
    struct exports *exports; /* by export only: */
    struct table by_export;  /* numbers of |starve->groups| */
};

/* Makes all services, and the groups that are clients or connections.  Call starve_groups_free also
 * after a failure. */
int starve_groups_begin(struct starve_groups *groups, struct starve *starve, enum starve_by by,
                        sqlite3 *db, struct err *err);
void starve_groups_free(struct starve_groups *groups);

/* Sets |group| to that of a call, which is made if it is an export; UINT32_MAX: the flow is not in
 * the database. */
int starve_groups_find(struct starve_groups *groups, struct starve *starve,
                       const struct export_of *call, uint32_t *group, struct err *err);

#endif
