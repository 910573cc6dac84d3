/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_structs.h
 *
 * Messages of NFSv3 as C structs, for programs that make or answer them.  Structs and members have
 * the RFC's names (RFC 1813 s2.6, s3.3).  bind.h reads and writes them by the field tables, so this
 * is no second description of the wire: only what C needs to know.
 *
 * A result has the members of both arms, resok's and resfail's; those of one name are one member.
 * What may be missing has a bool before it, "..._follows" (the RFC's names for it end in "follow",
 * "follows" or nothing).  struct bytes lead into the message that was read; writing copies them.
 */
#ifndef NFSDIGEST_WIRE_NFS3_STRUCTS_H
#define NFSDIGEST_WIRE_NFS3_STRUCTS_H

#include "wire/bind.h"
#include "wire/nfs3_numbers.h"

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

/* --- s3.3.1 GETATTR */

struct GETATTR3args {
    struct bytes object;
};

struct GETATTR3res {
    uint32_t status;
    struct fattr3 obj_attributes;
};

/* --- s3.3.2 SETATTR */

struct sattrguard3 {
    bool check;
    struct nfstime3 obj_ctime;
};

struct SETATTR3args {
    struct bytes object;
    struct sattr3 new_attributes;
    struct sattrguard3 guard;
};

struct SETATTR3res {
    uint32_t status;
    struct wcc_data obj_wcc;
};

/* --- s3.3.3 LOOKUP */

struct LOOKUP3args {
    struct diropargs3 what;
};

struct LOOKUP3res {
    uint32_t status;
    struct bytes object;
    struct post_op_attr obj_attributes, dir_attributes;
};

/* --- s3.3.4 ACCESS */

struct ACCESS3args {
    struct bytes object;
    uint32_t access; /* ACCESS3_... */
};

struct ACCESS3res {
    uint32_t status;
    struct post_op_attr obj_attributes;
    uint32_t access;
};

/* --- s3.3.5 READLINK */

struct READLINK3args {
    struct bytes symlink;
};

struct READLINK3res {
    uint32_t status;
    struct post_op_attr symlink_attributes;
    struct bytes data;
};

/* --- s3.3.6 READ */

struct READ3args {
    struct bytes file;
    uint64_t offset;
    uint32_t count;
};

struct READ3res {
    uint32_t status;
    struct post_op_attr file_attributes;
    uint32_t count;
    bool eof;
    struct bytes data;
};

/* --- s3.3.7 WRITE */

struct WRITE3args {
    struct bytes file;
    uint64_t offset;
    uint32_t count;
    uint32_t stable; /* enum stable_how */
    struct bytes data;
};

struct WRITE3res {
    uint32_t status;
    struct wcc_data file_wcc;
    uint32_t count;
    uint32_t committed; /* enum stable_how */
    uint8_t verf[NFS3_WRITEVERFSIZE];
};

/* --- s3.3.8 CREATE */

struct createhow3 {
    uint32_t mode; /* enum createmode3 */
    struct sattr3 obj_attributes;
    uint8_t verf[NFS3_CREATEVERFSIZE]; /* EXCLUSIVE */
};

struct CREATE3args {
    struct diropargs3 where;
    struct createhow3 how;
};

/* Also MKDIR's, SYMLINK's and MKNOD's. */
struct CREATE3res {
    uint32_t status;
    bool obj_follows;
    struct bytes obj;
    struct post_op_attr obj_attributes;
    struct wcc_data dir_wcc;
};

/* --- s3.3.9 MKDIR; result: CREATE3res */

struct MKDIR3args {
    struct diropargs3 where;
    struct sattr3 attributes;
};

/* --- s3.3.10 SYMLINK; result: CREATE3res */

struct symlinkdata3 {
    struct sattr3 symlink_attributes;
    struct bytes symlink_data;
};

struct SYMLINK3args {
    struct diropargs3 where;
    struct symlinkdata3 symlink;
};

/* --- s3.3.11 MKNOD; result: CREATE3res */

struct mknoddata3 {
    uint32_t type;            /* enum ftype3 */
    struct sattr3 attributes; /* dev_attributes or pipe_attributes */
    struct specdata3 spec;    /* NF3CHR, NF3BLK */
};

struct MKNOD3args {
    struct diropargs3 where;
    struct mknoddata3 what;
};

/* --- s3.3.12 REMOVE, s3.3.13 RMDIR: of the same form */

