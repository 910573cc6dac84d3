/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/recording.h
 *
 * The traffic of the player as an .nfsr stream (--record).  Each call for an operation of the dump
 * names that operation as its counterpart: by its number in the original trace, with the copy
 * (session.h). Calls that the player adds (GETATTR for a guard, LOOKUP for a handle, the rest of a
 * listing) and inferred operations have no counterpart.
 *
 * Memory and errors: recorder/recorder.h.
 */
#ifndef NFSDIGEST_REPLAY_RECORDING_H
#define NFSDIGEST_REPLAY_RECORDING_H

#include "replay/session.h"

/* For |message| of struct player_setup; |session| is a struct session with a recorder. */
void recording_put(void *session, const struct player_message *message);
/* For other clients: no call has a counterpart.  |recorder| is a struct recorder. */
void recording_put_rpc(void *recorder, const struct rpc_client_message *message);

#endif
