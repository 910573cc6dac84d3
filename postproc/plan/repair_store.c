/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/repair_store.h"
#include "tree/repair.h"
#include "store/tables.h"

static const char *reason_name(int i)
{
    return repair_reason_name((enum repair_reason)i);
}

static const char *why_name(int i)
{
    return unplayable_name((enum unplayable)i);
}

int repair_store_codes(sqlite3 *db, struct err *err)
{
    if (tables_codes(db, "inference", REPAIR_REASON_MAX, reason_name, err) < 0)
        return -err->code;
    return tables_codes(db, "unplayable", UNPLAYABLE_MAX, why_name, err);
}
