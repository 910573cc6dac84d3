/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3.c
 *
 * NFS version 3, RFC 1813 s3: arguments and both arms of the result of each procedure.
 */
#include "wire/nfs3_types.h"

#include <stddef.h>

/* clang-format off */
#define WCC(NAME, TYPE_) { NAME, XDR_STRUCT, .sub = &TYPE_ }
#define NAME3(NAME, ROLES) \
    { NAME, XDR_STRING, CLASS_NAME, ROLES, .wireshark = "nfs.name" }
#define COOKIE3(NAME, FILTER) { NAME, XDR_U64, CLASS_COOKIE, .wireshark = FILTER }
#define VERIFIER(NAME) { NAME, XDR_FIXED, CLASS_VERIFIER, .max = 8, .wireshark = "nfs.verifier" }
#define ATTRIBUTES_TO_SET(NAME) { NAME, XDR_STRUCT, .sub = &sattr3 }

/* A result: |OK| if the status is 0, else |FAIL| (NULL: nothing). */
#define RESULT(ID, OK, FAIL) \
    static const struct arm ID##_arms[] = { { 0, "resok", OK }, ARM_DEFAULT("resfail", FAIL) }; \
    static const struct field ID##_fields[] = { \
        { "status", XDR_UNION, CLASS_STATUS, ROLE_STATUS, .arms = ID##_arms, \
          .names = nfsstat3_names, .wireshark = "nfs.status3" }, \
        END, \
    }; \
    TYPE(ID)

/* A type of one field, as most failures are. */
#define ONE_FIELD(ID, ...) \
    static const struct field ID##_fields[] = { __VA_ARGS__, END }; \
    TYPE(ID)
/* clang-format on */

enum {
    MODIFIES_OBJECT = ROLE_OBJECT | ROLE_MODIFIES,
    OF_NAME = ROLE_PARENT | ROLE_OBJECT,
};

/* diropargs3: a name that is looked up, one that is made or goes, a second one that is made */
static const struct field found_name_fields[] = {
    HANDLE3("dir", OF_NAME),
    NAME3("name", ROLE_NAME),
    END,
};
static const struct field changed_name_fields[] = {
    HANDLE3("dir", OF_NAME | ROLE_MODIFIES),
    NAME3("name", ROLE_NAME | ROLE_MODIFIES),
    END,
};
static const struct field made_name2_fields[] = {
    HANDLE3("dir", ROLE_PARENT2 | ROLE_MODIFIES),
    NAME3("name", ROLE_NAME2 | ROLE_MODIFIES),
    END,
};
static struct type found_name = { .name = "diropargs3", .fields = found_name_fields };
static struct type changed_name = { .name = "diropargs3", .fields = changed_name_fields };
static struct type made_name2 = { .name = "diropargs3", .fields = made_name2_fields };

/* Failures that several procedures share in form. */
ONE_FIELD(object_fail, POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES));
ONE_FIELD(file_fail, POST_OP_ATTR("file_attributes", ROLE_ATTRIBUTES));
ONE_FIELD(listing_fail, POST_OP_ATTR("dir_attributes", ROLE_ATTRIBUTES));
ONE_FIELD(file_wcc_fail, WCC("file_wcc", wcc_of_object));
ONE_FIELD(dir_wcc_only, WCC("dir_wcc", wcc_of_parent));

/* GETATTR */
ONE_FIELD(GETATTR3args, HANDLE3("object", ROLE_OBJECT));
ONE_FIELD(GETATTR3resok, { "obj_attributes", XDR_STRUCT, .role = ROLE_ATTRIBUTES, .sub = &fattr3 });
RESULT(GETATTR3res, &GETATTR3resok, NULL);

/* SETATTR */
ONE_FIELD(sattrguard3_ctime, { "obj_ctime", XDR_STRUCT, .sub = &nfstime3_change });
static const struct arm sattrguard3_arms[] = {
    { 0, NULL, NULL },
    { 1, NULL, &sattrguard3_ctime },
    ARM_END,
};
ONE_FIELD(sattrguard3, { "check", XDR_UNION, CLASS_BOOLEAN, ROLE_SETS, .arms = sattrguard3_arms,
                         .wireshark = "nfs.sattrguard3" });
