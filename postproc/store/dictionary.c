/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/dictionary.c
 *
 * The tables program, procedure, status_name, field and code, from engine/wire and record.h.
 */
#include "store/sql.h"
#include "store/store_parts.h"
#include "wire/field.h"
#include "wire/rpc.h"

static int bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    return sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

static const struct {
    const char *domain;
    int value;
    const char *name;
} codes[] = {
    { "pairing", PAIRED, "paired" },
    { "pairing", REPLY_LOST, "reply lost" },
    { "pairing", CALL_LOST, "call lost" },
    { "pairing", OUT_OF_WINDOW, "out of window" },
    { "pairing", CAPTURE_ENDED, "capture ended" },
    { "name_event", NAME_SEEN, "seen" },
    { "name_event", NAME_BOUND, "bound" },
    { "name_event", NAME_REMOVED, "removed" },
    { "name_event", NAME_MOVED, "moved" },
    { "name_event", NAME_GONE, "gone" },
    { "repeat", REPEAT_CALL, "call" },
    { "repeat", REPEAT_REPLY, "reply" },
    { "repeat", COPY_CALL, "copy of a call" },
    { "repeat", COPY_REPLY, "copy of a reply" },
    { "problem", PROBLEM_HOLE, "hole" },
    { "problem", PROBLEM_SKIPPED, "skipped" },
    { "problem", PROBLEM_MALFORMED, "malformed" },
    { "problem", PROBLEM_NOT_RPC, "not RPC" },
    { "problem", PROBLEM_EVICTED, "evicted" },
    { "problem", PROBLEM_UNDECIDED, "undecided" },
    { "connection_event", EVENT_SYN, "SYN" },
    { "connection_event", EVENT_SYN_ACK, "SYN+ACK" },
    { "connection_event", EVENT_REFUSED, "refused" },
    { "connection_event", EVENT_FIN, "FIN" },
    { "connection_event", EVENT_RST, "RST" },
    { "connection_event", EVENT_RESENT, "resent" },
    { "connection_event", EVENT_LATE, "late" },
    { "connection_event", EVENT_ZERO_WINDOW, "zero window" },
    { "connection_event", EVENT_KEEP_ALIVE, "keep-alive" },
    { "sighting", SIGHTING_PARTIAL, "partial" },
    { "sighting", SIGHTING_CUT, "cut" },
    { "sighting", SIGHTING_HOLE, "hole" },
    { "sighting", SIGHTING_MALFORMED, "malformed" },
    { "sighting", SIGHTING_OPAQUE, "opaque" },
    { "sighting", SIGHTING_RESYNC, "resync" },
    { "sighting", SIGHTING_DATA, "data" },
    { "sighting", SIGHTING_OFFSET, "offset" },
    { "sighting", SIGHTING_COUNT, "count" },
    { "sighting", SIGHTING_HEADER, "header" },
    { "sighting", SIGHTING_ADDRESS, "other address" },
    { "object_type", OBJECT_REG, "REG" },
    { "object_type", OBJECT_DIR, "DIR" },
    { "object_type", OBJECT_BLK, "BLK" },
    { "object_type", OBJECT_CHR, "CHR" },
    { "object_type", OBJECT_LNK, "LNK" },
    { "object_type", OBJECT_SOCK, "SOCK" },
    { "object_type", OBJECT_FIFO, "FIFO" },
    { "transport", 6, "TCP" },
    { "transport", 17, "UDP" },
    { "flavor", RPC_AUTH_NONE, "AUTH_NONE" },
    { "flavor", RPC_AUTH_SYS, "AUTH_SYS" },
    { "flavor", RPC_AUTH_SHORT, "AUTH_SHORT" },
    { "flavor", RPC_AUTH_DH, "AUTH_DH" },
    { "flavor", RPC_GSS, "RPCSEC_GSS" },
};

static int fill_codes(sqlite3_stmt *stmt, struct err *err)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        bind_text(stmt, 1, codes[i].domain);
        sqlite3_bind_int(stmt, 2, codes[i].value);
        bind_text(stmt, 3, codes[i].name);
        if (sql_step(stmt, err) < 0)
            return -err->code;
    }
    for (uint32_t i = 0; i < 32; i++)
        if (rpc_status_name(i)) {
            bind_text(stmt, 1, "rpc_status");
            sqlite3_bind_int64(stmt, 2, i);
            bind_text(stmt, 3, rpc_status_name(i));
            if (sql_step(stmt, err) < 0)
                return -err->code;
        }
    return 0;
}

