/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_before.c
 *
 * What a plan tells its host before the operations, as records of a dump: the trace, its hosts,
 * credentials, objects and entries.  A mode, an owner or a number of links that nobody saw is
 * filled in.  For plan.c.  The contract is in plan_parts.h.
 */
#include "plan/plan_parts.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdlib.h>

static struct bytes text_of(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, text ? (uint32_t)strlen(text) : 0 };
}

static int show_hosts(struct plan *p, struct err *err)
{
    for (uint32_t i = 0; p->host->host && i < p->host_count; i++) {
        const struct rdump_host host = { i + 1, text_of(p->hosts[i]) };

        if (p->host->host(p->host->ctx, &host, err) < 0)
            return -err->code;
    }
    return 0;
}

/* Numbers of a JSON array, as XDR has them. */
static int numbers(const char *json, struct buf *to)
{
    uint8_t bytes[4];

    to->len = 0;
    while (json && *json) {
        char *end;

        if (*json < '0' || *json > '9') {
            json++;
            continue;
        }
        store_be32(bytes, (uint32_t)strtoul(json, &end, 10));
        if (buf_append(to, bytes, sizeof(bytes)) < 0)
            return -1;
        json = end;
    }
    return 0;
}

static int show_credential(struct plan *p, sqlite3_stmt *stmt, struct buf *gids, struct err *err)
{
    int64_t id = sqlite3_column_int64(stmt, 0);
    struct rdump_credential c = { .number = (uint32_t)id,
                                  .flavor = (uint32_t)sqlite3_column_int64(stmt, 1),
                                  .uid = (uint32_t)sqlite3_column_int64(stmt, 2),
                                  .gid = (uint32_t)sqlite3_column_int64(stmt, 3),
                                  .machine = text_of((const char *)sqlite3_column_text(stmt, 5)) };

    if (id <= 0 || id >= p->credential_cap || !p->credentials[id])
        return 0;
    if (numbers((const char *)sqlite3_column_text(stmt, 4), gids) < 0)
        return err_memory(err, "credentials");
    c.gids = (struct bytes){ gids->data, (uint32_t)gids->len };
    return p->host->credential(p->host->ctx, &c, err);
}

static int show_credentials(struct plan *p, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt;
    struct buf gids = { 0 };
    int result = 0;

    if (!p->host->credential)
        return 0;
    if (sql_prepare(db,
                    "SELECT id, flavor, uid, gid, gids, machine FROM credential"
                    " ORDER BY id",
                    &stmt, err) < 0)
        return -err->code;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW)
        result = show_credential(p, stmt, &gids, err);
    result = sql_end(stmt, result, err);
    if (result == 0 && p->adds_root) {
        const struct rdump_credential root = { .number = p->rehearsal.root_credential,
                                               .flavor = 1,
                                               .machine = text_of("nfsdigest") };

        result = p->host->credential(p->host->ctx, &root, err);
    }
    buf_free(&gids);
    return result;
}

/* The host on which an object is; the one of what a nameless object is in. */
static uint32_t server_of(const struct plan *p, sqlite3_stmt *stmt, uint32_t node)
{
    const struct hierarchy *h = &p->tree.learn.hierarchy;
    uint32_t number = 0;
    const char *text;

    for (int depth = 0; node_at(h, node)->flags & NODE_NAMELESS && depth < 4096; depth++) {
        if (!node_at(h, node)->names)
            return 0;
        node = entry_at(h, node_at(h, node)->names)->parent;
    }
    sqlite3_bind_int64(stmt, 1, node_at(h, node)->object);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        text = (const char *)sqlite3_column_text(stmt, 0);
        for (uint32_t i = 0; text && !number && i < p->host_count; i++)
            if (strcmp(p->hosts[i], text) == 0)
                number = i + 1;
    }
    sqlite3_reset(stmt);
    return number;
}

/* Of what nobody saw: everybody may use it. */
static uint32_t mode_of(const struct node *n)
{
    if (n->knows & KNOWS_MODE)
        return n->mode & 07777;
    return n->type == OBJECT_DIR || n->type == OBJECT_LNK ? 0777 : 0666;
}

