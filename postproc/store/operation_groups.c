/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/operation_groups.c
 *
 * One query reads all operations in their order, which is the order on disk.  Each one is added to
 * its procedure, client, user, path and so on, and its latency is put aside for the
 * percentiles of the groups that are shown.  For cmd_info.c and packages.  The contract is in
 * operation_groups.h.
 */
#include "store/operation_groups.h"
#include "base/digest.h"
#include "record/record.h"
#include "store/exports.h"
#include "store/group_labels.h"
#include "store/group_members.h"
#include "store/group_show.h"
#include "store/phases.h"
#include "store/quantiles.h"
#include "store/sql.h"
#include "store/store.h"
#include "wire/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const group_names[BY_MAX] = { "procedure", "client", "user",   "path",
                                          "phase",     "export", "server", "status" };

#define COLUMNS                                                                                    \
    "SELECT o.flow, o.client, o.path, o.program, o.version, o.procedure, o.pairing,"               \
    " o.call_frame IS NOT NULL, o.reply_frame IS NOT NULL, o.call_flags, o.reply_flags,"           \
    " o.call_time, o.reply_time, o.rpc_status, o.status, o.data_length, o.credential,"             \
    " o.id, o.server"
#define OBJECTS ", o.object, o.new_object"
#define FROM " FROM operation o"
#define RESENT " FROM retransmission r CROSS JOIN operation o ON o.id = r.operation AND r.kind = 1"

static const char select_operations[] = COLUMNS FROM;
/* With what exports need. */
static const char select_with_objects[] = COLUMNS OBJECTS FROM;
/* Once for each time that a call was sent again. */
static const char select_resent[] = COLUMNS RESENT;
static const char select_resent_objects[] = COLUMNS OBJECTS RESENT;

enum {
    OP_FLOW,
    OP_CLIENT,
    OP_PATH,
    OP_PROGRAM,
    OP_VERSION,
    OP_PROCEDURE,
    OP_PAIRING,
    OP_CALLED,
    OP_REPLIED,
    OP_CALL_FLAGS,
    OP_REPLY_FLAGS,
    OP_CALL_TIME,
    OP_REPLY_TIME,
    OP_RPC_STATUS,
    OP_STATUS,
    OP_DATA_LENGTH,
    OP_CREDENTIAL,
    OP_ID,
    OP_SERVER,
    OP_OBJECT,
    OP_NEW_OBJECT,
};

struct counting {
    struct groups_totals totals;
    struct dimension by[BY_MAX];
    int slots[BY_MAX]; /* of the tables that are read: their dimensions of quantiles.h */
    struct phases phases;
    struct exports *exports;
    struct known_members clients, servers, users; /* by flow, and by credential */
    struct table client_table, server_table;      /* by address; slots of by[].members */
    sqlite3_stmt *credential;                     /* flavor and uid of ?1 */
    struct quantiles *quantiles;
};

static void counting_free(struct counting *c)
{
    for (int by = 0; by < BY_MAX; by++)
        members_free(&c->by[by]);
    known_members_free(&c->clients);
    known_members_free(&c->servers);
    known_members_free(&c->users);
    table_free(&c->client_table);
    table_free(&c->server_table);
    sqlite3_finalize(c->credential);
    quantiles_free(c->quantiles);
    phases_free(&c->phases);
    exports_free(c->exports);
}

static uint32_t by_address(struct dimension *d, struct table *table, const char *address)
{
    uint64_t hash = XXH3_64bits(address, strlen(address));
    struct group group = { 0 };
    uint32_t at, i;

    for (i = table_first(table, hash, &at); i != TABLE_NONE; i = table_next(table, hash, &at))
        if (strcmp(d->members[i].group.label, address) == 0)
            return i;
    group.label = strdup(address);
    i = group.label ? members_add(d, table, hash, &group) : TABLE_NONE;
    if (i == TABLE_NONE)
        free(group.label);
    return i;
}

/* The client or server of the row; its address is read once for each flow. */
static uint32_t host_of(struct counting *c, sqlite3_stmt *row, enum group_by by)
{
    struct known_members *known = by == BY_CLIENT ? &c->clients : &c->servers;
    struct table *table = by == BY_CLIENT ? &c->client_table : &c->server_table;
    int64_t flow = sqlite3_column_int64(row, OP_FLOW);
    uint32_t host = known_members_find(known, flow);
    const char *address;

    if (host != TABLE_NONE)
        return host;
    address = sql_column_text(row, by == BY_CLIENT ? OP_CLIENT : OP_SERVER);
    return known_members_add(known, flow,
                             address ? by_address(&c->by[by], table, address) : TABLE_NONE);
}

