/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_nfs.c
 *
 *     bench_nfs ADDRESS NFS-PORT MOUNT-PORT EXPORT OPERATION OUTSTANDING SECONDS [FILES]
 *
 * One connection with so many calls outstanding, all of one kind, against any NFSv3 server:
 * getattr, lookup, access, read (4 KiB), write (4 KiB), create (and remove), list (READDIRPLUS from
 * its beginning).  Makes a directory of FILES files (100) first.  Prints calls a second, and
 * microseconds from a call to its reply: median and 99th percentile.  For part_live.py, which
 * measures the server's CPU meanwhile.
 */
#include "net/loop.h"
#include "wire/mount_structs.h"
#include "wire/nfs3_structs.h"
#include "wire/rpc_put.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUTSTANDING_MAX = 1024, HANDLE_MAX = 64, BLOCK = 4096, MESSAGE_MAX = 2 << 20 };
enum { PROC_GETATTR = 1, PROC_LOOKUP = 3, PROC_ACCESS = 4, PROC_READ = 6, PROC_WRITE = 7 };
enum { PROC_CREATE = 8, PROC_MKDIR = 9, PROC_REMOVE = 12, PROC_READDIRPLUS = 17 };

static void die(const char *what)
{
    perror(what);
    exit(4);
}

struct client {
    int fd;
    uint32_t xid;
    struct buf out, in;
    size_t in_done;
};

struct fh {
    uint8_t data[HANDLE_MAX];
    uint32_t len;
};

/* What every call is about: the directory, a file in it, how many it has. */
static struct fh directory, file;
static uint8_t block[BLOCK];
static uint32_t file_count;

static struct bytes of(const struct fh *fh)
{
    return (struct bytes){ fh->data, fh->len };
}

