/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/registration.c
 *
 * One call after the other, on a loop of its own, before the server's own loop runs and after it.
 */
#include "server/registration.h"
#include "net/portmap_client.h"
#include "wire/nfs3_numbers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const struct registered {
    uint32_t program, version;
    bool mount;
} programs[] = {
    { NFS3_PROGRAM, 3, false }, { NFSACL_PROGRAM, 3, false }, { MOUNT_PROGRAM, 1, true },
    { MOUNT_PROGRAM, 2, true }, { MOUNT_PROGRAM, 3, true },
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]), CALLS = 2 * PROGRAMS };

struct talk {
    const struct registration *registration;
    enum portmap_what what;
    struct loop *loop;
    struct rpc_client *client;
    unsigned next, accepted; /* calls: program by program, TCP and UDP */
    char problem[200];
};

static int ask(struct talk *t, struct err *err);

/* UNSET takes away what is there, whoever registered it.  So nothing is registered where something
 * is already: what ends later is ours. */
static int looked(void *ctx, const struct portmap_reply *answer, struct err *err)
{
    struct talk *t = ctx;

    if (answer->problem)
        snprintf(t->problem, sizeof(t->problem), "%s", answer->problem);
    for (uint32_t i = 0; i < answer->entry_count && !*t->problem; i++)
        for (unsigned p = 0; p < PROGRAMS; p++)
            if (answer->entries[i].program == programs[p].program)
                snprintf(t->problem, sizeof(t->problem),
                         "another server of program %u is registered", programs[p].program);
    if (!*t->problem)
        return ask(t, err);
    loop_stop(t->loop);
    return 0;
}

/* Asks what is there first, where something is to be registered. */
static int look(struct talk *t, struct err *err)
{
    const struct portmap_question question = { .version = 2, .what = PORTMAP_DUMP };

    return t->what == PORTMAP_SET ? portmap_call(t->client, &question, looked, t, err)
                                  : ask(t, err);
}

static int answered(void *ctx, const struct portmap_reply *answer, struct err *err)
{
    struct talk *t = ctx;

    /* UNSET of what is not registered is no problem */
    if (answer->problem && t->what == PORTMAP_SET) {
        snprintf(t->problem, sizeof(t->problem), "%s", answer->problem);
        loop_stop(t->loop);
        return 0;
    }
    t->accepted++;
    return ask(t, err);
}

static int ask(struct talk *t, struct err *err)
{
    const struct registered *p = &programs[t->next / 2];
    struct portmap_question question = { .version = 2,
                                         .what = t->what,
                                         .program = p->program,
                                         .program_version = p->version,
                                         .udp = t->next % 2 };

    if (t->next == CALLS) {
        loop_stop(t->loop);
        return 0;
    }
    t->next++;
    question.address.v4.sin_family = AF_INET;
    net_address_set_port(&question.address,
                         p->mount ? t->registration->mount_port : t->registration->nfs_port);
    return portmap_call(t->client, &question, answered, t, err);
}

static int note_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err)
{
    struct talk *t = ctx;

    (void)err;
    if (event == RPC_CLIENT_FAILED || event == RPC_CLIENT_GAVE_UP)
        snprintf(t->problem, sizeof(t->problem), "%s", text);
    return 0;
}

static int all(struct talk *t, struct err *err)
{
    struct rpc_client_setup setup = { .from = { .kind = SOURCE_PORT_PRIVILEGED },
                                      .limits = rpc_client_defaults };
    struct rpc_client_host host = { .event = note_event, .ctx = t };
    int result;

    setup.server.v4 = (struct sockaddr_in){ .sin_family = AF_INET,
                                            .sin_port = htons(PORTMAP_PORT),
                                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    setup.limits.attempts = 1;
    setup.limits.timeout = 10 * SECOND;
    t->client = rpc_client_new(t->loop, &setup, &host, err);
    if (!t->client)
        return -err->code;
    result = look(t, err);
    if (result == 0)
        result = loop_run(t->loop, err);
    rpc_client_free(t->client);
    return result;
}

/* |*began|: something may have been changed. */
static int talk(const struct registration *registration, enum portmap_what what, bool *began,
                struct err *err)
{
    struct talk t = { .registration = registration, .what = what, .loop = loop_new(err) };
    int result = t.loop ? all(&t, err) : -err->code;

    loop_free(t.loop);
    if (result == 0 && t.accepted < CALLS)
        result = err_set(err, ERR_SYSTEM, "rpcbind at 127.0.0.1:111: %s",
                         *t.problem ? t.problem : "no answer");
    *began = t.next > 0;
    return result;
}

int registration_begin(struct registration *registration, struct err *err)
{
    int result = talk(registration, PORTMAP_SET, &registration->done, err);

    if (result < 0)
        registration_end(registration, NULL);
    return result;
}

int registration_end(struct registration *registration, struct err *err)
{
    bool began;

    if (!registration->done)
        return 0;
    registration->done = false;
    return talk(registration, PORTMAP_UNSET, &began, err);
}
