/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_service.c
 *
 * Requests without any sense to ftnfsd: NFS, MOUNT, NFSACL and PORTMAP, over TCP and UDP, of
 * several users, retransmitted, with and without faults.  They go through the RPC server and the
 * dispatcher as messages; only their way through a socket is left out.  Held to:
 *
 * - each has one reply, which fits its call (service_judge.h); a retransmission of one that must
 * not be done twice has the same reply;
 * - one that failed has changed nothing, and nobody writes as root where root is squashed;
 * - the file systems stay whole (fs_check) and within their memory;
 * - others that take their changes (fs/changes.h) are the same.
 *
 * Input: the configuration (1), then steps: what (1), and what it needs. */
#include "fs_config.h"
#include "fs_same.h"
#include "net/rpc_server_parts.h"
#include "server/serve.h"
#include "service_judge.h"
#include "wire/rpc_put.h"

#include <arpa/inet.h>
#include <unistd.h>

enum { EXPORTS = 3, STEPS_MAX = 300, CHECK_EVERY = 64, ROUND_EVERY = 8, MESSAGE_MAX = 1200000 };
enum { EXPORT_MEMORY = 6 << 20, ROUNDS_MAX = 100000 };

static struct loop *loop;
static struct rpc_server *rpc;
static struct server server;
static struct datagram_ends udp_ends;
static int client = -1; /* the other end of the connection */

static struct fs *mirrors[EXPORTS];
static struct input input;
static struct maker maker;
static struct judge judge;
static uint32_t ticks, replies, xid;

/* The last call, and the first reply to it. */
static struct {
    struct buf message, reply;
    uint8_t cred;
    bool kept; /* its reply is in the cache */
} last;

static struct nfstime3 now(void *ctx)
{
    (void)ctx;
    return (struct nfstime3){ 1000 + ticks / 3, 5 };
}

/* --- the server */

static void on_reply(void *ctx, const struct rpc_call *call, struct bytes reply, int64_t at)
{
    (void)ctx, (void)at;
    require(reply.len <= rpc->limits.reply_max);
    require(call->transport == RPC_TCP || reply.len <= DATAGRAM_MAX);
    judge_reply(&judge, call, reply);
    if (!replies++) {
        last.reply.len = 0;
        require(buf_append(&last.reply, reply.data, reply.len) == 0);
    }
}

static int on_stop(void *ctx, struct err *err)
{
    (void)ctx, (void)err;
    loop_stop(loop);
    return 0;
}

static int udp_socket(struct net_address *address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    address->v4 =
        (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    require(fd >= 0 && bind(fd, &address->any, net_address_size(address)) == 0);
    require(net_address_of_socket(fd, address, NULL) == 0);
    return fd;
}

/* Once in a process.  Replies over UDP go to a socket that nobody reads. */
static void begin_process(void)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct rpc_tap tap = { NULL, on_reply, NULL };
    struct net_address any = { .v4 = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };

    limits.slow = limits.idle = 0;
    wire_init();
    loop = loop_new(NULL);
    rpc = rpc_server_new(loop, &limits, &tap, NULL);
    require(rpc && rpc_server_listen(rpc, RPC_UDP, &any, &udp_ends.local, NULL) == 0);
    require(udp_socket(&udp_ends.peer) >= 0);
}

static void begin_export(uint8_t how, const char *name, struct export_options options)
{
    struct fs_config config = fs_config_of(how & ~FS_CONFIG_LITTLE, now);
    uint32_t number = server.service.export_count;

    config.fsid = number + 1;
    if (options.read_only) /* permissions are no hindrance */
        config.root_uid = ANONYMOUS_ID;
    mirrors[number] = fs_new(&config, NULL);
    config.memory = how & FS_CONFIG_LITTLE ? FS_CONFIG_MEMORY : EXPORT_MEMORY;
    options.name = name;
    options.anonymous_uid = options.anonymous_gid = ANONYMOUS_ID;
    require(mirrors[number] &&
            service_export(&server.service, &options, fs_new(&config, NULL), NULL) == 0);
}

static uint32_t changed(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < EXPORTS; i++)
        count += fs_changes_count(server.service.exports[i].fs);
    return count;
}

static void synchronize(void)
{
    for (uint32_t i = 0; i < EXPORTS; i++) {
        const char *what = NULL;

        if (fs_changes_count(server.service.exports[i].fs))
            what = fs_mirror(server.service.exports[i].fs, mirrors[i]);
        if (what)
            failed(what, __LINE__);
    }
}

