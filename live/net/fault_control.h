/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault_control.h
 *
 * Faults by a control socket: the commands fault-add, fault-list, fault-remove, fault-clear and
 * fault-help.
 */
#ifndef NFSDIGEST_NET_FAULT_CONTROL_H
#define NFSDIGEST_NET_FAULT_CONTROL_H

#include "net/control.h"
#include "net/fault.h"

/* Adds the commands.  |faults| must live as long as |control|. */
int fault_control_add(struct control *control, struct faults *faults, struct err *err);

#endif
