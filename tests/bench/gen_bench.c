/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/gen_bench.c
 *
 * Writes a large capture of NFSv3 over TCP: gen_bench --packets N [--seed N] [--clients N]
 * [--files N] [--block N] [--server N] [--differ N] FILE.  The same options give the same bytes.
 *
 * Several clients with calls outstanding work on a bounded set of files below one export, in a mix
 * as file servers see it; calls are carried out when they arrive, and replies come in any order.
 * Segments have an MTU of 1500 and timestamps, an ACK comes for every second one. Two
 * packets in five begin a call or a reply; in the captures of this repository it is more.
 * TCP checksums are 0, as with checksum offload.
 *
 * Another --server gets the same calls with handles and file numbers of its own, and answers at
 * other times and in another order, but the same; with --differ, one in N of its replies to
 * GETATTR, ACCESS and READ has another group, other rights, or not the end of the file.
 */
#include "bench_out.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILES_A_DIRECTORY = 50,
    OUTSTANDING_MAX = 8,
    CLIENTS_MAX = 50,
    HANDLE_LEN = 28,
    ATTRIBUTES_LEN = 84
};

enum procedure {
    GETATTR = 1,
    SETATTR = 2,
    LOOKUP = 3,
    ACCESS = 4,
    READ = 6,
    WRITE = 7,
    CREATE = 8,
    REMOVE = 12,
    READDIRPLUS = 17,
    FSSTAT = 18,
    COMMIT = 21,
};

#define BEFORE UINT64_C(1699999999) /* seconds since the epoch */

/* Shares in 1/1000. */
static const struct {
    enum procedure procedure;
    uint32_t share;
} mix[] = {
    { GETATTR, 375 }, { LOOKUP, 215 }, { ACCESS, 190 }, { READ, 60 },
    { WRITE, 40 },    { SETATTR, 25 }, { CREATE, 35 },  { READDIRPLUS, 10 },
    { REMOVE, 30 },   { COMMIT, 15 },  { FSSTAT, 5 },
};

/* A file's name, now. */
struct file {
    uint32_t generation; /* of what it stands for */
    bool exists;
    uint32_t size;
};

struct call {
    uint32_t xid, file, count, offset;
    enum procedure procedure;
    bool misses, fails;                   /* asks for a name that never was; finds nothing */
    struct file found[FILES_A_DIRECTORY]; /* when it was carried out: the file, or all */
};

struct client {
    struct bench_conn conn;
    uint32_t xid;
    struct call waiting[OUTSTANDING_MAX];
    uint32_t waiting_count;
};

struct work {
    struct bench_out out;
    struct bench_message message;
    struct client clients[CLIENTS_MAX];
    uint32_t client_count, file_count, block, server;
    struct file *files;
    uint64_t random; /* of what is asked; that of |out| is the server's and the network's */
    uint64_t differ, altered;
};

/* Objects: 0 is the export's root, then the directories, then the files. */
static uint32_t directory_count(const struct work *w)
{
    return (w->file_count + FILES_A_DIRECTORY - 1) / FILES_A_DIRECTORY;
}

static uint32_t directory_of(uint32_t file)
{
    return 1 + file / FILES_A_DIRECTORY;
}

static uint32_t object_of(const struct work *w, uint32_t file)
{
    return 1 + directory_count(w) + file;
}

static void put_handle(struct bench_message *m, const struct work *w, uint32_t object,
                       uint32_t generation)
{
    uint8_t handle[HANDLE_LEN] = { 1, 0, 7, 1 };

    memcpy(handle + 4, "\x35\x1d\x9c\x4e\xa8\x10\x4b\x7e\x93\x62\x5f\x0a\x11\xc4\x2d\x86", 16);
    handle[20] = (uint8_t)(object >> 24);
    handle[21] = (uint8_t)(object >> 16);
    handle[22] = (uint8_t)(object >> 8);
    handle[23] = (uint8_t)object;
    handle[24] = (uint8_t)(generation >> 16);
    handle[25] = (uint8_t)(generation >> 8);
    handle[26] = (uint8_t)generation;
    handle[27] = (uint8_t)w->server;
    bench_opaque(m, handle, sizeof(handle));
}

