/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/copy_lab.h
 *
 * For tests of live/copy: two file systems in memory, each behind an RPC server on loopback, on one
 * loop; a mirror, a pool and a copy between them; and whether both trees are the same at the end.
 */
#ifndef NFSDIGEST_UNIT_COPY_LAB_H
#define NFSDIGEST_UNIT_COPY_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copy/copy.h"
#include "fs/fs.h"
#include "mirror/popularity.h"
#include "net/rpc_server.h"
#include "server/nfs3.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAB_SIDES = 2, REF = 0, SUT_SIDE = 1 };

static const struct fs_caller lab_root_user = { 0 };

struct lab;

struct lab_side {
    struct lab *lab;
    struct rpc_server *rpc;
    struct net_address address;
    struct service service;
    struct rpc_client *client;
    /* Faults for a call of the copy; NULL: none. */
    void (*faults)(struct lab *lab, uint32_t procedure, struct fault_effects *effects);
    uint64_t calls[22];
};

struct lab {
    struct loop *loop;
    struct lab_side side[LAB_SIDES];
    struct timer stop;
    struct mirror *mirror;
    struct change_pool *pool;
    struct copy *copy;
    struct copy_setup setup;
    uint64_t ring, read; /* the last entry that there is, and that was read */
    /* The copy's own call was answered at this entry. */
    void (*answered)(struct lab *lab, uint32_t xid, uint64_t position);
    /* Writes the results of a call itself: true. */
    bool (*craft)(struct lab *lab, uint32_t procedure, struct xdr_put *to);
    void (*executed)(struct lab *lab, int side, uint32_t procedure);
    uint64_t synchronized, played, failed[COPY_REASONS];
    uint32_t order[64]; /* ids of the first objects that were synchronized */
    char last_failure[COPY_TEXT];
    void *ctx;
};

static const struct rpc_auth lab_credential = { .flavor = RPC_AUTH_SYS, .valid = true };

