/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/target.c
 *
 * Opening a target: one question after the other (PORTMAP, MOUNT, FSINFO), each over a client of
 * its own, with the loop until it is answered.
 */
#include "player/target.h"
#include "net/bound_call.h"
#include "net/mount_client.h"
#include "net/portmap_client.h"
#include "wire/mount_structs.h"
#include "wire/nfs3_structs.h"

#include <stdio.h>
#include <string.h>

enum { ADDRESSES = 8, ATTEMPTS = 3, MNT_ACCES = 13 /* MNT3ERR_ACCES, RFC 1813 s5.1.5 */ };

static const char machine[] = "nfsreplay";

struct question {
    struct loop *loop;
    const struct target_setup *setup;
    struct target *to;
    bool answered, no_connection;
    char problem[BOUND_CALL_TEXT];    /* "": none */
    char connection[BOUND_CALL_TEXT]; /* why there is none */
    uint32_t status;
    uint16_t port; /* that PORTMAP said */
    struct bound_call fsinfo;
};

static int end(struct question *q, const char *problem)
{
    q->answered = true;
    snprintf(q->problem, sizeof(q->problem), "%s", problem ? problem : "");
    loop_stop(q->loop);
    return 0;
}

/* --- the clients */

static int on_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err)
{
    struct question *q = ctx;

    (void)err;
    q->no_connection |= event == RPC_CLIENT_GAVE_UP;
    /* why it gave up is the last failure's reason; but it may give up at once, without one */
    if (event == RPC_CLIENT_FAILED || event == RPC_CLIENT_LOST || event == RPC_CLIENT_NONSENSE ||
        (event == RPC_CLIENT_GAVE_UP && !q->connection[0]))
        snprintf(q->connection, sizeof(q->connection), "%s", text);
    return 0;
}

static void on_message(void *ctx, const struct rpc_client_message *message)
{
    const struct question *q = ctx;

    q->setup->message(q->setup->message_ctx, message);
}

static struct rpc_client *open_client(struct question *q, const struct net_address *at,
                                      const struct source_port *from, struct err *err)
{
    struct rpc_client_setup setup = {
        .server = *at, .udp = q->setup->udp, .from = *from, .limits = rpc_client_defaults
    };
    struct rpc_client_host host = { .event = on_event,
                                    .ctx = q,
                                    .message = q->setup->message ? on_message : NULL };

    q->answered = q->no_connection = false;
    q->status = 0;
    q->problem[0] = q->connection[0] = 0;
    setup.limits.timeout = setup.limits.connect = q->setup->timeout;
    setup.limits.attempts = ATTEMPTS;
    return rpc_client_new(q->loop, &setup, &host, err);
}

/* Runs the loop until the call that was started is answered, and frees its client. */
static int wait_for(struct question *q, struct rpc_client *client, int started,
                    const struct net_address *at, const char *what, struct err *err)
{
    char text[NET_ADDRESS_TEXT];
    int result = started;

    if (result == 0)
        result = loop_run(q->loop, err);
    if (result == 0 && !q->answered) {
        rpc_client_free(client); /* ends the call */
        return err_set(err, ERR_SYSTEM, "interrupted");
    }
    rpc_client_free(client);
    if (result < 0)
        return result;
    if (!q->problem[0])
        return 0;
    net_address_text(at, text);
    if (q->no_connection)
        return err_set(err, ERR_SYSTEM, "%s at %s: %s", what, text, q->connection);
    return err_set(err, ERR_INPUT, "%s at %s: %s", what, text, q->problem);
}

/* --- PORTMAP */

static int on_port(void *ctx, const struct portmap_reply *answer, struct err *err)
{
    struct question *q = ctx;

    (void)err;
    q->port = answer->problem ? 0 : net_address_port(&answer->address);
    return end(q, answer->problem);
}