static int fill_programs(sqlite3_stmt *stmt, struct err *err)
{
    for (const struct program *const *p = wire_programs; *p; p++) {
        sqlite3_bind_int64(stmt, 1, (*p)->number);
        sqlite3_bind_int64(stmt, 2, (*p)->version);
        bind_text(stmt, 3, (*p)->name);
        if (sql_step(stmt, err) < 0)
            return -err->code;
    }
    return 0;
}

static int fill_procedures(sqlite3_stmt *stmt, struct err *err)
{
    for (const struct program *const *p = wire_programs; *p; p++)
        for (uint32_t i = 0; i < (*p)->procedure_count; i++) {
            const struct procedure *procedure = &(*p)->procedures[i];

            if (!procedure->name)
                continue;
            sqlite3_bind_int64(stmt, 1, (*p)->number);
            sqlite3_bind_int64(stmt, 2, (*p)->version);
            sqlite3_bind_int64(stmt, 3, procedure->number);
            bind_text(stmt, 4, procedure->name);
            bind_text(stmt, 5, procedure->source);
            if (sql_step(stmt, err) < 0)
                return -err->code;
        }
    return 0;
}

struct fields {
    sqlite3_stmt *stmt;
    struct err *err;
};

static int put_statuses(void *ctx, const struct field_place *place)
{
    struct fields *fields = ctx;
    const struct value_name *names = place->field->names;

    if (!place->result || !(place->field->role & ROLE_STATUS))
        return 0;
    for (; names && names->name; names++) {
        sqlite3_bind_int64(fields->stmt, 1, place->program->number);
        sqlite3_bind_int64(fields->stmt, 2, place->program->version);
        sqlite3_bind_int64(fields->stmt, 3, place->procedure->number);
        sqlite3_bind_int64(fields->stmt, 4, names->value);
        bind_text(fields->stmt, 5, names->name);
        if (sql_step(fields->stmt, fields->err) < 0)
            return -fields->err->code;
    }
    return 0;
}

static int fill_statuses(sqlite3_stmt *stmt, struct err *err)
{
    struct fields fields = { stmt, err };

    return wire_each_field(put_statuses, &fields);
}

static int put_field(void *ctx, const struct field_place *place)
{
    static const char *const kinds[] = {
        [XDR_U32] = "u32",       [XDR_I32] = "i32",           [XDR_U64] = "u64",
        [XDR_BOOL] = "bool",     [XDR_ENUM] = "enum",         [XDR_FIXED] = "fixed",
        [XDR_OPAQUE] = "opaque", [XDR_STRING] = "string",     [XDR_STRUCT] = "struct",
        [XDR_LIST] = "list",     [XDR_OPTIONAL] = "optional", [XDR_ARRAY] = "array",
        [XDR_UNION] = "union",
    };
    struct fields *fields = ctx;
    sqlite3_stmt *stmt = fields->stmt;

    sqlite3_bind_int64(stmt, 1, place->program->number);
    sqlite3_bind_int64(stmt, 2, place->program->version);
    sqlite3_bind_int64(stmt, 3, place->procedure->number);
    bind_text(stmt, 4, place->result ? "reply" : "call");
    bind_text(stmt, 5, place->path);
    bind_text(stmt, 6, class_name(place->field->cls));
    bind_text(stmt, 7, kinds[place->field->kind]);
    sql_bind_unless(stmt, 8, place->field->max, 0);
    bind_text(stmt, 9, place->field->wireshark);
    return sql_step(stmt, fields->err);
}

static int fill_fields(sqlite3_stmt *stmt, struct err *err)
{
    struct fields fields = { stmt, err };

    return wire_each_field(put_field, &fields);
}

int dictionary_fill(sqlite3 *db, struct err *err)
{
    static const struct {
        const char *sql;
        int (*fill)(sqlite3_stmt *stmt, struct err *err);
    } tables[] = {
        { "INSERT INTO code VALUES (?,?,?)", fill_codes },
        { "INSERT INTO program VALUES (?,?,?)", fill_programs },
        { "INSERT INTO procedure VALUES (?,?,?,?,?)", fill_procedures },
        { "INSERT INTO status_name VALUES (?,?,?,?,?)", fill_statuses },
        { "INSERT INTO field VALUES (?,?,?,?,?,?,?,?,?)", fill_fields },
    };

    wire_init();
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        sqlite3_stmt *stmt;
        int result;

        if (sql_prepare(db, tables[i].sql, &stmt, err) < 0)
            return -err->code;
        result = tables[i].fill(stmt, err);
        sqlite3_finalize(stmt);
        if (result < 0)
            return result;
    }
    return 0;
}
