/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/plausible.h
 *
 * Whether bytes can begin an RPC message, judged by these bytes alone.  For datagrams, new
 * connections, and the search for record marks.
 */
#ifndef NFSDIGEST_FLOW_PLAUSIBLE_H
#define NFSDIGEST_FLOW_PLAUSIBLE_H

#include "wire/rpc.h"

enum {
    CALL_WHOLE = 40,      /* with empty authenticators */
    IMPOSSIBLE_LOOK = 12, /* more bytes say nothing more to plausible_not, */
    PLAUSIBLE_LOOK = CALL_WHOLE + 2 * RPC_AUTH_BODY_MAX, /* and to plausible_rpc */
};

/* Whether |len| bytes at |data| begin a message that can be believed without a record mark
 * before it.  For datagrams and new connections.  1: a call, 2: a reply, 0: neither. */
int plausible_rpc(const uint8_t *data, uint32_t len, uint32_t wire_len);

/* Whether the first bytes of a message rule out that it is one. */
bool plausible_not(const uint8_t *data, uint32_t len);

#endif
