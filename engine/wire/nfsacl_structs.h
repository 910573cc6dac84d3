/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfsacl_structs.h
 *
 * Messages of NFSACL version 3 (Sun's nfs_acl.x) as C structs; see nfs3_structs.h.  GETXATTRDIR has
 * none.
 */
#ifndef NFSDIGEST_WIRE_NFSACL_STRUCTS_H
#define NFSDIGEST_WIRE_NFSACL_STRUCTS_H

#include "wire/bindings.h"
#include "wire/nfs3_structs.h"

struct aclent {
    uint32_t type;
    uint32_t id; /* uid, or gid in the entries of groups */
    uint32_t perm;
};

struct secattr {
    uint32_t mask;
    uint32_t aclcnt;
    struct bind_list aclent; /* of struct aclent */
    uint32_t dfaclcnt;
    struct bind_list dfaclent; /* of struct aclent */
};

struct GETACL3args {
    struct bytes fh;
    uint32_t mask;
};

struct GETACL3res {
    uint32_t status;
    struct post_op_attr attr;
    struct secattr acl;
};

struct SETACL3args {
    struct bytes fh;
    struct secattr acl;
};

struct SETACL3res {
    uint32_t status;
    struct post_op_attr attr;
};

/* Call it before nfsacl3_binding.  Further calls do nothing. */
int nfsacl_structs_init(struct err *err);
void nfsacl_structs_free(void);

/* Returns NULL if there is no such procedure, or if nfsacl_structs_init was not called. */
const struct wire_binding *nfsacl3_binding(uint32_t procedure);

#endif
