/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/state_columns.h
 *
 * enum change_state (align/changes.h) as columns of tables, in its order, named once.
 */
#ifndef NFSDIGEST_COMPARE_STATE_COLUMNS_H
#define NFSDIGEST_COMPARE_STATE_COLUMNS_H

#include "align/changes.h"

/* Differences of both sides, as columns of table alignment.  The last state is not among them: for
 * a pair it is column other_last, which says if others changed the object last. */
#define STATE_COLUMN_LIST(X)                                                                       \
    X(CHANGES_OBJECT, object_state)                                                                \
    X(CHANGES_PARENT2, object2_state)                                                              \
    X(CHANGES_NEW, new_state)                                                                      \
    X(READS_OBJECT, object_reads)                                                                  \
    X(READS_NEW, new_reads)                                                                        \
    X(RIGHTS_OBJECT, object_rights)                                                                \
    X(RIGHTS_NEW, new_rights)                                                                      \
    X(CHANGE_NAME, name_change)                                                                    \
    X(CHANGE_NAME2, name2_change)

#define STATE_COLUMN_TEXT(state, column) #column ", "
#define STATE_COLUMNS STATE_COLUMN_LIST(STATE_COLUMN_TEXT) /* with a comma at the end */

#define STATE_COLUMN_AT(state, column) AT_##state,
enum { STATE_COLUMN_LIST(STATE_COLUMN_AT) STATE_COLUMN_COUNT };
#define STATE_COLUMN_CHECK(state, column)                                                          \
    _Static_assert((int)AT_##state == (int)state, #column " stands at another place");
STATE_COLUMN_LIST(STATE_COLUMN_CHECK)
_Static_assert((int)STATE_COLUMN_COUNT == (int)CHANGE_LAST &&
                   (int)CHANGE_STATES == (int)CHANGE_LAST + 1,
               "the list has all states but the last");

/* Columns of temp.sequence1 and sequence2 after the object. */
#define SEQUENCE_COLUMNS                                                                           \
    "client, name, time, id, done, key, made, failed, again, " STATE_COLUMNS "last_change"
enum {
    SEQUENCE_CLIENT,
    SEQUENCE_NAME,
    SEQUENCE_TIME,
    SEQUENCE_ID,
    SEQUENCE_DONE,
    SEQUENCE_KEY,
    SEQUENCE_MADE,
    SEQUENCE_FAILED,
    SEQUENCE_AGAIN,
    SEQUENCE_STATE,
    SEQUENCE_COLUMN_COUNT = SEQUENCE_STATE + CHANGE_STATES
};

#endif
