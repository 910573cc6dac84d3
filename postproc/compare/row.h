/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/row.h
 *
 * A row of table operation as an effect (effect/effect.h).
 */
#ifndef NFSDIGEST_COMPARE_ROW_H
#define NFSDIGEST_COMPARE_ROW_H

#include "compare/db.h"
#include "effect/effect.h"

/* Columns of the operation |T|, in the order of enum row_column. */
#define ROW_COLUMNS(T)                                                                             \
    T ".id, " T ".program, " T ".version, " T ".procedure, " T ".pairing, " T ".call_flags, " T    \
      ".reply_flags, " T ".rpc_status, " T ".status, " T ".object, " T ".object2, " T              \
      ".new_object, " T ".xid, " T ".call_source, " T ".call_frame, " T ".call_time, " T           \
      ".reply_source, " T ".reply_frame, " T ".reply_time, " T ".arguments_length, " T             \
      ".result_length, " T ".arguments, " T ".result, " T ".data_digest, " T ".data_length"

enum row_column {
    ROW_ID,
    ROW_PROGRAM,
    ROW_VERSION,
    ROW_PROCEDURE,
    ROW_PAIRING,
    ROW_CALL_FLAGS,
    ROW_REPLY_FLAGS,
    ROW_RPC_STATUS,
    ROW_STATUS,
    ROW_OBJECT,
    ROW_OBJECT2,
    ROW_NEW_OBJECT,
    ROW_XID,
    ROW_CALL_SOURCE,
    ROW_CALL_FRAME,
    ROW_CALL_TIME,
    ROW_REPLY_SOURCE,
    ROW_REPLY_FRAME,
    ROW_REPLY_TIME,
    ROW_ARGUMENTS_LENGTH,
    ROW_RESULT_LENGTH,
    ROW_ARGUMENTS,
    ROW_RESULT,
    ROW_DATA_DIGEST,
    ROW_DATA_LENGTH,
    ROW_COUNT
};

/* Reads the columns from |at| on.  Bodies belong to the statement and live until its next step.  If
 * there is no operation (its id is NULL), |effect| has the id 0. */
void row_effect(sqlite3_stmt *stmt, int at, struct effect *effect);

/* Returns the id of an object, or 0. */
uint32_t row_id(sqlite3_stmt *stmt, int column);

#endif
