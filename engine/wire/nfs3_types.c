/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_types.c
 *
 * Defines the types that nfs3_types.h declares.
 */
#include "wire/nfs3_types.h"
#include "wire/nfs3_numbers.h"

#include <stddef.h>

/* RFC 1813 s2.6 nfsstat3 */
const struct value_name nfsstat3_names[] = {
    { NFS3_OK, "NFS3_OK" },
    { NFS3ERR_PERM, "NFS3ERR_PERM" },
    { NFS3ERR_NOENT, "NFS3ERR_NOENT" },
    { NFS3ERR_IO, "NFS3ERR_IO" },
    { NFS3ERR_NXIO, "NFS3ERR_NXIO" },
    { NFS3ERR_ACCES, "NFS3ERR_ACCES" },
    { NFS3ERR_EXIST, "NFS3ERR_EXIST" },
    { NFS3ERR_XDEV, "NFS3ERR_XDEV" },
    { NFS3ERR_NODEV, "NFS3ERR_NODEV" },
    { NFS3ERR_NOTDIR, "NFS3ERR_NOTDIR" },
    { NFS3ERR_ISDIR, "NFS3ERR_ISDIR" },
    { NFS3ERR_INVAL, "NFS3ERR_INVAL" },
    { NFS3ERR_FBIG, "NFS3ERR_FBIG" },
    { NFS3ERR_NOSPC, "NFS3ERR_NOSPC" },
    { NFS3ERR_ROFS, "NFS3ERR_ROFS" },
    { NFS3ERR_MLINK, "NFS3ERR_MLINK" },
    { NFS3ERR_NAMETOOLONG, "NFS3ERR_NAMETOOLONG" },
    { NFS3ERR_NOTEMPTY, "NFS3ERR_NOTEMPTY" },
    { NFS3ERR_DQUOT, "NFS3ERR_DQUOT" },
    { NFS3ERR_STALE, "NFS3ERR_STALE" },
    { NFS3ERR_REMOTE, "NFS3ERR_REMOTE" },
    { NFS3ERR_BADHANDLE, "NFS3ERR_BADHANDLE" },
    { NFS3ERR_NOT_SYNC, "NFS3ERR_NOT_SYNC" },
    { NFS3ERR_BAD_COOKIE, "NFS3ERR_BAD_COOKIE" },
    { NFS3ERR_NOTSUPP, "NFS3ERR_NOTSUPP" },
    { NFS3ERR_TOOSMALL, "NFS3ERR_TOOSMALL" },
    { NFS3ERR_SERVERFAULT, "NFS3ERR_SERVERFAULT" },
    { NFS3ERR_BADTYPE, "NFS3ERR_BADTYPE" },
    { NFS3ERR_JUKEBOX, "NFS3ERR_JUKEBOX" },
    { 0, NULL },
};

const struct value_name ftype3_names[] = {
    { NF3REG, "NF3REG" }, { NF3DIR, "NF3DIR" },   { NF3BLK, "NF3BLK" },   { NF3CHR, "NF3CHR" },
    { NF3LNK, "NF3LNK" }, { NF3SOCK, "NF3SOCK" }, { NF3FIFO, "NF3FIFO" }, { 0, NULL },
};

/* nfstime3, three times for Wireshark's sake */
static const struct field atime_fields[] = {
    U32("seconds", CLASS_TIME, .wireshark = "nfs.atime.sec"),
    U32("nseconds", CLASS_INTERVAL, .wireshark = "nfs.atime.nsec"),
    END,
};
static const struct field mtime_fields[] = {
    U32("seconds", CLASS_TIME, .wireshark = "nfs.mtime.sec"),
    U32("nseconds", CLASS_INTERVAL, .wireshark = "nfs.mtime.nsec"),
    END,
};
static const struct field ctime_fields[] = {
    U32("seconds", CLASS_TIME, .wireshark = "nfs.ctime.sec"),
    U32("nseconds", CLASS_INTERVAL, .wireshark = "nfs.ctime.nsec"),
    END,
};
static const struct field dtime_fields[] = {
    U32("seconds", CLASS_INTERVAL, .wireshark = "nfs.dtime.sec"),
    U32("nseconds", CLASS_INTERVAL, .wireshark = "nfs.dtime.nsec"),
    END,
};
struct type nfstime3_access = { .name = "nfstime3", .fields = atime_fields };
struct type nfstime3_modify = { .name = "nfstime3", .fields = mtime_fields };
struct type nfstime3_change = { .name = "nfstime3", .fields = ctime_fields };
struct type nfstime3_delta = { .name = "nfstime3", .fields = dtime_fields };

static const struct field specdata3_fields[] = {
    U32("specdata1", CLASS_DEVICE, .wireshark = "nfs.specdata1"),
    U32("specdata2", CLASS_DEVICE, .wireshark = "nfs.specdata2"),
    END,
};
struct type specdata3 = { .name = "specdata3", .fields = specdata3_fields };