struct REMOVE3args {
    struct diropargs3 object;
};

struct REMOVE3res {
    uint32_t status;
    struct wcc_data dir_wcc;
};

/* --- s3.3.14 RENAME */

struct RENAME3args {
    struct diropargs3 from, to;
};

struct RENAME3res {
    uint32_t status;
    struct wcc_data fromdir_wcc, todir_wcc;
};

/* --- s3.3.15 LINK */

struct LINK3args {
    struct bytes file;
    struct diropargs3 link;
};

struct LINK3res {
    uint32_t status;
    struct post_op_attr file_attributes;
    struct wcc_data linkdir_wcc;
};

/* --- s3.3.16 READDIR */

struct READDIR3args {
    struct bytes dir;
    uint64_t cookie;
    uint8_t cookieverf[NFS3_COOKIEVERFSIZE];
    uint32_t count;
};

struct entry3 {
    uint64_t fileid;
    struct bytes name;
    uint64_t cookie;
};

struct READDIR3res {
    uint32_t status;
    struct post_op_attr dir_attributes;
    uint8_t cookieverf[NFS3_COOKIEVERFSIZE];
    struct bind_list entries; /* of struct entry3 */
    bool eof;
};

/* --- s3.3.17 READDIRPLUS */

struct READDIRPLUS3args {
    struct bytes dir;
    uint64_t cookie;
    uint8_t cookieverf[NFS3_COOKIEVERFSIZE];
    uint32_t dircount, maxcount;
};

struct entryplus3 {
    uint64_t fileid;
    struct bytes name;
    uint64_t cookie;
    struct post_op_attr name_attributes;
    bool name_handle_follows;
    struct bytes name_handle;
};

struct READDIRPLUS3res {
    uint32_t status;
    struct post_op_attr dir_attributes;
    uint8_t cookieverf[NFS3_COOKIEVERFSIZE];
    struct bind_list entries; /* of struct entryplus3 */
    bool eof;
};

/* --- s3.3.18 FSSTAT */

struct FSSTAT3args {
    struct bytes fsroot;
};

struct FSSTAT3res {
    uint32_t status;
    struct post_op_attr obj_attributes;
    uint64_t tbytes, fbytes, abytes, tfiles, ffiles, afiles;
    uint32_t invarsec;
};

/* --- s3.3.19 FSINFO */

struct FSINFO3args {
    struct bytes fsroot;
};

struct FSINFO3res {
    uint32_t status;
    struct post_op_attr obj_attributes;
    uint32_t rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref;
    uint64_t maxfilesize;
    struct nfstime3 time_delta;
    uint32_t properties; /* FSF3_... */
};

/* --- s3.3.20 PATHCONF */

struct PATHCONF3args {
    struct bytes object;
};

struct PATHCONF3res {
    uint32_t status;
    struct post_op_attr obj_attributes;
    uint32_t linkmax, name_max;
    bool no_trunc, chown_restricted, case_insensitive, case_preserving;
};

/* --- s3.3.21 COMMIT */

struct COMMIT3args {
    struct bytes file;
    uint64_t offset;
    uint32_t count;
};

struct COMMIT3res {
    uint32_t status;
    struct wcc_data file_wcc;
    uint8_t verf[NFS3_WRITEVERFSIZE];
};

/* --- their programs */

/* The binding of one procedure.  void has the size 0, and bind_read and bind_write take NULL for
 * it. */
struct nfs3_binding {
    size_t arguments_size, result_size;
    const struct bound *arguments, *result;
    /* READDIR: struct entry3; READDIRPLUS: struct entryplus3; else NULL.  For callers that make
     * entries one by one.  Each entry is the word 1 and then what |entry| writes.  A result without
     * entries ends with the words 0 (the list's end) and eof; the entries go before these words. */
    const struct bound *entry;
};

/* Call it before nfs3_binding.  Further calls do nothing. */
int nfs3_structs_init(struct err *err);
void nfs3_structs_free(void);

/* Returns NULL if there is no such procedure, or if nfs3_structs_init was not called. */
const struct nfs3_binding *nfs3_binding(uint32_t procedure);

/* Rows for structs that contain these. */
extern const struct bind_row nfstime3_rows[], specdata3_rows[], fattr3_rows[], post_op_attr_rows[],
    wcc_attr_rows[], wcc_data_rows[], sattr3_rows[], diropargs3_rows[];

#endif