static void put_name(struct bench_message *m, const char *prefix, uint32_t number)
{
    char name[32];
    int len = snprintf(name, sizeof(name), "%s%05u.dat", prefix, number);

    bench_opaque(m, name, (uint32_t)len);
}

static uint64_t fileid_of(const struct work *w, uint32_t object)
{
    return 131072 + object + (uint64_t)w->server * 1000003;
}

static void put_attributes(struct bench_message *m, const struct work *w, uint32_t object,
                           uint32_t size)
{
    bool is_file = object > directory_count(w);
    uint32_t seconds = (uint32_t)(w->out.now / 1000000);

    bench_u32(m, is_file ? 1 : 2);
    bench_u32(m, is_file ? 0100644 : 040755);
    bench_u32(m, 1);
    bench_u32(m, 1000); /* the callers' */
    bench_u32(m, 1000);
    bench_u64(m, is_file ? size : 4096);
    bench_u64(m, is_file ? size : 4096);
    bench_u64(m, 0);
    bench_u64(m, 0xfd0000000001 + w->server);
    bench_u64(m, fileid_of(w, object));
    for (int i = 0; i < 3; i++) {
        bench_u32(m, seconds);
        bench_u32(m, (uint32_t)(w->out.now % 1000000) * 1000);
    }
}

static void put_optional_attributes(struct bench_message *m, const struct work *w, uint32_t object,
                                    uint32_t size)
{
    bench_u32(m, 1);
    put_attributes(m, w, object, size);
}

static void put_wcc(struct bench_message *m, const struct work *w, uint32_t object, uint32_t size)
{
    bench_u32(m, 1);
    bench_u64(m, size);
    bench_u64(m, BEFORE << 32); /* nobody remembers when it changed before */
    bench_u64(m, BEFORE << 32);
    put_optional_attributes(m, w, object, size);
}

/* The same for all servers. */
static void put_data(struct bench_message *m, const struct call *c)
{
    uint8_t *p = bench_opaque(m, NULL, c->count);
    uint64_t random = c->xid;

    for (uint32_t i = 0; p && i + 8 <= c->count; i += 8) {
        uint64_t value = bench_next(&random);
        memcpy(p + i, &value, 8);
    }
}

static void call_header(struct bench_message *m, uint32_t xid, uint32_t program, uint32_t version,
                        uint32_t procedure)
{
    static const char machine[] = "client.lab";

    bench_begin(m);
    bench_u32(m, xid);
    bench_u32(m, 0);
    bench_u32(m, 2);
    bench_u32(m, program);
    bench_u32(m, version);
    bench_u32(m, procedure);
    bench_u32(m, 1); /* AUTH_SYS */
    bench_u32(m, 44);
    bench_u32(m, 0);
    bench_opaque(m, machine, sizeof(machine) - 1);
    bench_u32(m, 1000);
    bench_u32(m, 1000);
    bench_u32(m, 3);
    bench_u32(m, 4);
    bench_u32(m, 24);
    bench_u32(m, 1000);
    bench_u64(m, 0); /* verifier */
}

static void reply_header(struct bench_message *m, uint32_t xid)
{
    bench_begin(m);
    bench_u32(m, xid);
    bench_u32(m, 1);
    for (int i = 0; i < 4; i++)
        bench_u32(m, 0);
}