static uint32_t status_of(struct counting *c, sqlite3_stmt *row)
{
    const int64_t key[3] = { group_key_of((uint32_t)sqlite3_column_int64(row, OP_PROGRAM),
                                          (uint32_t)sqlite3_column_int64(row, OP_VERSION)),
                             sql_column(row, OP_PROCEDURE, -1),
                             group_key_of((uint32_t)sqlite3_column_int64(row, OP_RPC_STATUS),
                                          (uint32_t)sqlite3_column_int64(row, OP_STATUS)) };

    return members_by_key(&c->by[BY_STATUS], key);
}

/* The user of the row; each credential is read once. */
static uint32_t user_of(struct counting *c, sqlite3_stmt *row)
{
    int64_t credential = sqlite3_column_int64(row, OP_CREDENTIAL); /* 0: NULL */
    uint32_t user = known_members_find(&c->users, credential);
    int64_t key[3] = { USER_UNKNOWN };

    if (user != TABLE_NONE)
        return user;
    sqlite3_bind_int64(c->credential, 1, credential);
    if (sqlite3_step(c->credential) == SQLITE_ROW) {
        bool has_uid = sqlite3_column_type(c->credential, 1) != SQLITE_NULL;

        key[0] = has_uid ? sqlite3_column_int64(c->credential, 1) : USER_WITHOUT_UID;
        key[1] = has_uid ? 0 : sqlite3_column_int64(c->credential, 0);
    }
    sqlite3_reset(c->credential);
    return known_members_add(&c->users, credential, members_by_key(&c->by[BY_USER], key));
}

/* The phase of the row, or -1. */
static int64_t phase_of(const struct counting *c, sqlite3_stmt *row)
{
    int at = sqlite3_column_type(row, OP_CALL_TIME) == SQLITE_NULL ? OP_REPLY_TIME : OP_CALL_TIME;
    const char *client = sql_column_text(row, OP_CLIENT);
    uint32_t name;

    if (!client || sqlite3_column_type(row, at) == SQLITE_NULL)
        return -1;
    name = phases_at(&c->phases, client, sqlite3_column_int64(row, at),
                     sqlite3_column_int64(row, OP_ID));
    return name == PHASE_NONE ? -1 : (int64_t)name;
}

/* The export of the row, or -1; less without memory or if the database fails. */
static int64_t export_of(struct counting *c, sqlite3_stmt *row, struct err *err)
{
    const struct export_of of = { sqlite3_column_int64(row, OP_FLOW),
                                  sqlite3_column_int64(row, OP_PATH),
                                  sqlite3_column_int64(row, OP_OBJECT),
                                  sqlite3_column_int64(row, OP_NEW_OBJECT) };
    uint32_t number = exports_find(c->exports, &of, err);

    return number == EXPORT_NONE ? -1 : number == UINT32_MAX ? -2 : (int64_t)number;
}

static void count_totals(struct groups_totals *t, sqlite3_stmt *row)
{
    int64_t pairing = sqlite3_column_int64(row, OP_PAIRING);

    t->operations++;
    t->calls += (uint64_t)sqlite3_column_int64(row, OP_CALLED);
    t->replies += (uint64_t)sqlite3_column_int64(row, OP_REPLIED);
    t->partial_calls += (sqlite3_column_int64(row, OP_CALL_FLAGS) & SIGHTING_PARTIAL) != 0;
    t->partial_replies += (sqlite3_column_int64(row, OP_REPLY_FLAGS) & SIGHTING_PARTIAL) != 0;
    if (pairing >= 0 && pairing < GROUPS_PAIRINGS)
        t->pairing[pairing]++;
    for (int i = OP_CALL_TIME; i <= OP_REPLY_TIME; i++)
        if (sqlite3_column_type(row, i) != SQLITE_NULL) {
            int64_t time = sqlite3_column_int64(row, i);

            t->first_time = !t->timed || time < t->first_time ? time : t->first_time;
            t->last_time = !t->timed || time > t->last_time ? time : t->last_time;
            t->timed = true;
        }
}

