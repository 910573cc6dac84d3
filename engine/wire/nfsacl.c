/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfsacl.c
 *
 * NFSACL versions 2 and 3, the side protocol for POSIX access control lists.  No RFC describes
 * it; names and forms are those of Sun's nfs_acl.x as OpenSolaris published it, and agree with
 * what Linux sends.  Version 2 carries NFSv2's handles and attributes (RFC 1094 s2.3).
 */
#include "wire/nfs3_numbers.h"
#include "wire/nfs3_types.h"

#include <stddef.h>

enum { NFS_ACL_MAX_ENTRIES = 1024, FHSIZE = 32 };

/* clang-format off */
#define HANDLE2(NAME, ROLES) \
    { NAME, XDR_FIXED, CLASS_HANDLE, ROLES, FHSIZE, .wireshark = "nfs.fhandle" }
#define RESULT(ID, OK, FAIL, NAMES) \
    static const struct arm ID##_arms[] = { { 0, "resok", OK }, ARM_DEFAULT("resfail", FAIL) }; \
    static const struct field ID##_fields[] = { \
        { "status", XDR_UNION, CLASS_STATUS, ROLE_STATUS, .arms = ID##_arms, .names = NAMES, \
          .wireshark = "nfs.status" }, \
        END, \
    }; \
    TYPE(ID)
#define MASK(NAME) { NAME, XDR_U32, CLASS_ENUM, .wireshark = "nfsacl.mask" }
/* clang-format on */

/* aclent: the .x calls uid what is a group's number in entries for groups; told apart here so that
 * both are treated as what they are.  0x1000 marks entries of a default list. */
static const struct value_name aclent_types[] = {
    { NA_USER_OBJ, "NA_USER_OBJ" },
    { NA_USER, "NA_USER" },
    { NA_GROUP_OBJ, "NA_GROUP_OBJ" },
    { NA_GROUP, "NA_GROUP" },
    { NA_CLASS_OBJ, "NA_CLASS_OBJ" },
    { NA_OTHER_OBJ, "NA_OTHER_OBJ" },
    { NA_ACL_DEFAULT | NA_USER_OBJ, "NA_ACL_DEFAULT|NA_USER_OBJ" },
    { NA_ACL_DEFAULT | NA_USER, "NA_ACL_DEFAULT|NA_USER" },
    { NA_ACL_DEFAULT | NA_GROUP_OBJ, "NA_ACL_DEFAULT|NA_GROUP_OBJ" },
    { NA_ACL_DEFAULT | NA_GROUP, "NA_ACL_DEFAULT|NA_GROUP" },
    { NA_ACL_DEFAULT | NA_CLASS_OBJ, "NA_ACL_DEFAULT|NA_CLASS_OBJ" },
    { NA_ACL_DEFAULT | NA_OTHER_OBJ, "NA_ACL_DEFAULT|NA_OTHER_OBJ" },
    { 0, NULL },
};
static const struct field aclent_user_fields[] = {
    U32("uid", CLASS_UID, .wireshark = "nfsacl.aclent.uid"),
    END,
};
TYPE(aclent_user);
static const struct field aclent_group_fields[] = {
    U32("gid", CLASS_GID, .wireshark = "nfsacl.aclent.uid"),
    END,
};
TYPE(aclent_group);
static const struct arm aclent_arms[] = {
    { NA_GROUP_OBJ, NULL, &aclent_group },
    { NA_GROUP, NULL, &aclent_group },
    { NA_ACL_DEFAULT | NA_GROUP_OBJ, NULL, &aclent_group },
    { NA_ACL_DEFAULT | NA_GROUP, NULL, &aclent_group },
    ARM_DEFAULT(NULL, &aclent_user),
};
static const struct field aclent_fields[] = {
    { "type", XDR_UNION, CLASS_ENUM, .arms = aclent_arms, .names = aclent_types,
      .wireshark = "nfsacl.aclent.type" },
    U32("perm", CLASS_MODE, .wireshark = "nfsacl.aclent.perm"),
    END,
};
TYPE(aclent);

static const struct field secattr_fields[] = {
    MASK("mask"),
    U32("aclcnt", CLASS_COUNT, .wireshark = "nfsacl.aclcnt"),
    { "aclent", XDR_ARRAY, CLASS_COUNT, .max = NFS_ACL_MAX_ENTRIES, .sub = &aclent },
    U32("dfaclcnt", CLASS_COUNT, .wireshark = "nfsacl.dfaclcnt"),
    { "dfaclent", XDR_ARRAY, CLASS_COUNT, .max = NFS_ACL_MAX_ENTRIES, .sub = &aclent },
    END,
};
TYPE(secattr);

/* Version 2 */

