/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/plausible.h"
#include "flow/message.h"
#include "wire/field.h"

enum {
    CALL_LEAST = 24,  /* a call's header up to its procedure */
    REPLY_LEAST = 24, /* an accepted reply without results */
};

static bool flavor_known(uint32_t flavor)
{
    return flavor <= RPC_AUTH_DH || flavor == RPC_GSS || (flavor >= 390000 && flavor < 390020);
}

/* An opaque_auth at |at|: false if what is there of it violates RFC 5531 s8.2. */
static bool auth_plausible(const uint8_t *data, uint32_t len, uint32_t at)
{
    if (len >= at + 4 && !flavor_known(load_be32(data + at)))
        return false;
    return len < at + 8 || load_be32(data + at + 4) <= RPC_AUTH_BODY_MAX;
}

static bool call_plausible(const uint8_t *data, uint32_t len, uint32_t wire_len)
{
    uint32_t credential;

    if (wire_len < CALL_WHOLE || len < CALL_LEAST || load_be32(data + 8) != 2)
        return false;
    if (!program_name(load_be32(data + 12)) || load_be32(data + 16) > 16 ||
        load_be32(data + 20) > 64 || !auth_plausible(data, len, 24))
        return false;
    if (len < 32)
        return true;
    credential = (load_be32(data + 28) + 3) & ~3u;
    return wire_len >= CALL_WHOLE + credential && auth_plausible(data, len, 32 + credential);
}

static bool reply_plausible(const uint8_t *data, uint32_t len, uint32_t wire_len)
{
    uint32_t verifier, accept;

    if (wire_len < 20 || len < 20)
        return false;
    if (load_be32(data + 8) == 1) { /* MSG_DENIED */
        uint32_t reject = load_be32(data + 12);
        return reject == 0 ? wire_len == 24
                           : reject == 1 && wire_len == 20 && load_be32(data + 16) <= 14;
    }
    if (load_be32(data + 8) != 0 || wire_len < REPLY_LEAST || !auth_plausible(data, len, 12))
        return false;
    verifier = (load_be32(data + 16) + 3) & ~3u;
    if (verifier > wire_len - REPLY_LEAST)
        return false;
    if (len < REPLY_LEAST + verifier)
        return false;
    accept = load_be32(data + 20 + verifier);
    if (accept == RPC_PROG_MISMATCH)
        return wire_len == REPLY_LEAST + verifier + 8;
    return accept == RPC_SUCCESS ||
           (accept <= RPC_SYSTEM_ERR && wire_len == REPLY_LEAST + verifier);
}

int plausible_rpc(const uint8_t *data, uint32_t len, uint32_t wire_len)
{
    uint32_t direction;

    if (len < MESSAGE_MIN)
        return 0;
    direction = load_be32(data + 4);
    if (direction == RPC_CALL)
        return call_plausible(data, len, wire_len) ? 1 : 0;
    return direction == RPC_REPLY && reply_plausible(data, len, wire_len) ? 2 : 0;
}

bool plausible_not(const uint8_t *data, uint32_t len)
{
    if (len >= 8 && load_be32(data + 4) > RPC_REPLY)
        return true;
    if (len < IMPOSSIBLE_LOOK)
        return false;
    return load_be32(data + 4) == RPC_CALL ? load_be32(data + 8) != 2 : load_be32(data + 8) > 1;
}
