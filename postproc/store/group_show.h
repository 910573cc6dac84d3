/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/group_show.h
 *
 * The end of operation_groups.c: sorts the groups, finds their percentiles, and takes those that
 * are shown.
 */
#ifndef NFSDIGEST_STORE_GROUP_SHOW_H
#define NFSDIGEST_STORE_GROUP_SHOW_H

#include "store/group_members.h"
#include "store/quantiles.h"

/* |slots|: the dimensions of the tables in |quantiles|.  The groups that are shown move to
 * |groups|.
 */
int group_show(struct dimension by[BY_MAX], const int slots[BY_MAX], struct quantiles *quantiles,
               const struct groups_request *request, struct operation_groups *groups,
               struct err *err);

#endif
