/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/pipeline.c
 *
 * Clients taken in turn.
 */
#include "replay/pipeline.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { ATTEMPTS = 12, AGAIN_MOST = 300 };

struct pipeline {
    struct pipeline_setup setup;
    struct rpc_client **clients;
    uint32_t next;
    char event[160]; /* the last one of a connection */
    /* The question that is asked: */
    struct bound_call question;
    bool answered;
    struct buf body;
    char problem[BOUND_CALL_TEXT];
    enum rpc_outcome outcome;
};

static int on_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err)
{
    struct pipeline *p = ctx;

    (void)err;
    if (event != RPC_CLIENT_CONNECTED && (event != RPC_CLIENT_GAVE_UP || !p->event[0]))
        snprintf(p->event, sizeof(p->event), "%s", text);
    return 0;
}

static int on_room(void *ctx, struct err *err)
{
    struct pipeline *p = ctx;

    return p->setup.room ? p->setup.room(p->setup.ctx, err) : 0;
}

struct pipeline *pipeline_new(const struct pipeline_setup *setup, struct err *err)
{
    struct rpc_client_setup client = { .server = setup->target->nfs,
                                       .udp = setup->target->udp,
                                       .from = setup->target->from,
                                       .limits = rpc_client_defaults };
    struct pipeline *p = calloc(1, sizeof(*p));
    struct rpc_client_host host = { on_room, on_event, p };

    if (!p || nfs3_structs_init(err) < 0 ||
        !(p->clients = calloc(setup->connections, sizeof(struct rpc_client *)))) {
        free(p);
        err_memory(err, "connections");
        return NULL;
    }
    p->setup = *setup;
    client.limits.attempts = ATTEMPTS;
    if (setup->timeout)
        client.limits.timeout = setup->timeout;
    for (uint32_t i = 0; i < setup->connections; i++) {
        p->clients[i] = rpc_client_new(setup->loop, &client, &host, err);
        if (!p->clients[i]) {
            pipeline_free(p);
            return NULL;
        }
    }
    return p;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->setup.connections; i++)
        rpc_client_free(p->clients[i]);
    free(p->clients);
    buf_free(&p->body);
    free(p);
}

int pipeline_send(struct pipeline *p, struct bound_call *call, uint32_t procedure,
                  const void *arguments, struct err *err)
{
    const struct nfs3_binding *nfs3 = nfs3_binding(procedure);
    struct wire_binding binding = { nfs3->arguments_size, nfs3->result_size, nfs3->arguments,
                                    nfs3->result };
    int result = RPC_CLIENT_FULL;

    call->program = NFS3_PROGRAM;
    call->version = NFS3_VERSION;
    call->procedure = procedure;
    call->credential = &p->setup.target->credential;
    for (uint32_t i = 0; i < p->setup.connections && result == RPC_CLIENT_FULL; i++) {
        p->next = (p->next + 1) % p->setup.connections;
        result = bound_call(p->clients[p->next], call, &binding, arguments, err);
    }
    return result;
}

/* --- one question */

static int on_answer(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct pipeline *p =
        (struct pipeline *)(void *)((char *)call - offsetof(struct pipeline, question));

    p->answered = true;
    p->outcome = answer->rpc->outcome;
    p->body.len = 0;
    snprintf(p->problem, sizeof(p->problem), "%s", answer->problem ? answer->problem : "");
    loop_stop(p->setup.loop);
    if (!answer->problem && buf_append(&p->body, answer->body.data, answer->body.len) < 0)
        return err_memory(err, "an answer");
    return 0;
}

static int on_wait(void *ctx, struct err *err)
{
    struct pipeline *p = ctx;

    (void)err;
    p->answered = true;
    loop_stop(p->setup.loop);
    return 0;
}

/* The server is busy (JUKEBOX). */
static int wait_a_little(struct pipeline *p, struct err *err)
{
    struct timer timer = { .due = on_wait, .ctx = p };
    int result = loop_set(p->setup.loop, &timer, loop_clock() + PIPELINE_AGAIN, err);

    p->answered = false;
    if (result == 0)
        result = loop_run(p->setup.loop, err);
    loop_unset(p->setup.loop, &timer);
    return result == 0 && !p->answered ? err_set(err, ERR_SYSTEM, "interrupted") : result;
}

static int ask_once(struct pipeline *p, uint32_t procedure, const void *arguments, void *result,
                    struct err *err)
{
    int done;

    p->question.done = on_answer;
    p->answered = false;
    p->problem[0] = p->event[0] = 0;
    done = pipeline_send(p, &p->question, procedure, arguments, err);
    if (done == 0)
        done = loop_run(p->setup.loop, err);
    if (done < 0)
        return done;
    if (!p->answered)
        return err_set(err, ERR_SYSTEM, "interrupted");
    if (p->problem[0])
        return err_set(err, p->outcome == RPC_ANSWERED ? ERR_INPUT : ERR_SYSTEM, "%s%s%s",
                       p->problem, p->event[0] ? ": " : "", p->event);
    if (bind_read(nfs3_binding(procedure)->result,
                  (struct bytes){ p->body.data, (uint32_t)p->body.len }, result) == WALK_MALFORMED)
        return err_set(err, ERR_INPUT, "a malformed reply");
    if (load_be32(p->body.data) > INT_MAX)
        return err_set(err, ERR_INPUT,
                       "the server answers with status %u, which NFSv3 does not have",
                       load_be32(p->body.data));
    return (int)load_be32(p->body.data);
}

int pipeline_ask(struct pipeline *p, uint32_t procedure, const void *arguments, void *result,
                 struct err *err)
{
    int status = ask_once(p, procedure, arguments, result, err);

    for (uint32_t i = 0; i < AGAIN_MOST && status == NFS3ERR_JUKEBOX; i++) {
        if (wait_a_little(p, err) < 0)
            return -err->code;
        status = ask_once(p, procedure, arguments, result, err);
    }
    return status;
}

const char *pipeline_status(uint32_t status, char text[32])
{
    const struct procedure *table = procedure_find(NFS3_PROGRAM, NFS3_VERSION, NFS3_GETATTR);
    const char *name = status_name(table, status);

    if (name)
        snprintf(text, 32, "%s", name);
    else
        snprintf(text, 32, "status %u", status);
    return text;
}