static inline struct bytes lab_text(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

static inline struct fs *lab_fs(struct lab *lab, int side)
{
    return lab->side[side].service.exports[0].fs;
}

static inline struct bytes lab_handle(struct lab *lab, int side, uint32_t object, uint8_t *to)
{
    struct service *service = &lab->side[side].service;

    service_handle(service, &service->exports[0], object, to);
    return (struct bytes){ to, HANDLE_LENGTH };
}

/* The object of a handle; 0: there is none. */
static inline uint32_t lab_find(struct lab *lab, int side, struct bytes handle)
{
    const struct export *export;
    uint32_t object;

    return service_find(&lab->side[side].service, handle, &export, &object) ? 0 : object;
}

/* --- servers */

static int lab_call(void *ctx, struct rpc_call *call, struct err *err)
{
    struct lab_side *side = ctx;
    struct lab *lab = side->lab;
    struct fault_effects effects = { 0 };
    struct nfs3_call nfs3 = { call->header.procedure, &call->header.credential, call->body,
                              TRANSFER_MAX, &effects };
    struct outcome outcome = { 0 };
    struct xdr_put *to;
    enum rpc_status status = RPC_SUCCESS;

    side->calls[call->header.procedure]++;
    if (side->faults)
        side->faults(lab, call->header.procedure, &effects);
    if (side == &lab->side[REF])
        lab->ring++;
    to = rpc_reply_begin(call);
    if (!(side == &lab->side[REF] && lab->craft && lab->craft(lab, nfs3.procedure, to)))
        status = nfs3_answer(&side->service, &nfs3, to, &outcome);
    if (lab->executed)
        lab->executed(lab, (int)(side - lab->side), nfs3.procedure);
    if (fault_has(&effects, FAULT_CLOSE)) {
        rpc_call_drop(call); /* it was executed, and will be again */
        return 0;
    }
    if (side == &lab->side[REF])
        lab->answered(lab, call->header.xid, ++lab->ring);
    return status ? rpc_reply_status(call, status, NULL, err) : rpc_reply_end(call, NULL, err);
}

/* Read at once. */
static inline void lab_answered(struct lab *lab, uint32_t xid, uint64_t position)
{
    lab->read = position;
    copy_replied(lab->copy, xid, position);
}

static void lab_begin_servers(struct lab *lab)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct err err = { 0 };

    lab->loop = loop_new(&err);
    assert_non_null(lab->loop);
    for (int i = 0; i < LAB_SIDES; i++) {
        struct lab_side *side = &lab->side[i];
        struct rpc_program program = { NFS3_PROGRAM, 3, 3, 22, lab_call, side };
        struct net_address any = { .v4 = { .sin_family = AF_INET,
                                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
        struct rpc_client_setup client = { .limits = rpc_client_defaults };

        side->lab = lab;
        limits.idle = limits.slow = limits.hoard = 0;
        side->rpc = rpc_server_new(lab->loop, &limits, NULL, &err);
        assert_non_null(side->rpc);
        assert_int_equal(rpc_server_add(side->rpc, &program, &err), 0);
        assert_int_equal(rpc_server_listen(side->rpc, RPC_TCP, &any, &side->address, &err), 0);
        client.server = side->address;
        side->client = rpc_client_new(lab->loop, &client, &(struct rpc_client_host){ 0 }, &err);
        assert_non_null(side->client);
    }
    lab->answered = lab_answered;
}

static void lab_end_servers(struct lab *lab)
{
    for (int i = 0; i < LAB_SIDES; i++) {
        rpc_client_free(lab->side[i].client);
        rpc_server_free(lab->side[i].rpc);
    }
}

static void lab_begin_fs(struct lab *lab, const struct fs_config *config, int side)
{
    struct export_options options = { .name = "/x" };
    struct err err = { 0 };
    struct fs *fs = fs_new(config, &err);

    assert_non_null(fs);
    memset(&lab->side[side].service, 0, sizeof(lab->side[side].service));
    assert_int_equal(service_init(&lab->side[side].service, &err), 0);
    assert_int_equal(service_export(&lab->side[side].service, &options, fs, &err), 0);
}

/* --- a host that only counts */

static uint64_t host_position(void *ctx)
{
    return ((struct lab *)ctx)->read;
}

static bool host_is_quiet(void *ctx, const struct mirror_object *object, uint64_t before)
{
    (void)ctx, (void)object, (void)before;
    return true;
}

static bool host_is_wanted(void *ctx, struct mirror_object *object,
                           const struct mirror_object *directory, struct bytes name)
{
    (void)ctx, (void)object, (void)directory, (void)name;
    return true;
}

static int host_synchronized(void *ctx, struct mirror_object *object, struct err *err)
{
    struct lab *lab = ctx;

    (void)err;
    assert_int_equal(object->state, MIRROR_SYNCHRONIZED);
    if (lab->synchronized < 64)
        lab->order[lab->synchronized] = object->id;
    lab->synchronized++;
    return 0;
}

static int host_played(void *ctx, struct mirror_object *object, struct err *err)
{
    (void)err;
    assert_false(object->has_changes);
    ((struct lab *)ctx)->played++;
    return 0;
}

static int host_failed(void *ctx, struct mirror_object *object, enum copy_why why, uint32_t tries,
                       const char *text, struct err *err)
{
    struct lab *lab = ctx;

    (void)object, (void)tries, (void)err;
    lab->failed[why]++;
    snprintf(lab->last_failure, sizeof(lab->last_failure), "%s", text);
    return 0;
}

static inline struct copy_host lab_host(struct lab *lab)
{
    return (struct copy_host){ host_position,
                               host_is_quiet,
                               host_is_wanted,
                               host_synchronized,
                               host_played,
                               host_failed,
                               lab };
}

/* --- the copy */

static void lab_begin_copy(struct lab *lab)
{
    uint8_t a[HANDLE_LENGTH], b[HANDLE_LENGTH];
    struct err err = { 0 };

    lab->mirror = mirror_open(UINT64_C(60000000000), &err);
    if (!lab->pool)
        lab->pool = change_pool_open(1 << 20, 1 << 20, &err);
    lab->setup.loop = lab->loop;
    lab->setup.mirror = lab->mirror;
    lab->setup.pool = lab->pool;
    lab->setup.reference = lab->side[REF].client;
    lab->setup.sut = lab->side[SUT_SIDE].client;
    lab->setup.credential = &lab_credential;
    lab->copy = copy_new(&lab->setup, &err);
    if (!lab->copy)
        fail_msg("%s", err.text);
    assert_int_equal(copy_begin(lab->copy, lab_handle(lab, REF, fs_root(lab_fs(lab, REF)), a),
                                lab_handle(lab, SUT_SIDE, fs_root(lab_fs(lab, SUT_SIDE)), b), &err),
                     0);
}

/* After the servers, or when nothing is under way. */
static void lab_end_copy(struct lab *lab)
{
    copy_free(lab->copy);
    mirror_close(lab->mirror);
    change_pool_close(lab->pool);
    lab->pool = NULL;
    for (int i = 0; i < LAB_SIDES; i++)
        service_free(&lab->side[i].service);
}

static int lab_on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(((struct lab *)ctx)->loop);
    return 0;
}

static inline void lab_run(struct lab *lab, int64_t ns)
{
    struct err err = { 0 };

    lab->stop = (struct timer){ .due = lab_on_stop, .ctx = lab };
    assert_int_equal(loop_set(lab->loop, &lab->stop, loop_clock() + ns, &err), 0);
    if (loop_run(lab->loop, &err) < 0)
        fail_msg("%s", err.text);
    loop_unset(lab->loop, &lab->stop);
}

static inline bool lab_is_idle(struct lab *lab)
{
    struct copy_counts counts = copy_counts(lab->copy);

    return !counts.at_work && !counts.pausing && !counts.has_scratch &&
           !mirror_count_state(lab->mirror, MIRROR_QUEUED);
}

/* Until nothing is to be done, at most |seconds|. */
static inline bool lab_settle(struct lab *lab, int seconds)
{
    int64_t until = loop_clock() + seconds * INT64_C(1000000000);

    while (!lab_is_idle(lab) && loop_clock() < until)
        lab_run(lab, 200000);
    return lab_is_idle(lab);
}

/* --- are both trees the same? */

struct lab_names {
    struct lab_entry {
        char name[256];
        uint32_t object;
    } *list;
    uint32_t count, cap;
};

static int lab_take_name(void *ctx, const struct fs_entry *entry)
{
    struct lab_names *names = ctx;
    struct lab_entry *e;

    if (entry->name.data[0] == '.' &&
        (entry->name.len == 1 || (entry->name.len == 2 && entry->name.data[1] == '.')))
        return 0;
    if (names->count == names->cap) {
        names->cap = names->cap * 2 + 16;
        names->list = realloc(names->list, names->cap * sizeof(*names->list));
    }
    e = &names->list[names->count++];
    snprintf(e->name, sizeof(e->name), "%.*s", (int)entry->name.len,
             (const char *)entry->name.data);
    e->object = entry->object;
    return 0;
}

static int lab_by_name(const void *a, const void *b)
{
    return strcmp(((const struct lab_entry *)a)->name, ((const struct lab_entry *)b)->name);
}

static inline struct lab_names lab_list(struct fs *fs, uint32_t dir)
{
    struct lab_names names = { 0 };
    bool eof;

    assert_int_equal(fs_list(fs, &lab_root_user, dir, 0, lab_take_name, &names, &eof), NFS3_OK);
    if (names.count)
        qsort(names.list, names.count, sizeof(*names.list), lab_by_name);
    return names;
}

struct lab_compare {
    struct lab *lab;
    bool times;
    uint32_t *twins; /* by object of the reference: of the SUT */
    uint32_t cap;
    char text[512];
};

#define LAB_SAY(c, ...) (snprintf((c)->text, sizeof((c)->text), __VA_ARGS__), false)

static bool lab_same_contents(struct lab_compare *c, uint32_t a, uint32_t b, uint64_t size)
{
    static uint8_t x[65536], y[65536];
    struct fs *ref = lab_fs(c->lab, REF), *sut = lab_fs(c->lab, SUT_SIDE);
    bool eof;

    for (uint64_t at = 0; at < size && at < 16 << 20; at += sizeof(x)) {
        uint32_t m = sizeof(x), n = sizeof(y);

        fs_read(ref, &lab_root_user, a, at, x, &m, &eof);
        fs_read(sut, &lab_root_user, b, at, y, &n, &eof);
        if (m != n || memcmp(x, y, m) != 0) {
            uint32_t i = 0;

            while (i < m && x[i] == y[i])
                i++;
            return LAB_SAY(c, "contents of %u from byte %llu on: %u, SUT %u", a,
                           (unsigned long long)at + i, x[i], y[i]);
        }
    }
    return true;
}

static bool lab_same_object(struct lab_compare *c, uint32_t a, uint32_t b, const char *name)
{
    struct fs *ref = lab_fs(c->lab, REF), *sut = lab_fs(c->lab, SUT_SIDE);
    struct bytes p, q;
    struct fattr3 x, y;

    fs_attributes(ref, a, &x);
    fs_attributes(sut, b, &y);
    if (a < c->cap && c->twins[a] && c->twins[a] != b)
        return LAB_SAY(c, "%s: links of %u lead to different files", name, a);
    if (a >= c->cap) {
        c->twins = realloc(c->twins, (a + 64) * sizeof(*c->twins));
        memset(c->twins + c->cap, 0, (a + 64 - c->cap) * sizeof(*c->twins));
        c->cap = a + 64;
    }
    c->twins[a] = b;
    if (x.type != y.type || (x.type != NF3LNK && x.mode != y.mode) || x.uid != y.uid ||
        x.gid != y.gid || x.nlink != y.nlink || (x.type == NF3REG && x.size != y.size))
        return LAB_SAY(c,
                       "%s (%u, SUT %u): type %u %u, mode %o %o, uid %u %u, gid %u %u, nlink %u "
                       "%u, size %llu %llu",
                       name, a, b, x.type, y.type, x.mode, y.mode, x.uid, y.uid, x.gid, y.gid,
                       x.nlink, y.nlink, (unsigned long long)x.size, (unsigned long long)y.size);
    if (c->times && (x.mtime.seconds != y.mtime.seconds || x.mtime.nseconds != y.mtime.nseconds))
        return LAB_SAY(c, "%s: mtime", name);
    if (x.rdev.specdata1 != y.rdev.specdata1 || x.rdev.specdata2 != y.rdev.specdata2)
        return LAB_SAY(c, "%s: device", name);
    if (x.type == NF3LNK &&
        (fs_readlink(ref, &lab_root_user, a, &p) || fs_readlink(sut, &lab_root_user, b, &q) ||
         p.len != q.len || memcmp(p.data, q.data, p.len) != 0))
        return LAB_SAY(c, "%s: text", name);
    return x.type != NF3REG || lab_same_contents(c, a, b, x.size);
}

static bool lab_same_below(struct lab_compare *c, uint32_t a, uint32_t b, const char *path)
{
    struct lab_names x = lab_list(lab_fs(c->lab, REF), a),
                     y = lab_list(lab_fs(c->lab, SUT_SIDE), b);
    bool same = true;
    char name[600];

    for (uint32_t i = 0; same && (i < x.count || i < y.count); i++) {
        if (i >= x.count || i >= y.count || strcmp(x.list[i].name, y.list[i].name) != 0) {
            same = LAB_SAY(c, "names in %.200s: %.60s, SUT %.60s", path,
                           i < x.count ? x.list[i].name : "no more",
                           i < y.count ? y.list[i].name : "no more");
            break;
        }
        snprintf(name, sizeof(name), "%.300s/%s", path, x.list[i].name);
        same = lab_same_object(c, x.list[i].object, y.list[i].object, name);
        if (same && fs_type(lab_fs(c->lab, REF), x.list[i].object) == NF3DIR)
            same = lab_same_below(c, x.list[i].object, y.list[i].object, name);
    }
    free(x.list);
    free(y.list);
    return same;
}

/* NULL: they are. */
static inline const char *lab_differ(struct lab *lab, bool times)
{
    static struct lab_compare c;
    uint32_t a = fs_root(lab_fs(lab, REF)), b = fs_root(lab_fs(lab, SUT_SIDE));
    bool same;

    c = (struct lab_compare){ .lab = lab, .times = times };
    same = lab_same_object(&c, a, b, "") && lab_same_below(&c, a, b, "");
    free(c.twins);
    return same ? NULL : c.text;
}

/* --- making trees */

static inline uint32_t lab_make(struct fs *fs, uint32_t dir, const char *name, enum ftype3 type)
{
    struct fs_new new_object = { .type = type,
                                 .attributes = { .set_mode = true, .mode = 0640 },
                                 .link_text = lab_text("a/b"),
                                 .rdev = { 1, 2 } };
    uint32_t object = 0;

    assert_int_equal(fs_make(fs, &lab_root_user, dir, lab_text(name), &new_object, &object),
                     NFS3_OK);
    return object;
}

static inline void lab_write(struct fs *fs, uint32_t file, uint64_t offset, uint32_t size,
                             uint8_t seed)
{
    uint8_t *data = malloc(size);

    for (uint32_t i = 0; i < size; i++)
        data[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    assert_int_equal(
        fs_write(fs, &lab_root_user, file, offset, (struct bytes){ data, size }, FILE_SYNC),
        NFS3_OK);
    free(data);
}

#endif