static void begin(uint8_t how)
{
    static const struct fs_caller root = { 0 };
    struct service *service = &server.service;
    struct fs_new file = { .type = NF3REG, .attributes = { .set_mode = true, .mode = 0644 } };
    struct bytes name = { (const uint8_t *)"1", 1 };
    uint8_t handle[HANDLE_LENGTH];
    uint32_t made;

    memset(&server, 0, sizeof(server));
    server.loop = loop;
    server.nfs_port = server.mount_port = 2049;
    server.portmap_port = 111;
    require(service_init(service, NULL) == 0);
    memset(service->key, 7, sizeof(service->key)); /* the same input has the same handles */
    memset(service->write_verifier, 7, sizeof(service->write_verifier));
    handle_derive(service->key, "cookie verifier", service->cookie_verifier);
    service->transfer_max = how & 2 ? 9000 : TRANSFER_MAX;
    begin_export(how, "/w", (struct export_options){ .squash = SQUASH_NONE });
    begin_export(how ^ 3, "/s", (struct export_options){ .squash = SQUASH_ROOT });
    begin_export((how & 128) | 4, "/r",
                 (struct export_options){ .squash = SQUASH_ALL, .read_only = true });
    rpc->program_count = 0; /* those of the input before */
    require(serve_begin(&server, rpc, how, NULL) == 0);
    require(fs_make(service->exports[2].fs, &root, 1, name, &file, &made) == NFS3_OK);

    maker.in = &input;
    maker.handle_count = 0;
    memcpy(maker.cookie_verifier, service->cookie_verifier, sizeof(maker.cookie_verifier));
    judge = (struct judge){ .service = service, .maker = &maker };
    for (uint32_t i = 0; i < EXPORTS; i++) {
        service_handle(service, &service->exports[i], fs_root(service->exports[i].fs), handle);
        pool_handle(&maker, (struct bytes){ handle, HANDLE_LENGTH });
    }
    synchronize();
}

/* --- what must hold at any time */

/* Nobody is root in "/s", so nothing there can become root's. */
static void check_owners(struct fs *fs)
{
    for (uint32_t object = FS_ROOT + 1; object < fs->inodes.count; object++) {
        struct fattr3 a;

        if (!fs_find(fs, object, fs_generation(fs, object)))
            continue;
        fs_attributes(fs, object, &a);
        require(a.uid != 0);
    }
}

static void check_all(void)
{
    struct replies_counts counts;
    struct err err = { 0 };

    synchronize(); /* what was late */
    for (uint32_t i = 0; i < EXPORTS; i++) {
        struct fs *fs = server.service.exports[i].fs;
        const char *what = fs_differ(fs, mirrors[i]);

        if (what || fs_check(fs, &err) < 0 || fs_check(mirrors[i], &err) < 0)
            failed(what ? what : err.text, __LINE__);
        require(fs_memory(fs) <= EXPORT_MEMORY);
    }
    check_owners(server.service.exports[1].fs);
    replies_count(server.replies, &counts);
    require(counts.entries <= REPLIES_ENTRIES && counts.bytes <= REPLIES_BYTES);
    require(server.mounts.count <= MOUNTS_MAX);
}

/* --- rounds */

static void connect_client(void)
{
    int pair[2];

    if (client >= 0)
        close(client);
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    require(rpc_server_adopt(rpc, pair[0], NULL) == 0);
    client = pair[1];
}

/* Sends what waits, and lets answers be late that are due. */
static void run_rounds(void)
{
    static struct timer stop = { .due = on_stop };
    static uint8_t sink[1 << 18];
    uint32_t rounds = 0;

    do {
        require(loop_set(loop, &stop, loop_clock(), NULL) == 0);
        require(loop_run(loop, NULL) == 0);
        require(++rounds < ROUNDS_MAX);
    } while (recv(client, sink, sizeof(sink), MSG_DONTWAIT) > 0);
}

/* --- calls */

static struct rpc_auth credential_of(uint8_t byte)
{
    static const uint32_t users[][2] = { { 0, 0 }, { 7, 7 }, { 8, 8 }, { 8, 7 }, { 9, 0 } };
    struct rpc_auth auth = { .flavor = RPC_AUTH_SYS, .valid = true };

    if ((byte & 15) == 0)
        return (struct rpc_auth){ .flavor = RPC_AUTH_NONE, .valid = true };
    if ((byte & 15) == 1) /* a body that is none of AUTH_SYS, or another flavor */
        return (
            struct rpc_auth){ .flavor = byte & 16 ? RPC_AUTH_SYS : 1 + byte / 32,
                              .body = { (const uint8_t *)"no credential", 8 + byte / 32 * 4 % 8 } };
    auth.uid = users[byte % 5][0];
    auth.gid = users[byte % 5][1];
    auth.gid_count = byte >> 4 & 1 ? 3 : 0;
    auth.gids[0] = 7;
    auth.gids[1] = 0;
    auth.gids[2] = 9;
    return auth;
}

static bool is_udp(uint8_t cred)
{
    return cred & 128;
}

