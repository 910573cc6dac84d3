/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/registration.h
 *
 * Tells this machine's rpcbind where ftnfsd's programs are (--register), and takes that back.  By
 * PORTMAP version 2, over TCP to 127.0.0.1:111 from a privileged port: rpcbind takes registrations
 * from no other one.
 */
#ifndef NFSDIGEST_SERVER_REGISTRATION_H
#define NFSDIGEST_SERVER_REGISTRATION_H

#include "net/address.h"

struct registration {
    uint16_t nfs_port, mount_port;
    bool done; /* set by registration_begin: there is something to take back */
};

/* Waits for rpcbind's answers, 10 s at most.  -ERR_SYSTEM: rpcbind cannot be reached, refuses, or
 * knows another server of one of the programs; then nothing has changed. */
int registration_begin(struct registration *registration, struct err *err);
/* Nothing, if nothing is registered. */
int registration_end(struct registration *registration, struct err *err);

#endif