/* Sets the port of |program| in |at|. */
static int ask_port(struct question *q, uint32_t program, struct net_address *at, const char *what,
                    struct err *err)
{
    struct source_port any = { .kind = SOURCE_PORT_ANY };
    struct portmap_question question = { .version = at->family == AF_INET6 ? 4 : 2,
                                         .what = PORTMAP_GET,
                                         .program = program,
                                         .program_version = 3,
                                         .udp = q->setup->udp,
                                         .address = *at };
    struct net_address portmap = *at;
    struct rpc_client *client;
    char asked[64];
    int result;

    net_address_set_port(&portmap, PORTMAP_PORT);
    client = open_client(q, &portmap, &any, err);
    if (!client)
        return -err->code;
    snprintf(asked, sizeof(asked), "the port of %s: portmap", what);
    result = portmap_call(client, &question, on_port, q, err);
    result = wait_for(q, client, result, &portmap, asked, err);
    if (result == 0)
        net_address_set_port(at, q->port);
    return result;
}

/* Where NFSACL answers, if the portmapper knows that better than the address of NFS, at which most
 * servers have both. */
static int ask_acl_port(struct question *q, struct err *err)
{
    struct err why = { 0 };
    int result = ask_port(q, NFSACL_PROGRAM, &q->to->nfsacl, "NFSACL", &why);

    if (result == 0 || result == -ERR_INPUT) /* it is not registered */
        return 0;
    *err = why;
    return result;
}

/* --- MOUNT */

static int on_mounted(void *ctx, const struct mount_answer *answer, struct err *err)
{
    struct question *q = ctx;

    (void)err;
    q->status = answer->status;
    if (!answer->problem && (!answer->handle.len || answer->handle.len > sizeof(q->to->root)))
        return end(q, "the server's root handle has a length that RFC 1813 does not allow");
    if (!answer->problem) {
        q->to->root_len = answer->handle.len;
        memcpy(q->to->root, answer->handle.data, answer->handle.len);
    }
    return end(q, answer->problem);
}

static int mount_it(struct question *q, const struct net_address *at, struct err *err)
{
    const char *path = q->to->address.path;
    struct mount_question question = { .version = 3,
                                       .procedure = MOUNT_MNT,
                                       .path = { (const uint8_t *)path, (uint32_t)strlen(path) },
                                       .credential = &q->to->credential };
    struct rpc_client *client = open_client(q, at, &q->to->from, err);
    int result;

    if (!client)
        return -err->code;
    result = mount_call(client, &question, on_mounted, q, err);
    result = wait_for(q, client, result, at, "MOUNT", err);
    if (result < 0 && (q->status == MNT_ACCES || q->status == NFS3ERR_PERM))
        return err_set(err, ERR_INPUT, "%s: the server does not let this machine mount it%s", path,
                       q->setup->ports == SOURCE_PORT_PRIVILEGED
                           ? ""
                           : ", or wants a privileged port (--privileged, as root)");
    if (result < 0 && (q->status == NFS3ERR_NOENT || q->status == NFS3ERR_NOTDIR))
        return err_set(err, ERR_INPUT, "%s: the server has no such export", path);
    return result;
}

/* --- FSINFO */

static int on_fsinfo(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct question *q =
        (struct question *)(void *)((char *)call - offsetof(struct question, fsinfo));
    struct FSINFO3res res;
    char text[BOUND_CALL_TEXT];

    (void)err;
    if (answer->problem) {
        const struct rpc_header *h = answer->rpc->header;

        if (answer->rpc->outcome == RPC_ANSWERED && h->status == RPC_AUTH_ERROR)
            q->status = NFS3ERR_PERM;
        return end(q, answer->problem);
    }
    bind_read(nfs3_binding(call->procedure)->result, answer->body, &res);
    q->status = res.status;
    if (res.status) {
        bound_call_status(call, res.status, text);
        return end(q, text);
    }
    q->to->rtmax = res.rtmax;
    q->to->wtmax = res.wtmax;
    q->to->dtpref = res.dtpref;
    q->to->maxfilesize = res.maxfilesize;
    q->to->time_delta = (int64_t)res.time_delta.seconds * 1000000000 + res.time_delta.nseconds;
    return end(q, res.wtmax && res.rtmax ? NULL : "FSINFO: its transfer sizes are 0");
}

