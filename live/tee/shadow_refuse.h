/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_refuse.h
 *
 * Which SUT is refused before anything of it is changed: the reference itself, by whatever address;
 * a directory in the reference's export, or one that has it in it, as far as ".." shows that; and
 * an export in which something is.
 */
#ifndef NFSDIGEST_TEE_SHADOW_REFUSE_H
#define NFSDIGEST_TEE_SHADOW_REFUSE_H

#include "base/bytes.h"
#include "player/target.h"

/* Waits for the servers' answers, with the loop.  -ERR_USAGE: it is refused, in words.  With
 * |overwrite|, |removed| gets a sentence about what will be removed from the SUT, or nothing.
 * |leaves_out|: there are patterns of --exclude or --only. */
struct shadow_refusing {
    struct loop *loop;
    const struct target *reference, *sut;
    bool overwrite, leaves_out;
};
int shadow_refuse(const struct shadow_refusing *setup, struct buf *removed, struct err *err);

#endif
