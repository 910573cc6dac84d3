/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations without any sense, on a few objects and names: whatever they say, the hierarchy's
 * lists hold together, its counts are those of its nodes, and the walk over the tree ends.  Then it
 * is wound back and the operations are rehearsed: each comes once, objects are numbered one after
 * the other, and dependencies of both granularities are found.
 *
 * Input: the moment (0: the beginning), then 8 bytes for each operation. */
#include "depend/access.h"
#include "play/rehearse.h"
#include "plan/tree.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPERATIONS_MAX = 512, OBJECTS = 9, NAMES = 5, BODY = 256, HORIZON = 64 };

static struct effect effects[OPERATIONS_MAX];
static uint8_t fattr3[OPERATIONS_MAX][84], wcc_attr[OPERATIONS_MAX][24];
static uint8_t bodies[OPERATIONS_MAX][BODY];
static const char *const names[NAMES] = { "a", "b", "..", "d", "" };
static const int64_t statuses[] = { 0, 0, 0, 2, 17, 20, 21, 66, 70 };

#define require(good) ((good) ? (void)0 : failed(#good))

static void failed(const char *what)
{
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

static int find(void *ctx, const char *server, struct bytes handle, uint32_t *object,
                struct err *err)
{
    (void)ctx, (void)server, (void)handle, (void)err;
    *object = 0;
    return 0;
}

static struct bytes name_of(uint8_t byte)
{
    const char *name = names[byte % NAMES];

    return (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) };
}

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
    store_be32(to, value);
    return to + 4;
}

static uint8_t *put_opaque(uint8_t *to, struct bytes text)
{
    to = put_u32(to, text.len);
    memcpy(to, text.data, text.len);
    return to + (text.len + 3) / 4 * 4;
}

