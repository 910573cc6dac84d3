/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/mount.c
 *
 * MOUNT version 1 (RFC 1094 appendix A) and version 3 (RFC 1813 s5, appendix I).
 * The path of a MNT call names the handle of its reply: that is where path names begin.
 */
#include "wire/programs.h"

#include <stddef.h>

enum {
    MNTPATHLEN = 1024,
    MNTNAMLEN = 255,
    FHSIZE = 32,
    FHSIZE3 = 64,
};

/* MNT's argument binds the result's handle; UMNT's takes nothing out of the tree of names. */
static const struct field mnt_path_fields[] = {
    { "dirpath", XDR_STRING, CLASS_PATH, ROLE_ROOT_PATH, MNTPATHLEN, .wireshark = "mount.path" },
    END,
};
static struct type mnt_args = { .name = "MNTargs", .fields = mnt_path_fields };
static struct type mnt3_args = { .name = "MNT3args", .fields = mnt_path_fields };

static const struct field umnt_path_fields[] = {
    { "dirpath", XDR_STRING, CLASS_PATH, .max = MNTPATHLEN, .wireshark = "mount.path" },
    END,
};
static struct type umnt_args = { .name = "UMNTargs", .fields = umnt_path_fields };
static struct type umnt3_args = { .name = "UMNT3args", .fields = umnt_path_fields };

/* Version 1 returns "a UNIX error number" (RFC 1094 A.4): these are the ones servers send, in
 * the numbering of 4.2BSD that mountstat3 took over. */
static const struct value_name fhstatus_names[] = {
    { 0, "MNT_OK" },   { 1, "EPERM" },   { 2, "ENOENT" },        { 5, "EIO" }, { 13, "EACCES" },
    { 20, "ENOTDIR" }, { 22, "EINVAL" }, { 63, "ENAMETOOLONG" }, { 0, 0 },
};

/* RFC 1094 A.4 fhstatus */
static const struct field fhstatus_directory_fields[] = {
    { "directory", XDR_FIXED, CLASS_HANDLE, ROLE_NEW_OBJECT, FHSIZE, .wireshark = "nfs.fhandle" },
    END,
};
static struct type fhstatus_directory = { .name = "fhandle", .fields = fhstatus_directory_fields };

static const struct arm fhstatus_arms[] = {
    { 0, NULL, &fhstatus_directory },
    ARM_DEFAULT(NULL, NULL),
};
static const struct field fhstatus_fields[] = {
    { "status", XDR_UNION, CLASS_STATUS, ROLE_STATUS, .arms = fhstatus_arms,
      .names = fhstatus_names, .wireshark = "mount.status" },
    END,
};
TYPE(fhstatus);

/* RFC 1094 A.4 mountlist */
static const struct field mountlist_entry_fields[] = {
    { "hostname", XDR_STRING, CLASS_HOST, .max = MNTNAMLEN, .wireshark = "mount.dump.hostname" },
    { "directory", XDR_STRING, CLASS_PATH, .max = MNTPATHLEN, .wireshark = "mount.dump.directory" },
    END,
};
TYPE(mountlist_entry);
static const struct field mountlist_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &mountlist_entry, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(mountlist);

