/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/names_state.c
 *
 * Keeps a pass for the pieces of another day, for names.c.  The contract is in pass.h.
 */
#include "base/digest.h"
#include "base/grow.h"
#include "base/pack.h"
#include "flow/waiting.h"
#include "names/pass.h"
#include "pieces/border.h"
#include "pieces/packed.h"

#include <stdlib.h>

#define STATE_MOST (UINT64_C(1) << 40)

#define PASS_PLAIN(step)                                                                           \
    step(last_operation) step(base) step(piece) step(retransmit_span) step(identity)               \
        step(totals.end.frames) step(totals.end.first_time) step(totals.end.last_time)
#define FLOW_PLAIN(step)                                                                           \
    step(transport) step(client.version) step(client.bytes) step(server.version)                   \
        step(server.bytes) step(client_port) step(server_port) step(frame) step(time)
#define CREDENTIAL_PLAIN(step)                                                                     \
    step(flavor) step(valid) step(uid) step(gid) step(stamp) step(gss_service)
#define CALL_PLAIN(step) step(frame) step(id) step(xid) step(host) step(piece) step(over)

static uint64_t version(void)
{
    uint64_t hash = UINT64_C(0x6e66736e6d730001) ^ border_version();

#define PASS_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct pass *)0)->field));
    PASS_PLAIN(PASS_FIELD)
#define FLOW_FIELD(field)                                                                          \
    hash = pack_layout(hash, #field, sizeof(((struct record_flow *)0)->field));
    FLOW_PLAIN(FLOW_FIELD)
#define CREDENTIAL_FIELD(field)                                                                    \
    hash = pack_layout(hash, #field, sizeof(((struct record_credential *)0)->field));
    CREDENTIAL_PLAIN(CREDENTIAL_FIELD)
#define CALL_FIELD(field)                                                                          \
    hash = pack_layout(hash, #field, sizeof(((struct recent_call *)0)->field));
    CALL_PLAIN(CALL_FIELD)
    hash = waiting_layout(hash);
    hash = pack_layout(hash, "range", sizeof(struct pass_range));
    hash = pack_layout(hash, "call", sizeof(struct order_call));
    return objects_layout(hash);
}

static int save_waiting(const struct waiting *w, struct buf *out)
{
    bool there = w;
    int bad = pack_value(out, there);

    return w ? bad | waiting_save(w, out) : bad;
}

static int save_engine(const struct pass_engine *e, struct buf *out)
{
    return pack_bytes(out, e->ranges, (uint32_t)(e->range_count * sizeof(*e->ranges))) |
           pack_bytes(out, e->calls, (uint32_t)(e->call_count * sizeof(*e->calls)));
}

#define SAVE(field) bad |= pack_value(out, x->field);

static int save_flows(const struct flows *f, struct buf *out)
{
    int bad = pack_value(out, f->count);

    for (uint32_t i = 1; !bad && i <= f->count; i++) {
        const struct record_flow *x = &f->all[i];

        FLOW_PLAIN(SAVE)
    }
    return bad;
}

static int save_credentials(const struct told *t, struct buf *out)
{
    int bad = pack_value(out, t->credential_count);

    for (uint32_t i = 1; !bad && i <= t->credential_count; i++) {
        const struct record_credential *x = &t->credentials[i];

        CREDENTIAL_PLAIN(SAVE)
        bad |= pack_bytes(out, x->gids.data, x->gids.len);
        bad |= pack_bytes(out, x->machine.data, x->machine.len);
        bad |= pack_bytes(out, x->body.data, x->body.len);
    }
    return bad;
}

static int save_calls(const struct pass *p, struct buf *out)
{
    int bad = pack_value(out, p->recent.count);

    for (uint32_t i = 0; !bad && i < p->recent.count; i++) {
        const struct recent_call *x = &p->recent.all[i];

        CALL_PLAIN(SAVE)
        bad |= save_waiting(x->waiting, out);
    }
    bad |= pack_value(out, p->held_count);
    for (uint32_t i = 0; !bad && i < p->held_count; i++)
        bad |= pack_value(out, p->held[i].host) | save_waiting(p->held[i].reply, out);
    return bad;
}

static int save_servers(const struct names_options *o, struct buf *out)
{
    int bad = pack_value(out, o->server_count);

    for (uint32_t i = 0; !bad && i < o->server_count; i++)
        bad |= pack_value(out, o->servers[i].version) | pack_value(out, o->servers[i].bytes);
    return bad;
}

static int pack_state(const struct pass *x, const struct join *join, struct buf *out)
{
    int bad = 0;

    PASS_PLAIN(SAVE)
    bad |= join_save(join, out);
    bad |= objects_save(&x->objects, out);
    bad |= save_flows(&x->flows, out) | save_credentials(&x->told, out);
    return bad | save_engine(&x->engine, out) | save_calls(x, out);
}

int pass_save(const struct pass *p, const char *path, const struct join *join, struct err *err)
{
    struct buf values = { 0 };
    int bad = save_servers(p->options, &values) | pack_state(p, join, &values);
    int rc = bad ? err_memory(err, "a state") : packed_write(path, version(), &values, err);

    buf_free(&values);
    return rc;
}

/* Whether all that it refers to is there. */
static bool is_sound(const struct pass *p, const struct waiting *w)
{
    const struct record_operation *op = &w->operation;
    const uint32_t objects = p->objects.object_count, paths = p->objects.path_count;

    return op->flow && op->flow <= p->flows.count && op->credential <= p->told.credential_count &&
           op->object <= objects && op->object2 <= objects && op->new_object <= objects &&
           w->parent <= objects && w->parent2 <= objects && op->path <= paths && op->path2 <= paths;
}

/* *|to| becomes a copy, or NULL if there is none. */
static int restore_waiting(const struct pass *p, struct unpack *in, struct waiting **to,
                           struct err *err)
{
    bool there;

    *to = NULL;
    unpack_value(in, there);
    if (in->failed || !there)
        return 0;
    *to = waiting_restore(in);
    if (!*to && !in->failed)
        return err_memory(err, "calls");
    if (*to && !is_sound(p, *to)) {
        in->failed = true;
        free(*to);
        *to = NULL;
    }
    return 0;
}

#define RESTORE(field) unpack_value(in, x.field);

static int restore_flows(struct flows *f, struct unpack *in, struct err *err)
{
    uint32_t count;

    unpack_value(in, count);
    while (!in->failed && count--) {
        struct record_flow x = { 0 };

        FLOW_PLAIN(RESTORE)
        in->failed |= (x.client.version != 4 && x.client.version != 6) ||
                      x.server.version != x.client.version;
        if (!in->failed && !flows_add(f, &x, err))
            return -err->code;
    }
    return 0;
}

static int restore_credentials(struct pass *p, struct unpack *in, struct err *err)
{
    uint32_t count;

    unpack_value(in, count);
    for (uint32_t id = 1; !in->failed && id <= count; id++) {
        struct record_credential x = { .id = id };

        CREDENTIAL_PLAIN(RESTORE)
        x.gids = unpack_bytes(in);
        x.machine = unpack_bytes(in);
        x.body = unpack_bytes(in);
        if (!in->failed &&
            (told_keep(&p->told, &x, err) < 0 || credentials_learn(&p->credentials, &x, err) < 0))
            return -err->code;
    }
    return 0;
}

/* Copies an array of whole elements. */
static void *restore_array(struct unpack *in, size_t size, uint32_t *count)
{
    struct bytes raw = unpack_bytes(in);
    void *array;

    *count = 0;
    in->failed |= raw.len % size != 0;
    if (in->failed || !raw.len)
        return NULL;
    array = malloc(raw.len);
    in->failed |= !array;
    if (!array)
        return NULL;
    memcpy(array, raw.data, raw.len);
    *count = (uint32_t)(raw.len / size);
    return array;
}

static void restore_engine(struct pass_engine *e, struct unpack *in)
{
    e->ranges = restore_array(in, sizeof(*e->ranges), &e->range_count);
    e->range_cap = e->range_count;
    e->calls = restore_array(in, sizeof(*e->calls), &e->call_count);
}

static int restore_calls(struct pass *p, struct unpack *in, struct err *err)
{
    uint32_t count;
    int rc = 0;

    unpack_value(in, count);
    while (rc == 0 && !in->failed && count--) {
        struct recent_call x = { 0 };

        CALL_PLAIN(RESTORE)
        in->failed |= !x.host || x.host > p->objects.host_count;
        if (!in->failed)
            rc = restore_waiting(p, in, &x.waiting, err);
        if (rc == 0 && !in->failed && (rc = recent_add(&p->recent, &x, err)) < 0)
            free(x.waiting);
    }
    unpack_value(in, count);
    while (rc == 0 && !in->failed && count--) {
        struct pass_held x = { 0 };

        unpack_value(in, x.host);
        in->failed |= !x.host || x.host > p->objects.host_count;
        if (!in->failed)
            rc = restore_waiting(p, in, &x.reply, err);
        in->failed |= rc == 0 && !x.reply;
        if (rc < 0 || in->failed)
            break;
        if (GROW(p->held, p->held_count, p->held_cap) < 0) {
            free(x.reply);
            return err_memory(err, "replies");
        }
        p->held[p->held_count++] = x;
    }
    return rc;
}

/* The state must be of the servers that are asked for. */
static int compare_servers(const struct names_options *o, struct unpack *in, const char *path,
                           struct err *err)
{
    uint32_t count;
    bool same;

    unpack_value(in, count);
    same = count == o->server_count;
    for (uint32_t i = 0; same && !in->failed && i < count; i++) {
        struct address x = { 0 };

        unpack_value(in, x.version);
        unpack_value(in, x.bytes);
        same = address_equal(&x, &o->servers[i]);
    }
    return same || in->failed
               ? 0
               : err_set(err, ERR_USAGE,
                         "%s: is the state of other servers: give the same --server as before",
                         path);
}

static int restore(struct pass *p, struct unpack *in, struct join *join, struct err *err)
{
    struct pass x = { 0 };
    int rc;

    PASS_PLAIN(RESTORE)
#define TAKE(field) p->field = x.field;
    PASS_PLAIN(TAKE)
    rc = join_restore(join, in, err);
    if (rc == 0 && !in->failed)
        rc = objects_restore(&p->objects, in, err);
    if (rc == 0 && !in->failed)
        rc = restore_flows(&p->flows, in, err);
    if (rc == 0 && !in->failed)
        rc = restore_credentials(p, in, err);
    if (rc == 0 && !in->failed)
        restore_engine(&p->engine, in);
    return rc < 0 || in->failed ? rc : restore_calls(p, in, err);
}

int pass_restore(struct pass *p, const char *path, struct join *join, struct err *err)
{
    const struct packed_kind kind = { version(), STATE_MOST, "a state of names",
                                      "name the pieces from the first one on" };
    struct buf file = { 0 };
    struct unpack in;
    int rc = packed_read(path, &kind, &file, &in, err);

    if (rc == 0)
        rc = compare_servers(p->options, &in, path, err);
    if (rc == 0)
        rc = restore(p, &in, join, err);
    if (rc == 0 && (in.failed || in.left))
        rc = err_set(err, ERR_INPUT, "%s: damaged: %s", path, kind.advice);
    buf_free(&file);
    return rc;
}