/* Handles and names; whatever else a procedure takes is zeros. */
static void put_arguments(struct effect *e, uint8_t *body)
{
    const uint8_t handle[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct bytes opaque = { handle, 1 + e->object % 8 };
    uint8_t *to = body;

    memset(body, 0, BODY);
    if (e->roles & ROLE_OBJECT) {
        e->handle = (struct bytes){ to + 4, opaque.len };
        to = put_opaque(to, opaque);
    }
    if (e->name.data)
        to = put_opaque(to, e->name);
    if (e->roles & ROLE_PARENT2) {
        opaque.len = 1 + e->parent2 % 8;
        e->handle2 = (struct bytes){ to + 4, opaque.len };
        to = put_opaque(to, opaque);
    }
    if (e->name2.data)
        to = put_opaque(to, e->name2);
    e->arguments_body = (struct bytes){ body, (uint32_t)(to - body) + 64 };
    e->arguments_length = e->arguments_body.len;
    e->arguments = WALK_OK;
}

static void make(struct effect *e, int i, const uint8_t in[8])
{
    const struct procedure *p = procedure_find(100003, 3, in[0] % 22);
    uint32_t roles = p->arguments->roles;

    *e = (struct effect){ .id = i + 1,
                          .call_time = (i + 1) * INT64_C(1000),
                          .program = 100003,
                          .version = 3,
                          .procedure = p,
                          .server = "",
                          .status = statuses[in[1] % 9],
                          .roles = roles,
                          .object = in[2] % OBJECTS };
    e->done_time = e->call_time + (in[1] >> 4) * INT64_C(400);
    e->succeeded = e->status == 0;
    if (in[1] == 255) {
        e->pairing = REPLY_LOST;
        e->rpc_status = e->status = STATUS_NONE;
        e->succeeded = false;
    }
    e->result_roles = e->succeeded ? p->result->roles : 0;
    e->parent = roles & ROLE_PARENT ? e->object : 0;
    e->parent2 = roles & ROLE_PARENT2 ? in[3] % OBJECTS : 0;
    e->object_role = roles & (ROLE_OBJECT | ROLE_MODIFIES);
    e->parent2_role = roles & ROLE_PARENT2 ? ROLE_PARENT2 | ROLE_MODIFIES : 0;
    if (roles & ROLE_NAME) {
        e->name = name_of(in[4]);
        e->name_role = ROLE_NAME;
    }
    if (roles & ROLE_NAME2 && in[4] < 250) {
        e->name2 = name_of(in[4] / NAMES);
        e->name2_role = ROLE_NAME2 | ROLE_MODIFIES;
    }
    if (e->succeeded && p->result->roles & ROLE_NEW_OBJECT)
        e->new_object = in[5] % OBJECTS;
    e->asked = (struct asked){ .bits = ASKED_HOW, .how = in[6] % 3 };
    e->offset = in[6];
    e->done = in[7];
    e->has_done = true;
    e->eof = in[7] & 1;
    if (in[6] & 4) {
        memset(fattr3[i], 0, sizeof(fattr3[i]));
        store_be32(fattr3[i], in[6] >> 5);
        store_be32(fattr3[i] + 8, in[7] % 4);
        store_be64(fattr3[i] + 20, in[7]);
        e->fattr3[in[7] % OF_ENTRY] = fattr3[i];
    }
    if (in[6] & 8) {
        memset(wcc_attr[i], in[7] % 4, sizeof(wcc_attr[i]));
        e->wcc_attr[in[5] % 3] = wcc_attr[i];
    }
    put_arguments(e, bodies[i]);
}

static void check_lists(const struct hierarchy *h)
{
    struct hierarchy_counts counts = { 0 };

    for (uint32_t i = 1; i < h->entries.count; i++) {
        const struct entry *e = entry_at(h, i);

        if (!e->is_used)
            continue;
        require(node_at(h, e->node)->flags & NODE_USED && node_at(h, e->parent)->flags & NODE_USED);
        require(e->start <= e->stop);
        require((e->stop == TO_THE_END) == (entry_find(h, e->parent, text_bytes(e->name)) == i));
        if (e->next)
            require(entry_at(h, e->next)->previous == i && entry_at(h, e->next)->node == e->node);
        if (e->after)
            require(entry_at(h, e->after)->before == i &&
                    entry_at(h, e->after)->parent == e->parent);
    }
    for (uint32_t i = 1; i < h->nodes.count; i++) {
        const struct node *n = node_at(h, i);

        if (!(n->flags & NODE_USED) || n->flags & NODE_MERGED)
            continue;
        require(!n->names || entry_at(h, n->names)->node == i);
        require(!n->children || entry_at(h, n->children)->parent == i);
        require(!n->names || n->died == TO_THE_END);
        if (!node_at_moment(h, n))
            continue;
        counts.subtrees += !(n->flags & NODE_KEPT_NAME);
        counts.directories += node_is_directory(n);
        counts.files += !node_is_directory(n);
        counts.bytes += n->knows & KNOWS_SIZE && !node_is_directory(n) ? n->size : 0;
    }
    require(memcmp(&counts, &h->counts, sizeof(counts)) == 0);
}

static int visit(void *ctx, const struct tree_item *item, struct err *err)
{
    (void)err;
    require(item->node->flags & NODE_USED && strlen(item->path) > 0);
    return ++*(int *)ctx > 100000; /* it goes round in circles */
}

/* The rehearsal */

struct show {
    struct depend *depend[2];
    struct access access;
    uint32_t shown, made, objects; /* |objects|: numbered before it began */
};

static int rehearsed(void *ctx, const struct rehearsed *r, struct err *err)
{
    struct show *s = ctx;
    const uint32_t *distances;

    s->shown += !r->op->inferred;
    require(!r->played == (r->unplayable != PLAYABLE));
    if (r->made)
        require(r->made == s->objects + ++s->made);
    for (int g = 0; g < 2; g++) {
        int64_t count;

        s->access.count = 0;
        if (r->played)
            require(access_of(&s->access, r->played, (enum granularity)g, err) == 0);
        count = depend_next(s->depend[g], s->access.uses, s->access.count, &distances, err);
        require(count >= 0);
        for (int64_t i = 0; i < count; i++)
            require(distances[i] > (i ? distances[i - 1] : 0) && distances[i] < HORIZON);
    }
    return 0;
}

static void rehearse_all(struct learn *l, int count)
{
    struct rehearsal r = { .rehearsed = rehearsed };
    struct show s = { 0 };
    struct err err = { 0 };
    struct spool *spool = spool_new(&err);
    struct spooled *op;

    require(spool);
    for (int i = 0; i < count; i++)
        require(spool_put(spool, &effects[i], NULL, 0, PLAYABLE, &err) == 0);
    require(hierarchy_rewind(&l->hierarchy, &err) == 0);
    check_lists(&l->hierarchy);
    r.ctx = &s;
    require(rehearsal_init(&r, &l->hierarchy, &l->repair,
                           calloc(l->hierarchy.nameless + 1, sizeof(uint32_t)), &err) == 0);
    s.objects = r.objects;
    for (int g = 0; g < 2; g++)
        require((s.depend[g] = depend_new(HORIZON, &err)) != NULL);
    require(spool_rewind(spool, &err) == 0);
    while ((op = spool_take(spool, &err)) != NULL)
        require(rehearse(&r, op, &err) == 0);
    require(err.code == 0 && rehearsal_end(&r, &err) == 0);
    require(s.shown == (uint32_t)count && r.objects == s.objects + s.made);
    check_lists(&l->hierarchy);
    rehearsal_free(&r);
    access_free(&s.access);
    depend_free(s.depend[0]);
    depend_free(s.depend[1]);
    spool_free(spool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tree tree = { 0 };
    struct err err = { 0 };
    int64_t moment = size && data[0] ? data[0] * INT64_C(1000) : BEGINNING;
    int count = size ? (int)((size - 1) / 8) : 0, done = 0, shown = 0;

    if (count > OPERATIONS_MAX)
        return 0;
    wire_init();
    require(learn_init(&tree.learn, moment, NULL, &err) == 0);
    tree.learn.find = find;
    for (int i = 0; i <= count; i++) {
        /* done in the order of calls when their time has come: a few are always under way */
        for (; done < i && (i == count || effects[done].done_time <= (i + 1) * INT64_C(1000));
             done++)
            require(learn_done(&tree.learn, &effects[done], &err) == 0);
        if (i == count)
            break;
        make(&effects[i], i, data + 1 + (size_t)i * 8);
        require(learn_called(&tree.learn, &effects[i], &err) == 0);
    }
    require(hierarchy_end(&tree.learn.hierarchy, &err) == 0);
    check_lists(&tree.learn.hierarchy);
    require(tree_sort(&tree, &err) == 0);
    require(tree_walk(&tree, NULL, visit, &shown, &err) == 0);
    rehearse_all(&tree.learn, count);
    tree_free(&tree);
    return 0;
}
