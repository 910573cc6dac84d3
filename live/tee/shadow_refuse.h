/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_refuse.h
 *
 * Which SUT is refused before anything of it is changed: the reference itself, and an export in
 * which something is.
 */
#ifndef NFSDIGEST_TEE_SHADOW_REFUSE_H
#define NFSDIGEST_TEE_SHADOW_REFUSE_H

#include "player/target.h"

/* Waits for the servers' answers, with the loop.  -ERR_USAGE: it is refused, in words. */
int shadow_refuse(struct loop *loop, const struct target *reference, const struct target *sut,
                  bool overwrite, struct err *err);

#endif