static const struct field fattr3_fields[] = {
    { "type", XDR_ENUM, CLASS_TYPE, .names = ftype3_names, .wireshark = "nfs.fattr3.type" },
    U32("mode", CLASS_MODE, .wireshark = "nfs.mode3"),
    U32("nlink", CLASS_COUNT, .wireshark = "nfs.fattr3.nlink"),
    U32("uid", CLASS_UID, .wireshark = "nfs.fattr3.uid"),
    U32("gid", CLASS_GID, .wireshark = "nfs.fattr3.gid"),
    U64("size", CLASS_SIZE, .wireshark = "nfs.fattr3.size"),
    U64("used", CLASS_SIZE, .wireshark = "nfs.fattr3.used"),
    { "rdev", XDR_STRUCT, .sub = &specdata3 },
    U64("fsid", CLASS_FSID, .wireshark = "nfs.fattr3.fsid"),
    U64("fileid", CLASS_FILEID, .wireshark = "nfs.fattr3.fileid"),
    { "atime", XDR_STRUCT, .sub = &nfstime3_access },
    { "mtime", XDR_STRUCT, .sub = &nfstime3_modify },
    { "ctime", XDR_STRUCT, .sub = &nfstime3_change },
    END,
};
struct type fattr3 = { .name = "fattr3", .fields = fattr3_fields };

static const struct field wcc_attr_fields[] = {
    U64("size", CLASS_SIZE, .wireshark = "nfs.wcc_attr.size"),
    { "mtime", XDR_STRUCT, .sub = &nfstime3_modify },
    { "ctime", XDR_STRUCT, .sub = &nfstime3_change },
    END,
};
TYPE(wcc_attr);

/* wcc_data once for each thing that its |after|, and so its |before|, can speak of. */
/* clang-format off */
#define BEFORE                                                                                     \
    { "before", XDR_OPTIONAL, CLASS_BOOLEAN, ROLE_BEFORE, .sub = &wcc_attr,                        \
      .wireshark = "nfs.attributes_follow" }
/* clang-format on */
static const struct field of_object_fields[] = {
    BEFORE,
    POST_OP_ATTR("after", ROLE_ATTRIBUTES),
    END,
};
static const struct field of_parent_fields[] = {
    BEFORE,
    POST_OP_ATTR("after", ROLE_ATTRIBUTES_PARENT),
    END,
};
static const struct field of_parent2_fields[] = {
    BEFORE,
    POST_OP_ATTR("after", ROLE_ATTRIBUTES_PARENT2),
    END,
};
struct type wcc_of_object = { .name = "wcc_data", .fields = of_object_fields };
struct type wcc_of_parent = { .name = "wcc_data", .fields = of_parent_fields };
struct type wcc_of_parent2 = { .name = "wcc_data", .fields = of_parent2_fields };

/* sattr3: each attribute is a union over whether it is to be set. */
static const struct field set_mode_fields[] = {
    U32("mode", CLASS_MODE, ROLE_SETS, .wireshark = "nfs.mode3"),
    END,
};
static const struct field set_uid_fields[] = {
    U32("uid", CLASS_UID, ROLE_SETS, .wireshark = "nfs.uid3"),
    END,
};
static const struct field set_gid_fields[] = {
    U32("gid", CLASS_GID, ROLE_SETS, .wireshark = "nfs.gid3"),
    END,
};
static const struct field set_size_fields[] = {
    U64("size", CLASS_SIZE, ROLE_SETS, .wireshark = "nfs.set_size"),
    END,
};
static const struct field set_atime_fields[] = {
    { "atime", XDR_STRUCT, .sub = &nfstime3_access },
    END,
};
/* Wireshark 4.0 shows this one, too, as nfs.atime. */
static const struct field set_mtime_fields[] = {
    { "mtime", XDR_STRUCT, .sub = &nfstime3_access },
    END,
};
TYPE(set_mode);
TYPE(set_uid);
TYPE(set_gid);
TYPE(set_size);
TYPE(set_atime);
TYPE(set_mtime);

static const struct value_name time_how_names[] = {
    { 0, "DONT_CHANGE" },
    { 1, "SET_TO_SERVER_TIME" },
    { 2, "SET_TO_CLIENT_TIME" },
    { 0, NULL },
};

#define SET_IT(ID)                                                                                 \
    static const struct arm ID##_arms[] = { { 0, NULL, NULL }, { 1, NULL, &ID }, ARM_END };        \
    static const struct field ID##3_fields [] = {                                                  \
        { "set_it", XDR_UNION, CLASS_BOOLEAN, .arms = ID##_arms, .wireshark = "nfs.set_it" },      \
        END,                                                                                       \
    };                                                                                             \
    TYPE(ID##3)
SET_IT(set_mode);
SET_IT(set_uid);
SET_IT(set_gid);
SET_IT(set_size);

#define SET_TIME(ID)                                                                               \
    static const struct arm ID##_arms[] = {                                                        \
        { 2, NULL, &ID },                                                                          \
        ARM_DEFAULT(NULL, NULL),                                                                   \
    };                                                                                             \
    static const struct field ID##3_fields [] = {                                                  \
        { "set_it", XDR_UNION, CLASS_ENUM, ROLE_SETS_TIME, .arms = ID##_arms,                      \
          .names = time_how_names, .wireshark = "nfs.set_it" },                                    \
        END,                                                                                       \
    };                                                                                             \
    TYPE(ID##3)
SET_TIME(set_atime);
SET_TIME(set_mtime);

static const struct field sattr3_fields[] = {
    { "mode", XDR_STRUCT, .sub = &set_mode3 },
    { "uid", XDR_STRUCT, .sub = &set_uid3 },
    { "gid", XDR_STRUCT, .sub = &set_gid3 },
    { "size", XDR_STRUCT, .sub = &set_size3 },
    { "atime", XDR_STRUCT, .sub = &set_atime3 },
    { "mtime", XDR_STRUCT, .sub = &set_mtime3 },
    END,
};
struct type sattr3 = { .name = "sattr3", .fields = sattr3_fields };