static int ask_fsinfo(struct question *q, struct err *err)
{
    enum { FSINFO = 19 };
    struct FSINFO3args args = { { q->to->root, q->to->root_len } };
    struct wire_binding binding;
    struct rpc_client *client;
    int result;

    if (nfs3_structs_init(err) < 0)
        return -err->code;
    binding = (struct wire_binding){ .arguments = nfs3_binding(FSINFO)->arguments,
                                     .result = nfs3_binding(FSINFO)->result };
    q->fsinfo = (struct bound_call){ .done = on_fsinfo,
                                     .program = NFS3_PROGRAM,
                                     .version = NFS3_VERSION,
                                     .procedure = FSINFO,
                                     .credential = &q->to->credential };
    client = open_client(q, &q->to->nfs, &q->to->from, err);
    if (!client)
        return -err->code;
    result = bound_call(client, &q->fsinfo, &binding, &args, err);
    result = wait_for(q, client, result, &q->to->nfs, "NFS", err);
    if (result < 0 && (q->status == NFS3ERR_PERM || q->status == NFS3ERR_ACCES))
        return err_set(err, ERR_INPUT, "%s: the server refuses NFS requests of this machine%s",
                       q->to->address.path,
                       q->setup->ports == SOURCE_PORT_PRIVILEGED
                           ? ""
                           : ", perhaps because they do not come from a privileged port "
                             "(--privileged, as root)");
    return result;
}

/* --- all of it */

static int open_at(struct question *q, const struct net_address *host, struct err *err)
{
    const struct nfs_address *address = &q->to->address;
    struct net_address nfs = *host, mount = *host;
    int result = 0;

    net_address_set_port(&nfs, address->nfs_port);
    net_address_set_port(&mount, address->mount_port);
    if (!address->mount_port)
        result = ask_port(q, MOUNT_PROGRAM, &mount, "MOUNT", err);
    if (result == 0 && !address->nfs_port)
        result = ask_port(q, NFS3_PROGRAM, &nfs, "NFS", err);
    q->to->nfs = q->to->nfsacl = nfs;
    q->to->mount = mount;
    if (result == 0 && !address->nfs_port)
        result = ask_acl_port(q, err);
    if (result == 0)
        result = mount_it(q, &mount, err);
    return result == 0 ? ask_fsinfo(q, err) : result;
}

int target_open(struct loop *loop, const struct target_setup *setup, struct target *to,
                struct err *err)
{
    struct question q = { .loop = loop, .setup = setup, .to = to };
    struct net_address found[ADDRESSES];
    struct net_address_name name = { .port = 0 };
    const char *name_of_machine = setup->machine ? setup->machine : machine;
    uint32_t server = to->server;
    int count, result;

    memset(to, 0, sizeof(*to));
    to->server = server;
    to->udp = setup->udp;
    to->from.kind = setup->ports;
    to->credential = (struct rpc_auth){
        .flavor = RPC_AUTH_SYS,
        .valid = true,
        .machine = { (const uint8_t *)name_of_machine, (uint32_t)strlen(name_of_machine) },
    };
    if (nfs_address_parse(setup->text, &to->address, err) < 0)
        return -err->code;
    memcpy(name.host, to->address.host, sizeof(name.host));
    count = net_address_resolve(&name, false, found, ADDRESSES, err);
    if (count < 0)
        return count;
    result = err_set(err, ERR_SYSTEM, "%s has no address", name.host);
    for (int i = 0; i < count && result < 0; i++) {
        q.no_connection = false;
        result = open_at(&q, &found[i], err);
        if (result < 0 && !q.no_connection)
            break;
    }
    return result < 0 ? err_prefix(err, "%s", to->address.host) : 0;
}
