/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/player_lab.h
 *
 * For tests of the player: operations that a test makes up, a feed that gives them, a judge that
 * takes the class from the reply, and a server in the same loop that answers in any order what the
 * test has written down for each operation.  So the player's own work is seen from both sides.
 *
 * Arguments here: a handle (length 4, the object's number), then the operation's number.  A result:
 * enum verdict_class, enum verdict_next, a handle or 0.
 */
#ifndef NFSDIGEST_UNIT_PLAYER_LAB_H
#define NFSDIGEST_UNIT_PLAYER_LAB_H

#include "fill/fill.h"
#include "net/rpc_server.h"
#include "player/player.h"
#include "player/verdict_lesson.h"
#include "wire/nfs3_numbers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

enum { LAB_STEPS = 400, LAB_DEPENDENCIES = 6, LAB_HANDLE = 8, LAB_TREE = 1 };

struct lab_step {
    struct step step;
    struct step_more more;
    uint32_t dependencies[LAB_DEPENDENCIES];
    uint8_t arguments[64];
    enum verdict_class class; /* that its reply leads to */
    enum verdict_next next;   /* of its first |nexts| replies */
    uint32_t nexts;
    bool drops; /* the server executes it, closes the connection, and forgets the reply */
    bool mute;  /* the server never answers */
    /* seen: */
    uint32_t received, answered, tallied, looked_up, listed_on, learned;
    bool released;
    int64_t received_at;
    uint64_t connection; /* that it came on last */
    struct done done;
    enum verdict_class got;
};

struct feed {
    uint64_t given, released;
    struct lab_step *steps;
    uint32_t count, horizon, waits;
    bool steady;      /* never waits for the disk */
    uint64_t hang_at; /* the disk gives nothing from this step on; 0: it does */
    int fd;
};

/* Of one dump. */
struct verdicts {
    struct feed *feed;
    struct objects *objects;
};

struct lab {
    struct loop *loop;
    struct rpc_server *server;
    struct target target;
    struct script script;
    struct script_host hosts[9];
    struct player_dump dump, second;
    struct player_setup setup;
    struct player *player;
    struct tally tally;
    struct feed feed, second_feed;
    struct verdicts verdicts, second_verdicts;
    struct lab_step *steps;  /* of both dumps */
    uint32_t count, damaged; /* |damaged|: steps before the damage; 0: there is none */
    uint32_t seed;
    struct rpc_call *kept[LAB_STEPS];
    uint32_t kept_count, kept_most;
    struct timer answering;
    uint32_t order[LAB_STEPS * 4], order_count; /* as received */
    uint32_t stop_after, quit_after; /* operations, until player_stop, and the end of the loop */
    struct player_progress progress; /* the last one */
    char first_note[512];
    uint32_t notes;
};

static struct lab *lab;

static inline uint32_t lab_random(uint32_t below)
{
    lab->seed = lab->seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)(lab->seed >> 4) * below) >> 28);
}

/* --- the feed */

int feed_fd(const struct feed *feed)
{
    return feed->fd;
}

int feed_next(struct feed *feed, const struct step **step, struct err *err)
{
    uint64_t one = 1, before;

    if (read(feed->fd, &before, sizeof(before)) < 0)
        assert_int_equal(errno, EAGAIN);
    if (lab->damaged && feed->given == lab->damaged)
        return err_set(err, ERR_INPUT, "damaged");
    if (feed->given == feed->count)
        return FEED_END;
    if (feed->hang_at && feed->given == feed->hang_at)
        return FEED_WAIT;
    if (feed->given - feed->released >= feed->horizon)
        return FEED_WAIT;
    if (!feed->steady && lab_random(5) == 0) { /* the disk is slow */
        feed->waits++;
        assert_int_equal(write(feed->fd, &one, sizeof(one)), sizeof(one));
        return FEED_WAIT;
    }
    *step = &feed->steps[feed->given++].step;
    return FEED_STEP;
}

void feed_release(struct feed *feed)
{
    assert_true(feed->released < feed->given);
    assert_int_equal(feed->steps[feed->released].tallied, 1);
    feed->steps[feed->released++].released = true;
}

/* --- arguments */

