/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/mount.c
 *
 * MOUNT version 3 (RFC 1813 s5) and version 1 (RFC 1094 appendix A): the same procedures, with
 * other forms of MNT's result.
 */
#include "server/serve_parts.h"
#include "wire/mount_structs.h"

#include <string.h>

enum { MOUNT_NAMES_MAX = 256 };

static const struct fs_caller root = { 0, 0, 0, NULL };

/* From an export's root down |rest|, name by name. */
static enum nfsstat3 walk_down(const struct export *export, struct bytes rest, uint32_t *object)
{
    *object = fs_root(export->fs);
    for (unsigned names = 0; rest.len; names++) {
        const uint8_t *slash = memchr(rest.data, '/', rest.len);
        uint32_t len = slash ? (uint32_t)(slash - rest.data) : rest.len;
        struct bytes name = { rest.data, len };
        enum nfsstat3 status;

        if (names == MOUNT_NAMES_MAX)
            return NFS3ERR_NAMETOOLONG;
        if (len) {
            status = fs_lookup(export->fs, &root, *object, name, object);
            if (status != NFS3_OK)
                return status;
        }
        rest.data += len + (slash != NULL);
        rest.len -= len + (slash != NULL);
    }
    return fs_type(export->fs, *object) == NF3DIR ? NFS3_OK : NFS3ERR_NOTDIR;
}

/* Numbers of mountstat3 (s5.1.5) are those of nfsstat3, as far as they can come here. */
static uint32_t find_path(struct request *q, struct bytes path, struct outcome *outcome,
                          uint8_t handle[HANDLE_LENGTH])
{
    struct server *server = q->server;
    const struct export *export;
    struct bytes rest;

    while (path.len > 1 && path.data[0] == '/' && path.data[1] == '/') /* as POSIX reads them */
        path = (struct bytes){ path.data + 1, path.len - 1 };
    export = service_find_export(&server->service, path, &rest);
    outcome->status = NFS3ERR_NOENT;
    if (!export)
        return outcome->status;
    outcome->export = export;
    outcome->status = walk_down(export, rest, &outcome->object);
    if (outcome->status == NFS3_OK && fault_has(&q->effects, FAULT_STATUS))
        outcome->status = (uint32_t)q->effects.value[FAULT_STATUS];
    if (outcome->status != NFS3_OK)
        return outcome->status;
    service_handle(&server->service, export, outcome->object, handle);
    if (fault_has(&q->effects, FAULT_HANDLE))
        handle[HANDLE_LENGTH - 1] ^= 1;
    return NFS3_OK;
}

static struct bytes text(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

static const char *host_of(const struct rpc_call *call, char to[NET_ADDRESS_TEXT])
{
    return net_address_host_text(&call->ends.peer, to);
}

static bool read_path(const struct request *q, struct bytes *path)
{
    struct MNT3args args;

    if (bind_read(mount3_binding(q->call->header.procedure)->arguments, q->call->body, &args) !=
        WALK_OK)
        return false;
    *path = args.dirpath;
    return true;
}

/* --- the lists */

static enum rpc_status dump(struct request *q, struct xdr_put *to)
{
    const struct mounts *mounts = &q->server->mounts;
    struct mountbody bodies[MOUNTS_MAX];
    struct mountlist3 list = { .list = { bodies, mounts->count, 0 } };

    for (uint32_t i = 0; i < mounts->count; i++)
        bodies[i] = (struct mountbody){ .ml_hostname = text(mounts->list[i].host),
                                        .ml_directory = text(mounts->list[i].path) };
    return bind_write(mount3_binding(2)->result, to, &list) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}

static enum rpc_status export_list(struct request *q, struct xdr_put *to)
{
    const struct service *service = &q->server->service;
    struct exportnode nodes[EXPORTS_MAX];
    struct exports list = { .list = { nodes, service->export_count, 0 } };

    for (uint32_t i = 0; i < service->export_count; i++)
        nodes[i] = (struct exportnode){ .ex_dir = text(service->exports[i].name) };
    return bind_write(mount3_binding(5)->result, to, &list) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}

/* What versions 1 and 3 have in common: all but MNT. */
static enum rpc_status common(struct request *q, struct xdr_put *to)
{
    char host[NET_ADDRESS_TEXT];
    struct bytes path = { NULL, 0 };

    switch (q->call->header.procedure) {
    case 2:
        return dump(q, to);
    case 3:
        if (!read_path(q, &path))
            return RPC_GARBAGE_ARGS;
        mounts_remove(&q->server->mounts, host_of(q->call, host), path);
        return RPC_SUCCESS;
    case 4:
        mounts_remove(&q->server->mounts, host_of(q->call, host), path);
        return RPC_SUCCESS;
    case 5:
    case 6: /* version 1's EXPORTALL */
        return export_list(q, to);
    default:
        return RPC_PROC_UNAVAIL;
    }
}

/* --- MNT */

static void note_mount(struct request *q, struct bytes path)
{
    char host[NET_ADDRESS_TEXT];

    mounts_add(&q->server->mounts, host_of(q->call, host), path);
}

enum rpc_status serve_mount3(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    static const uint32_t flavors[] = { RPC_AUTH_SYS, RPC_AUTH_NONE };
    struct auth_flavor told[] = { { flavors[0] }, { flavors[1] } };
    struct mountres3 result = { .auth_flavors = { told, 2, 0 } };
    uint8_t handle[HANDLE_LENGTH];
    struct bytes path;

    if (q->call->header.procedure != 1)
        return common(q, to);
    if (!read_path(q, &path))
        return RPC_GARBAGE_ARGS;
    result.fhs_status = find_path(q, path, outcome, handle);
    result.fhandle = (struct bytes){ handle, HANDLE_LENGTH };
    if (result.fhs_status == NFS3_OK)
        note_mount(q, path);
    return bind_write(mount3_binding(1)->result, to, &result) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}

/* A handle of version 1 has 32 bytes: ours, and zeros. */
enum rpc_status serve_mount1(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    struct fhstatus result = { 0 };
    struct bytes path;

    if (q->call->header.procedure != 1)
        return common(q, to);
    if (!read_path(q, &path))
        return RPC_GARBAGE_ARGS;
    result.status = find_path(q, path, outcome, result.directory);
    if (result.status == NFS3_OK)
        note_mount(q, path);
    return bind_write(mount1_binding(1)->result, to, &result) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}
