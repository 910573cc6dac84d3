/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/starve_groups.h"
#include "base/digest.h"
#include "base/grow.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What begin_flow reads into. */
struct reading {
    struct starve_groups *groups;
    struct starve *starve;
    enum starve_by by;
};

static struct starve_group *add_group(struct starve *st, uint32_t service)
{
    struct starve_group *g;

    if (GROW(st->groups, st->group_count, st->group_cap) < 0)
        return NULL;
    g = &st->groups[st->group_count++];
    *g = (struct starve_group){ .service = service, .top = -1 };
    return g;
}

/* Rows come by service and client. */
static int add_flow(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    const struct reading *r = ctx;
    struct starve *st = r->starve;
    uint32_t id = (uint32_t)sqlite3_column_int64(stmt, 0);
    const char *client = sql_column_text(stmt, 1), *server = sql_column_text(stmt, 3);
    int port = sqlite3_column_int(stmt, 4);
    struct starve_service *v = st->service_count ? &st->services[st->service_count - 1] : NULL;
    struct starve_group *g = st->group_count ? &st->groups[st->group_count - 1] : NULL;

    if (!v || v->port != port || strcmp(v->server, server) != 0) {
        if (GROW(st->services, st->service_count, st->service_cap) < 0)
            return err_memory(err, "services");
        v = &st->services[st->service_count++];
        *v = (struct starve_service){ .port = port, .alone = UINT32_MAX };
        snprintf(v->server, sizeof(v->server), "%s", server);
        g = NULL;
    }
    if (r->by != STARVE_EXPORT &&
        (!g || r->by == STARVE_CONNECTION || strcmp(g->client, client) != 0)) {
        g = add_group(st, st->service_count - 1);
        if (!g)
            return err_memory(err, "clients");
        g->port = r->by == STARVE_CONNECTION ? sqlite3_column_int(stmt, 2) : 0;
        snprintf(g->client, sizeof(g->client), "%s", client);
    }
    if (id < r->groups->flows)
        r->groups->of_flow[id] = (r->by == STARVE_EXPORT ? st->service_count : st->group_count) - 1;
    return 0;
}

int starve_groups_begin(struct starve_groups *groups, struct starve *starve, enum starve_by by,
                        sqlite3 *db, struct err *err)
{
    struct reading reading = { groups, starve, by };
    int64_t most;

    *groups = (struct starve_groups){ .flows = 0 };
    if (by == STARVE_EXPORT && !(groups->exports = exports_new(db, err)))
        return -err->code;
    if (sql_number(db, "SELECT max(id) FROM flow", 0, &most, err) < 0)
        return -err->code;
    groups->flows = (uint32_t)most + 1;
    groups->of_flow = calloc(groups->flows, sizeof(*groups->of_flow));
    if (!groups->of_flow)
        return err_memory(err, "connections");
    return sql_each(db,
                    "SELECT id, client, client_port, server, server_port FROM flow"
                    " ORDER BY server, server_port, client, id",
                    add_flow, &reading, err);
}

void starve_groups_free(struct starve_groups *groups)
{
    free(groups->of_flow);
    table_free(&groups->by_export);
    exports_free(groups->exports);
}

static int add_export(struct starve_groups *groups, struct starve *st, uint32_t service,
                      uint32_t number, struct err *err)
{
    struct starve_group *g = add_group(st, service);

    if (!g)
        return err_memory(err, "exports");
    g->number = number;
    g->label =
        number == EXPORT_NONE ? strdup("in no export") : exports_label(groups->exports, number);
    return g->label ? 0 : err_memory(err, "exports");
}

int starve_groups_find(struct starve_groups *groups, struct starve *st,
                       const struct export_of *call, uint32_t *group, struct err *err)
{
    bool is_known = call->flow >= 0 && call->flow < groups->flows;
    uint32_t number, place;
    uint64_t hash;

    *group = is_known ? groups->of_flow[call->flow] : UINT32_MAX;
    if (!groups->exports || !is_known)
        return 0;
    number = exports_find(groups->exports, call, err);
    if (number == UINT32_MAX)
        return -err->code;
    hash = XXH3_64bits((uint32_t[]){ *group, number }, 2 * sizeof(uint32_t));
    for (uint32_t i = table_first(&groups->by_export, hash, &place); i != TABLE_NONE;
         i = table_next(&groups->by_export, hash, &place))
        if (st->groups[i].service == *group && st->groups[i].number == number) {
            *group = i;
            return 0;
        }
    if (add_export(groups, st, *group, number, err) < 0)
        return -err->code;
    *group = st->group_count - 1;
    return table_add(&groups->by_export, hash, *group) < 0 ? err_memory(err, "exports") : 0;
}
