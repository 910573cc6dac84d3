/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/fill_in.h
 *
 * A step's arguments for the target: its handles, cookies, verifiers and guards in the places of
 * the trace's (schemas/rdump.md section 9).
 */
#ifndef NFSDIGEST_PLAYER_FILL_IN_H
#define NFSDIGEST_PLAYER_FILL_IN_H

#include "player/objects.h"
#include "player/step.h"
#include "wire/xdr_put.h"

/* What the step needs beside the objects. */
struct fill_in {
    struct bytes stale; /* the handle of something that was made and removed (status STALE) */
    struct bytes bad;   /* bytes that are no handle of this server (status BADHANDLE) */
    uint64_t cookie;    /* STEP_CONTINUES */
    uint8_t verifier[8];
    bool has_ctime; /* STEP_GUARDED: the ctime to send, when the object's is not to be taken */
    struct nfstime3 ctime;
};

enum fill_in_result {
    FILL_IN_DONE = 0,
    FILL_IN_NO_HANDLE = 1, /* |missing| has the number of the object whose handle is not known */
    FILL_IN_NO_CTIME = 2,  /* a guard, and nobody has asked for the ctime of the object */
};

/* Appends the arguments of a playable step to |put|, without the data of a WRITE.  Nothing is
 * appended unless FILL_IN_DONE is returned; |put->problem| may be set then (xdr_put.h).  Handle 0
 * becomes |bad| for the status BADHANDLE, else |stale|; without one, FILL_IN_NO_HANDLE has 0 in
 * |missing|.  A guard whose operation is to fail (NFS3ERR_NOT_SYNC) gets a ctime
 * that the object never had.  For FILL_IN_NO_CTIME |missing| has the number of the object. */
enum fill_in_result fill_in(const struct step *step, struct objects *objects,
                            const struct fill_in *with, struct xdr_put *put, uint32_t *missing);

/* The object number of the step's first handle (0: none, or unknown), and of its second.  A handle
 * in a dump is its length, and the number of the object. */
static inline uint32_t step_object(const struct step *step)
{
    return step->has & STEP_WITHOUT_OBJECT || !step->arguments.len
               ? 0
               : load_be32(step->arguments.data + 4);
}
static inline uint32_t step_second(const struct step *step)
{
    return step->has & STEP_HAS_SECOND ? load_be32(step->arguments.data + step->second_at + 4) : 0;
}

#endif