enum fill_in_result fill_in(const struct step *step, struct objects *objects,
                            const struct fill_in *with, struct xdr_put *put, uint32_t *missing)
{
    struct object *object = objects_find(objects, step_object(step));

    *missing = step_object(step);
    if (!object || !object->handle_len)
        return FILL_IN_NO_HANDLE;
    if (step->has & STEP_GUARDED && !object->has_ctime && !with->has_ctime)
        return FILL_IN_NO_CTIME;
    xdr_put_bytes(put, step->arguments.data, 4); /* its length */
    xdr_put_bytes(put, object->handle + 4, 4);
    xdr_put_bytes(put, step->arguments.data + 8, step->arguments.len - 8);
    if (step->has & STEP_CONTINUES)
        xdr_put_u64(put, with->cookie);
    return FILL_IN_DONE;
}

/* --- the judge */

bool verdict_cookie(const struct verdicts *verdicts, uint64_t number, const struct step *step,
                    struct fill_in *with)
{
    with->cookie = 77;
    return verdicts->feed->steps[number - step->more->cookie_from].got == VERDICT_AS_RECORDED;
}

static void lab_learn(const struct verdicts *v, const struct step *step, struct bytes body)
{
    struct err err = { 0 };

    if (step->made && body.len >= 12 && load_be32(body.data + 8))
        assert_int_equal(objects_set_handle(v->objects, 1,
                                            objects_add(v->objects, step->made, &err),
                                            (struct bytes){ body.data + 4, 8 }, &err),
                         0);
}

int verdict_reply(struct verdicts *verdicts, uint64_t number, const struct step *step,
                  const struct rpc_answer *answer, uint32_t again, struct verdict *to,
                  struct err *err)
{
    (void)err;
    memset(to, 0, sizeof(*to));
    if (answer->outcome != RPC_ANSWERED) {
        to->class = VERDICT_UNANSWERED;
        return 0;
    }
    assert_ptr_equal(step, &verdicts->feed->steps[number].step);
    assert_true(again == 0 || verdicts->feed->steps[number].next != NEXT_NOTHING);
    to->class = load_be32(answer->body.data);
    to->next = load_be32(answer->body.data + 4);
    to->wait = 1000000;
    to->status = to->class == VERDICT_NEW_ERROR ? NFS3ERR_EXIST : 0;
    to->with.cookie = 78;
    lab_learn(verdicts, step, answer->body);
    return 0;
}

int verdict_looked_up(struct verdicts *verdicts, uint64_t number, const struct step *step,
                      const struct rpc_answer *answer, struct verdict *to, struct err *err)
{
    (void)err;
    verdicts->feed->steps[number].looked_up++;
    to->class = load_be32(answer->body.data);
    to->next = NEXT_NOTHING;
    lab_learn(verdicts, step, answer->body);
    return 0;
}

int verdict_learn(struct verdicts *verdicts, const struct step *step, uint32_t object,
                  const struct rpc_answer *answer, struct err *err)
{
    (void)answer;
    (void)err;
    for (uint32_t i = 0; i < lab->count; i++)
        if (&lab->steps[i].step == step)
            lab->steps[i].learned++;
    objects_find(verdicts->objects, object)->has_ctime = lab->seed % 2;
    return 0;
}

void verdict_release(struct verdicts *verdicts, uint64_t number, const struct step *step)
{
    const struct step *its = &verdicts->feed->steps[number].step;

    assert_int_equal(number, verdicts->feed->released);
    if (step || (its->more && its->more->forget_count))
        assert_ptr_equal(step, its);
}

/* Only players of several ranks have lessons. */
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

int tally_add(struct tally *tally, const struct done *done, struct err *err)
{
    struct lab_step *s = &(done->dump ? &lab->second_feed : &lab->feed)->steps[done->number];

    (void)tally;
    (void)err;
    s->tallied++;
    s->done = *done;
    s->got = done->verdict->class;
    return 0;
}

/* --- the server */

/* In all handles of the step's dump. */
static inline uint32_t lab_root(const struct lab_step *s)
{
    return lab->second_feed.steps && s >= lab->second_feed.steps ? 0x55000000 : 0;
}

