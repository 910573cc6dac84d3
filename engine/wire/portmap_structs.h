/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/portmap_structs.h
 *
 * Messages of PORTMAP version 2 and RPCBIND versions 3 and 4 (RFC 1833) as C structs, as far as
 * servers and clients need them: SET, UNSET, GETPORT, GETADDR, GETVERSADDR and DUMP.  See
 * nfs3_structs.h.  RFC 1833 has no names for the results that are one value.
 */
#ifndef NFSDIGEST_WIRE_PORTMAP_STRUCTS_H
#define NFSDIGEST_WIRE_PORTMAP_STRUCTS_H

#include "wire/bindings.h"

/* SET and UNSET, in all versions */
struct portmap_answer {
    bool answer;
};

/* --- s3.1: version 2; the RFC's struct mapping */

struct portmap_mapping {
    uint32_t prog, vers;
    uint32_t prot; /* IPPROTO_TCP, IPPROTO_UDP */
    uint32_t port;
};

struct portmap_port {
    uint32_t port; /* 0: not registered */
};

struct pmaplist {
    struct bind_list list; /* of struct portmap_mapping */
};

/* --- s2.1: versions 3 and 4 */

struct rpcb {
    uint32_t r_prog, r_vers;
    struct bytes r_netid, r_addr, r_owner;
};

struct rpcb_address {
    struct bytes uaddr; /* universal address; empty: not registered */
};

struct rpcblist {
    struct bind_list list; /* of struct rpcb */
};

/* Call it before the others.  Further calls do nothing. */
int portmap_structs_init(struct err *err);
void portmap_structs_free(void);

/* Returns NULL if there is no such procedure, or if portmap_structs_init was not called. */
const struct wire_binding *portmap2_binding(uint32_t procedure);
const struct wire_binding *rpcbind3_binding(uint32_t procedure);
const struct wire_binding *rpcbind4_binding(uint32_t procedure);

#endif
