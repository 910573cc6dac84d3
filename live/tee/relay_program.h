/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/relay_program.h
 *
 * Shared by the files of the command "nfstee relay": cmd_relay.c begins and ends it, and
 * relay_successor.c hands its sockets over.
 */
#ifndef NFSDIGEST_TEE_RELAY_PROGRAM_H
#define NFSDIGEST_TEE_RELAY_PROGRAM_H

#include "relay/hand_over.h"
#include "tee/find_server.h"
#include "tee/portmap_answers.h"
#include "tee/relay_listen.h"
#include "tee/relay_options.h"
#include "tee/tell.h"

struct relay_program {
    struct relay_options options;
    struct told told;
    struct control *control;
    struct metrics *metrics;
    struct portmap_answers *portmap;
    struct server_place server;
    struct portmap_told ports; /* where clients connect */
    struct timer end;
    struct hand_over *hand_over;
    struct relay_taken taken;
    int predecessor; /* the connection to it; -1: none */
    int64_t drained; /* when connections end after a hand-over */
    struct timer drain, again;
    bool ports_lent; /* told.ports is not the table of --ports, which another process has */
    bool complained; /* about what could not be taken back */
};

/* cmd_relay.c: what the options ask for, unless it is there. */
int relay_program_control(struct relay_program *p, struct err *err);
int relay_program_metrics(struct relay_program *p, struct err *err);
int relay_program_portmap(struct relay_program *p, struct err *err);

/* relay_successor.c: lets a successor take over by --upgrade. */
int relay_successor_await(struct relay_program *p, struct err *err);
void relay_successor_end(struct relay_program *p);

#endif
