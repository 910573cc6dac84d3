/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_client_limits.c
 *
 * What an RPC client may use: the defaults of its limits, and which ones make sense.
 */
#include "net/rpc_client_parts.h"

const struct rpc_client_limits rpc_client_defaults = {
    .calls = 128,
    .call_bytes = 16 << 20,
    .call_max = 4 << 20,
    .reply_max = 4 << 20,
    .timeout = INT64_C(60000000000),
    .resend = { INT64_C(1000000000), INT64_C(15000000000) },
    .reconnect = { INT64_C(100000000), INT64_C(10000000000) },
    .connect = INT64_C(10000000000),
    .silence = INT64_C(60000000000),
};

int client_check(const struct rpc_client_setup *setup, struct err *err)
{
    const struct rpc_client_limits *l = &setup->limits;

    if (setup->server.family != AF_INET && setup->server.family != AF_INET6)
        return err_set(err, ERR_USAGE, "the server's address is neither IPv4 nor IPv6");
    if (setup->from.local.family && setup->from.local.family != setup->server.family)
        return err_set(err, ERR_USAGE, "the server's address and our own are of two families");
    if (!l->calls || l->calls > 1 << 20 || !l->call_bytes || !l->call_max || !l->reply_max ||
        l->timeout < 0 || l->resend[0] <= 0 || l->reconnect[0] <= 0 || l->connect <= 0 ||
        l->silence < 0)
        return err_set(err, ERR_USAGE, "limits of an RPC client: see rpc_client.h");
    return 0;
}
