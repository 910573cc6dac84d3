/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/loop.h
 *
 * An event loop for one thread: file descriptors (epoll, level-triggered), timers, work at the end
 * of a round, and the signals that end a program.
 *
 *     loop_new, loop_watch ..., loop_run, loop_free
 *
 * Watches, timers and idle work are parts of their owners' structs: the loop never allocates for
 * them, and never frees them.  An owner takes them off before it goes.  That is allowed at any
 * time, also from callbacks.  All times are ns of CLOCK_MONOTONIC.
 *
 * A callback returns 0, or a negative code that ends loop_run.
 *
 * Memory: 12 bytes for each event of a round, 16 bytes for each timer; and a descriptor for timers.
 */
#ifndef NFSDIGEST_NET_LOOP_H
#define NFSDIGEST_NET_LOOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOOP_EVENTS = 256 }; /* of a round */

struct loop;

struct watch {
    int fd; /* -1: not watched */
    uint32_t events;
    int (*ready)(void *ctx, uint32_t events, struct err *err); /* EPOLLIN, ... */
    void *ctx;
};

struct timer {
    int64_t at;
    uint32_t place; /* of the loop's heap; 0: not set */
    int (*due)(void *ctx, struct err *err);
    void *ctx;
};

/* Work that a round collects, such as replies to send. */
struct idle {
    struct idle *next, **self; /* |self| NULL: not requested */
    int (*run)(void *ctx, struct err *err);
    void *ctx;
};

struct loop *loop_new(struct err *err);
void loop_free(struct loop *loop);

/* Runs until loop_stop, or until a callback returns a negative code.  Returns 0 or that code. */
int loop_run(struct loop *loop, struct err *err);
/* Ends loop_run after this round. */
void loop_stop(struct loop *loop);

/* Makes the loop look for events for |ns| before it sleeps, as long as this finds some, because
 * waking up takes longer than many calls.  For machines with more than one processor.  0 (the
 * default): never. */
void loop_spin(struct loop *loop, int64_t ns);
/* The time that it has looked so, in all. */
int64_t loop_spun(const struct loop *loop);

/* Makes the loop sleep for |ns| before it looks for events the next time, unless a timer is due
 * earlier or idle work is requested: events that would come one by one are then dealt with in one
 * round, which costs less.  On machines that sleep much longer than they should, it soon has no
 * effect any more. */
void loop_gather(struct loop *loop, int64_t ns);

/* Returns the time when this round began.  loop_run reads the clock once a round. */
int64_t loop_now(const struct loop *loop);
int64_t loop_clock(void); /* now */

/* Begins to watch.  In |watch| fd, ready and ctx are set.  |events|: EPOLLIN, EPOLLOUT, or 0 for
 * errors only; with EPOLLET, only what is new is told. */
int loop_watch(struct loop *loop, struct watch *watch, uint32_t events, struct err *err);
int loop_change(struct loop *loop, struct watch *watch, uint32_t events, struct err *err);
/* Of |watch|->events with EPOLLET: asks for what is ready already, too. */
int loop_ask_again(struct loop *loop, struct watch *watch, struct err *err);
/* Stops watching, and sets |watch|->fd to -1.  Call it before the fd is closed. */
void loop_unwatch(struct loop *loop, struct watch *watch);

/* Sets a timer, or sets it again.  Timers of the same time are due in any order. */
int loop_set(struct loop *loop, struct timer *timer, int64_t at, struct err *err);
void loop_unset(struct loop *loop, struct timer *timer);

/* Calls |idle|->run once, at the end of this round; if idle work asks for it that was itself asked
 * for by idle work, at the end of the next one. */
void loop_idle(struct loop *loop, struct idle *idle);
void loop_unidle(struct loop *loop, struct idle *idle);

/* SIGTERM and SIGINT stop the loop; SIGPIPE is ignored.  Blocks them in the calling thread, so call
 * it before other threads begin. */
int loop_take_signals(struct loop *loop, struct err *err);
/* Returns the signal that stopped the loop, or 0. */
int loop_signal(const struct loop *loop);

/* Waits outside of loop_run, for what must come before the program can run: until |fd| is ready for
 * |events| (POLLIN, ...), a signal is there for the loop, or it is |until|.  The signal stays, and
 * stops loop_run.  |fd| -1: nothing is ready.  |loop| NULL: no signals are. */
enum loop_awaited { LOOP_READY, LOOP_LATE, LOOP_SIGNAL };
enum loop_awaited loop_await(const struct loop *loop, int fd, short events, int64_t until);

#endif