/* Gives the message to the server as its record or datagram.  Returns false if it is not a call. */
static bool give(struct bytes message, uint8_t cred)
{
    uint8_t *exact = malloc(message.len ? message.len : 1);
    struct rpc_call call = { .ends = udp_ends, .transport = is_udp(cred) ? RPC_UDP : RPC_TCP };
    struct err err = { 0 };
    int result;

    require(exact != NULL);
    if (message.len)
        memcpy(exact, message.data, message.len);
    if (!rpc->connections)
        connect_client();
    if (call.transport == RPC_TCP) {
        call.connection = rpc->connections->number;
        call.parts.connection = rpc->connections;
        call.ends.peer.v4.sin_port = htons(cred & 64 ? 700 : 701);
    } else {
        call.parts.socket = rpc->sockets[0].socket;
    }
    replies = 0;
    result = rpc_server_take(rpc, &call, (struct bytes){ exact, message.len }, &err);
    if (result < 0)
        failed(err.text, __LINE__);
    free(exact);
    return result == 0;
}

/* A call that was given; with faults, less is certain. */
static void check_outcome(bool taken)
{
    require(fs_changes_count(server.service.exports[2].fs) == 0); /* read-only, without atime */
    if (!judge.faults) {
        require(replies == taken);
        require((judge.status_known && !judge.status) || changed() == 0);
    }
    synchronize();
}

/* Whether its reply is kept: only those of procedures that change something are. */
static bool is_kept(const struct buf *message)
{
    struct rpc_header h;
    const struct procedure *p;

    if (rpc_parse(message->data, (uint32_t)message->len, (uint32_t)message->len, &h) != RPC_OK)
        return false;
    p = procedure_find(h.program, h.version, h.procedure);
    return p && p->action >= ACTION_WRITE && h.credential.valid && h.credential.flavor <= 1 &&
           (h.program == NFS3_PROGRAM || (h.program == NFSACL_PROGRAM && h.version == 3));
}

static void send_last(void)
{
    struct bytes message = { last.message.data, (uint32_t)last.message.len };

    judge.status_known = false;
    check_outcome(give(message, last.cred));
    last.kept = replies == 1 && !judge.faults && is_kept(&last.message);
}

static void send_again(void)
{
    struct buf before = last.reply;

    if (!last.message.len)
        return;
    if (!last.kept) {
        send_last();
        return;
    }
    last.reply = (struct buf){ 0 };
    send_last();
    require(replies == 1 && before.len == last.reply.len &&
            !memcmp(before.data, last.reply.data, before.len));
    buf_free(&before);
}

/* Cuts the message, appends to it, or changes a byte. */
static void harm(struct buf *message)
{
    uint8_t how = take(&input);
    uint32_t amount;

    if (how < 224 || !message->len)
        return;
    amount = (uint32_t)take_number(&input, 2);
    if (how < 234) {
        message->len -= amount % 64 % (message->len + 1);
    } else if (how < 240) {
        for (uint32_t i = 0; i < (amount & 15); i++)
            require(buf_append(message, &how, 1) == 0);
    } else {
        message->data[amount % message->len] = take(&input);
    }
}

static void call(uint32_t program, uint32_t version, uint32_t procedure)
{
    struct rpc_header h = { .xid = ++xid,
                            .direction = RPC_CALL,
                            .rpc_version = 2,
                            .program = program,
                            .version = version,
                            .procedure = procedure,
                            .verifier = { .valid = true } };
    const struct procedure *p = procedure_of(&h);
    struct xdr_put to = xdr_put_to(&last.message, MESSAGE_MAX);

    last.cred = take(&input);
    h.credential = credential_of(last.cred);
    last.message.len = 0;
    rpc_put_header(&to, &h);
    maker.seconds = now(NULL).seconds;
    if (p)
        make_arguments(&maker, &to, p->arguments);
    harm(&last.message);
    send_last();
}

static void call_mount(void)
{
    uint8_t which = take(&input);

    call(MOUNT_PROGRAM, which >> 4 ? 1 + (which >> 4) % 3 : 4, which % 8);
}

static void call_any(void)
{
    static const uint32_t programs[] = { PORTMAP_PROGRAM, NFS3_PROGRAM, MOUNT_PROGRAM,
                                         NFSACL_PROGRAM,  100021,       0 };
    uint8_t program = take(&input);

    call(programs[program % 6], take(&input) % 6, take(&input) % 32);
}

static void send_bytes(void)
{
    uint32_t len = take(&input);

    last.message.len = 0;
    for (uint32_t i = 0; i < len; i++) {
        uint8_t byte = take(&input);

        require(buf_append(&last.message, &byte, 1) == 0);
    }
    last.cred = (uint8_t)(len << 6);
    send_last();
    last.kept = false; /* XIDs of others, perhaps */
    last.message.len = 0;
}

/* --- faults */

