/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_player.c
 *
 * What the player and the feed cost for each operation, judging left out:
 *
 *     bench_player DUMP [CONNECTIONS [OUTSTANDING [OPERATIONS]]]      4, 256, all
 *
 * Plays DUMP at full speed against a thread that answers each call at once with a success of about
 * the usual length.  Nothing is judged here: every answer counts as recorded, and what is made gets
 * a handle.  Prints operations a second, and ns of CPU for each operation of the player's thread
 * (in user mode and in the kernel) and of the feed's; calls for each write.
 */
#include "player/player.h"
#include "player/verdict_lesson.h"
#include "wire/rpc.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

_Noreturn static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_player: %s: %s\n", what, err->text);
    exit(4);
}

/* --- the judge */

struct verdicts {
    struct objects *objects;
};

static int know(struct objects *objects, uint32_t number, struct err *err)
{
    struct object *object = objects_add(objects, number, err);
    uint8_t handle[32] = { 0 };

    store_be32(handle, number);
    return object ? objects_set_handle(objects, 1, object, (struct bytes){ handle, sizeof(handle) },
                                       err)
                  : -ERR_SYSTEM;
}

bool verdict_cookie(const struct verdicts *v, uint64_t number, const struct step *step,
                    struct fill_in *with)
{
    (void)v;
    (void)number;
    (void)step;
    with->cookie = 1;
    return true;
}

int verdict_reply(struct verdicts *v, uint64_t number, const struct step *step,
                  const struct rpc_answer *answer, uint32_t again, struct verdict *to,
                  struct err *err)
{
    (void)number;
    (void)again;
    to->class = answer->body.len >= 4 ? VERDICT_AS_RECORDED : VERDICT_UNANSWERED;
    to->without_rules = to->class;
    to->next = NEXT_NOTHING;
    to->status = to->bytes = to->groups = to->rule_count = 0;
    to->contents = false;
    to->text[0] = 0;
    return step->made ? know(v->objects, step->made, err) : 0;
}

int verdict_looked_up(struct verdicts *v, uint64_t number, const struct step *step,
                      const struct rpc_answer *answer, struct verdict *to, struct err *err)
{
    return verdict_reply(v, number, step, answer, 0, to, err);
}

int verdict_learn(struct verdicts *v, const struct step *step, uint32_t object,
                  const struct rpc_answer *answer, struct err *err)
{
    struct object *of = objects_find(v->objects, object);

    (void)step;
    (void)answer;
    (void)err;
    if (of)
        of->has_ctime = true;
    return 0;
}

int verdict_lesson(struct verdicts *verdicts, uint64_t number, const struct step *step,
                   const struct verdict *verdict, struct bytes *lesson, struct err *err)
{
    (void)verdicts, (void)number, (void)step, (void)verdict, (void)lesson, (void)err;
    return 0;
}

int verdict_taught(struct verdicts *verdicts, uint64_t number, const struct step *step,
                   struct bytes lesson, struct err *err)
{
    (void)verdicts, (void)number, (void)step, (void)lesson, (void)err;
    return 0;
}

void verdict_release(struct verdicts *v, uint64_t number, const struct step *step)
{
    (void)number;
    for (uint32_t i = 0; step && step->more && i < step->more->forget_count; i++)
        objects_forget(v->objects, step->more->forget[i]);
}

const char *verdict_class_name(enum verdict_class class)
{
    (void)class;
    return "";
}

/* --- the responder */

enum { CONNECTIONS_MAX = 64, ROOM = 4 << 20, REPLY = 24 + 112 };

struct peer {
    int fd;
    uint8_t *in, *out;
    size_t in_len, out_len, out_at;
};

static int listening;
static atomic_bool ended;

static void answer_calls(struct peer *p)
{
    size_t at = 0;

    while (p->in_len - at >= 4) {
        uint32_t len = load_be32(p->in + at) & ~RPC_LAST_FRAGMENT;
        uint8_t *reply = p->out + p->out_len;

        if (p->in_len - at - 4 < len || ROOM - p->out_len < REPLY + 4)
            break;
        memset(reply, 0, REPLY + 4);
        store_be32(reply, REPLY | RPC_LAST_FRAGMENT);
        memcpy(reply + 4, p->in + at + 4, 4);
        reply[11] = RPC_REPLY;
        p->out_len += REPLY + 4;
        at += 4 + len;
    }
    memmove(p->in, p->in + at, p->in_len - at);
    p->in_len -= at;
}

static void serve_peer(struct peer *p)
{
    ssize_t got = recv(p->fd, p->in + p->in_len, ROOM - p->in_len, MSG_DONTWAIT);

    if (got > 0)
        p->in_len += (size_t)got;
    answer_calls(p);
    got = p->out_len ? send(p->fd, p->out + p->out_at, p->out_len - p->out_at, MSG_DONTWAIT) : 0;
    if (got > 0)
        p->out_at += (size_t)got;
    if (p->out_at == p->out_len)
        p->out_at = p->out_len = 0;
}

