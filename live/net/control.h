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
 * {"error":"..."} whatever goes wrong, and the connection stays.
 *
 * Memory: CONTROL_CONNECTIONS times the length of a line and of the answers that wait; a connection
 * is not read while one does.  A line that is too long ends its connection.
 */
#ifndef NFSDIGEST_NET_CONTROL_H
#define NFSDIGEST_NET_CONTROL_H

#include "base/json.h"
#include "net/loop.h"

enum { CONTROL_CONNECTIONS = 16, CONTROL_LINE_MAX = 8192, CONTROL_ARGUMENTS = 16 };

struct control;

struct control_request {
    struct {
        const char *name, *value;
    } arguments[CONTROL_ARGUMENTS];
    uint32_t count;
};

/* NULL: not given. */
const char *control_argument(const struct control_request *request, const char *name);

struct control_command {
    const char *name;
    const char *arguments; /* names by place: "rule [count]", where those in brackets may be left
                            * out; NULL: none */
    const char *help;
    /* Adds members to |answer|, an object.  A negative code: |err| becomes the answer.  Must not
     * free the control socket. */
    int (*run)(void *ctx, const struct control_request *request, struct json *answer,
               struct err *err);
};

/* Listens on |path|.  A socket that is there already is replaced if nobody listens on it.
 * -ERR_USAGE: somebody does, or the path is something else, or too long. */
struct control *control_new(struct loop *loop, const char *path, struct err *err);
/* Closes all connections and removes the socket, if it is still the own one.  NULL is allowed. */
void control_free(struct control *control);

/* Adds |count| commands, which must live as long as the socket; "help" is there already. */
int control_add(struct control *control, const struct control_command *commands, uint32_t count,
                void *ctx, struct err *err);

/* For a program's main, "PROGRAM ctl PATH COMMAND [ARGUMENT...]": |words| from PATH on.  Prints the
 * answer to |out|.  -ERR_USAGE: what the program says is wrong, or words are missing; -ERR_SYSTEM:
 * nobody listens, or answers within 30 s. */
int control_ctl(int count, char **words, FILE *out, struct err *err);

#endif
