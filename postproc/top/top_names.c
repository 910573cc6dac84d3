/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"
#include "base/escape.h"
#include "base/grow.h"
#include "top/top_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 256 }; /* of a path; the names above are left out */

/* Ids count from 1, and each comes first when it is one more than the last. */
#define PLACE(array, count, cap, id)                                                               \
    if ((count) < (id)) {                                                                          \
        if (GROW(array, count, cap) < 0)                                                           \
            return err_memory(err, "names");                                                       \
        memset(&(array)[(count)++], 0, sizeof(*(array)));                                          \
    }

static bool is_id(uint32_t id, size_t count)
{
    return id && id <= count + 1;
}

int names_flow(struct top_names *n, const struct record_flow *flow, struct err *err)
{
    if (!is_id(flow->id, n->flow_count))
        return err_set(err, ERR_INPUT, "a flow has the id %u", flow->id);
    PLACE(n->flows, n->flow_count, n->flow_cap, flow->id);
    n->flows[flow->id - 1] = (struct top_flow){ flow->client, flow->server };
    return 0;
}

int names_uid(struct top_names *n, const struct record_credential *c, struct err *err)
{
    if (!is_id(c->id, n->uid_count))
        return err_set(err, ERR_INPUT, "a credential has the id %u", c->id);
    PLACE(n->uids, n->uid_count, n->uid_cap, c->id);
    n->uids[c->id - 1] = (struct top_uid){ c->valid && c->flavor == 1, c->uid };
    return 0;
}

int names_path(struct top_names *n, const struct record_path *path, struct err *err)
{
    const struct top_path *parent = names_get_path(n, path->parent);
    uint64_t seed = path->parent ? (parent ? parent->hash : 1) : 2 + path->object;
    uint32_t root = parent ? parent->root : path->id; /* |parent| moves when the array grows */
    struct top_path *to;

    if (!is_id(path->id, n->path_count) || path->parent >= path->id)
        return err_set(err, ERR_INPUT, "a path has the id %u and the parent %u", path->id,
                       path->parent);
    PLACE(n->paths, n->path_count, n->path_cap, path->id);
    to = &n->paths[path->id - 1];
    *to = (struct top_path){ .name = arena_copy(&n->arena, path->name.data, path->name.len),
                             .len = path->name.len,
                             .object = path->object,
                             .parent = path->parent,
                             .root = root };
    if (!to->name)
        return err_memory(err, "names");
    to->hash = XXH3_64bits_withSeed(to->name, to->len, seed);
    return 0;
}

const struct top_flow *names_get_flow(const struct top_names *n, uint32_t id)
{
    return id && id <= n->flow_count ? &n->flows[id - 1] : NULL;
}

const struct top_uid *names_get_uid(const struct top_names *n, uint32_t id)
{
    return id && id <= n->uid_count ? &n->uids[id - 1] : NULL;
}

const struct top_path *names_get_path(const struct top_names *n, uint32_t id)
{
    return id && id <= n->path_count ? &n->paths[id - 1] : NULL;
}

/* One name of a chain: as schemas/trace.sql has the texts of paths. */
static int add_name(struct top_names *n, const struct top_path *p)
{
    char object[40];

    if (!p->parent && p->object) {
        snprintf(object, sizeof(object), "[#%llu]", (unsigned long long)p->object);
        if (buf_append(&n->text, object, strlen(object)) < 0)
            return -1;
        if (!p->len)
            return 0;
    }
    if ((p->parent || p->object) && (!n->text.len || n->text.data[n->text.len - 1] != '/') &&
        buf_append(&n->text, "/", 1) < 0)
        return -1;
    return escape_name((struct bytes){ p->name, p->len }, !p->parent && !p->object, &n->text);
}

const char *names_path_text(struct top_names *n, uint32_t id, struct err *err)
{
    const struct top_path *chain[DEPTH_MAX], *p;
    int depth = 0;

    n->text.len = 0;
    for (p = names_get_path(n, id); p && depth < DEPTH_MAX; p = names_get_path(n, p->parent))
        chain[depth++] = p;
    while (depth-- > 0)
        if (add_name(n, chain[depth]) < 0) {
            err_memory(err, "names");
            return NULL;
        }
    if (buf_append(&n->text, "", 1) < 0) {
        err_memory(err, "names");
        return NULL;
    }
    return (const char *)n->text.data;
}

void names_free(struct top_names *n)
{
    free(n->flows);
    free(n->uids);
    free(n->paths);
    arena_free(&n->arena);
    buf_free(&n->text);
    *n = (struct top_names){ .flows = NULL };
}