static void *respond(void *ctx)
{
    static struct peer peers[CONNECTIONS_MAX];
    struct epoll_event event = { .events = EPOLLIN }, events[CONNECTIONS_MAX];
    int count = 0, one = 1, epoll = epoll_create1(0);

    (void)ctx;
    event.data.ptr = NULL;
    epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event);
    while (!ended) {
        int ready = epoll_wait(epoll, events, CONNECTIONS_MAX, 10);

        for (int i = 0; i < ready; i++) {
            struct peer *p = events[i].data.ptr;

            if (p) {
                serve_peer(p);
            } else if (count < CONNECTIONS_MAX) {
                p = &peers[count++];
                *p = (struct peer){
                    accept(listening, NULL, NULL), malloc(ROOM), malloc(ROOM), 0, 0, 0
                };
                setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
                event.data.ptr = p;
                epoll_ctl(epoll, EPOLL_CTL_ADD, p->fd, &event);
            }
        }
        for (int i = 0; i < count; i++)
            if (peers[i].out_len)
                serve_peer(&peers[i]);
    }
    for (int i = 0; i < count; i++) {
        close(peers[i].fd);
        free(peers[i].in);
        free(peers[i].out);
    }
    close(epoll);
    return NULL;
}

static void begin_listening(struct net_address *at)
{
    struct err err = { 0 };

    if (net_address_parse("127.0.0.1:0", true, at, &err) < 0)
        die("listening", &err);
    listening = socket(AF_INET, SOCK_STREAM, 0);
    if (listening < 0 || bind(listening, &at->any, net_address_size(at)) < 0 ||
        listen(listening, CONNECTIONS_MAX) < 0 || net_address_of_socket(listening, at, &err) < 0)
        die("listening", &err);
}

/* --- the run */

static double ns_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double of(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static void measure(struct player_setup *setup, clockid_t responder)
{
    struct err err = { 0 };
    struct player *player = player_new(setup, &err);
    struct rusage from, to;
    double begun = ns_of(CLOCK_MONOTONIC), done, took, own, feed;
    uint64_t *class = setup->tally->class;

    if (!player)
        die("the player", &err);
    getrusage(RUSAGE_THREAD, &from);
    feed = ns_of(responder) - ns_of(CLOCK_PROCESS_CPUTIME_ID);
    if (player_run(player, &err) < 0)
        die("the player", &err);
    getrusage(RUSAGE_THREAD, &to);
    took = ns_of(CLOCK_MONOTONIC) - begun;
    own = of(to.ru_utime) - of(from.ru_utime) + of(to.ru_stime) - of(from.ru_stime);
    feed += ns_of(CLOCK_PROCESS_CPUTIME_ID) - ns_of(responder) - own;
    done = (double)class[VERDICT_AS_RECORDED];
    player_free(player);
    printf(
        "%.0f operations (%llu unplayable, %llu others), %.0f a second; player's thread %.0f ns "
        "each: user %.0f, kernel %.0f; feed %.0f ns; %.1f calls a write\n",
        done, (unsigned long long)class[VERDICT_UNPLAYABLE],
        (unsigned long long)(class[VERDICT_SKIPPED] + class[VERDICT_UNANSWERED]), done / took * 1e9,
        (of(to.ru_utime) - of(from.ru_utime) + of(to.ru_stime) - of(from.ru_stime)) / done,
        (of(to.ru_utime) - of(from.ru_utime)) / done, (of(to.ru_stime) - of(from.ru_stime)) / done,
        feed / done, (double)setup->tally->calls / (double)setup->tally->writes);
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct script script = { 0 };
    struct target target = { 0 };
    struct verdicts verdicts = { objects_open(&err) };
    struct feed_setup feed = { .script = &script,
                               .stop_after = argc > 4 ? strtoull(argv[4], NULL, 10) : 0 };
    struct player_dump dump = { .script = &script,
                                .objects = verdicts.objects,
                                .verdicts = &verdicts };
    struct player_setup setup = { .loop = loop_new(&err),
                                  .dumps = &dump,
                                  .dump_count = 1,
                                  .pace = PACE_ASAP,
                                  .connections = argc > 2 ? (uint32_t)atoi(argv[2]) : 4,
                                  .outstanding_each = argc > 3 ? (uint32_t)atoi(argv[3]) : 256,
                                  .tally = tally_new(&err) };
    const struct target **targets;
    pthread_t thread;
    clockid_t responder;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_player DUMP [CONNECTIONS [OUTSTANDING [OPERATIONS]]]\n");
        return 2;
    }
    wire_init();
    if (!verdicts.objects || !setup.loop || !setup.tally || script_open(&script, argv[1], &err) < 0)
        die(argv[1], &err);
    for (uint32_t i = 1; i <= script.object_count; i++)
        if (know(verdicts.objects, i, &err) < 0)
            die("objects", &err);
    script_drop_tree(&script);
    begin_listening(&target.nfs);
    target.nfsacl = target.nfs;
    targets = calloc(script.host_count + 1, sizeof(*targets));
    for (uint32_t i = 1; targets && i <= script.host_count; i++)
        targets[i] = &target;
    dump.target = targets;
    dump.feed = feed_new(&feed, &err);
    if (!dump.feed || pthread_create(&thread, NULL, respond, NULL) != 0)
        die("threads", &err);
    if (pthread_getcpuclockid(thread, &responder) != 0)
        die("the responder's clock", &err);
    measure(&setup, responder);
    ended = true;
    pthread_join(thread, NULL);
    feed_free(dump.feed);
    tally_free(setup.tally);
    objects_close(verdicts.objects);
    script_close(&script);
    loop_free(setup.loop);
    free(targets);
    close(listening);
    return 0;
}