/* RFC 1094 s2.3.1 stat */
static const struct value_name nfsstat2_names[] = {
    { 0, "NFS_OK" },
    { 1, "NFSERR_PERM" },
    { 2, "NFSERR_NOENT" },
    { 5, "NFSERR_IO" },
    { 6, "NFSERR_NXIO" },
    { 13, "NFSERR_ACCES" },
    { 17, "NFSERR_EXIST" },
    { 19, "NFSERR_NODEV" },
    { 20, "NFSERR_NOTDIR" },
    { 21, "NFSERR_ISDIR" },
    { 27, "NFSERR_FBIG" },
    { 28, "NFSERR_NOSPC" },
    { 30, "NFSERR_ROFS" },
    { 63, "NFSERR_NAMETOOLONG" },
    { 66, "NFSERR_NOTEMPTY" },
    { 69, "NFSERR_DQUOT" },
    { 70, "NFSERR_STALE" },
    { 99, "NFSERR_WFLUSH" },
    { 0, NULL },
};
static const struct value_name ftype2_names[] = {
    { 0, "NFNON" }, { 1, "NFREG" }, { 2, "NFDIR" }, { 3, "NFBLK" },
    { 4, "NFCHR" }, { 5, "NFLNK" }, { 0, NULL },
};

static const struct field atime2_fields[] = {
    U32("seconds", CLASS_TIME, .wireshark = "nfs.atime.sec"),
    U32("useconds", CLASS_INTERVAL, .wireshark = "nfs.atime.usec"),
    END,
};
static const struct field mtime2_fields[] = {
    U32("seconds", CLASS_TIME, .wireshark = "nfs.mtime.sec"),
    U32("useconds", CLASS_INTERVAL, .wireshark = "nfs.mtime.usec"),
    END,
};
static const struct field ctime2_fields[] = {
    U32("seconds", CLASS_TIME, .wireshark = "nfs.ctime.sec"),
    U32("useconds", CLASS_INTERVAL, .wireshark = "nfs.ctime.usec"),
    END,
};
static struct type timeval_access = { .name = "timeval", .fields = atime2_fields };
static struct type timeval_modify = { .name = "timeval", .fields = mtime2_fields };
static struct type timeval_change = { .name = "timeval", .fields = ctime2_fields };

/* 68 bytes, another form than fattr3: it has no ROLE_ATTRIBUTES, whose readers expect a fattr3. */
static const struct field fattr2_fields[] = {
    { "type", XDR_ENUM, CLASS_TYPE, .names = ftype2_names, .wireshark = "nfs.ftype" },
    U32("mode", CLASS_MODE, .wireshark = "nfs.mode"),
    U32("nlink", CLASS_COUNT, .wireshark = "nfs.fattr.nlink"),
    U32("uid", CLASS_UID, .wireshark = "nfs.fattr.uid"),
    U32("gid", CLASS_GID, .wireshark = "nfs.fattr.gid"),
    U32("size", CLASS_SIZE, .wireshark = "nfs.fattr.size"),
    U32("blocksize", CLASS_SIZE, .wireshark = "nfs.fattr.blocksize"),
    U32("rdev", CLASS_DEVICE, .wireshark = "nfs.fattr.rdev"),
    U32("blocks", CLASS_COUNT, .wireshark = "nfs.fattr.blocks"),
    U32("fsid", CLASS_FSID, .wireshark = "nfs.fattr.fsid"),
    U32("fileid", CLASS_FILEID, .wireshark = "nfs.fattr.fileid"),
    { "atime", XDR_STRUCT, .sub = &timeval_access },
    { "mtime", XDR_STRUCT, .sub = &timeval_modify },
    { "ctime", XDR_STRUCT, .sub = &timeval_change },
    END,
};
static struct type fattr2 = { .name = "fattr", .fields = fattr2_fields };

/* clang-format off */
#define ATTR2 { "attr", XDR_STRUCT, .sub = &fattr2 }
/* clang-format on */
static const struct field attr2_only_fields[] = { ATTR2, END };
TYPE(attr2_only);

static const struct field GETACL2args_fields[] = {
    HANDLE2("fh", ROLE_OBJECT),
    MASK("mask"),
    END,
};
TYPE(GETACL2args);
static const struct field GETACL2resok_fields[] = {
    ATTR2,
    { "acl", XDR_STRUCT, .sub = &secattr },
    END,
};
TYPE(GETACL2resok);
RESULT(GETACL2res, &GETACL2resok, NULL, nfsstat2_names);

static const struct field SETACL2args_fields[] = {
    HANDLE2("fh", ROLE_OBJECT | ROLE_MODIFIES),
    { "acl", XDR_STRUCT, .sub = &secattr },
    END,
};
TYPE(SETACL2args);
RESULT(SETACL2res, &attr2_only, NULL, nfsstat2_names);

