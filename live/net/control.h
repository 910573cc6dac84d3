/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/control.h
 *
 * A control socket (--control PATH): a Unix socket of mode 0600 that takes one command a line, and
 * answers each with one JSON object on one line.  A command comes as words, or as a JSON object:
 *
 *     fault-add READ:delay=1s
 *     {"command": "fault-add", "rule": "READ:delay=1s"}
 *     {"command": "fault-add", "1": "READ:delay=1s"}
 *
 * mean the same where the command's arguments are "rule".  Answers are {"ok":true,...}, or
 * {"error":"..."} for every error.  The connection stays open.
 *
 * Memory: CONTROL_CONNECTIONS times the length of a line and of the answers that wait; a connection
 * is not read while an answer waits.  A line that is too long ends its connection.
 */
#ifndef NFSDIGEST_NET_CONTROL_H
#define NFSDIGEST_NET_CONTROL_H

#include "base/json.h"
#include "net/loop.h"

enum {
    CONTROL_CONNECTIONS = 16,
    CONTROL_LINE_MAX = 8192,
    CONTROL_ARGUMENTS = 16,
    CONTROL_PATIENCE = 30, /* s */
};

struct control;

struct control_request {
    struct {
        const char *name, *value;
    } arguments[CONTROL_ARGUMENTS];
    uint32_t count;
};

/* Returns the value of an argument, or NULL if it was not given. */
const char *control_argument(const struct control_request *request, const char *name);

struct control_command {
    const char *name;
    const char *arguments; /* "rule [count]": names in order, [optional]; NULL: none */
    const char *help;
    /* Adds members to |answer|, an object.  A negative code: |err| becomes the answer.  Must not
     * free the control socket. */
    int (*run)(void *ctx, const struct control_request *request, struct json *answer,
               struct err *err);
};

/* Listens on |path|.  An existing socket is replaced if no process listens on it. -ERR_USAGE: a
 * process listens, the path is not a socket, or it is too long. */
struct control *control_new(struct loop *loop, const char *path, struct err *err);
/* Closes all connections and removes the socket, if it is still the own one.  NULL is allowed. */
void control_free(struct control *control);

/* Adds |count| commands, which must live as long as the socket; "help" is there already. */
int control_add(struct control *control, const struct control_command *commands, uint32_t count,
                void *ctx, struct err *err);

/* For a program's main, "PROGRAM ctl PATH COMMAND [ARGUMENT...]".  |words| begin at PATH.  Prints
 * the answer to |out|.  -ERR_USAGE: the program answers with an error, or words are missing;
 * -ERR_SYSTEM: no process listens, or there is no answer within CONTROL_PATIENCE. */
int control_ctl(int count, char **words, FILE *out, struct err *err);

#endif
