/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/commands.h
 *
 * The commands of nfstee.  Each returns an exit code, or a negative code with a message.
 */
#ifndef NFSDIGEST_TEE_COMMANDS_H
#define NFSDIGEST_TEE_COMMANDS_H

#include "base/err.h"

int cmd_relay(int argc, char **argv, struct err *err);
int cmd_run(int argc, char **argv, struct err *err);
int cmd_shadow(int argc, char **argv, struct err *err);
int cmd_tap(int argc, char **argv, struct err *err);

#endif
