/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_inject.c
 *
 * Faults that the relay injects (net/fault.h): it looks at the calls of a connection only while
 * there are rules.
 *
 * delay: the call, and what is behind it on its connection, is held back.  The bytes of one read
 * wait from when they came, so the delays of calls that came together do not add up.  Nothing is
 * read behind them meanwhile.
 * close: the call passes, and both connections are reset in the place of its reply.
 *
 * A connection that was open before the first rule is joined where a read begins with a message.
 */
#include "relay/record_finder.h"
#include "relay/relay_parts.h"
#include "wire/nfs3_numbers.h"
#include "wire/rpc.h"

#include <stdlib.h>
#include <string.h>

enum {
    CLOSING_MAX = 16,
    CALL_LEAST = 28,  /* bytes of a record mark, and of a call up to its procedure */
    REPLY_LEAST = 16, /* up to the reply's state */
};

/* What is known of one direction. */
struct looked {
    struct pass *pass;
    struct record_finder finder;
    bool in_step;
    int64_t came; /* when the bytes that wait were read */
    int64_t due;  /* 0: nothing is delayed */
    struct timer timer;
};

struct injection {
    struct pair *pair;
    struct looked to_server, to_client;
    uint32_t closing[CLOSING_MAX]; /* XIDs of calls whose reply is to be replaced by a reset */
    uint32_t closing_count;
};

static uint32_t number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* --- beginnings */

static int on_due(void *ctx, struct err *err);

static struct injection *begin(struct pair *pair)
{
    struct injection *injection = calloc(1, sizeof(*injection));

    if (!injection)
        return NULL;
    injection->pair = pair;
    injection->to_server.pass = &pair->to_server;
    injection->to_client.pass = &pair->to_client;
    injection->to_server.timer = (struct timer){ .due = on_due, .ctx = &injection->to_server };
    injection->to_client.timer = (struct timer){ .due = on_due, .ctx = &injection->to_client };
    return injection;
}

void relay_inject_end(struct pair *pair)
{
    if (!pair->injection)
        return;
    loop_unset(pair->relay->loop, &pair->injection->to_server.timer);
    loop_unset(pair->relay->loop, &pair->injection->to_client.timer);
    free(pair->injection);
    pair->injection = NULL;
}

/* The bytes look like the beginning of a message. */
static bool begins(bool calls, struct bytes bytes)
{
    if (calls)
        return bytes.len >= CALL_LEAST && number(bytes.data + 8) == RPC_CALL &&
               number(bytes.data + 12) == 2;
    return bytes.len >= REPLY_LEAST && number(bytes.data + 8) == RPC_REPLY &&
           number(bytes.data + 12) <= 1;
}

/* Tells whether the messages in |bytes|, at |base|, can be found. */
static bool join(struct looked *looked, struct bytes bytes, uint64_t base)
{
    bool calls = looked->pass->kind == RELAY_TO_SERVER;

    if (looked->in_step && looked->finder.offset >= base)
        return true;
    looked->in_step = base == 0 || begins(calls, bytes);
    record_finder_begin(&looked->finder, calls ? RECORD_HEAD_MAX : 8, base);
    return looked->in_step;
}

/* --- messages */

/* Finds the effects for the call that was found.  Returns its delay in ns; or -1: reset. */
static int64_t judge_call(struct injection *injection)
{
    struct pair *pair = injection->pair;
    struct looked *looked = &injection->to_server;
    const struct record_finder *f = &looked->finder;
    struct fault_effects effects;
    struct fault_request request;
    struct rpc_header call;
    enum rpc_result result =
        rpc_parse(f->head, f->head_len, f->whole ? f->head_len : UINT32_MAX, &call);

    if (result == RPC_NOT || call.direction != RPC_CALL) {
        looked->in_step = false;
        return 0;
    }
    /* procedures of other versions mean something else */
    if (call.version != 3 && call.program != MOUNT_PROGRAM)
        return 0;
    request = (struct fault_request){ .program = call.program,
                                      .procedure = call.procedure,
                                      .client = &pair->client_address.any,
                                      .has_uid = call.credential.flavor == RPC_AUTH_SYS &&
                                                 call.credential.valid,
                                      .uid = call.credential.uid };
    if (!faults_apply(pair->relay->setup.faults, &request, &effects))
        return 0;
    if (fault_has(&effects, FAULT_CLOSE)) {
        if (injection->closing_count == CLOSING_MAX)
            return -1; /* none of so many was answered yet */
        injection->closing[injection->closing_count++] = call.xid;
    }
    return fault_has(&effects, FAULT_DELAY) ? (int64_t)effects.value[FAULT_DELAY] : 0;
}