/* What the row adds to each of its groups. */
static struct group part_of(sqlite3_stmt *row)
{
    int64_t procedure = sqlite3_column_int64(row, OP_PROCEDURE);
    bool nfs = sqlite3_column_int64(row, OP_PROGRAM) == 100003;
    uint64_t bytes = (uint64_t)sqlite3_column_int64(row, OP_DATA_LENGTH);

    return (struct group){
        .errors = failure_is(sqlite3_column_int64(row, OP_PROGRAM),
                             sqlite3_column_int64(row, OP_RPC_STATUS),
                             sqlite3_column_int64(row, OP_STATUS)),
        .answered = sqlite3_column_type(row, OP_CALL_TIME) != SQLITE_NULL &&
                    sqlite3_column_type(row, OP_REPLY_TIME) != SQLITE_NULL,
        .read = nfs && procedure == 6 ? bytes : 0,
        .written = nfs && procedure == 7 ? bytes : 0,
    };
}

static void count(struct member *m, const struct group *part, int64_t latency)
{
    struct group *g = &m->group;

    g->operations++;
    g->errors += part->errors;
    g->read += part->read;
    g->written += part->written;
    if (!part->answered)
        return;
    if (!g->answered || latency < m->least)
        m->least = latency;
    if (!g->answered || latency > g->max)
        g->max = latency;
    g->answered++;
}

/* The members of the row, QUANTILES_NO_GROUP where it has none. */
static int members_of(struct counting *c, unsigned tables, sqlite3_stmt *row,
                      uint32_t members[BY_MAX], struct err *err)
{
    bool has[BY_MAX] = {
        [BY_PROCEDURE] = sqlite3_column_type(row, OP_PROGRAM) != SQLITE_NULL,
        [BY_CLIENT] = true,
        [BY_USER] = true,
        [BY_PATH] = sqlite3_column_type(row, OP_PATH) != SQLITE_NULL,
        [BY_PHASE] = true,
        [BY_EXPORT] = true,
        [BY_SERVER] = true,
        [BY_STATUS] = tables & 1u << BY_STATUS && (sqlite3_column_int64(row, OP_STATUS) != 0 ||
                                                   sqlite3_column_int64(row, OP_RPC_STATUS) != 0),
    };

    for (int by = 0; by < BY_MAX; by++)
        members[by] = QUANTILES_NO_GROUP;
    for (int by = 0; by < BY_MAX; by++) {
        int64_t key[3] = { 0 };

        if (!(tables & 1u << by) || !has[by])
            continue;
        switch (by) {
        case BY_CLIENT:
        case BY_SERVER:
            members[by] = host_of(c, row, (enum group_by)by);
            break;
        case BY_STATUS:
            members[by] = status_of(c, row);
            break;
        case BY_USER:
            members[by] = user_of(c, row);
            break;
        case BY_PHASE:
            key[0] = phase_of(c, row);
            members[by] = members_by_key(&c->by[by], key);
            break;
        case BY_EXPORT:
            key[0] = export_of(c, row, err);
            if (key[0] < -1)
                return -err->code;
            members[by] = members_by_key(&c->by[by], key);
            break;
        default:
            for (int i = 0; i < (by == BY_PATH ? 1 : 3); i++)
                key[i] = sqlite3_column_int64(row, (by == BY_PATH ? OP_PATH : OP_PROGRAM) + i);
            members[by] = members_by_key(&c->by[by], key);
        }
        if (members[by] == TABLE_NONE)
            return err_memory(err, "groups");
    }
    return 0;
}

static int count_row(struct counting *c, unsigned tables, sqlite3_stmt *row, struct err *err)
{
    int64_t latency = (int64_t)((uint64_t)sqlite3_column_int64(row, OP_REPLY_TIME) -
                                (uint64_t)sqlite3_column_int64(row, OP_CALL_TIME));
    uint32_t members[BY_MAX], slots[QUANTILES_DIMENSIONS];
    struct group part = part_of(row);

    count_totals(&c->totals, row);
    if (members_of(c, tables, row, members, err) < 0)
        return -err->code;
    for (int by = 0; by < BY_MAX; by++)
        if (members[by] != QUANTILES_NO_GROUP)
            count(&c->by[by].members[members[by]], &part, latency);
    if (!part.answered || !tables)
        return 0;
    for (int d = 0; d < QUANTILES_DIMENSIONS; d++)
        slots[d] = QUANTILES_NO_GROUP;
    for (int by = 0; by < BY_MAX; by++)
        if (tables & 1u << by)
            slots[c->slots[by]] = members[by];
    return quantiles_put(c->quantiles, latency, slots, err);
}