static void put_arguments(struct bench_message *m, const struct work *w, const struct call *c)
{
    uint32_t object = object_of(w, c->file), directory = directory_of(c->file);

    switch (c->procedure) {
    case LOOKUP:
    case REMOVE:
    case CREATE:
        put_handle(m, w, directory, 0);
        put_name(m, c->misses ? "missing" : "file", c->file);
        if (c->procedure == CREATE) {
            bench_u32(m, 0); /* UNCHECKED */
            bench_u32(m, 1);
            bench_u32(m, 0644);
            for (int i = 0; i < 5; i++)
                bench_u32(m, 0);
        }
        break;
    case READDIRPLUS:
        put_handle(m, w, directory, 0);
        bench_u64(m, 0);
        bench_u64(m, 0);
        bench_u32(m, 4096);
        bench_u32(m, 32768);
        break;
    case FSSTAT:
        put_handle(m, w, 0, 0);
        break;
    case SETATTR:
        put_handle(m, w, object, c->found->generation);
        bench_u32(m, 1);
        bench_u32(m, 0644);
        for (int i = 0; i < 6; i++)
            bench_u32(m, 0);
        break;
    default:
        put_handle(m, w, object, c->found->generation);
        if (c->procedure == GETATTR)
            break;
        if (c->procedure == ACCESS) {
            bench_u32(m, 0x1f);
            break;
        }
        bench_u64(m, c->offset);
        bench_u32(m, c->count);
        if (c->procedure == WRITE) {
            bench_u32(m, 0);
            put_data(m, c);
        }
    }
}

static uint32_t first_of(const struct call *c)
{
    return (directory_of(c->file) - 1) * FILES_A_DIRECTORY;
}

static void put_entries(struct bench_message *m, struct work *w, const struct call *c)
{
    uint32_t first = first_of(c);

    put_optional_attributes(m, w, directory_of(c->file), 0);
    bench_u64(m, 0x5eed);
    for (uint32_t i = first; i < first + FILES_A_DIRECTORY && i < w->file_count; i++) {
        const struct file *f = &c->found[i - first];

        if (!f->exists)
            continue;
        bench_u32(m, 1);
        bench_u64(m, fileid_of(w, object_of(w, i)));
        put_name(m, "file", i);
        bench_u64(m, i - first + 3);
        put_optional_attributes(m, w, object_of(w, i), f->size);
        bench_u32(m, 1);
        put_handle(m, w, object_of(w, i), f->generation);
    }
    bench_u32(m, 0);
    bench_u32(m, 1);
}

/* Whether this reply is to differ from other servers'. */
static bool is_altered(struct work *w, const struct call *c)
{
    bool can = c->procedure == GETATTR || c->procedure == ACCESS || c->procedure == READ;

    if (!w->differ || !can || bench_random(&w->out) % w->differ)
        return false;
    w->altered++;
    return true;
}

static void put_result(struct bench_message *m, struct work *w, const struct call *c)
{
    uint32_t object = object_of(w, c->file), directory = directory_of(c->file);
    uint32_t size = c->found->size;
    bool alter = is_altered(w, c);

    if (c->fails) { /* LOOKUP */
        bench_u32(m, 2);
        put_optional_attributes(m, w, directory, 0);
        return;
    }
    bench_u32(m, 0);
    switch (c->procedure) {
    case GETATTR:
        put_attributes(m, w, object, size);
        if (alter)
            m->data[m->len - ATTRIBUTES_LEN + 19]++; /* gid's last byte */
        break;
    case SETATTR:
        put_wcc(m, w, object, size);
        break;
    case LOOKUP:
        put_handle(m, w, object, c->found->generation);
        put_optional_attributes(m, w, object, size);
        put_optional_attributes(m, w, directory, 0);
        break;
    case ACCESS:
        put_optional_attributes(m, w, object, size);
        bench_u32(m, alter ? 0x05 : 0x0d); /* READ, MODIFY, EXTEND; or not MODIFY */
        break;
    case READ:
        put_optional_attributes(m, w, object, size);
        bench_u32(m, c->count);
        bench_u32(m, (c->offset + c->count >= size) != alter);
        put_data(m, c);
        break;
    case WRITE:
        put_wcc(m, w, object, size);
        bench_u32(m, c->count);
        bench_u32(m, 0);
        bench_u64(m, 0x1234567890);
        break;
    case CREATE:
        bench_u32(m, 1);
        put_handle(m, w, object, c->found->generation);
        put_optional_attributes(m, w, object, size);
        put_wcc(m, w, directory, 0);
        break;
    case REMOVE:
        put_wcc(m, w, directory, 0);
        break;
    case READDIRPLUS:
        put_entries(m, w, c);
        break;
    case FSSTAT:
        put_optional_attributes(m, w, 0, 0);
        for (int i = 0; i < 6; i++)
            bench_u64(m, (uint64_t)1 << (40 - i));
        bench_u32(m, 0);
        break;
    case COMMIT:
        put_wcc(m, w, object, size);
        bench_u64(m, 0x1234567890);
        break;
    }
}

