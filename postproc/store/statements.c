/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store_parts.h"

#include <stdlib.h>

static const char *const texts[SQL_COUNT] = {
    [SQL_PUT_FLOW] = "INSERT INTO flow VALUES (?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_CREDENTIAL] = "INSERT INTO credential VALUES (?,?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_OBJECT] = "INSERT INTO object VALUES (?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_PATH] = "INSERT INTO path VALUES (?,?,?,?,?)",
    [SQL_PUT_NAME] = "INSERT INTO name_event VALUES (NULL,?,?,?,?,?,?)",
    [SQL_PUT_OPERATION] =
        "INSERT INTO operation (id, pairing, call_source, call_frame, call_first_frame, call_time,"
        " call_length, call_flags, reply_source, reply_frame, reply_first_frame, reply_time,"
        " reply_length, reply_flags, client, server, flow, xid, program, version, procedure,"
        " rpc_status, status, credential, object, object2, new_object, path, path2, depends_on,"
        " offset, count, data_length, data_digest, arguments_length, result_length, arguments,"
        " result, counterpart, counterpart_copy, counterpart_conditions,"
        " block_digests) VALUES "
        "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_CONTENTS] = "INSERT INTO contents VALUES (NULL,?,?,?,?)",
    [SQL_PUT_RETRANSMISSION] = "INSERT INTO retransmission VALUES (NULL,?,?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_COPY] = "INSERT INTO copy VALUES (NULL,?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_PROBLEM] = "INSERT INTO problem VALUES (NULL,?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_CONNECTION_EVENT] =
        "INSERT INTO connection_event VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_PUT_COUNTER] = "INSERT INTO counter VALUES (?1,?2,?3)"
                        " ON CONFLICT (source, name) DO UPDATE SET value = value + ?3",
    [SQL_PUT_WAITING] = "INSERT OR IGNORE INTO waiting VALUES (?)",
    [SQL_PUT_WAITING_COUNTER] = "INSERT INTO waiting_counter VALUES (?,?,?)",
    [SQL_LEARN_OBJECT] = "UPDATE object SET type = ifnull(?2, type), fsid = ifnull(?3, fsid),"
                         " fileid = ifnull(?4, fileid) WHERE id = ?1",
    [SQL_FIND_OBJECT] = "SELECT id FROM object WHERE handle = ? AND server = ?",
    [SQL_FIND_CREDENTIAL] = "SELECT id FROM credential WHERE body = ? AND flavor = ?"
                            " AND gss_service IS ? ORDER BY id",
    [SQL_FIND_PATH] = "SELECT id FROM path WHERE parent IS ? AND name = ? AND object IS ?",
    [SQL_PATH_TEXT] = "SELECT text FROM path WHERE id = ?",
    [SQL_NAME_OF_OBJECT] =
        "SELECT e.parent, e.name FROM name_event e WHERE e.object = ?1 AND e.event NOT IN (3, 5)"
        " AND e.id <= ?2 AND NOT EXISTS (SELECT 1 FROM name_event r WHERE r.object = ?1"
        " AND r.event IN (3, 5) AND r.parent IS e.parent AND r.name = e.name AND r.id > e.id"
        " AND r.id <= ?2) ORDER BY e.id DESC",
    [SQL_COMPLETE_OPERATION] =
        "UPDATE operation SET pairing = 0, reply_source = ?2, reply_frame = ?3,"
        " reply_first_frame = ?4, reply_time = ?5, reply_length = ?6, reply_flags = ?7,"
        " rpc_status = ?8, status = ?9, new_object = ifnull(?10, new_object),"
        " data_length = ifnull(?11, data_length), data_digest = ifnull(?12, data_digest),"
        " result_length = ?13, result = ?14, block_digests = ifnull(?15, block_digests)"
        " WHERE id = ?1",
    [SQL_GET_OPERATION] =
        "SELECT pairing, call_source, call_frame, call_first_frame, call_time, call_length,"
        " call_flags, reply_source, reply_frame, reply_first_frame, reply_time, reply_length,"
        " reply_flags, flow, program, version, procedure, rpc_status, arguments, result,"
        " result_length FROM operation WHERE id = ?",
    [SQL_DELETE_OPERATION] = "DELETE FROM operation WHERE id = ?",
    [SQL_MOVE_RETRANSMISSIONS] = "UPDATE retransmission SET operation = ?2 WHERE operation = ?1",
    [SQL_MOVE_COPIES] = "UPDATE copy SET operation = ?2 WHERE operation = ?1",
};

int store_fail(sqlite3 *db, const char *what, struct err *err)
{
    int code = sqlite3_errcode(db);
    const char *text = sqlite3_errmsg(db);

    switch (code & 0xff) {
    case SQLITE_FULL:
        text = "the disk is full, or a limit on file sizes was reached; the database is as it was "
               "before";
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        text = "another process is writing to the database";
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(err, ERR_INPUT, "%s: the database is damaged: %s", what, text);
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return err_set(err, ERR_INPUT, "%s: %s", what, text);
    }
    return err_set(err, ERR_SYSTEM, "%s: %s", what, text);
}

int statements_prepare(struct store *store, struct err *err)
{
    for (int i = 0; i < SQL_COUNT; i++)
        if (!store->sql[i] && sqlite3_prepare_v3(store->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                                 &store->sql[i], NULL) != SQLITE_OK)
            return store_fail(store->db, store->path, err);
    return 0;
}

void statements_finalize(struct store *store)
{
    for (int i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(store->sql[i]);
        store->sql[i] = NULL;
    }
}

int store_prepare(struct store *store, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    return sqlite3_prepare_v2(store->db, sql, -1, stmt, NULL) == SQLITE_OK
               ? 0
               : store_fail(store->db, store->path, err);
}

int store_finish(struct store *store, sqlite3_stmt *stmt, int result, struct err *err)
{
    return sqlite3_finalize(stmt) == SQLITE_OK || result ? result
                                                         : store_fail(store->db, store->path, err);
}

int statement_row(struct store *store, enum statement which, struct err *err)
{
    int result = sqlite3_step(store->sql[which]);

    if (result == SQLITE_ROW)
        return 1;
    if (result == SQLITE_DONE)
        return 0;
    result = store_fail(store->db, store->path, err);
    sqlite3_reset(store->sql[which]);
    return result;
}

int statement_run(struct store *store, enum statement which, struct err *err)
{
    if (sqlite3_step(store->sql[which]) != SQLITE_DONE) {
        int result = store_fail(store->db, store->path, err);

        sqlite3_reset(store->sql[which]);
        return result;
    }
    sqlite3_reset(store->sql[which]);
    return 0;
}