static int lab_answer(struct rpc_call *call, struct err *err)
{
    bool whole = call->body.len >= 12;
    struct lab_step *s = whole ? &lab->steps[load_be32(call->body.data + LAB_HANDLE)] : NULL;
    bool next = s && call->header.procedure == s->step.procedure->number && s->answered < s->nexts;
    struct xdr_put *put = rpc_reply_begin(call);

    xdr_put_u32(put, s ? s->class : VERDICT_AS_RECORDED);
    xdr_put_u32(put, next ? s->next : NEXT_NOTHING);
    xdr_put_u32(put, s && s->step.made && !(next && s->next == NEXT_LOOKUP)
                         ? lab_root(s) | s->step.made
                         : 0);
    if (s)
        s->answered++;
    return rpc_reply_end(call, NULL, err);
}

static int lab_answering(void *ctx, struct err *err)
{
    int result = 0;

    (void)ctx;
    for (uint32_t i = 0; i < lab->kept_count && result == 0;) {
        if (lab_random(2)) {
            i++;
            continue;
        }
        result = lab_answer(lab->kept[i], err);
        rpc_call_free(lab->kept[i]);
        lab->kept[i] = lab->kept[--lab->kept_count];
    }
    return lab->kept_count && result == 0 ? loop_set(lab->loop, &lab->answering, 0, err) : result;
}

/* A WRITE has the contents that its object has there, and zeros behind them. */
static void lab_check_contents(const struct lab_step *s, struct bytes body)
{
    uint32_t at = s->step.arguments.len, len = s->step.data_len;
    uint64_t offset = load_be64(s->step.arguments.data + s->step.value_at);
    struct bytes contents = { body.data + at, len };

    assert_int_equal(body.len, at + xdr_padded(len));
    assert_int_equal(fill_same(step_object(&s->step), offset, contents), len);
    assert_true(bytes_are_zeros(body.data + at + len, body.len - at - len));
}

static int lab_take(void *ctx, struct rpc_call *call, struct err *err)
{
    struct lab_step *s;
    uint32_t number;

    (void)ctx;
    if (call->body.len < 12) { /* GETATTR */
        return lab_answer(call, err);
    }
    number = load_be32(call->body.data + LAB_HANDLE);
    assert_true(number < lab->count);
    s = &lab->steps[number];
    assert_int_equal(load_be32(call->body.data + 4) & 0xff000000, lab_root(s));
    if (call->header.procedure != s->step.procedure->number)
        return lab_answer(call, err); /* LOOKUP */
    if (!s->received)
        lab->order[lab->order_count++] = number;
    if (s->step.has & STEP_HAS_DATA)
        lab_check_contents(s, call->body);
    s->received++;
    s->connection = call->connection;
    s->received_at = loop_clock();
    s->listed_on += call->body.len > s->step.arguments.len;
    if (s->drops && s->received == 1) {
        rpc_call_drop(call);
        return 0;
    }
    if (s->mute)
        return 0;
    lab->kept[lab->kept_count++] = rpc_call_detach(call);
    if (lab->kept_count > lab->kept_most)
        lab->kept_most = lab->kept_count;
    return loop_set(lab->loop, &lab->answering, 0, err);
}

/* --- the run */

static int lab_done(void *ctx, const struct done *done, struct err *err)
{
    (void)ctx;
    (void)done;
    (void)err;
    if (lab->stop_after && --lab->stop_after == 0)
        player_stop(lab->player);
    if (lab->quit_after && --lab->quit_after == 0)
        loop_stop(lab->loop);
    return 0;
}

static int lab_progress(void *ctx, const struct player_progress *progress, struct err *err)
{
    (void)ctx;
    (void)err;
    lab->progress = *progress;
    if (progress->note) {
        if (!lab->notes++)
            snprintf(lab->first_note, sizeof(lab->first_note), "%s", progress->note);
    }
    return 0;
}

static void lab_object(struct objects *objects, uint32_t number, uint32_t root)
{
    struct err err = { 0 };
    struct object *object = objects_add(objects, number, &err);
    uint8_t handle[8] = { 1, 2, 3, 4 };

    store_be32(handle + 4, root | number);
    object->maker = OBJECTS_NOBODY;
    assert_int_equal(
        objects_set_handle(objects, 1, object, (struct bytes){ handle, sizeof(handle) }, &err), 0);
}

