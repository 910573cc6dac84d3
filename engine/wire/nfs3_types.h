/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_types.h
 *
 * Types of RFC 1813 s2.5 and s2.6 that NFSv3 and NFSACL share, and the rows that use them.
 *
 * A handle is one field, of the name that the RFC gives the nfs_fh3 ("file", not "file.data"), and
 * optional attributes are fields of the post_op_attr's name ("file_attributes.mode").
 */
#ifndef NFSDIGEST_WIRE_NFS3_TYPES_H
#define NFSDIGEST_WIRE_NFS3_TYPES_H

#include "wire/programs.h"

enum { NFS3_FHSIZE = 64 };

extern struct type fattr3; /* 84 bytes */
extern struct type sattr3;
extern struct type specdata3;
extern struct type wcc_of_object, wcc_of_parent, wcc_of_parent2;
extern struct type nfstime3_access, nfstime3_modify, nfstime3_change, nfstime3_delta;
extern const struct value_name nfsstat3_names[];
extern const struct value_name ftype3_names[];

/* clang-format off */
#define HANDLE3(NAME, ROLES) \
    { NAME, XDR_OPAQUE, CLASS_HANDLE, ROLES, NFS3_FHSIZE, .wireshark = "nfs.fhandle" }
#define POST_OP_ATTR(NAME, ROLES) \
    { NAME, XDR_OPTIONAL, CLASS_BOOLEAN, ROLES, .sub = &fattr3, \
      .wireshark = "nfs.attributes_follow" }
#define U32(NAME, CLASS, ...) { NAME, XDR_U32, CLASS, ##__VA_ARGS__ }
#define U64(NAME, CLASS, ...) { NAME, XDR_U64, CLASS, ##__VA_ARGS__ }
/* clang-format on */

#endif