/* Returns 0; or -1: reset. */
static int64_t judge_reply(struct injection *injection)
{
    struct looked *looked = &injection->to_client;

    if (looked->finder.head_len < 8 || number(looked->finder.head + 4) != RPC_REPLY) {
        looked->in_step = false;
        return 0;
    }
    for (uint32_t i = 0; i < injection->closing_count; i++)
        if (injection->closing[i] == number(looked->finder.head))
            return -1;
    return 0;
}

/* Holds the message back.  Returns false if its time has come, or without memory for a timer. */
static bool hold_back(struct injection *injection, struct looked *looked, int64_t delay)
{
    struct loop *loop = injection->pair->relay->loop;
    int64_t due;

    if (!delay)
        return false;
    injection->pair->relay->counts.delayed++;
    if (__builtin_add_overflow(looked->came, delay, &due))
        due = INT64_MAX;
    if (due <= loop_now(loop) || loop_set(loop, &looked->timer, due, NULL) < 0)
        return false;
    looked->due = due;
    return true;
}

/* Looks at bytes of the offset |base|, of which some may have been looked at. */
static int64_t look(struct injection *injection, struct looked *looked, struct bytes bytes,
                    uint64_t base)
{
    bool found;

    while (looked->in_step && looked->finder.offset - base < bytes.len) {
        uint32_t at = (uint32_t)(looked->finder.offset - base);
        int64_t delay;

        record_finder_take(&looked->finder, bytes.data + at, bytes.len - at, &found);
        if (!found)
            continue;
        delay =
            looked->pass->kind == RELAY_TO_SERVER ? judge_call(injection) : judge_reply(injection);
        if (delay < 0) {
            injection->pair->relay->counts.reset_by_rule++;
            return -1;
        }
        if (hold_back(injection, looked, delay))
            return looked->finder.begun > base ? (int64_t)(looked->finder.begun - base) : 0;
    }
    return bytes.len;
}

/* --- passing */

static int on_due(void *ctx, struct err *err)
{
    struct looked *looked = ctx;
    struct pass *pass = looked->pass;
    struct pair *pair = pass->from->pair;
    int64_t may;

    (void)err;
    looked->due = 0;
    may =
        look(pair->injection, looked, (struct bytes){ pass->held + pass->held_at, pass->held_len },
             pass->offset - pass->held_len);
    if (may < 0) {
        relay_end(pair, RELAY_WHY_RELAY);
    } else {
        pass->may = (uint32_t)may;
        relay_pass_go_on(pass);
    }
    return 0;
}

int64_t relay_inject(struct pair *pair, struct pass *pass, struct bytes bytes)
{
    struct relay *relay = pair->relay;
    struct looked *looked;

    if (pair->injection && !faults_count(relay->setup.faults) && !pair->injection->closing_count &&
        !pair->injection->to_server.due)
        relay_inject_end(pair);
    if (!pair->injection) {
        if (!faults_count(relay->setup.faults))
            return bytes.len;
        pair->injection = begin(pair);
        if (!pair->injection) { /* the rules are not kept for these bytes */
            relay->counts.failed++;
            return bytes.len;
        }
    }
    looked = pass == &pair->to_server ? &pair->injection->to_server : &pair->injection->to_client;
    looked->came = loop_now(relay->loop);
    if (!join(looked, bytes, pass->offset))
        return bytes.len;
    return look(pair->injection, looked, bytes, pass->offset);
}
