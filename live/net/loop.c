/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/loop.c
 *
 * A round: wait for events until the next timer, call the watches that are ready, then the timers
 * that are due, then the idle work.  Timers are a binary heap that counts from 1.
 *
 * With a timeout, the system sets a timer of its own for each wait, which takes longer than our
 * whole part of a round.  So the time of a timer that is far away is given to a timerfd instead,
 * which stays set, and may be too early, but not too late.
 */
#include "net/loop.h"
#include "base/grow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct loop {
    int epoll;
    bool stopped;
    int64_t now;
    struct epoll_event events[LOOP_EVENTS];
    int event_count, event_at; /* of the round that is under way */
    struct timer **heap;       /* from 1 */
    uint32_t heap_count, heap_cap;
    struct idle *idle;
    struct watch signals, alarm; /* |alarm|: the timerfd */
    int64_t alarm_at;            /* 0: it is not set */
    bool no_alarm;               /* the system gave none */
    int signal;
    int64_t spin;   /* ns */
    int64_t spun;   /* ns, in all */
    int spin_trust; /* above 0: events came soon, of late */
    int64_t gather; /* ns; 0: no */
    int overslept;  /* how often, less how often not; at OVERSLEPT_MAX it stays */
};

/* A sleep that ended within SPIN_NEAR times the span speaks for spinning: waking up takes time,
 * too. */
enum { SPIN_TRUST = 16, SPIN_NEAR = 4 };
#define ALARM_FROM INT64_C(20000000) /* ns: what is far away */

/* Timers of some machines are as coarse as 10 ms. */
enum { OVERSLEPT = 1000000 /* ns */, OVERSLEPT_MAX = 16 };

int64_t loop_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t loop_now(const struct loop *loop)
{
    return loop->now;
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
}

int loop_signal(const struct loop *loop)
{
    return loop->signal;
}

struct loop *loop_new(struct err *err)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    if (!loop) {
        err_memory(err, "the event loop");
        return NULL;
    }
    loop->signals.fd = loop->alarm.fd = -1;
    loop->now = loop_clock();
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) {
        err_set(err, ERR_SYSTEM, "epoll: %s", strerror(errno));
        free(loop);
        return NULL;
    }
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    if (loop->signals.fd >= 0)
        close(loop->signals.fd);
    if (loop->alarm.fd >= 0)
        close(loop->alarm.fd);
    close(loop->epoll);
    free(loop->heap);
    free(loop);
}

/* --- watches */

static int control(struct loop *loop, int what, struct watch *watch, uint32_t events,
                   struct err *err)
{
    struct epoll_event event = { .events = events, .data.ptr = watch };

    if (epoll_ctl(loop->epoll, what, watch->fd, &event) < 0)
        return err_set(err, ERR_SYSTEM, "epoll: %s", strerror(errno));
    watch->events = events;
    return 0;
}

int loop_watch(struct loop *loop, struct watch *watch, uint32_t events, struct err *err)
{
    return control(loop, EPOLL_CTL_ADD, watch, events, err);
}

int loop_change(struct loop *loop, struct watch *watch, uint32_t events, struct err *err)
{
    return watch->events == events ? 0 : control(loop, EPOLL_CTL_MOD, watch, events, err);
}

int loop_ask_again(struct loop *loop, struct watch *watch, struct err *err)
{
    return control(loop, EPOLL_CTL_MOD, watch, watch->events, err);
}

void loop_unwatch(struct loop *loop, struct watch *watch)
{
    if (watch->fd < 0)
        return;
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->fd = -1;
    /* its owner may be freed: what this round has still for it must not be delivered */
    for (int i = loop->event_at; i < loop->event_count; i++)
        if (loop->events[i].data.ptr == watch)
            loop->events[i].data.ptr = NULL;
}

/* --- timers */

static void put(struct loop *loop, uint32_t place, struct timer *timer)
{
    loop->heap[place] = timer;
    timer->place = place;
}

static void rise(struct loop *loop, struct timer *timer, uint32_t place)
{
    while (place > 1 && loop->heap[place / 2]->at > timer->at) {
        put(loop, place, loop->heap[place / 2]);
        place /= 2;
    }
    put(loop, place, timer);
}

static void sink(struct loop *loop, struct timer *timer, uint32_t place)
{
    for (;;) {
        uint32_t child = place * 2;

        if (child < loop->heap_count && loop->heap[child + 1]->at < loop->heap[child]->at)
            child++;
        if (child > loop->heap_count || loop->heap[child]->at >= timer->at)
            break;
        put(loop, place, loop->heap[child]);
        place = child;
    }
    put(loop, place, timer);
}

