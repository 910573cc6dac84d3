/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/recording.h"
#include "recorder/recorder.h"

static void put(struct recorder *recorder, const struct rpc_client_message *rpc,
                uint64_t counterpart, uint32_t copy)
{
    const struct recorded recorded = { .from = rpc->from_server ? rpc->server : rpc->own,
                                       .to = rpc->from_server ? rpc->own : rpc->server,
                                       .datagram = rpc->udp,
                                       .message = rpc->message,
                                       .tail = rpc->tail,
                                       .counterpart = counterpart,
                                       .copy = copy };

    recorder_put(recorder, &recorded);
}

void recording_put(void *ctx, const struct player_message *message)
{
    const struct session *session = ctx;
    const struct step *step = message->step;
    uint64_t counterpart = step && step->source > 0 ? (uint64_t)step->source : 0;

    put(session->recorder, message->rpc, counterpart,
        counterpart ? session->dumps[message->dump].first_copy + step->copy : 0);
}

void recording_put_rpc(void *recorder, const struct rpc_client_message *message)
{
    put(recorder, message, 0, 0);
}