static const struct field SETATTR3args_fields[] = {
    HANDLE3("object", MODIFIES_OBJECT),
    ATTRIBUTES_TO_SET("new_attributes"),
    { "guard", XDR_STRUCT, .sub = &sattrguard3 },
    END,
};
TYPE(SETATTR3args);
ONE_FIELD(obj_wcc_only, WCC("obj_wcc", wcc_of_object));
RESULT(SETATTR3res, &obj_wcc_only, &obj_wcc_only);

/* LOOKUP */
ONE_FIELD(LOOKUP3args, { "what", XDR_STRUCT, .sub = &found_name });
static const struct field LOOKUP3resok_fields[] = {
    HANDLE3("object", ROLE_NEW_OBJECT),
    POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES_NEW),
    POST_OP_ATTR("dir_attributes", ROLE_ATTRIBUTES_PARENT),
    END,
};
TYPE(LOOKUP3resok);
ONE_FIELD(LOOKUP3resfail, POST_OP_ATTR("dir_attributes", ROLE_ATTRIBUTES_PARENT));
RESULT(LOOKUP3res, &LOOKUP3resok, &LOOKUP3resfail);

/* ACCESS */
static const struct field ACCESS3args_fields[] = {
    HANDLE3("object", ROLE_OBJECT),
    U32("access", CLASS_ENUM, .wireshark = "nfs.access_check"),
    END,
};
TYPE(ACCESS3args);
static const struct field ACCESS3resok_fields[] = {
    POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES),
    U32("access", CLASS_ENUM, ROLE_SETS, .wireshark = "nfs.access_rights"),
    END,
};
TYPE(ACCESS3resok);
RESULT(ACCESS3res, &ACCESS3resok, &object_fail);

/* READLINK */
ONE_FIELD(READLINK3args, HANDLE3("symlink", ROLE_OBJECT));
static const struct field READLINK3resok_fields[] = {
    POST_OP_ATTR("symlink_attributes", ROLE_ATTRIBUTES),
    { "data", XDR_STRING, CLASS_PATH, ROLE_LINK_TEXT, .wireshark = "nfs.readlink.data" },
    END,
};
TYPE(READLINK3resok);
ONE_FIELD(READLINK3resfail, POST_OP_ATTR("symlink_attributes", ROLE_ATTRIBUTES));
RESULT(READLINK3res, &READLINK3resok, &READLINK3resfail);

/* READ */
static const struct field READ3args_fields[] = {
    HANDLE3("file", ROLE_OBJECT),
    U64("offset", CLASS_OFFSET, ROLE_RANGE_START, .wireshark = "nfs.offset3"),
    U32("count", CLASS_COUNT, ROLE_RANGE_LENGTH, .wireshark = "nfs.count3"),
    END,
};
TYPE(READ3args);
static const struct field READ3resok_fields[] = {
    POST_OP_ATTR("file_attributes", ROLE_ATTRIBUTES),
    U32("count", CLASS_COUNT, ROLE_RANGE_LENGTH, .wireshark = "nfs.count3"),
    { "eof", XDR_BOOL, CLASS_BOOLEAN, ROLE_EOF, .wireshark = "nfs.read.eof" },
    { "data", XDR_OPAQUE, CLASS_DATA, ROLE_DATA, .wireshark = "nfs.data" },
    END,
};
TYPE(READ3resok);
RESULT(READ3res, &READ3resok, &file_fail);

/* WRITE */
static const struct value_name stable_how_names[] = {
    { 0, "UNSTABLE" },
    { 1, "DATA_SYNC" },
    { 2, "FILE_SYNC" },
    { 0, NULL },
};
static const struct field WRITE3args_fields[] = {
    HANDLE3("file", MODIFIES_OBJECT),
    U64("offset", CLASS_OFFSET, ROLE_RANGE_START, .wireshark = "nfs.offset3"),
    U32("count", CLASS_COUNT, ROLE_RANGE_LENGTH, .wireshark = "nfs.count3"),
    { "stable", XDR_ENUM, CLASS_ENUM, .names = stable_how_names, .wireshark = "nfs.write.stable" },
    { "data", XDR_OPAQUE, CLASS_DATA, ROLE_DATA, .wireshark = "nfs.data" },
    END,
};
TYPE(WRITE3args);
static const struct field WRITE3resok_fields[] = {
    WCC("file_wcc", wcc_of_object),
    U32("count", CLASS_COUNT, ROLE_RANGE_LENGTH, .wireshark = "nfs.count3"),
    { "committed", XDR_ENUM, CLASS_ENUM, .names = stable_how_names,
      .wireshark = "nfs.write.committed" },
    VERIFIER("verf"),
    END,
};
TYPE(WRITE3resok);
RESULT(WRITE3res, &WRITE3resok, &file_wcc_fail);