static uint32_t owner_of(const struct plan *p, const struct node *n)
{
    const struct caller *c = caller_of(&p->rehearsal.callers, n->uid);

    return n->knows & KNOWS_UID ? n->uid : c ? c->uid : 0;
}

static uint32_t links_of(const struct hierarchy *h, const struct node *n)
{
    uint32_t count = 0;

    if (n->knows & KNOWS_NLINK)
        return n->nlink;
    if (n->type != OBJECT_DIR)
        for (uint32_t e = n->names; e; e = entry_at(h, e)->next)
            count++;
    else
        for (uint32_t e = n->children; e; e = entry_at(h, e)->after)
            count += node_is_directory(node_at(h, entry_at(h, e)->node));
    return n->type == OBJECT_DIR ? count + 2 : count ? count : 1;
}

static int show_object(struct plan *p, sqlite3_stmt *stmt, uint32_t id, struct err *err)
{
    const struct hierarchy *h = &p->tree.learn.hierarchy;
    const struct node *n = node_at(h, id);
    const char *root = root_path(h, id);
    struct rdump_object o = { .number = rehearsal_number(&p->rehearsal, id),
                              .type = n->type,
                              .knows = (uint16_t)(n->knows & ~n->guessed),
                              .mode = mode_of(n),
                              .uid = owner_of(p, n),
                              .gid = n->knows & KNOWS_GID ? n->gid : 0,
                              .nlink = links_of(h, n),
                              .rdev = { n->rdev[0], n->rdev[1] },
                              .size = n->size,
                              .atime = n->atime,
                              .mtime = n->mtime,
                              .ctime = n->ctime,
                              .source = node_number(h, id) };

    p->counts->objects++;
    p->counts->subtrees += n->names == ENTRY_NONE;
    p->counts->directories += node_is_directory(n);
    if (n->knows & KNOWS_SIZE && !node_is_directory(n))
        p->counts->bytes += n->size;
    if (!p->host->object)
        return 0;
    o.server = server_of(p, stmt, id);
    if (n->link)
        o.link = text_bytes(n->link);
    if (root)
        o.root = text_bytes(root);
    return p->host->object(p->host->ctx, &o, err);
}

static int show_objects(struct plan *p, sqlite3 *db, struct err *err)
{
    const struct hierarchy *h = &p->tree.learn.hierarchy;
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(db, "SELECT server FROM object WHERE id = ?", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 1; result == 0 && i < h->nodes.count; i++)
        if (node_at(h, i)->flags & NODE_USED)
            result = show_object(p, stmt, i, err);
    sqlite3_finalize(stmt);
    return result;
}

static int show_entries(struct plan *p, struct err *err)
{
    const struct hierarchy *h = &p->tree.learn.hierarchy;

    for (uint32_t i = 1; i < h->entries.count; i++) {
        const struct entry *e = entry_at(h, i);
        const struct rdump_entry entry = {
            e->is_used ? rehearsal_number(&p->rehearsal, e->parent) : 0,
            e->is_used ? rehearsal_number(&p->rehearsal, e->node) : 0,
            e->is_used ? text_bytes(e->name) : (struct bytes){ 0 }
        };

        if (!e->is_used)
            continue;
        if (!bytes_are_name(entry.name) || bytes_are_dots(entry.name)) {
            p->counts->impossible_names++; /* a dump has none: nobody can make them */
            continue;
        }
        p->counts->entries++;
        if (p->host->entry && p->host->entry(p->host->ctx, &entry, err) < 0)
            return -err->code;
    }
    return 0;
}

int plan_show_before(struct plan *p, sqlite3 *db, struct err *err)
{
    static const char tool[] = "nfsdigest " NFSDIGEST_VERSION;
    const struct rdump_trace trace = { .time = p->first_time,
                                       .horizon = DEPEND_HORIZON,
                                       .fine = p->first == ACCESS_FINE,
                                       .copies = 1,
                                       .results = p->options->with_results,
                                       .tool = text_of(tool) };

    if (p->host->trace && p->host->trace(p->host->ctx, &trace, err) < 0)
        return -err->code;
    if (show_hosts(p, err) < 0 || show_credentials(p, db, err) < 0 || show_objects(p, db, err) < 0)
        return -err->code;
    return show_entries(p, err);
}