/* RFC 1094 A.4 groups, exportlist */
static const struct field groups_entry_fields[] = {
    { "grname", XDR_STRING, CLASS_HOST, .max = MNTNAMLEN, .wireshark = "mount.export.group" },
    END,
};
TYPE(groups_entry);
static const struct field exportlist_entry_fields[] = {
    { "filesys", XDR_STRING, CLASS_PATH, .max = MNTPATHLEN, .wireshark = "mount.export.directory" },
    { "groups", XDR_LIST, CLASS_BOOLEAN, .sub = &groups_entry, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(exportlist_entry);
static const struct field exportlist_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &exportlist_entry, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(exportlist);

/* EXPORTALL is not in RFC 1094; servers that grew from Sun's answer it as they answer EXPORT. */
static const struct procedure mount1_procedures[] = {
    { 0, "NULL", &wire_void, &wire_void, "RFC 1094 A.5.0" },
    { 1, "MNT", &mnt_args, &fhstatus, "RFC 1094 A.5.1", ACTION_MOUNT },
    { 2, "DUMP", &wire_void, &mountlist, "RFC 1094 A.5.2" },
    { 3, "UMNT", &umnt_args, &wire_void, "RFC 1094 A.5.3" },
    { 4, "UMNTALL", &wire_void, &wire_void, "RFC 1094 A.5.4" },
    { 5, "EXPORT", &wire_void, &exportlist, "RFC 1094 A.5.5" },
    { 6, "EXPORTALL", &wire_void, &exportlist, "as RFC 1094 A.5.5" },
};

const struct program wire_mount1 = { 100005, 1, "MOUNT", mount1_procedures,
                                     COUNT_OF(mount1_procedures) };

/* RFC 1813 s5.1.5 */
static const struct value_name mountstat3_names[] = {
    { 0, "MNT3_OK" },
    { 1, "MNT3ERR_PERM" },
    { 2, "MNT3ERR_NOENT" },
    { 5, "MNT3ERR_IO" },
    { 13, "MNT3ERR_ACCES" },
    { 20, "MNT3ERR_NOTDIR" },
    { 22, "MNT3ERR_INVAL" },
    { 63, "MNT3ERR_NAMETOOLONG" },
    { 10004, "MNT3ERR_NOTSUPP" },
    { 10006, "MNT3ERR_SERVERFAULT" },
    { 0, NULL },
};

/* RFC 5531 s8.2 and the registry that it names; RFC 2623 s2.1 for the pseudo flavors. */
static const struct value_name auth_flavor_names[] = {
    { 0, "AUTH_NONE" },  { 1, "AUTH_SYS" },   { 2, "AUTH_SHORT" },
    { 3, "AUTH_DH" },    { 6, "RPCSEC_GSS" }, { 390003, "krb5" },
    { 390004, "krb5i" }, { 390005, "krb5p" }, { 0, NULL },
};

/* RFC 1813 s5.2.1 mountres3 */
static const struct field auth_flavor_fields[] = {
    { "flavor", XDR_ENUM, CLASS_ENUM, .names = auth_flavor_names, .wireshark = "mount.flavor" },
    END,
};
TYPE(auth_flavor);
static const struct field mountres3_ok_fields[] = {
    { "fhandle", XDR_OPAQUE, CLASS_HANDLE, ROLE_NEW_OBJECT, FHSIZE3, .wireshark = "nfs.fhandle" },
    { "auth_flavors", XDR_ARRAY, CLASS_COUNT, .sub = &auth_flavor, .wireshark = "mount.flavors" },
    END,
};
TYPE(mountres3_ok);
static const struct arm mountres3_arms[] = {
    { 0, "mountinfo", &mountres3_ok },
    ARM_DEFAULT(NULL, NULL),
};
static const struct field mountres3_fields[] = {
    { "fhs_status", XDR_UNION, CLASS_STATUS, ROLE_STATUS, .arms = mountres3_arms,
      .names = mountstat3_names, .wireshark = "mount.status" },
    END,
};
TYPE(mountres3);

/* RFC 1813 s5.2.2 mountlist */
static const struct field mountbody_fields[] = {
    { "ml_hostname", XDR_STRING, CLASS_HOST, .max = MNTNAMLEN, .wireshark = "mount.dump.hostname" },
    { "ml_directory", XDR_STRING, CLASS_PATH, .max = MNTPATHLEN,
      .wireshark = "mount.dump.directory" },
    END,
};
TYPE(mountbody);
static const struct field mountlist3_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &mountbody, .wireshark = "rpc.value_follows" },
    END,
};
static struct type mountlist3 = { .name = "mountlist", .fields = mountlist3_fields };

/* RFC 1813 s5.2.5 exports */
static const struct field groupnode_fields[] = {
    { "gr_name", XDR_STRING, CLASS_HOST, .max = MNTNAMLEN, .wireshark = "mount.export.group" },
    END,
};
TYPE(groupnode);
static const struct field exportnode_fields[] = {
    { "ex_dir", XDR_STRING, CLASS_PATH, .max = MNTPATHLEN, .wireshark = "mount.export.directory" },
    { "ex_groups", XDR_LIST, CLASS_BOOLEAN, .sub = &groupnode, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(exportnode);
static const struct field exports_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &exportnode, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(exports);

static const struct procedure mount3_procedures[] = {
    { 0, "NULL", &wire_void, &wire_void, "RFC 1813 s5.2.0" },
    { 1, "MNT", &mnt3_args, &mountres3, "RFC 1813 s5.2.1", ACTION_MOUNT },
    { 2, "DUMP", &wire_void, &mountlist3, "RFC 1813 s5.2.2" },
    { 3, "UMNT", &umnt3_args, &wire_void, "RFC 1813 s5.2.3" },
    { 4, "UMNTALL", &wire_void, &wire_void, "RFC 1813 s5.2.4" },
    { 5, "EXPORT", &wire_void, &exports, "RFC 1813 s5.2.5" },
};

const struct program wire_mount3 = { 100005, 3, "MOUNT", mount3_procedures,
                                     COUNT_OF(mount3_procedures) };