/* CREATE; its result's form is also that of MKDIR, SYMLINK and MKNOD. */
static const struct value_name createmode3_names[] = {
    { 0, "UNCHECKED" },
    { 1, "GUARDED" },
    { 2, "EXCLUSIVE" },
    { 0, NULL },
};
ONE_FIELD(createhow3_verf, { "verf", XDR_FIXED, CLASS_VERIFIER, .max = 8, .in_times = true,
                             .wireshark = "nfs.verifier" });
static const struct arm createhow3_arms[] = {
    { 0, "obj_attributes", &sattr3 },
    { 1, "obj_attributes", &sattr3 },
    { 2, NULL, &createhow3_verf },
    ARM_END,
};
ONE_FIELD(createhow3,
          { "mode", XDR_UNION, CLASS_ENUM, ROLE_SETS | ROLE_SETS_HOW, .arms = createhow3_arms,
            .names = createmode3_names, .wireshark = "nfs.createmode" });
static const struct field CREATE3args_fields[] = {
    { "where", XDR_STRUCT, .sub = &changed_name },
    { "how", XDR_STRUCT, .sub = &createhow3 },
    END,
};
TYPE(CREATE3args);
ONE_FIELD(post_op_fh3, HANDLE3("handle", ROLE_NEW_OBJECT));
static const struct field made_fields[] = {
    { "obj", XDR_OPTIONAL, CLASS_BOOLEAN, .sub = &post_op_fh3, .wireshark = "nfs.handle_follow" },
    POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES_NEW),
    WCC("dir_wcc", wcc_of_parent),
    END,
};
TYPE(made);
RESULT(CREATE3res, &made, &dir_wcc_only);

/* MKDIR */
static const struct field MKDIR3args_fields[] = {
    { "where", XDR_STRUCT, .sub = &changed_name },
    ATTRIBUTES_TO_SET("attributes"),
    END,
};
TYPE(MKDIR3args);
RESULT(MKDIR3res, &made, &dir_wcc_only);

/* SYMLINK */
static const struct field symlinkdata3_fields[] = {
    ATTRIBUTES_TO_SET("symlink_attributes"),
    { "symlink_data", XDR_STRING, CLASS_PATH, ROLE_LINK_TEXT, .wireshark = "nfs.symlink.to" },
    END,
};
TYPE(symlinkdata3);
static const struct field SYMLINK3args_fields[] = {
    { "where", XDR_STRUCT, .sub = &changed_name },
    { "symlink", XDR_STRUCT, .sub = &symlinkdata3 },
    END,
};
TYPE(SYMLINK3args);
RESULT(SYMLINK3res, &made, &dir_wcc_only);

/* MKNOD */
static const struct field devicedata3_fields[] = {
    ATTRIBUTES_TO_SET("dev_attributes"),
    { "spec", XDR_STRUCT, .sub = &specdata3 },
    END,
};
TYPE(devicedata3);
static const struct arm mknoddata3_arms[] = {
    { 3, "device", &devicedata3 },     { 4, "device", &devicedata3 },
    { 6, "pipe_attributes", &sattr3 }, { 7, "pipe_attributes", &sattr3 },
    ARM_DEFAULT(NULL, NULL),
};
ONE_FIELD(mknoddata3, { "type", XDR_UNION, CLASS_TYPE, ROLE_SETS, .arms = mknoddata3_arms,
                        .names = ftype3_names, .wireshark = "nfs.type" });
static const struct field MKNOD3args_fields[] = {
    { "where", XDR_STRUCT, .sub = &changed_name },
    { "what", XDR_STRUCT, .sub = &mknoddata3 },
    END,
};
TYPE(MKNOD3args);
RESULT(MKNOD3res, &made, &dir_wcc_only);

