/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/naming.h"
#include "flow/tag.h"

#include <stdlib.h>

/* Copies |from| to *|at| and moves *|at| behind it. */
static struct bytes keep(uint8_t **at, struct bytes from)
{
    const struct bytes kept = { *at, from.len };

    if (from.len)
        memcpy(*at, from.data, from.len);
    *at += from.len;
    return kept;
}

struct waiting *naming_begin(const struct record_operation *op, bool answered, struct err *err)
{
    const struct bytes result = answered ? op->result : (struct bytes){ 0 };
    size_t size = sizeof(struct waiting) + (size_t)op->arguments.len + op->block_digests.len +
                  (size_t)result.len;
    struct waiting *w = size <= UINT32_MAX ? malloc(size) : NULL;
    struct record_operation *own;
    uint8_t *at;

    if (!w) {
        err_memory(err, "calls");
        return NULL;
    }
    memset(w, 0, sizeof(*w));
    w->size = (uint32_t)size;
    own = &w->operation;
    *own = *op;
    at = w->body;
    own->arguments = keep(&at, op->arguments);
    own->block_digests = keep(&at, op->block_digests);
    own->result = answered ? keep(&at, result) : result;
    own->object = own->object2 = own->new_object = own->depends_on = 0;
    own->path = own->path2 = 0;
    /* a header that was cut still names the procedure */
    if (!(op->call.flags & SIGHTING_OPAQUE))
        w->procedure = procedure_find(op->program, op->version, op->procedure);
    return w;
}

int naming_call(struct objects *o, struct waiting *w, uint32_t server, struct err *err)
{
    struct record_operation *op = &w->operation;
    const struct captured body = { op->arguments.data, op->arguments.len, op->arguments_wire };
    const struct sighting call = op->call;
    const uint64_t offset = op->offset, count = op->count;
    struct tagged about = { .server = server };
    struct scan scan = { 0 };
    int rc;

    if (!w->procedure || op->call.flags & SIGHTING_HEADER)
        return 0;
    rc = scan_body(&scan, w->procedure->arguments, &body, NULL, err);
    if (rc == 0)
        rc = tag_call(o, op, &scan, &about, err);
    /* what the first engine read, with all bytes there */
    op->call = call;
    op->offset = offset;
    op->count = count;
    w->parent = about.parent;
    w->parent2 = about.parent2;
    tag_keep(w, &scan, w->body);
    return rc;
}

struct naming_listing { /* context of the entries of a result */
    struct objects *objects;
    const struct record_operation *operation;
    uint32_t server;
};

static int take_entry(void *ctx, const struct scan_entry *entry, struct err *err)
{
    const struct naming_listing *l = ctx;

    return tag_entry(l->objects, l->operation, l->server, entry, err);
}

static void take_port(void *ctx, uint32_t program, uint16_t port)
{
    (void)ctx, (void)program, (void)port;
}

void naming_answer(struct waiting *w, const struct record_operation *op)
{
    const struct record_operation begun = w->operation;
    struct record_operation *own = &w->operation;

    *own = *op;
    own->id = begun.id;
    own->flow = begun.flow;
    own->credential = begun.credential;
    own->object = begun.object;
    own->object2 = begun.object2;
    own->new_object = begun.new_object;
    own->path = begun.path;
    own->path2 = begun.path2;
    own->depends_on = begun.depends_on;
}

/* Learns from the result, as far as it can be read. */
int naming_reply(struct objects *o, struct waiting *w, uint32_t server, struct err *err)
{
    const struct record_operation *op = &w->operation;
    const struct captured body = { op->result.data, op->result.len, op->result_wire };
    struct naming_listing listing = { o, op, server };
    const struct scan_host host = { take_entry, take_port, &listing };
    struct scan scan = { .host = &host };
    int rc;

    if (!w->procedure || op->pairing != PAIRED || op->rpc_status != RPC_SUCCESS ||
        op->reply.flags & (SIGHTING_OPAQUE | SIGHTING_HEADER))
        return 0;
    rc = scan_body(&scan, w->procedure->result, &body, NULL, err);
    return rc < 0 ? rc : tag_reply(o, w, &scan, server, err);
}
