/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/registration.h
 *
 * Registers ftnfsd's programs with this machine's rpcbind (--register), and unregisters them.  It
 * uses PORTMAP version 2, over TCP to 127.0.0.1:111 from a privileged port, because rpcbind accepts
 * registrations only from such ports.
 */
#ifndef NFSDIGEST_SERVER_REGISTRATION_H
#define NFSDIGEST_SERVER_REGISTRATION_H

#include "net/address.h"

struct registration {
    uint16_t nfs_port, mount_port;
    bool done; /* set by registration_begin: there is something to unregister */
};

/* Registers the programs.  Waits at most 10 s for rpcbind's answers.  -ERR_SYSTEM: rpcbind cannot
 * be reached, refuses, or knows another server of one of the programs; then nothing has changed. */
int registration_begin(struct registration *registration, struct err *err);
/* Unregisters the programs.  Does nothing if nothing is registered. */
int registration_end(struct registration *registration, struct err *err);

#endif
