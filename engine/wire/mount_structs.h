/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/mount_structs.h
 *
 * Messages of MOUNT versions 1 (RFC 1094 appendix A) and 3 (RFC 1813 s5) as C structs; see
 * nfs3_structs.h.  What both versions have in the same form is one struct, by version 3's names.
 */
#ifndef NFSDIGEST_WIRE_MOUNT_STRUCTS_H
#define NFSDIGEST_WIRE_MOUNT_STRUCTS_H

#include "wire/bindings.h"

enum { MOUNT1_FHSIZE = 32 };

/* MNT and UMNT */
struct MNT3args {
    struct bytes dirpath;
};

/* MNT's result in version 1 */
struct fhstatus {
    uint32_t status;
    uint8_t directory[MOUNT1_FHSIZE]; /* the handle */
};

struct auth_flavor {
    uint32_t flavor;
};

/* MNT's result in version 3 */
struct mountres3 {
    uint32_t fhs_status;
    struct bytes fhandle;
    struct bind_list auth_flavors; /* of struct auth_flavor */
};

/* DUMP */
struct mountbody {
    struct bytes ml_hostname, ml_directory;
};

struct mountlist3 {
    struct bind_list list; /* of struct mountbody */
};

/* EXPORT, EXPORTALL */
struct groupnode {
    struct bytes gr_name;
};

struct exportnode {
    struct bytes ex_dir;
    struct bind_list ex_groups; /* of struct groupnode */
};

struct exports {
    struct bind_list list; /* of struct exportnode */
};

/* Call it before the others.  Further calls do nothing. */
int mount_structs_init(struct err *err);
void mount_structs_free(void);

/* Returns NULL if there is no such procedure, or if mount_structs_init was not called. */
const struct wire_binding *mount1_binding(uint32_t procedure);
const struct wire_binding *mount3_binding(uint32_t procedure);

#endif