/* REMOVE, RMDIR */
ONE_FIELD(REMOVE3args, { "object", XDR_STRUCT, .sub = &changed_name });
RESULT(REMOVE3res, &dir_wcc_only, &dir_wcc_only);
ONE_FIELD(RMDIR3args, { "object", XDR_STRUCT, .sub = &changed_name });
RESULT(RMDIR3res, &dir_wcc_only, &dir_wcc_only);

/* RENAME */
static const struct field RENAME3args_fields[] = {
    { "from", XDR_STRUCT, .sub = &changed_name },
    { "to", XDR_STRUCT, .sub = &made_name2 },
    END,
};
TYPE(RENAME3args);
static const struct field rename_wcc_fields[] = {
    WCC("fromdir_wcc", wcc_of_parent),
    WCC("todir_wcc", wcc_of_parent2),
    END,
};
TYPE(rename_wcc);
RESULT(RENAME3res, &rename_wcc, &rename_wcc);

/* LINK: changes the file, too (its link count and ctime). */
static const struct field LINK3args_fields[] = {
    HANDLE3("file", MODIFIES_OBJECT),
    { "link", XDR_STRUCT, .sub = &made_name2 },
    END,
};
TYPE(LINK3args);
static const struct field link_wcc_fields[] = {
    POST_OP_ATTR("file_attributes", ROLE_ATTRIBUTES),
    WCC("linkdir_wcc", wcc_of_parent2),
    END,
};
TYPE(link_wcc);
RESULT(LINK3res, &link_wcc, &link_wcc);

/* READDIR: the directory is the object. */
static const struct field READDIR3args_fields[] = {
    HANDLE3("dir", ROLE_OBJECT),
    U64("cookie", CLASS_COOKIE, ROLE_SETS, .wireshark = "nfs.cookie3"),
    VERIFIER("cookieverf"),
    U32("count", CLASS_COUNT, .wireshark = "nfs.count3"),
    END,
};
TYPE(READDIR3args);
static const struct field entry3_fields[] = {
    U64("fileid", CLASS_FILEID, .wireshark = "nfs.readdir.entry3.fileid"),
    { "name", XDR_STRING, CLASS_NAME, ROLE_ENTRY_NAME, .wireshark = "nfs.readdir.entry3.name" },
    COOKIE3("cookie", "nfs.readdir.entry3.cookie"),
    END,
};
TYPE(entry3);
static const struct field dirlist3_fields[] = {
    { "entries", XDR_LIST, CLASS_BOOLEAN, ROLE_ENTRY, .sub = &entry3,
      .wireshark = "rpc.value_follows" },
    { "eof", XDR_BOOL, CLASS_BOOLEAN, ROLE_EOF, .wireshark = "nfs.readdir.eof" },
    END,
};
TYPE(dirlist3);
static const struct field READDIR3resok_fields[] = {
    POST_OP_ATTR("dir_attributes", ROLE_ATTRIBUTES),
    VERIFIER("cookieverf"),
    { "reply", XDR_STRUCT, .sub = &dirlist3 },
    END,
};
TYPE(READDIR3resok);
RESULT(READDIR3res, &READDIR3resok, &listing_fail);

/* READDIRPLUS */
static const struct field READDIRPLUS3args_fields[] = {
    HANDLE3("dir", ROLE_OBJECT),
    U64("cookie", CLASS_COOKIE, ROLE_SETS, .wireshark = "nfs.cookie3"),
    VERIFIER("cookieverf"),
    U32("dircount", CLASS_COUNT, .wireshark = "nfs.count3_dircount"),
    U32("maxcount", CLASS_COUNT, .wireshark = "nfs.count3_maxcount"),
    END,
};
TYPE(READDIRPLUS3args);
ONE_FIELD(entry_fh3, HANDLE3("handle", ROLE_ENTRY_OBJECT));
static const struct field entryplus3_fields[] = {
    U64("fileid", CLASS_FILEID, .wireshark = "nfs.readdirplus.entry.fileid"),
    { "name", XDR_STRING, CLASS_NAME, ROLE_ENTRY_NAME, .wireshark = "nfs.readdirplus.entry.name" },
    COOKIE3("cookie", "nfs.readdirplus.entry.cookie"),
    POST_OP_ATTR("name_attributes", ROLE_ATTRIBUTES_ENTRY),
    { "name_handle", XDR_OPTIONAL, CLASS_BOOLEAN, .sub = &entry_fh3,
      .wireshark = "nfs.handle_follow" },
    END,
};
TYPE(entryplus3);
static const struct field dirlistplus3_fields[] = {
    { "entries", XDR_LIST, CLASS_BOOLEAN, ROLE_ENTRY, .sub = &entryplus3,
      .wireshark = "rpc.value_follows" },
    { "eof", XDR_BOOL, CLASS_BOOLEAN, ROLE_EOF, .wireshark = "nfs.readdir.eof" },
    END,
};
TYPE(dirlistplus3);
static const struct field READDIRPLUS3resok_fields[] = {
    POST_OP_ATTR("dir_attributes", ROLE_ATTRIBUTES),
    VERIFIER("cookieverf"),
    { "reply", XDR_STRUCT, .sub = &dirlistplus3 },
    END,
};
TYPE(READDIRPLUS3resok);
RESULT(READDIRPLUS3res, &READDIRPLUS3resok, &listing_fail);

