/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_numbers.h
 *
 * Numbers of NFSv3 (RFC 1813), by the RFC's names.
 */
#ifndef NFSDIGEST_WIRE_NFS3_NUMBERS_H
#define NFSDIGEST_WIRE_NFS3_NUMBERS_H

enum { NFS3_PROGRAM = 100003, NFS3_VERSION = 3, NFS3_PORT = 2049 };
enum { MOUNT_PROGRAM = 100005, PORTMAP_PROGRAM = 100000, PORTMAP_PORT = 111 };
enum { NFSACL_PROGRAM = 100227, NLM_PROGRAM = 100021, NSM_PROGRAM = 100024, NLM4_VERSION = 4 };

/* s3.3: procedures that programs call for themselves */
enum { NFSPROC3_GETATTR = 1, NFSPROC3_LOOKUP = 3 };

/* s2.6 nfsstat3 */
enum nfsstat3 {
    NFS3_OK = 0,
    NFS3ERR_PERM = 1,
    NFS3ERR_NOENT = 2,
    NFS3ERR_IO = 5,
    NFS3ERR_NXIO = 6,
    NFS3ERR_ACCES = 13,
    NFS3ERR_EXIST = 17,
    NFS3ERR_XDEV = 18,
    NFS3ERR_NODEV = 19,
    NFS3ERR_NOTDIR = 20,
    NFS3ERR_ISDIR = 21,
    NFS3ERR_INVAL = 22,
    NFS3ERR_FBIG = 27,
    NFS3ERR_NOSPC = 28,
    NFS3ERR_ROFS = 30,
    NFS3ERR_MLINK = 31,
    NFS3ERR_NAMETOOLONG = 63,
    NFS3ERR_NOTEMPTY = 66,
    NFS3ERR_DQUOT = 69,
    NFS3ERR_STALE = 70,
    NFS3ERR_REMOTE = 71,
    NFS3ERR_BADHANDLE = 10001,
    NFS3ERR_NOT_SYNC = 10002,
    NFS3ERR_BAD_COOKIE = 10003,
    NFS3ERR_NOTSUPP = 10004,
    NFS3ERR_TOOSMALL = 10005,
    NFS3ERR_SERVERFAULT = 10006,
    NFS3ERR_BADTYPE = 10007,
    NFS3ERR_JUKEBOX = 10008,
};

/* s2.6 ftype3 */
enum ftype3 {
    NF3REG = 1,
    NF3DIR = 2,
    NF3BLK = 3,
    NF3CHR = 4,
    NF3LNK = 5,
    NF3SOCK = 6,
    NF3FIFO = 7,
};

/* s2.6 sattr3: time_how */
enum { DONT_CHANGE = 0, SET_TO_SERVER_TIME = 1, SET_TO_CLIENT_TIME = 2 };

/* s3.3.4 ACCESS */
enum {
    ACCESS3_READ = 0x01,
    ACCESS3_LOOKUP = 0x02,
    ACCESS3_MODIFY = 0x04,
    ACCESS3_EXTEND = 0x08,
    ACCESS3_DELETE = 0x10,
    ACCESS3_EXECUTE = 0x20,
};

/* s3.3.7 stable_how, s3.3.8 createmode3 */
enum stable_how { UNSTABLE = 0, DATA_SYNC = 1, FILE_SYNC = 2 };
enum createmode3 { UNCHECKED = 0, GUARDED = 1, EXCLUSIVE = 2 };

/* s3.3.19 FSINFO: properties */
enum { FSF3_LINK = 0x01, FSF3_SYMLINK = 0x02, FSF3_HOMOGENEOUS = 0x08, FSF3_CANSETTIME = 0x10 };

/* s2.4 */
enum { NFS3_COOKIEVERFSIZE = 8, NFS3_CREATEVERFSIZE = 8, NFS3_WRITEVERFSIZE = 8 };

/* File modes, s2.6 */
enum { MODE_SETUID = 04000, MODE_SETGID = 02000, MODE_STICKY = 01000, MODE_ALL = 07777 };

/* NFSACL version 3, by the names of Sun's nfs_acl.x: which lists are meant, and kinds of entries.
 */
enum { NA_ACL = 0x1, NA_ACLCNT = 0x2, NA_DFACL = 0x4, NA_DFACLCNT = 0x8 };
enum {
    NA_USER_OBJ = 0x1,
    NA_USER = 0x2,
    NA_GROUP_OBJ = 0x4,
    NA_GROUP = 0x8,
    NA_CLASS_OBJ = 0x10,
    NA_OTHER_OBJ = 0x20,
    NA_ACL_DEFAULT = 0x1000, /* beside one of these: of a default list */
};

#endif