static const struct field GETATTR2args_fields[] = {
    HANDLE2("fh", ROLE_OBJECT),
    END,
};
TYPE(GETATTR2args);
RESULT(GETATTR2res, &attr2_only, NULL, nfsstat2_names);

static const struct field ACCESS2args_fields[] = {
    HANDLE2("fh", ROLE_OBJECT),
    U32("access", CLASS_ENUM, .wireshark = "nfs.access_check"),
    END,
};
TYPE(ACCESS2args);
static const struct field ACCESS2resok_fields[] = {
    ATTR2,
    U32("access", CLASS_ENUM, .wireshark = "nfs.access_rights"),
    END,
};
TYPE(ACCESS2resok);
RESULT(ACCESS2res, &ACCESS2resok, NULL, nfsstat2_names);

/* GETXATTRDIR may make the directory of the object's extended attributes, if |create| says so. */
static const struct field GETXATTRDIR2args_fields[] = {
    HANDLE2("fh", ROLE_OBJECT | ROLE_MODIFIES),
    { "create", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nfsacl.create" },
    END,
};
TYPE(GETXATTRDIR2args);
static const struct field GETXATTRDIR2resok_fields[] = {
    HANDLE2("fh", ROLE_NEW_OBJECT),
    ATTR2,
    END,
};
TYPE(GETXATTRDIR2resok);
RESULT(GETXATTRDIR2res, &GETXATTRDIR2resok, NULL, nfsstat2_names);

static const struct procedure procedures2[] = {
    { 0, "NULL", &wire_void, &wire_void, "nfs_acl.x" },
    { 1, "GETACL", &GETACL2args, &GETACL2res, "nfs_acl.x", ACTION_ASK },
    { 2, "SETACL", &SETACL2args, &SETACL2res, "nfs_acl.x", ACTION_SET_OTHER },
    { 3, "GETATTR", &GETATTR2args, &GETATTR2res, "nfs_acl.x", ACTION_ASK },
    { 4, "ACCESS", &ACCESS2args, &ACCESS2res, "nfs_acl.x", ACTION_ASK },
    { 5, "GETXATTRDIR", &GETXATTRDIR2args, &GETXATTRDIR2res, "nfs_acl.x", ACTION_SET_OTHER },
};

const struct program wire_nfsacl2 = { 100227, 2, "NFSACL", procedures2, COUNT_OF(procedures2) };

/* Version 3 */

static const struct field attr3_only_fields[] = { POST_OP_ATTR("attr", ROLE_ATTRIBUTES), END };
TYPE(attr3_only);

static const struct field GETACL3args_fields[] = {
    HANDLE3("fh", ROLE_OBJECT),
    MASK("mask"),
    END,
};
TYPE(GETACL3args);
static const struct field GETACL3resok_fields[] = {
    POST_OP_ATTR("attr", ROLE_ATTRIBUTES),
    { "acl", XDR_STRUCT, .sub = &secattr },
    END,
};
TYPE(GETACL3resok);
RESULT(GETACL3res, &GETACL3resok, &attr3_only, nfsstat3_names);

static const struct field SETACL3args_fields[] = {
    HANDLE3("fh", ROLE_OBJECT | ROLE_MODIFIES),
    { "acl", XDR_STRUCT, .sub = &secattr },
    END,
};
TYPE(SETACL3args);
RESULT(SETACL3res, &attr3_only, &attr3_only, nfsstat3_names);

static const struct field GETXATTRDIR3args_fields[] = {
    HANDLE3("fh", ROLE_OBJECT | ROLE_MODIFIES),
    { "create", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nfsacl.create" },
    END,
};
TYPE(GETXATTRDIR3args);
static const struct field GETXATTRDIR3resok_fields[] = {
    HANDLE3("fh", ROLE_NEW_OBJECT),
    POST_OP_ATTR("attr", ROLE_ATTRIBUTES_NEW),
    END,
};
TYPE(GETXATTRDIR3resok);
RESULT(GETXATTRDIR3res, &GETXATTRDIR3resok, NULL, nfsstat3_names);

static const struct procedure procedures3[] = {
    { 0, "NULL", &wire_void, &wire_void, "nfs_acl.x" },
    { 1, "GETACL", &GETACL3args, &GETACL3res, "nfs_acl.x", ACTION_ASK },
    { 2, "SETACL", &SETACL3args, &SETACL3res, "nfs_acl.x", ACTION_SET_OTHER },
    { 3, "GETXATTRDIR", &GETXATTRDIR3args, &GETXATTRDIR3res, "nfs_acl.x", ACTION_SET_OTHER },
};

const struct program wire_nfsacl3 = { 100227, 3, "NFSACL", procedures3, COUNT_OF(procedures3) };