/* FSSTAT */
ONE_FIELD(FSSTAT3args, HANDLE3("fsroot", ROLE_OBJECT));
static const struct field FSSTAT3resok_fields[] = {
    POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES),
    U64("tbytes", CLASS_SIZE, .wireshark = "nfs.fsstat3_resok.tbytes"),
    U64("fbytes", CLASS_SIZE, .wireshark = "nfs.fsstat3_resok.fbytes"),
    U64("abytes", CLASS_SIZE, .wireshark = "nfs.fsstat3_resok.abytes"),
    U64("tfiles", CLASS_COUNT, .wireshark = "nfs.fsstat3_resok.tfiles"),
    U64("ffiles", CLASS_COUNT, .wireshark = "nfs.fsstat3_resok.ffiles"),
    U64("afiles", CLASS_COUNT, .wireshark = "nfs.fsstat3_resok.afiles"),
    U32("invarsec", CLASS_INTERVAL, .wireshark = "nfs.fsstat.invarsec"),
    END,
};
TYPE(FSSTAT3resok);
RESULT(FSSTAT3res, &FSSTAT3resok, &object_fail);

/* FSINFO */
ONE_FIELD(FSINFO3args, HANDLE3("fsroot", ROLE_OBJECT));
static const struct field FSINFO3resok_fields[] = {
    POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES),
    U32("rtmax", CLASS_SIZE, .wireshark = "nfs.fsinfo.rtmax"),
    U32("rtpref", CLASS_SIZE, .wireshark = "nfs.fsinfo.rtpref"),
    U32("rtmult", CLASS_SIZE, .wireshark = "nfs.fsinfo.rtmult"),
    U32("wtmax", CLASS_SIZE, .wireshark = "nfs.fsinfo.wtmax"),
    U32("wtpref", CLASS_SIZE, .wireshark = "nfs.fsinfo.wtpref"),
    U32("wtmult", CLASS_SIZE, .wireshark = "nfs.fsinfo.wtmult"),
    U32("dtpref", CLASS_SIZE, .wireshark = "nfs.fsinfo.dtpref"),
    U64("maxfilesize", CLASS_SIZE, .wireshark = "nfs.fsinfo.maxfilesize"),
    { "time_delta", XDR_STRUCT, .sub = &nfstime3_delta },
    U32("properties", CLASS_ENUM, .wireshark = "nfs.fsinfo.properties"),
    END,
};
TYPE(FSINFO3resok);
RESULT(FSINFO3res, &FSINFO3resok, &object_fail);