/* |count| GETATTRs of one object, all as recorded. */
static void lab_begin(struct lab *l, uint32_t count, uint32_t horizon)
{
    struct rpc_program program = { 100003, 3, 3, 22, lab_take, NULL };
    struct net_address at;
    struct err err = { 0 };

    wire_init();
    memset(l, 0, sizeof(*l));
    lab = l;
    l->seed = count * 31 + horizon;
    l->count = count;
    l->steps = calloc(count, sizeof(*l->steps));
    l->loop = loop_new(&err);
    l->server = rpc_server_new(l->loop, &RPC_SERVER_LIMITS, NULL, &err);
    l->answering = (struct timer){ .due = lab_answering };
    assert_non_null(l->server);
    assert_int_equal(rpc_server_add(l->server, &program, &err), 0);
    assert_int_equal(net_address_parse("127.0.0.1:0", true, &at, &err), 0);
    assert_int_equal(rpc_server_listen(l->server, RPC_TCP, &at, &l->target.nfs, &err), 0);
    l->target.nfsacl = l->target.nfs;
    l->script = (struct script){ .path = "lab", .hosts = l->hosts, .host_count = 8 };
    l->script.trace.horizon = horizon;
    l->feed = (struct feed){
        .steps = l->steps, .count = count, .horizon = horizon, .fd = eventfd(0, EFD_NONBLOCK)
    };
    l->dump = (struct player_dump){ .script = &l->script,
                                    .feed = &l->feed,
                                    .objects = objects_open(&err),
                                    .verdicts = &l->verdicts,
                                    .operations = count };
    l->verdicts = (struct verdicts){ &l->feed, l->dump.objects };
    l->second_feed.fd = -1;
    /* the player is asked for servers by number: 1 is the target, and what is a server in |hosts|
     */
    l->setup = (struct player_setup){ .loop = l->loop,
                                      .dump_count = 1,
                                      .pace = PACE_ASAP,
                                      .scale = 1,
                                      .timeout = 60000000000,
                                      .tally = &l->tally,
                                      .progress = lab_progress,
                                      .done = lab_done };
    lab_object(l->dump.objects, LAB_TREE, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct lab_step *s = &l->steps[i];

        store_be32(s->arguments, 4);
        store_be32(s->arguments + 4, LAB_TREE);
        store_be32(s->arguments + LAB_HANDLE, i);
        s->more.dependencies = s->dependencies;
        s->step = (struct step){ .time = i,
                                 .source = i + 1,
                                 .procedure = procedure_find(100003, 3, 1),
                                 .program = 100003,
                                 .client = 2,
                                 .server = 1,
                                 .arguments = { s->arguments, 12 },
                                 .more = &s->more };
    }
}

static void lab_depends(uint32_t step, uint32_t back)
{
    struct lab_step *s = &lab->steps[step];

    assert_true(s->more.dependency_count < LAB_DEPENDENCIES);
    s->dependencies[s->more.dependency_count++] = back;
}

static inline void lab_check_feed(const struct feed *feed)
{
    for (uint32_t i = 0; i < feed->count; i++)
        assert_int_equal(feed->steps[i].tallied, i < feed->given);
    assert_int_equal(feed->released, feed->given);
}

/* Returns what player_run returns. */
static int lab_run(struct err *err)
{
    const struct target *targets[9] = { NULL, &lab->target };
    struct player_dump dumps[2];
    int result;

    for (int i = 2; i < 9; i++)
        targets[i] = lab->hosts[i].is_server ? &lab->target : NULL;
    lab->dump.target = lab->second.target = targets;
    dumps[0] = lab->dump;
    dumps[1] = lab->second;
    lab->setup.dumps = dumps;
    lab->player = player_new(&lab->setup, err);
    if (!lab->player)
        return -err->code;
    result = player_run(lab->player, err);
    player_free(lab->player);
    lab_check_feed(&lab->feed);
    lab_check_feed(&lab->second_feed);
    return result;
}

static inline void lab_run_all_given(void)
{
    struct err err = { 0 };

    if (lab_run(&err) != 0)
        fail_msg("%s", err.text);
}

static inline void lab_run_all(void)
{
    lab_run_all_given();
    assert_int_equal(lab->feed.given + lab->second_feed.given, lab->count);
}

static void lab_end(void)
{
    loop_unset(lab->loop, &lab->answering);
    for (uint32_t i = 0; i < lab->kept_count; i++)
        rpc_call_free(lab->kept[i]);
    rpc_server_free(lab->server);
    loop_free(lab->loop);
    objects_close(lab->dump.objects);
    objects_close(lab->second.objects);
    close(lab->feed.fd);
    if (lab->second_feed.fd >= 0)
        close(lab->second_feed.fd);
    free(lab->steps);
}

#endif