static void fault(void)
{
    enum { MALFORMED = 1, STATUSES = 2, HANDLES = 4 };
    static const struct {
        const char *rule;
        int may;
    } rules[] = {
        { "*:delay=1us:every=3", 0 },
        { "WRITE:delay=3us", 0 },
        { "*:ignore:every=3", 0 },
        { "*:drop:every=3", 0 },
        { "*:close:every=4", 0 },
        { "*:twice:every=2", 0 },
        { "*:forget", 0 },
        { "*:rpc-status=SYSTEM_ERR:every=3", 0 },
        { "NFS.*:rpc-status=PROG_UNAVAIL:every=3", 0 },
        { "NFS.*:rpc-status=AUTH_ERROR:every=5", 0 },
        { "*:malformed:every=2", MALFORMED },
        { "*:status=13:every=3", STATUSES },
        { "*:status=0:every=2", STATUSES },
        { "NFS.*:status=77777:every=2", STATUSES },
        { "READ:short:eof:wrong-bytes", 0 },
        { "WRITE:short:committed=UNSTABLE", 0 },
        { "READDIR:eof:skip-entry:cookie-verifier", 0 },
        { "READDIRPLUS:twice-entry:no-handle:handle", HANDLES },
        { "COMMIT:lose-unstable", 0 },
        { "WRITE:lose-unstable:verifier:every=4", 0 },
        { "NFS.*:no-attributes:no-before:every=2", 0 },
        { "NFS.*:before-current:keep-times:size:link-count", 0 },
        { "*:handle", HANDLES },
        { "NFS.*:no-handle:fileid:fsid:mode-bits=7777:no-atime", 0 },
        { "NFS.*:shift-times=-2000s", 0 },
        { "NFS.*:shift-times=100000000s", 0 },
        { "NFS.*:path=/w/*:status=NFS3ERR_IO", STATUSES },
        { "*:client=127.0.0.0/8:uid=7:delay=1us", 0 },
    };
    uint8_t which = take(&input) % (sizeof(rules) / sizeof(rules[0]) + 2);
    struct err err = { 0 };

    judge.faults = true;
    if (which >= sizeof(rules) / sizeof(rules[0])) {
        faults_clear(server.faults);
        return;
    }
    judge.malformed |= rules[which].may & MALFORMED;
    judge.statuses |= rules[which].may & STATUSES;
    judge.handles |= rules[which].may & HANDLES;
    if (faults_count(server.faults) < 8 && faults_add(server.faults, rules[which].rule, NULL, &err))
        failed(err.text, __LINE__);
}

static void control(void)
{
    uint8_t what = take(&input);

    switch (what % 8) {
    case 0 ... 2:
        if (input.left && *input.data) /* zeros are what comes after the input */
            fault();
        break;
    case 3:
        check_all();
        break;
    case 4:
        fs_lose_unstable(server.service.exports[what / 8 % EXPORTS].fs);
        synchronize();
        break;
    case 5:
        if (client >= 0) { /* the client goes */
            close(client);
            connect_client();
        }
        break;
    default:
        last.kept = false; /* the same call with another number */
        if (last.message.len >= 4)
            store_be32(last.message.data, ++xid);
        send_again();
    }
}

static void step(void)
{
    uint8_t what = take(&input);

    ticks++;
    switch (what % 16) {
    case 10:
        call(NFSACL_PROGRAM, 3, take(&input) % 5);
        break;
    case 11:
        call_mount();
        break;
    case 12:
        call_any();
        break;
    case 13:
        send_again();
        break;
    case 14:
        if (what & 128)
            send_bytes();
        else
            control();
        break;
    case 15:
        control();
        break;
    default:
        call(NFS3_PROGRAM, NFS3_VERSION, take(&input) % 23);
    }
}

static void end(void)
{
    uint32_t rounds = 0;

    while (server.late && !(ticks & 1)) { /* else they are lost with the server */
        run_rounds();
        require(++rounds < ROUNDS_MAX);
    }
    check_all();
    serve_end(&server);
    while (rpc->connections)
        rpc_connection_close(rpc->connections, NULL);
    if (client >= 0)
        close(client);
    client = -1;
    require(!rpc->loose && !rpc->kept_count && !rpc->kept_bytes);
    for (uint32_t i = 0; i < EXPORTS; i++)
        fs_free(mirrors[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 14)
        return 0;
    if (!rpc)
        begin_process();
    ticks = 0;
    xid = 0x01000000;
    last.kept = false;
    last.message.len = 0;
    begin(data[0]);
    input = (struct input){ data + 1, size - 1 };
    while (input.left && ticks < STEPS_MAX) {
        step();
        if (ticks % ROUND_EVERY == 0 && client >= 0)
            run_rounds();
        if (ticks % CHECK_EVERY == 0)
            check_all();
    }
    end();
    return 0;
}
