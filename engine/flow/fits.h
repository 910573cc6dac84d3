/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/fits.h
 *
 * Checks by the tables of its procedure whether a message can be what its header says.  XIDs alone
 * do not decide it, because files can hold messages with the XIDs of the connection.
 */
#ifndef NFSDIGEST_FLOW_FITS_H
#define NFSDIGEST_FLOW_FITS_H

#include "base/bytes.h"
#include "wire/field.h"
#include "wire/rpc.h"

enum fit {
    FIT_NOT,
    FIT_SURPLUS, /* but for bytes behind its end, as some send */
    FIT_WELL,    /* or nothing is known of it */
};

/* Each takes the first bytes of a message. */

/* A call's arguments, which fill its record. */
enum fit fits_call(struct captured call);

/* A result of |procedure| (NULL: not known), called with |credential|. */
enum fit fits_result(const struct procedure *procedure, const struct rpc_auth *credential,
                     struct captured reply);

/* The same for a call of which the first bytes are there. */
enum fit fits_reply(struct captured call, struct captured reply);

#endif
