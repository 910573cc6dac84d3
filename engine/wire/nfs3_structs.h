/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_structs.h
 *
 * Messages of NFSv3 as C structs, for programs that make or answer them.  Structs and members have
 * the RFC's names (RFC 1813 s2.6, s3.3).  bind.h reads and writes them by the field tables, so this
 * is no second description of the wire: only what C needs to know.
 *
 * |bytes| lead into the message that was read.
 */
#ifndef NFSDIGEST_WIRE_NFS3_STRUCTS_H
#define NFSDIGEST_WIRE_NFS3_STRUCTS_H

#include "base/bytes.h"
#include "wire/nfs3_numbers.h"

#include <stdbool.h>

struct nfstime3 {
    uint32_t seconds, nseconds;
};

struct specdata3 {
    uint32_t specdata1, specdata2;
};

struct fattr3 {
    uint32_t type; /* enum ftype3 */
    uint32_t mode, nlink, uid, gid;
    uint64_t size, used;
    struct specdata3 rdev;
    uint64_t fsid, fileid;
    struct nfstime3 atime, mtime, ctime;
};

struct post_op_attr {
    bool attributes_follow;
    struct fattr3 attributes;
};

struct wcc_attr {
    uint64_t size;
    struct nfstime3 mtime, ctime;
};

struct wcc_data {
    bool before_follows;
    struct wcc_attr before;
    struct post_op_attr after;
};

/* Each value is to be set only if its |set_| says so. */
struct sattr3 {
    bool set_mode, set_uid, set_gid, set_size;
    uint32_t set_atime, set_mtime; /* DONT_CHANGE, ... */
    uint32_t mode, uid, gid;
    uint64_t size;
    struct nfstime3 atime, mtime;
};

struct diropargs3 {
    struct bytes dir; /* its handle */
    struct bytes name;
};

#endif