static enum procedure draw(struct work *w)
{
    uint32_t at = (uint32_t)(bench_next(&w->random) % 1000);

    for (size_t i = 0; i < sizeof(mix) / sizeof(mix[0]); i++) {
        if (at < mix[i].share)
            return mix[i].procedure;
        at -= mix[i].share;
    }
    return GETATTR;
}

/* Carries a call out.  What needs a file makes it, or misses it, when there is none. */
static void execute(struct work *w, struct call *c, uint64_t random)
{
    struct file *f = &w->files[c->file];

    c->misses = c->procedure == LOOKUP && random % 4 == 0;
    if (!f->exists && c->procedure != LOOKUP && c->procedure != FSSTAT &&
        c->procedure != READDIRPLUS)
        c->procedure = random % 2 ? CREATE : LOOKUP;
    c->fails = c->procedure == LOOKUP && (c->misses || !f->exists);
    if (c->procedure == CREATE && !f->exists) {
        f->exists = true;
        f->size = 0;
    } else if (c->procedure == READ && f->size < c->count) {
        c->procedure = WRITE;
    }
    if (c->procedure == READ)
        c->offset = (uint32_t)(random >> 8) % (f->size / c->count) * c->count;
    if (c->procedure == WRITE || c->procedure == COMMIT)
        c->offset = (uint32_t)(random >> 8) % 16 * c->count;
    if (c->procedure == WRITE && c->offset + c->count > f->size)
        f->size = c->offset + c->count;
    c->found[0] = *f;
    if (c->procedure == READDIRPLUS)
        for (uint32_t i = 0; i < FILES_A_DIRECTORY && first_of(c) + i < w->file_count; i++)
            c->found[i] = w->files[first_of(c) + i];
    if (c->procedure == REMOVE) {
        f->exists = false;
        f->generation++;
    }
}

static void make_call(struct work *w, struct client *client)
{
    struct call *c = &client->waiting[client->waiting_count++];
    uint64_t random = bench_next(&w->random);

    /* A quarter of the files gets half of the calls. */
    c->file = (uint32_t)((random >> 8) % (random & 1 ? w->file_count : w->file_count / 4 + 1));
    c->procedure = draw(w);
    c->count = w->block << (random >> 40) % 4;
    execute(w, c, bench_next(&w->random));
    c->xid = client->xid++;
    call_header(&w->message, c->xid, 100003, 3, c->procedure);
    put_arguments(&w->message, w, c);
    bench_send(&w->out, &client->conn, 0, &w->message);
}

static void make_reply(struct work *w, struct client *client)
{
    uint32_t at = (uint32_t)(bench_random(&w->out) % client->waiting_count);
    struct call c = client->waiting[at];

    client->waiting[at] = client->waiting[--client->waiting_count];
    reply_header(&w->message, c.xid);
    put_result(&w->message, w, &c);
    bench_send(&w->out, &client->conn, 1, &w->message);
}

