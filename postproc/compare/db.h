/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/db.h
 *
 * Sides in the result and in the databases beside it.
 */
#ifndef NFSDIGEST_COMPARE_DB_H
#define NFSDIGEST_COMPARE_DB_H

#include "align/codes.h"
#include "store/tables.h"

/* Returns the number of a side in databases and in names of temporary tables, and the reverse. */
static inline int db_side(int side)
{
    return side + SIDE_REF;
}

static inline int64_t db_side_of(int64_t number)
{
    return number - SIDE_REF;
}

#endif
