/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/group_labels.h
 *
 * Names for people of what operations are grouped by (operation_groups.h).
 */
#ifndef NFSDIGEST_STORE_GROUP_LABELS_H
#define NFSDIGEST_STORE_GROUP_LABELS_H

#include "store/exports.h"
#include "store/operation_groups.h"
#include "store/phases.h"

enum { USER_WITHOUT_UID = -1, USER_UNKNOWN = -2 }; /* key[0] of a user */

/* Sets the labels from the keys; hosts, phases and exports have theirs already. */
int group_labels_add(sqlite3 *db, enum group_by by, struct groups *groups, struct err *err);

/* The same for groups by phase, and by export. */
int group_labels_phases(const struct phases *phases, struct groups *g, struct err *err);
int group_labels_exports(const struct exports *exports, struct groups *g, struct err *err);

#endif
