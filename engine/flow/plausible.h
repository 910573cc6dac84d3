/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/plausible.h
 *
 * Decides if bytes can begin an RPC message, by these bytes alone.  For datagrams, new connections,
 * and the search for record marks.
 */
#ifndef NFSDIGEST_FLOW_PLAUSIBLE_H
#define NFSDIGEST_FLOW_PLAUSIBLE_H

#include "wire/rpc.h"

enum {
    CALL_WHOLE = 40,      /* with empty authenticators */
    IMPOSSIBLE_LOOK = 12, /* the most bytes that plausible_not looks at */
    PLAUSIBLE_LOOK = CALL_WHOLE + 2 * RPC_AUTH_BODY_MAX, /* the same for plausible_rpc */
};

/* Decides if the |len| bytes at |data| begin a message that can be believed without a record mark
 * before it.  Returns 1 for a call, 2 for a reply, 0 for neither. */
int plausible_rpc(const uint8_t *data, uint32_t len, uint32_t wire_len);

/* Returns true if these first bytes cannot be those of a message. */
bool plausible_not(const uint8_t *data, uint32_t len);

#endif
