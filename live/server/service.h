/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/service.h
 *
 * The exports of ftnfsd, each with a file system of its own, and state that all programs (NFS,
 * MOUNT, NFSACL) need for their answers.  There are no sockets here.
 */
#ifndef NFSDIGEST_SERVER_SERVICE_H
#define NFSDIGEST_SERVER_SERVICE_H

#include "fs/fs.h"
#include "server/handle.h"
#include "wire/bind.h"
#include "wire/rpc.h"

enum squash {
    SQUASH_NONE,
    SQUASH_ROOT, /* uid 0 and gid 0 become the anonymous ones */
    SQUASH_ALL,
};

enum {
    ANONYMOUS_ID = 65534,
    EXPORTS_MAX = 256,
    TRANSFER_MAX = 1 << 20,      /* bytes of a READ or WRITE over TCP */
    TRANSFER_MAX_UDP = 32 << 10, /* a reply must fit into a datagram */
};

struct export
{
    char *name; /* "/name": begins with a slash, does not end with one */
    struct fs *fs;
    uint32_t number; /* in handles; from 1 */
    bool read_only;
    enum squash squash;
    uint32_t anonymous_uid, anonymous_gid;
};

struct service {
    struct export exports[EXPORTS_MAX];
    uint32_t export_count;
    uint8_t key[HANDLE_KEY_LENGTH];
    uint8_t write_verifier[NFS3_WRITEVERFSIZE]; /* of this instance */
    uint8_t cookie_verifier[NFS3_COOKIEVERFSIZE];
    uint32_t transfer_max;     /* at most TRANSFER_MAX */
    uint8_t *scratch;          /* TRANSFER_MAX bytes: data of READ, entries of listings */
    void *arguments, *results; /* BIND_STRUCT_MAX bytes each: the structs of the current call */
};

/* |service| must be all zeros.  Makes a random key and write verifier. */
int service_init(struct service *service, struct err *err);
/* Frees the exports' file systems, too. */
void service_free(struct service *service);

struct export_options {
    const char *name;
    bool read_only;
    enum squash squash;
    uint32_t anonymous_uid, anonymous_gid;
};

/* Adds an export of |fs|.  The service owns |fs| from then on, also after an error.  -ERR_USAGE:
 * the name is taken, lies within another export, or is not an absolute path; or there are too many
 * exports. */
int service_export(struct service *service, const struct export_options *options, struct fs *fs,
                   struct err *err);

/* Finds the export whose name |path| is or begins with.  |rest| is the part after it, without
 * leading slashes.  Returns NULL if there is none. */
const struct export *service_find_export(const struct service *service, struct bytes path,
                                         struct bytes *rest);
/* Returns the export with this number, or NULL if there is none. */
const struct export *service_export_at(const struct service *service, uint32_t number);

/* The caller as the export's file system sees it.  AUTH_NONE is the anonymous user. */
struct caller {
    struct fs_caller as; /* its |gids| points to these: */
    uint32_t gids[RPC_GIDS_MAX];
};
void export_caller(const struct export *export, const struct rpc_auth *credential,
                   struct caller *caller);

/* The outcome of a call: for statistics, faults and records. */
struct outcome {
    uint32_t status;             /* of the result */
    const struct export *export; /* NULL: no handle or path of ours */
    uint32_t object;             /* the first object of the arguments, or 0 */
    uint32_t data;               /* bytes read or written */
};

/* Makes the handle of an object. */
void service_handle(const struct service *service, const struct export *export, uint32_t object,
                    uint8_t to[HANDLE_LENGTH]);
/* Finds the object and export of a handle.  Returns NFS3_OK, NFS3ERR_BADHANDLE or NFS3ERR_STALE. */
enum nfsstat3 service_find(const struct service *service, struct bytes handle,
                           const struct export **export, uint32_t *object);

#endif
