/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/waiting.h"

#include "base/blocks.h"

#include <stdlib.h>
#include <string.h>

/* Field by field: pointers and padding would make the same state other bytes. */
#define OPERATION_PLAIN(step)                                                                      \
    step(operation.id) step(operation.flow) step(operation.xid) step(operation.program)            \
        step(operation.version) step(operation.procedure) step(operation.pairing)                  \
            step(operation.call) step(operation.reply) step(operation.rpc_status)                  \
                step(operation.status) step(operation.credential) step(operation.object)           \
                    step(operation.object2) step(operation.new_object) step(operation.path)        \
                        step(operation.path2) step(operation.depends_on) step(operation.offset)    \
                            step(operation.count) step(operation.arguments_wire)                   \
                                step(operation.result_wire) step(operation.data_length)            \
                                    step(operation.data_digest)
#define WAITING_PLAIN(step)                                                                        \
    OPERATION_PLAIN(step)                                                                          \
    step(credential.flavor) step(credential.valid) step(credential.gss_procedure)                  \
        step(credential.gss_service) step(port_program) step(binds) step(removes) step(parent)     \
            step(parent2) step(name_len) step(name2_len) step(root_path_len) step(name_at)         \
                step(name2_at) step(root_path_at)

uint64_t waiting_layout(uint64_t hash)
{
#define FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct waiting *)0)->field));
    WAITING_PLAIN(FIELD)
    return pack_layout(hash, "block_digests", BLOCK_DIGEST_LEN);
}

int waiting_save(const struct waiting *w, struct buf *out)
{
    const struct record_operation *op = &w->operation;
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, w->field);
    WAITING_PLAIN(SAVE)
    bad |= pack_bytes(out, w->body, op->arguments.len);
    return bad | pack_bytes(out, op->block_digests.data, op->block_digests.len);
}

static bool within(uint32_t at, uint32_t len, uint32_t size)
{
    return at <= size && len <= size - at;
}

struct waiting *waiting_restore(struct unpack *in)
{
    struct waiting plain = { 0 }, *w;
    struct bytes body, blocks;

#define RESTORE(field) unpack_value(in, plain.field);
    WAITING_PLAIN(RESTORE)
    body = unpack_bytes(in);
    blocks = unpack_bytes(in);
    if (in->failed || !within(plain.name_at, plain.name_len, body.len) ||
        !within(plain.name2_at, plain.name2_len, body.len) ||
        !within(plain.root_path_at, plain.root_path_len, body.len) ||
        body.len > UINT32_MAX - sizeof(*w) || blocks.len > UINT32_MAX - sizeof(*w) - body.len) {
        in->failed = true;
        return NULL;
    }
    w = malloc(sizeof(*w) + body.len + blocks.len);
    if (!w)
        return NULL;
    *w = plain;
    w->size = (uint32_t)(sizeof(*w) + body.len + blocks.len);
    memcpy(w->body, body.data, body.len);
    memcpy(w->body + body.len, blocks.data, blocks.len);
    w->operation.block_digests = (struct bytes){ w->body + body.len, blocks.len };
    w->operation.arguments = (struct bytes){ w->body, body.len };
    w->operation.result = (struct bytes){ 0 };
    w->procedure =
        w->operation.call.flags & SIGHTING_OPAQUE
            ? NULL
            : procedure_find(w->operation.program, w->operation.version, w->operation.procedure);
    return w;
}
