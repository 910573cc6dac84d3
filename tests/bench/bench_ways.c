/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_ways.c
 *
 *     bench_ways OPERATION CONNECTIONS PORT...
 *
 * Loads several ways to one NFSv3 server in turns.  Each PORT of 127.0.0.1 is a way to it, itself
 * or a relay, and has so many connections with one call at a time each.  OPERATION: getattr, or
 * read (1 MiB).  Says "ready"; then, for each line
 *
 *     WAY SECONDS RATE
 *
 * of standard input, it loads that way alone (the first is 0), and prints
 *
 *     CALLS SECONDS BUCKET:COUNT...
 *
 * RATE: calls a second of all connections together, which are due whatever the server does; their
 * times count from when they were due.  0: each reply is followed by the next call.
 *
 * Times are counted in buckets, BUCKETS of them in each octave of nanoseconds: bucket B begins at
 * (BUCKETS + B % BUCKETS) << (B / BUCKETS - 1).  So windows of one way can be added up.
 * For part_relay.py.
 */
#include "bench_client.h"
#include "net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WAYS_MAX = 16, CONNECTIONS_MAX = 256, LARGE = 1 << 20 };
enum { BUCKETS = 128, OCTAVES = 40, BUCKET_BITS = 7 };
enum { PROC_GETATTR = 1, PROC_READ = 6, PROC_WRITE = 7, PROC_CREATE = 8 };

struct conn {
    struct bench_client c;
    int64_t since; /* the call under way was sent, or due; 0: none is */
};

struct way {
    int epoll;
    struct conn conns[CONNECTIONS_MAX];
};

static struct way ways[WAYS_MAX];
static uint32_t conn_count;
static struct bench_fh file;
static bool reads;
static uint64_t counts[OCTAVES * BUCKETS];

/* --- a file, and connections */

static void make_file(const char *port)
{
    static uint8_t block[LARGE];
    char name[32];
    struct bench_client c;
    struct bench_fh root;
    struct CREATE3args args = { .how = { .obj_attributes = { .set_mode = true, .mode = 0644 } } };
    struct WRITE3args write = { .count = LARGE, .stable = FILE_SYNC, .data = { block, LARGE } };
    struct CREATE3res made;
    struct WRITE3res written;

    bench_mount("127.0.0.1", port, "/a", &root);
    bench_connect(&c, "127.0.0.1", port);
    snprintf(name, sizeof(name), "ways-%d", (int)getpid());
    args.where = (struct diropargs3){ bench_of(&root), bench_text(name) };
    bench_call(&c, PROC_CREATE, &args, &made);
    if (made.status || !made.obj_follows)
        bench_die("CREATE");
    bench_keep(&file, made.obj);
    write.file = bench_of(&file);
    bench_call(&c, PROC_WRITE, &write, &written);
    if (written.status || written.count != LARGE)
        bench_die("WRITE");
    close(c.fd);
    buf_free(&c.in);
    buf_free(&c.out);
}

static void connect_way(struct way *way, const char *port)
{
    way->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < conn_count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &way->conns[i] };

        bench_connect(&way->conns[i].c, "127.0.0.1", port);
        /* no two connections have calls in common */
        way->conns[i].c.xid += (uint32_t)(way - ways) << 28 | i << 20;
        if (epoll_ctl(way->epoll, EPOLL_CTL_ADD, way->conns[i].c.fd, &event) < 0)
            bench_die("epoll");
    }
}

/* --- a window */

struct window {
    struct way *way;
    double rate;
    int64_t begun, end;
    uint64_t put, done;
};

static void count(int64_t ns)
{
    uint64_t value = ns > BUCKETS ? (uint64_t)ns : BUCKETS;
    uint32_t octave = 63 - BUCKET_BITS - (uint32_t)__builtin_clzll(value);

    if (octave + 2 > OCTAVES)
        bench_die("a call of minutes");
    counts[(octave + 1) * BUCKETS + (value >> octave) - BUCKETS]++;
}