/* PATHCONF */
ONE_FIELD(PATHCONF3args, HANDLE3("object", ROLE_OBJECT));
static const struct field PATHCONF3resok_fields[] = {
    POST_OP_ATTR("obj_attributes", ROLE_ATTRIBUTES),
    U32("linkmax", CLASS_COUNT, .wireshark = "nfs.pathconf.linkmax"),
    U32("name_max", CLASS_COUNT, .wireshark = "nfs.pathconf.name_max"),
    { "no_trunc", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nfs.pathconf.no_trunc" },
    { "chown_restricted", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nfs.pathconf.chown_restricted" },
    { "case_insensitive", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nfs.pathconf.case_insensitive" },
    { "case_preserving", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nfs.pathconf.case_preserving" },
    END,
};
TYPE(PATHCONF3resok);
RESULT(PATHCONF3res, &PATHCONF3resok, &object_fail);

/* COMMIT changes nothing that can be read; count 0 means to the file's end. */
static const struct field COMMIT3args_fields[] = {
    HANDLE3("file", ROLE_OBJECT),
    U64("offset", CLASS_OFFSET, ROLE_RANGE_START, .wireshark = "nfs.offset3"),
    U32("count", CLASS_COUNT, ROLE_RANGE_LENGTH, .wireshark = "nfs.count3"),
    END,
};
TYPE(COMMIT3args);
static const struct field COMMIT3resok_fields[] = {
    WCC("file_wcc", wcc_of_object),
    VERIFIER("verf"),
    END,
};
TYPE(COMMIT3resok);
RESULT(COMMIT3res, &COMMIT3resok, &file_wcc_fail);

static const struct procedure procedures[] = {
    { 0, "NULL", &wire_void, &wire_void, "RFC 1813 s3.3.0" },
    { 1, "GETATTR", &GETATTR3args, &GETATTR3res, "RFC 1813 s3.3.1", ACTION_ASK },
    { 2, "SETATTR", &SETATTR3args, &SETATTR3res, "RFC 1813 s3.3.2", ACTION_SET },
    { 3, "LOOKUP", &LOOKUP3args, &LOOKUP3res, "RFC 1813 s3.3.3", ACTION_FIND },
    { 4, "ACCESS", &ACCESS3args, &ACCESS3res, "RFC 1813 s3.3.4", ACTION_ASK },
    { 5, "READLINK", &READLINK3args, &READLINK3res, "RFC 1813 s3.3.5", ACTION_READ_LINK },
    { 6, "READ", &READ3args, &READ3res, "RFC 1813 s3.3.6", ACTION_READ },
    { 7, "WRITE", &WRITE3args, &WRITE3res, "RFC 1813 s3.3.7", ACTION_WRITE },
    { 8, "CREATE", &CREATE3args, &CREATE3res, "RFC 1813 s3.3.8", ACTION_MAKE, 1 },
    { 9, "MKDIR", &MKDIR3args, &MKDIR3res, "RFC 1813 s3.3.9", ACTION_MAKE, 2 },
    { 10, "SYMLINK", &SYMLINK3args, &SYMLINK3res, "RFC 1813 s3.3.10", ACTION_MAKE, 5 },
    { 11, "MKNOD", &MKNOD3args, &MKNOD3res, "RFC 1813 s3.3.11", ACTION_MAKE },
    { 12, "REMOVE", &REMOVE3args, &REMOVE3res, "RFC 1813 s3.3.12", ACTION_REMOVE },
    { 13, "RMDIR", &RMDIR3args, &RMDIR3res, "RFC 1813 s3.3.13", ACTION_REMOVE, 2 },
    { 14, "RENAME", &RENAME3args, &RENAME3res, "RFC 1813 s3.3.14", ACTION_RENAME },
    { 15, "LINK", &LINK3args, &LINK3res, "RFC 1813 s3.3.15", ACTION_LINK },
    { 16, "READDIR", &READDIR3args, &READDIR3res, "RFC 1813 s3.3.16", ACTION_LIST },
    { 17, "READDIRPLUS", &READDIRPLUS3args, &READDIRPLUS3res, "RFC 1813 s3.3.17", ACTION_LIST },
    { 18, "FSSTAT", &FSSTAT3args, &FSSTAT3res, "RFC 1813 s3.3.18", ACTION_ASK_FILE_SYSTEM },
    { 19, "FSINFO", &FSINFO3args, &FSINFO3res, "RFC 1813 s3.3.19", ACTION_ASK_FILE_SYSTEM },
    { 20, "PATHCONF", &PATHCONF3args, &PATHCONF3res, "RFC 1813 s3.3.20", ACTION_ASK_FILE_SYSTEM },
    { 21, "COMMIT", &COMMIT3args, &COMMIT3res, "RFC 1813 s3.3.21", ACTION_FLUSH },
};

const struct program wire_nfs3 = { 100003, 3, "NFS", procedures, COUNT_OF(procedures) };