/* Each phase has a group, also if nothing happened in it. */
static int add_phases(struct counting *c, const struct filter *filter, struct err *err)
{
    const struct phases *p = &c->phases;

    for (uint32_t i = 0; i < p->count; i++) {
        int64_t key[3] = { p->list[i].name };
        struct group *g;
        uint32_t member;

        if (filter && filter->phase && strcmp(filter->phase, p->names[p->list[i].name]) != 0)
            continue;
        member = members_by_key(&c->by[BY_PHASE], key);
        if (member == TABLE_NONE)
            return err_memory(err, "phases");
        g = &c->by[BY_PHASE].members[member].group;
        g->times++;
        g->lasted =
            (int64_t)((uint64_t)g->lasted + (uint64_t)p->list[i].stop - (uint64_t)p->list[i].start);
    }
    return 0;
}

/* Adds calls that were sent again to the groups of their operations, which are all there. */
static int count_resent(sqlite3 *db, struct counting *c, const struct groups_request *request,
                        const struct filter *filter, struct err *err)
{
    sqlite3_stmt *stmt;
    uint32_t members[BY_MAX];
    int result =
        filter_prepare(db, filter, c->exports ? select_resent_objects : select_resent, &stmt, err);

    if (result < 0)
        return result;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        result = members_of(c, request->tables, stmt, members, err);
        for (int by = 0; result == 0 && by < BY_MAX; by++)
            if (members[by] != QUANTILES_NO_GROUP)
                c->by[by].members[members[by]].group.resent++;
    }
    return sql_end(stmt, result, err);
}

static int read_all(sqlite3 *db, const struct groups_request *request,
                    struct operation_groups *groups, struct err *err)
{
    struct counting c = { .quantiles = quantiles_new(err) };
    int result = c.quantiles ? 0 : -err->code, slots = 0;
    sqlite3_stmt *stmt = NULL;
    struct filter all;

    for (int by = 0; by < BY_MAX; by++)
        if (request->tables & 1u << by)
            c.slots[by] = slots++;
    if (slots > QUANTILES_DIMENSIONS && result == 0)
        result = err_set(err, ERR_USAGE, "more than %d tables", QUANTILES_DIMENSIONS);
    if (result == 0 && request->tables & 1u << BY_PHASE &&
        (phases_read(db, "main", &c.phases, err) < 0 || add_phases(&c, request->filter, err) < 0))
        result = -err->code;
    if (result == 0 && request->tables & 1u << BY_EXPORT && !(c.exports = exports_new(db, err)))
        result = -err->code;
    filter_init(&all);
    if (result == 0)
        result =
            sql_prepare(db, "SELECT flavor, uid FROM credential WHERE id = ?1", &c.credential, err);
    if (result == 0)
        result = filter_prepare(db, request->filter ? request->filter : &all,
                                c.exports ? select_with_objects : select_operations, &stmt, err);
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW)
        result = count_row(&c, request->tables, stmt, err);
    result = stmt ? sql_end(stmt, result, err) : result;
    groups->totals = c.totals;
    if (result == 0 && request->tables)
        result = count_resent(db, &c, request, request->filter ? request->filter : &all, err);
    if (result == 0)
        result = group_show(c.by, c.slots, c.quantiles, request, groups, err);
    if (result == 0)
        result = group_labels_phases(&c.phases, &groups->by[BY_PHASE], err);
    if (result == 0)
        result = group_labels_exports(c.exports, &groups->by[BY_EXPORT], err);
    for (int by = 0; result == 0 && by < BY_MAX; by++)
        result = group_labels_add(db, (enum group_by)by, &groups->by[by], err);
    counting_free(&c);
    return result;
}

int groups_read(sqlite3 *db, const struct groups_request *request, struct operation_groups *groups,
                struct err *err)
{
    sqlite3 *reader = store_reader(db);
    int result;

    memset(groups, 0, sizeof(*groups));
    result = read_all(reader ? reader : db, request, groups, err);
    sqlite3_close(reader);
    if (result < 0)
        groups_free(groups);
    return result;
}

void groups_free(struct operation_groups *groups)
{
    for (int by = 0; by < BY_MAX; by++) {
        for (int i = 0; i < groups->by[by].count; i++) {
            free(groups->by[by].groups[i].label);
            free(groups->by[by].groups[i].detail);
        }
        free(groups->by[by].groups);
    }
    memset(groups, 0, sizeof(*groups));
}
