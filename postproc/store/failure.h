/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/failure.h
 *
 * engine/wire/failure.h as SQL, about operation o: 1, or 0 or NULL.
 */
#ifndef NFSDIGEST_STORE_FAILURE_H
#define NFSDIGEST_STORE_FAILURE_H

#include "wire/failure.h"

#define FAILURE_TEXT_(number) #number
#define FAILURE_TEXT(number) FAILURE_TEXT_(number)
#define FAILURE_SQL                                                                                \
    "(o.rpc_status > 0 OR o.status > 0 AND NOT (o.program IS " FAILURE_TEXT(                       \
        FAILURE_EXCEPT_PROGRAM) " AND o.status = " FAILURE_TEXT(FAILURE_EXCEPT_STATUS) "))"

#endif