int loop_set(struct loop *loop, struct timer *timer, int64_t at, struct err *err)
{
    if (timer->place) {
        bool earlier = at < timer->at;

        timer->at = at;
        if (earlier)
            rise(loop, timer, timer->place);
        else
            sink(loop, timer, timer->place);
        return 0;
    }
    if (GROW_TO(loop->heap, (uint64_t)loop->heap_count + 2, loop->heap_cap) < 0)
        return err_memory(err, "timers");
    timer->at = at;
    rise(loop, timer, ++loop->heap_count);
    return 0;
}

void loop_unset(struct loop *loop, struct timer *timer)
{
    uint32_t place = timer->place;
    struct timer *last;

    if (!place)
        return;
    timer->place = 0;
    last = loop->heap[loop->heap_count--];
    if (last == timer)
        return;
    if (place > 1 && loop->heap[place / 2]->at > last->at)
        rise(loop, last, place);
    else
        sink(loop, last, place);
}

static int on_alarm(void *ctx, uint32_t events, struct err *err)
{
    struct loop *loop = ctx;
    uint64_t times;

    (void)events, (void)err;
    if (read(loop->alarm.fd, &times, sizeof(times)) == sizeof(times))
        loop->alarm_at = 0;
    return 0;
}

static bool open_alarm(struct loop *loop)
{
    loop->alarm = (struct watch){ .fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC),
                                  .ready = on_alarm,
                                  .ctx = loop };
    if (loop->alarm.fd >= 0 && loop_watch(loop, &loop->alarm, EPOLLIN, NULL) == 0)
        return true;
    if (loop->alarm.fd >= 0)
        close(loop->alarm.fd);
    loop->alarm.fd = -1;
    loop->no_alarm = true;
    return false;
}

/* A wait without a timeout ends at |at|, or earlier. */
static bool alarm_is_set(const struct loop *loop, int64_t at)
{
    return loop->alarm_at && loop->alarm_at <= at;
}