/* When the next call is due. */
static int64_t due(const struct window *w)
{
    return w->rate > 0 ? w->begun + (int64_t)((double)w->put * 1e9 / w->rate) : 0;
}

static void put_call(struct window *w, struct conn *conn, int64_t since)
{
    if (reads)
        bench_put(&conn->c, PROC_READ, &(struct READ3args){ bench_of(&file), 0, LARGE });
    else
        bench_put(&conn->c, PROC_GETATTR, &(struct GETATTR3args){ bench_of(&file) });
    conn->since = since;
    w->put++;
    bench_flush(&conn->c);
}

/* Puts the calls that are due on connections that have none.  Returns if there are such left. */
static bool put_due(struct window *w, int64_t now)
{
    bool has_room = false;

    for (uint32_t i = 0; i < conn_count; i++) {
        struct conn *conn = &w->way->conns[i];

        if (conn->since)
            continue;
        if (due(w) <= now && now < w->end)
            put_call(w, conn, w->rate > 0 ? due(w) : loop_clock());
        else
            has_room = true;
    }
    return has_room;
}

static void take_reply(struct window *w, struct conn *conn)
{
    struct bytes results;
    uint32_t xid;
    int64_t now;

    bench_next_reply(&conn->c, true, &xid, &results);
    now = loop_clock();
    count(now - conn->since);
    conn->since = 0;
    w->done++;
    if (w->rate <= 0 && now < w->end)
        put_call(w, conn, now);
}

static void run_window(struct window *w)
{
    struct epoll_event events[CONNECTIONS_MAX];

    w->begun = loop_clock();
    w->end += w->begun;
    put_due(w, w->begun);
    for (;;) {
        int64_t now = w->rate > 0 ? loop_clock() : 0, left;
        bool has_room = w->rate > 0 && put_due(w, now);
        struct timespec span, *timeout = NULL;
        int ready;

        if (w->put == w->done && (w->rate <= 0 || now >= w->end))
            break;
        if (has_room && now < w->end) {
            left = due(w) - loop_clock();
            span = (struct timespec){ 0, left > 0 ? left : 0 };
            timeout = &span;
        }
        ready = epoll_pwait2(w->way->epoll, events, CONNECTIONS_MAX, timeout, NULL);
        for (int i = 0; i < ready; i++)
            take_reply(w, events[i].data.ptr);
    }
}

static void print_window(const struct window *w)
{
    printf("%llu %.6f", (unsigned long long)w->done, (double)(loop_clock() - w->begun) / 1e9);
    for (uint32_t i = 0; i < OCTAVES * BUCKETS; i++)
        if (counts[i])
            printf(" %u:%llu", i, (unsigned long long)counts[i]);
    printf("\n");
    fflush(stdout);
    memset(counts, 0, sizeof(counts));
}

int main(int argc, char **argv)
{
    uint32_t way, way_count = (uint32_t)(argc - 3);
    double seconds, rate;

    if (argc < 4 || way_count > WAYS_MAX)
        return 2;
    conn_count = (uint32_t)atoi(argv[2]);
    reads = strcmp(argv[1], "read") == 0;
    if (conn_count < 1 || conn_count > CONNECTIONS_MAX)
        return 2;
    wire_init();
    if (nfs3_structs_init(NULL) < 0 || mount_structs_init(NULL) < 0)
        bench_die("structs");
    prctl(PR_SET_TIMERSLACK, 1UL); /* ns */
    make_file(argv[3]);
    for (way = 0; way < way_count; way++)
        connect_way(&ways[way], argv[3 + way]);
    printf("ready\n");
    fflush(stdout);
    while (scanf("%u %lf %lf", &way, &seconds, &rate) == 3 && way < way_count) {
        struct window w = { .way = &ways[way], .rate = rate, .end = (int64_t)(seconds * 1e9) };

        run_window(&w);
        print_window(&w);
    }
    return 0;
}