static struct bytes text(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

static int dial(const char *address, const char *port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (inet_pton(AF_INET, address, &to.sin_addr) != 1 || fd < 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* --- calls */

static void put_call(struct client *c, uint32_t program, uint32_t procedure,
                     const struct bound *bound, const void *args)
{
    struct xdr_put put = xdr_put_to(&c->out, MESSAGE_MAX);
    size_t begun = rpc_put_record_begin(&put);
    struct rpc_header header = { .xid = ++c->xid,
                                 .direction = RPC_CALL,
                                 .rpc_version = 2,
                                 .program = program,
                                 .version = 3,
                                 .procedure = procedure,
                                 .credential = { .flavor = RPC_AUTH_SYS, .valid = true } };

    rpc_put_header(&put, &header);
    if (bind_write(bound, &put, args) < 0)
        die("a call");
    rpc_put_record_end(&put, begun);
}

static void put_nfs(struct client *c, uint32_t procedure, const void *args)
{
    put_call(c, NFS3_PROGRAM, procedure, nfs3_binding(procedure)->arguments, args);
}

static void flush(struct client *c)
{
    for (size_t sent = 0; sent < c->out.len;) {
        ssize_t n = send(c->fd, c->out.data + sent, c->out.len - sent, MSG_NOSIGNAL);

        if (n < 0)
            die("send");
        sent += (size_t)n;
    }
    c->out.len = 0;
}

/* The next reply's results; waits for it if |wait|.  false: none is there. */
static bool next_reply(struct client *c, bool wait, uint32_t *xid, struct bytes *results)
{
    for (;;) {
        size_t have = c->in.len - c->in_done;
        const uint8_t *at = c->in.data + c->in_done;
        uint32_t len = have >= 4 ? load_be32(at) & ~RPC_LAST_FRAGMENT : 0;
        struct rpc_header header;
        ssize_t n;

        if (have >= 4 && have - 4 >= len) {
            c->in_done += 4 + len;
            if (rpc_parse(at + 4, len, len, &header) != RPC_OK || header.status != RPC_SUCCESS) {
                fprintf(stderr, "bench_nfs: a call was refused\n");
                exit(3);
            }
            *xid = header.xid;
            *results = (struct bytes){ at + 4 + header.body, header.body_len };
            return true;
        }
        if (!wait)
            return false;
        memmove(c->in.data, at, have);
        c->in.len = have;
        c->in_done = 0;
        if (buf_reserve(&c->in, MESSAGE_MAX) < 0)
            die("memory");
        n = recv(c->fd, c->in.data + c->in.len, c->in.cap - c->in.len, 0);
        if (n <= 0)
            die("recv");
        c->in.len += (size_t)n;
    }
}

static void call_nfs(struct client *c, uint32_t procedure, const void *args, void *res)
{
    uint32_t xid;
    struct bytes results;

    put_nfs(c, procedure, args);
    flush(c);
    next_reply(c, true, &xid, &results);
    if (bind_read(nfs3_binding(procedure)->result, results, res) != WALK_OK)
        die("a reply");
}

static void keep(struct fh *to, struct bytes handle)
{
    memcpy(to->data, handle.data, handle.len);
    to->len = handle.len;
}

/* --- what is there */

static void mount(const char *address, const char *port, const char *export, struct fh *root)
{
    struct client c = { .fd = dial(address, port) };
    struct MNT3args args = { text(export) };
    struct auth_flavor flavors[8];
    struct mountres3 res = { .auth_flavors = { flavors, 0, 8 } };
    struct bytes results;
    uint32_t xid;

    put_call(&c, MOUNT_PROGRAM, 1, mount3_binding(1)->arguments, &args);
    flush(&c);
    next_reply(&c, true, &xid, &results);
    if (bind_read(mount3_binding(1)->result, results, &res) != WALK_OK || res.fhs_status) {
        fprintf(stderr, "bench_nfs: %s cannot be mounted: %u\n", export, res.fhs_status);
        exit(3);
    }
    keep(root, res.fhandle);
    close(c.fd);
    buf_free(&c.in);
    buf_free(&c.out);
}

static struct CREATE3args create_args(const char *what)
{
    return (struct CREATE3args){ .where = { of(&directory), text(what) },
                                 .how = { .obj_attributes = { .set_mode = true, .mode = 0644 } } };
}

static void make_files(struct client *c, const struct fh *root, uint32_t files)
{
    char text_of[32];
    struct MKDIR3args dir = { .attributes = { .set_mode = true, .mode = 0755 } };
    struct WRITE3args write = { .count = BLOCK, .stable = FILE_SYNC, .data = { block, BLOCK } };
    struct CREATE3res res;
    struct WRITE3res written;

    file_count = files;
    snprintf(text_of, sizeof(text_of), "bench-%d", (int)getpid());
    dir.where = (struct diropargs3){ of(root), text(text_of) };
    call_nfs(c, PROC_MKDIR, &dir, &res);
    if (res.status || !res.obj_follows)
        die("MKDIR");
    keep(&directory, res.obj);
    for (uint32_t i = files; i-- > 0;) {
        struct CREATE3args args;

        snprintf(text_of, sizeof(text_of), "f%u", i);
        args = create_args(text_of);
        call_nfs(c, PROC_CREATE, &args, &res);
        if (res.status || !res.obj_follows)
            die("CREATE");
    }
    keep(&file, res.obj);
    write.file = of(&file);
    call_nfs(c, PROC_WRITE, &write, &written);
}

/* --- the load */

static void put_getattr(struct client *c, uint64_t n)
{
    (void)n;
    put_nfs(c, PROC_GETATTR, &(struct GETATTR3args){ of(&file) });
}

/* A name anywhere in the directory, so that what is near in the server's memory changes. */
static void put_lookup(struct client *c, uint64_t n)
{
    char what[32];

    snprintf(what, sizeof(what), "f%u", (unsigned)(n * UINT64_C(2654435761) % file_count));
    put_nfs(c, PROC_LOOKUP, &(struct LOOKUP3args){ { of(&directory), text(what) } });
}

static void put_access(struct client *c, uint64_t n)
{
    (void)n;
    put_nfs(c, PROC_ACCESS, &(struct ACCESS3args){ of(&file), 0x3f });
}

static void put_read(struct client *c, uint64_t n)
{
    (void)n;
    put_nfs(c, PROC_READ, &(struct READ3args){ of(&file), 0, BLOCK });
}

static void put_write(struct client *c, uint64_t n)
{
    (void)n;
    put_nfs(c, PROC_WRITE, &(struct WRITE3args){ of(&file), 0, BLOCK, UNSTABLE, { block, BLOCK } });
}

/* A name is removed long after it was made: in between are more than OUTSTANDING_MAX others. */
static void put_create(struct client *c, uint64_t n)
{
    char what[32];
    struct CREATE3args args;

    snprintf(what, sizeof(what), "c%u", (unsigned)(n / 2 % (4 * OUTSTANDING_MAX)));
    if (n / (8 * OUTSTANDING_MAX) % 2) {
        put_nfs(c, PROC_REMOVE, &(struct REMOVE3args){ { of(&directory), text(what) } });
        return;
    }
    args = create_args(what);
    put_nfs(c, PROC_CREATE, &args);
}

static void put_list(struct client *c, uint64_t n)
{
    (void)n;
    put_nfs(
        c, PROC_READDIRPLUS,
        &(struct READDIRPLUS3args){ .dir = of(&directory), .dircount = 8192, .maxcount = 32768 });
}

static const struct operation {
    const char *name;
    void (*put)(struct client *c, uint64_t n);
} operations[] = {
    { "getattr", put_getattr }, { "lookup", put_lookup }, { "access", put_access },
    { "read", put_read },       { "write", put_write },   { "create", put_create },
    { "list", put_list },       { NULL, NULL },
};

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void load(struct client *c, const struct operation *o, uint32_t outstanding, double seconds)
{
    enum { SAMPLES = 1 << 20 };
    static int64_t sent[4096]; /* by XID */
    uint32_t *samples = calloc(SAMPLES, sizeof(*samples)), sample_count = 0, xid;
    int64_t begun = loop_clock(), now = begun, end = begun + (int64_t)(seconds * 1e9);
    uint64_t calls = 0, done = 0;
    struct bytes results;

    if (!samples)
        die("memory");
    while (now < end) {
        now = loop_clock();
        while (calls - done < outstanding) {
            o->put(c, calls++);
            sent[c->xid % 4096] = now;
        }
        flush(c);
        for (bool wait = true; next_reply(c, wait, &xid, &results); wait = false) {
            if (wait)
                now = loop_clock();
            if (sample_count < SAMPLES)
                samples[sample_count++] = (uint32_t)((now - sent[xid % 4096]) / 10);
            done++;
        }
    }
    qsort(samples, sample_count, sizeof(*samples), by_value);
    printf("%.0f %.2f %.2f %llu\n", (double)done / ((double)(now - begun) / 1e9),
           samples[sample_count / 2] / 100.0, samples[sample_count / 100 * 99] / 100.0,
           (unsigned long long)done);
    free(samples);
}

int main(int argc, char **argv)
{
    struct client c = { 0 };
    const struct operation *o = operations;
    struct fh root;
    uint32_t outstanding;

    if (argc < 8)
        return 2;
    wire_init();
    if (nfs3_structs_init(NULL) < 0 || mount_structs_init(NULL) < 0)
        die("structs");
    outstanding = (uint32_t)atoi(argv[6]);
    while (o->name && strcmp(o->name, argv[5]) != 0)
        o++;
    if (!o->name || outstanding < 1 || outstanding > OUTSTANDING_MAX)
        return 2;
    mount(argv[1], argv[3], argv[4], &root);
    c.fd = dial(argv[1], argv[2]);
    make_files(&c, &root, argc > 8 ? (uint32_t)atoi(argv[8]) : 100);
    printf("ready\n");
    fflush(stdout);
    getchar(); /* until the CPU time has been read */
    load(&c, o, outstanding, atof(argv[7]));
    close(c.fd);
    buf_free(&c.in);
    buf_free(&c.out);
    return 0;
}
