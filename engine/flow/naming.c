/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/naming.h"
#include "flow/tag.h"

#include <stdlib.h>

struct waiting *naming_begin(const struct record_operation *op, struct err *err)
{
    const struct bytes arguments = op->arguments, blocks = op->block_digests;
    size_t size = sizeof(struct waiting) + (size_t)arguments.len + blocks.len;
    struct waiting *w = malloc(size);
    struct record_operation *own;

    if (!w) {
        err_memory(err, "calls");
        return NULL;
    }
    memset(w, 0, sizeof(*w));
    w->size = (uint32_t)size;
    if (arguments.len)
        memcpy(w->body, arguments.data, arguments.len);
    if (blocks.len)
        memcpy(w->body + arguments.len, blocks.data, blocks.len);
    own = &w->operation;
    *own = *op;
    own->arguments = (struct bytes){ w->body, arguments.len };
    own->block_digests = (struct bytes){ w->body + arguments.len, blocks.len };
    own->result = (struct bytes){ 0 };
    own->object = own->object2 = own->new_object = own->depends_on = 0;
    own->path = own->path2 = 0;
    /* a header that was cut still names the procedure */
    if (!(op->call.flags & SIGHTING_OPAQUE))
        w->procedure = procedure_find(op->program, op->version, op->procedure);
    return w;
}

int naming_call(struct objects *o, struct waiting *w, const struct address *server, struct err *err)
{
    struct record_operation *op = &w->operation;
    const struct captured body = { op->arguments.data, op->arguments.len, op->arguments_wire };
    const struct record_operation wire = *op;
    struct tagged about = { .server = host_id(o, server) };
    struct scan scan = { 0 };
    int rc;

    if (!about.server)
        return err_memory(err, "hosts");
    if (!w->procedure || op->call.flags & SIGHTING_HEADER)
        return 0;
    rc = scan_body(&scan, w->procedure->arguments, &body, NULL, err);
    if (rc == 0)
        rc = tag_call(o, op, &scan, &about, err);
    /* what the first engine read, with all bytes there */
    op->call = wire.call;
    op->offset = wire.offset;
    op->count = wire.count;
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

/* Learns from the result, as far as it can be read. */
static int learn(struct objects *o, struct waiting *w, uint32_t server, struct err *err)
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

int naming_reply(struct objects *o, struct waiting *w, const struct address *server,
                 struct record_operation *op, struct err *err)
{
    const struct record_operation *named = &w->operation;
    const struct record_operation begun = *named;
    uint32_t host = host_id(o, server);
    int rc;

    if (!host)
        return err_memory(err, "hosts");
    w->operation = *op;
    w->operation.id = begun.id;
    w->operation.object = begun.object;
    w->operation.object2 = begun.object2;
    w->operation.new_object = 0;
    w->operation.path = begun.path;
    w->operation.path2 = begun.path2;
    w->operation.depends_on = begun.depends_on;
    w->operation.flow = begun.flow;
    w->operation.credential = begun.credential;
    rc = learn(o, w, host, err);
    *op = *named;
    return rc;
}
