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
    FIT_SURPLUS, /* fits, but bytes follow its end, as some implementations send */
    FIT_WELL,    /* fits, or there is no table to check it by */
};

/* Each function takes the first bytes of a message, as many as are known. */

/* Checks the arguments of a call.  They must fill its record. */
enum fit fits_call(struct captured call);

/* Checks a result of |procedure| (NULL: not known), which was called with |credential|. */
enum fit fits_result(const struct procedure *procedure, const struct rpc_auth *credential,
                     struct captured reply);

/* Checks the result in |reply| against |call|, whose first bytes are given. */
enum fit fits_reply(struct captured call, struct captured reply);

#endif