/* Sees to it that it does.  False: that cannot be. */
static bool set_alarm(struct loop *loop, int64_t at)
{
    const struct itimerspec when = { .it_value = { at / 1000000000, at % 1000000000 } };

    if (loop->no_alarm || (loop->alarm.fd < 0 && !open_alarm(loop)) ||
        timerfd_settime(loop->alarm.fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
        return false;
    loop->alarm_at = at;
    return true;
}

static int run_timers(struct loop *loop, struct err *err)
{
    int result = 0;

    /* a timer that its callback sets to the past waits for the next round */
    for (uint32_t left = loop->heap_count;
         result == 0 && left && loop->heap_count && loop->heap[1]->at <= loop->now; left--) {
        struct timer *timer = loop->heap[1];

        loop_unset(loop, timer);
        result = timer->due(timer->ctx, err);
    }
    return result;
}

/* --- idle work */

void loop_idle(struct loop *loop, struct idle *idle)
{
    if (idle->self)
        return;
    idle->next = loop->idle;
    if (idle->next)
        idle->next->self = &idle->next;
    idle->self = &loop->idle;
    loop->idle = idle;
}

void loop_unidle(struct loop *loop, struct idle *idle)
{
    (void)loop;
    if (!idle->self)
        return;
    *idle->self = idle->next;
    if (idle->next)
        idle->next->self = idle->self;
    idle->self = NULL;
}

static int run_idle_once(struct loop *loop, struct err *err)
{
    int result = 0;
    struct idle *all = loop->idle;

    loop->idle = NULL;
    if (all)
        all->self = &all;
    while (all) {
        struct idle *idle = all;

        loop_unidle(loop, idle);
        if (result == 0)
            result = idle->run(idle->ctx, err);
    }
    return result;
}

/* What idle work asks for, such as to send what it made, still belongs to this round; what that
 * asks for waits for the next one. */
static int run_idle(struct loop *loop, struct err *err)
{
    int result = loop->idle ? run_idle_once(loop, err) : 0;

    return result || !loop->idle ? result : run_idle_once(loop, err);
}

/* --- rounds */

static int ended_wait(struct loop *loop, struct err *err)
{
    if (loop->event_count >= 0)
        return 0;
    loop->event_count = 0;
    return errno == EINTR ? 0 : err_set(err, ERR_SYSTEM, "epoll: %s", strerror(errno));
}

void loop_spin(struct loop *loop, int64_t ns)
{
    loop->spin = ns;
}

int64_t loop_spun(const struct loop *loop)
{
    return loop->spun;
}

/* Looks for events without sleeping, while events come within |spin| anyway.  true: there are some.
 */
static bool spin(struct loop *loop)
{
    int64_t begun = loop_clock(), end = begun + loop->spin;

    if (loop->heap_count && loop->heap[1]->at < end)
        end = loop->heap[1]->at;
    do {
        loop->event_count = epoll_wait(loop->epoll, loop->events, LOOP_EVENTS, 0);
        loop->now = loop_clock();
    } while (loop->event_count == 0 && loop->now < end);
    loop->spun += loop->now - begun;
    if (loop->event_count == 0)
        loop->spin_trust--;
    else if (loop->spin_trust < SPIN_TRUST)
        loop->spin_trust++;
    return loop->event_count != 0;
}

void loop_gather(struct loop *loop, int64_t ns)
{
    loop->gather = loop->overslept < OVERSLEPT_MAX ? ns : 0;
}

/* Sleeps as loop_gather wanted.  true: it did. */
static bool gather(struct loop *loop)
{
    int64_t end = loop->gather ? loop_clock() + loop->gather : 0;
    struct timespec until;

    loop->gather = 0;
    if (!end || loop->idle)
        return false;
    if (loop->heap_count && loop->heap[1]->at < end)
        end = loop->heap[1]->at;
    until = (struct timespec){ end / 1000000000, end % 1000000000 };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL); /* or until a signal */
    if (loop_clock() - end > OVERSLEPT)
        loop->overslept++;
    else if (loop->overslept > 0)
        loop->overslept--;
    return true;
}

static int wait_for_events(struct loop *loop, struct err *err)
{
    struct timespec span = { 0, 0 }, *timeout = NULL;
    int64_t begun = loop->spin ? loop_clock() : 0;

    loop->event_at = 0;
    if (!gather(loop) && loop->spin && !loop->idle && loop->spin_trust > 0 && spin(loop))
        return ended_wait(loop, err);
    if (loop->idle) {
        timeout = &span;
    } else if (loop->heap_count && !alarm_is_set(loop, loop->heap[1]->at)) {
        int64_t left = loop->heap[1]->at - loop_clock();

        if (left > 0)
            span = (struct timespec){ left / 1000000000, left % 1000000000 };
        if (left < ALARM_FROM || !set_alarm(loop, loop->heap[1]->at))
            timeout = &span;
    }
    loop->event_count = timeout
                            ? epoll_pwait2(loop->epoll, loop->events, LOOP_EVENTS, timeout, NULL)
                            : epoll_wait(loop->epoll, loop->events, LOOP_EVENTS, -1);
    loop->now = loop_clock();
    if (loop->spin && loop->event_count > 0 && loop->now - begun < SPIN_NEAR * loop->spin &&
        loop->spin_trust < SPIN_TRUST)
        loop->spin_trust++;
    return ended_wait(loop, err);
}

int loop_run(struct loop *loop, struct err *err)
{
    int result = 0;

    loop->stopped = false;
    while (result == 0 && !loop->stopped) {
        result = wait_for_events(loop, err);
        while (result == 0 && loop->event_at < loop->event_count) {
            struct epoll_event *event = &loop->events[loop->event_at++];
            struct watch *watch = event->data.ptr;

            if (watch)
                result = watch->ready(watch->ctx, event->events, err);
        }
        if (result == 0)
            result = run_timers(loop, err);
        if (result == 0)
            result = run_idle(loop, err);
    }
    loop->event_count = 0;
    return result;
}

/* --- signals */

static int on_signal(void *ctx, uint32_t events, struct err *err)
{
    struct loop *loop = ctx;
    struct signalfd_siginfo info;

    (void)events;
    (void)err;
    while (read(loop->signals.fd, &info, sizeof(info)) == sizeof(info)) {
        loop->signal = (int)info.ssi_signo;
        loop->stopped = true;
    }
    return 0;
}

int loop_take_signals(struct loop *loop, struct err *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return err_set(err, ERR_SYSTEM, "signals: %s", strerror(errno));
    loop->signals = (struct watch){ .fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC),
                                    .ready = on_signal,
                                    .ctx = loop };
    if (loop->signals.fd < 0)
        return err_set(err, ERR_SYSTEM, "signals: %s", strerror(errno));
    return loop_watch(loop, &loop->signals, EPOLLIN, err);
}

enum loop_awaited loop_await(const struct loop *loop, int fd, short events, int64_t until)
{
    for (;;) {
        struct pollfd fds[2] = { { .fd = loop ? loop->signals.fd : -1, .events = POLLIN },
                                 { .fd = fd, .events = events } };
        int64_t left = until - loop_clock();
        const struct timespec span = { left / 1000000000, left % 1000000000 };
        static const struct timespec none;
        int count = ppoll(fds, 2, left > 0 ? &span : &none, NULL);

        if (count > 0)
            return fds[0].revents ? LOOP_SIGNAL : LOOP_READY;
        if (count == 0 || errno != EINTR)
            return LOOP_LATE;
    }
}
