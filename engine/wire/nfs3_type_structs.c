/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_type_structs.c
 *
 * Rows that say which member of the structs of RFC 1813 s2.6 holds which field, for all structs
 * that contain these. Contract: nfs3_structs.h.
 */
#include "wire/nfs3_structs.h"

/* clang-format off */
#define SAME(TAG, MEMBER) BIND(TAG, #MEMBER, MEMBER)
#define SAME_STRUCT(TAG, MEMBER, NESTED_TAG) BIND_STRUCT(TAG, #MEMBER, MEMBER, NESTED_TAG)
/* clang-format on */

const struct bind_row nfstime3_rows[] = {
    SAME(nfstime3, seconds),
    SAME(nfstime3, nseconds),
    BIND_END,
};
const struct bind_row specdata3_rows[] = {
    SAME(specdata3, specdata1),
    SAME(specdata3, specdata2),
    BIND_END,
};
const struct bind_row fattr3_rows[] = {
    SAME(fattr3, type),
    SAME(fattr3, mode),
    SAME(fattr3, nlink),
    SAME(fattr3, uid),
    SAME(fattr3, gid),
    SAME(fattr3, size),
    SAME(fattr3, used),
    SAME_STRUCT(fattr3, rdev, specdata3),
    SAME(fattr3, fsid),
    SAME(fattr3, fileid),
    SAME_STRUCT(fattr3, atime, nfstime3),
    SAME_STRUCT(fattr3, mtime, nfstime3),
    SAME_STRUCT(fattr3, ctime, nfstime3),
    BIND_END,
};
const struct bind_row post_op_attr_rows[] = {
    BIND(post_op_attr, "", attributes_follow),
    BIND_STRUCT(post_op_attr, "", attributes, fattr3),
    BIND_END,
};
const struct bind_row wcc_attr_rows[] = {
    SAME(wcc_attr, size),
    SAME_STRUCT(wcc_attr, mtime, nfstime3),
    SAME_STRUCT(wcc_attr, ctime, nfstime3),
    BIND_END,
};
const struct bind_row wcc_data_rows[] = {
    BIND(wcc_data, "before", before_follows),
    SAME_STRUCT(wcc_data, before, wcc_attr),
    SAME_STRUCT(wcc_data, after, post_op_attr),
    BIND_END,
};
const struct bind_row sattr3_rows[] = {
    BIND(sattr3, "mode.set_it", set_mode),
    BIND(sattr3, "mode.mode", mode),
    BIND(sattr3, "uid.set_it", set_uid),
    BIND(sattr3, "uid.uid", uid),
    BIND(sattr3, "gid.set_it", set_gid),
    BIND(sattr3, "gid.gid", gid),
    BIND(sattr3, "size.set_it", set_size),
    BIND(sattr3, "size.size", size),
    BIND(sattr3, "atime.set_it", set_atime),
    BIND_STRUCT(sattr3, "atime.atime", atime, nfstime3),
    BIND(sattr3, "mtime.set_it", set_mtime),
    BIND_STRUCT(sattr3, "mtime.mtime", mtime, nfstime3),
    BIND_END,
};
const struct bind_row diropargs3_rows[] = {
    SAME(diropargs3, dir),
    SAME(diropargs3, name),
    BIND_END,
};