/* MOUNT on a connection of its own, then the NFS connection and the directories' names. */
static void begin(struct work *w, struct client *client, uint32_t number)
{
    struct bench_message *m = &w->message;
    struct bench_conn mount = { .client = 0x0a000064 + number,
                                .client_port = 900,
                                .server = 0x0a000001,
                                .server_port = 20048,
                                .seq = { 1000, 2000 } };

    bench_open(&w->out, &mount);
    call_header(m, 77 + number, 100005, 3, 1);
    bench_opaque(m, "/export", 7);
    bench_send(&w->out, &mount, 0, m);
    reply_header(m, 77 + number);
    bench_u32(m, 0);
    put_handle(m, w, 0, 0);
    bench_u32(m, 1);
    bench_u32(m, 1);
    bench_send(&w->out, &mount, 1, m);

    client->conn = (struct bench_conn){ .client = mount.client,
                                        .client_port = 930 + number,
                                        .server = mount.server,
                                        .server_port = 2049,
                                        .seq = { 100000 * number, 0xfff00000u } };
    client->xid = 0x10000000 * (number + 1);
    bench_open(&w->out, &client->conn);
    for (uint32_t d = 1; number == 0 && d <= directory_count(w); d++) {
        call_header(m, client->xid, 100003, 3, LOOKUP);
        put_handle(m, w, 0, 0);
        put_name(m, "directory", d);
        bench_send(&w->out, &client->conn, 0, m);
        reply_header(m, client->xid++);
        bench_u32(m, 0);
        put_handle(m, w, d, 0);
        put_optional_attributes(m, w, d, 0);
        put_optional_attributes(m, w, 0, 0);
        bench_send(&w->out, &client->conn, 1, m);
    }
}

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;

    *value = strtoull(text, &end, 10);
    return end != text && !*end && *value >= least && *value <= most;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "packets", required_argument, NULL, 'p' },
        { "seed", required_argument, NULL, 's' },
        { "clients", required_argument, NULL, 'c' },
        { "files", required_argument, NULL, 'f' },
        { "block", required_argument, NULL, 'b' }, /* least bytes of a READ or WRITE */
        { "server", required_argument, NULL, 'S' },
        { "differ", required_argument, NULL, 'd' },
        { NULL, 0, NULL, 0 },
    };
    uint64_t packets = 0, seed = 1, clients = 8, files = 20000, block = 4096, server = 0,
             differ = 0;
    struct work *w;
    bool good = true;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'p')
            good &= number(optarg, 1, UINT64_MAX, &packets);
        else if (option == 's')
            good &= number(optarg, 0, UINT64_MAX, &seed);
        else if (option == 'c')
            good &= number(optarg, 1, CLIENTS_MAX, &clients);
        else if (option == 'b')
            good &= number(optarg, 8, 4096, &block) && block % 8 == 0;
        else if (option == 'S')
            good &= number(optarg, 0, 255, &server);
        else if (option == 'd')
            good &= number(optarg, 1, UINT64_MAX, &differ);
        else
            good &= option == 'f' && number(optarg, 1, 1000000, &files);
    }
    if (!good || !packets || optind != argc - 1) {
        fprintf(stderr,
                "usage: gen_bench --packets N [--seed N] [--clients N] [--files N] [--block N]"
                " [--server N] [--differ N] FILE\n");
        return 2;
    }
    w = calloc(1, sizeof(*w));
    if (w)
        w->files = malloc(files * sizeof(*w->files));
    for (uint64_t i = 0; w && w->files && i < files; i++)
        w->files[i] = (struct file){ .exists = true, .size = 65536 };
    if (!w || !w->files || !bench_out_open(&w->out, argv[optind], seed ^ server << 32)) {
        perror(argv[optind]);
        return 4;
    }
    w->client_count = (uint32_t)clients;
    w->file_count = (uint32_t)files;
    w->block = (uint32_t)block;
    w->server = (uint32_t)server;
    w->random = ~seed;
    w->differ = differ;
    for (uint32_t i = 0; i < w->client_count; i++)
        begin(w, &w->clients[i], i);
    while (w->out.packets < packets && !w->out.failed) {
        struct client *c = &w->clients[bench_next(&w->random) % w->client_count];
        uint32_t room = OUTSTANDING_MAX - c->waiting_count;
        if (bench_next(&w->random) % OUTSTANDING_MAX < room)
            make_call(w, c);
        else
            make_reply(w, c);
    }
    for (uint32_t i = 0; i < w->client_count; i++)
        while (w->clients[i].waiting_count)
            make_reply(w, &w->clients[i]);
    if (!bench_out_close(&w->out)) {
        perror(argv[optind]);
        return 4;
    }
    printf("%llu packets, %llu replies altered\n", (unsigned long long)w->out.packets,
           (unsigned long long)w->altered);
    free(w->files);
    free(w);
    return 0;
}
