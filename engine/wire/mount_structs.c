/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/mount_structs.c
 *
 * Rows that say which member of mount_structs.h's structs holds which field, in both versions.
 */
#include "wire/mount_structs.h"

#include "wire/programs.h"

static const struct bind_row MNT3args_rows[] = {
    BIND(MNT3args, "dirpath", dirpath),
    BIND_END,
};

/* --- version 1 */

static const struct bind_row fhstatus_rows[] = {
    BIND(fhstatus, "status", status),
    BIND(fhstatus, "directory", directory),
    BIND_END,
};
static const struct bind_row mountlist_entry_rows[] = {
    BIND(mountbody, "hostname", ml_hostname),
    BIND(mountbody, "directory", ml_directory),
    BIND_END,
};
static const struct bind_row mountlist_rows[] = {
    BIND_LIST_BY(mountlist3, "", list, mountbody, mountlist_entry_rows),
    BIND_END,
};
static const struct bind_row groups_entry_rows[] = {
    BIND(groupnode, "grname", gr_name),
    BIND_END,
};
static const struct bind_row exportlist_entry_rows[] = {
    BIND(exportnode, "filesys", ex_dir),
    BIND_LIST_BY(exportnode, "groups", ex_groups, groupnode, groups_entry_rows),
    BIND_END,
};
static const struct bind_row exportlist_rows[] = {
    BIND_LIST_BY(exports, "", list, exportnode, exportlist_entry_rows),
    BIND_END,
};

static const struct bind_struct structs1[] = {
    BIND_STRUCT_OF("MNTargs", MNT3args),
    BIND_STRUCT_OF("UMNTargs", MNT3args),
    BIND_STRUCT_OF("fhstatus", fhstatus),
    BIND_STRUCT_BY("mountlist", mountlist3, mountlist_rows),
    BIND_STRUCT_BY("exportlist", exports, exportlist_rows),
};
static const struct bind_structs all1 = { &wire_mount1, structs1, COUNT_OF(structs1) };

/* --- version 3 */

static const struct bind_row auth_flavor_rows[] = {
    BIND(auth_flavor, "flavor", flavor),
    BIND_END,
};
static const struct bind_row mountres3_rows[] = {
    BIND(mountres3, "fhs_status", fhs_status),
    BIND(mountres3, "mountinfo.fhandle", fhandle),
    BIND_LIST(mountres3, "mountinfo.auth_flavors", auth_flavors, auth_flavor),
    BIND_END,
};
static const struct bind_row mountbody_rows[] = {
    BIND(mountbody, "ml_hostname", ml_hostname),
    BIND(mountbody, "ml_directory", ml_directory),
    BIND_END,
};
static const struct bind_row mountlist3_rows[] = {
    BIND_LIST(mountlist3, "", list, mountbody),
    BIND_END,
};
static const struct bind_row groupnode_rows[] = {
    BIND(groupnode, "gr_name", gr_name),
    BIND_END,
};
static const struct bind_row exportnode_rows[] = {
    BIND(exportnode, "ex_dir", ex_dir),
    BIND_LIST(exportnode, "ex_groups", ex_groups, groupnode),
    BIND_END,
};
static const struct bind_row exports_rows[] = {
    BIND_LIST(exports, "", list, exportnode),
    BIND_END,
};

static const struct bind_struct structs3[] = {
    BIND_STRUCT_OF("MNT3args", MNT3args),   BIND_STRUCT_OF("UMNT3args", MNT3args),
    BIND_STRUCT_OF("mountres3", mountres3), BIND_STRUCT_OF("mountlist", mountlist3),
    BIND_STRUCT_OF("exports", exports),
};
static const struct bind_structs all3 = { &wire_mount3, structs3, COUNT_OF(structs3) };

static struct bindings version1, version3;

int mount_structs_init(struct err *err)
{
    int result = bindings_make(&version1, &all1, err);

    if (result == 0)
        result = bindings_make(&version3, &all3, err);
    if (result < 0)
        mount_structs_free();
    return result;
}

void mount_structs_free(void)
{
    bindings_free(&version1);
    bindings_free(&version3);
}

const struct wire_binding *mount1_binding(uint32_t procedure)
{
    return bindings_find(&version1, procedure);
}

const struct wire_binding *mount3_binding(uint32_t procedure)
{
    return bindings_find(&version3, procedure);
}
