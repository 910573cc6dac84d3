/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/feed.c
 *
 * Two rings between the thread that reads and the player's: one of bytes, with each step before
 * what it points to, so that they come into the cache together, and one that says where the steps
 * are.  Each side counts on its own and shows its count rarely, because a line that both write
 * costs more than a step: the thread shows |made| every FEED_BATCH steps, before it reads from the
 * file and when the player waits; the player shows |released| and |passed| as often, and when it
 * waits.
 *
 * The thread stays FEED_AHEAD steps before the player, however many the horizon has room for: what
 * was made long ago has left the cache when it is taken.
 *
 * A side that waits says so (|player|, |thread_waits|), then looks once more.  The other side
 * shows its count, then looks if somebody waits.  Both are in sequential order, so that one of
 * the two sees the other.  What the thread does with a record is in feed_step.c.
 */
#include "player/feed_parts.h"
#include "player/ring_memory.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    STEPS_MIN = 1 << 10,
    STEPS_MAX = FEED_STEPS_MAX,
    BYTES = 32 << 20,
    BYTES_MIN = 1 << 10,
};

static uint64_t power_below(uint64_t n)
{
    return UINT64_C(1) << (63 - __builtin_clzll(n));
}

/* The thread's side. */

static void wake_player(struct feed *f)
{
    const uint64_t one = 1;

    int waits = PLAYER_WAITS;

    if (atomic_load(&f->player) != PLAYER_WAITS ||
        !atomic_compare_exchange_strong(&f->player, &waits, PLAYER_IS_WOKEN))
        return;
    while (write(f->event, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    atomic_store(&f->player, PLAYER_GOES_ON);
}

void feed_show(struct feed *f)
{
    if (f->made == f->shown_made)
        return;
    f->shown_made = f->made;
    atomic_store(&f->shown, f->made);
    wake_player(f);
}

/* The script reads from its file: that may take long. */
static void before_read(void *ctx)
{
    feed_show(ctx);
}

/* Where in the ring a step begins.  All held steps begin within one round of the ring from |tail|.
 * Nobody asks for a step with bytes of its own: when it is made, all before it were released. */
static uint64_t begin_of(const struct feed *f, uint64_t number)
{
    const uint8_t *at = (const uint8_t *)f->slots[number & f->mask];

    return f->tail + (((uint64_t)(at - f->ring) - f->tail) & (f->ring_size - 1));
}

bool feed_sees_releases(struct feed *f)
{
    uint64_t released = atomic_load_explicit(&f->released, memory_order_acquire);

    if (released == f->seen_released)
        return false;
    f->seen_released = released;
    f->tail = released == f->made ? f->head : begin_of(f, released);
    if (f->own && released > f->own_step) {
        free(f->own);
        f->own = NULL;
    }
    return true;
}

/* Under |lock|, while the thread waits.  A player that has steps wakes it only when a quarter of
 * them was released, or three quarters were taken, because waking up costs more than making some.
 */
static bool may_go_on(struct feed *f)
{
    bool player_waits = atomic_load(&f->player) == PLAYER_WAITS;
    uint64_t released;

    if (atomic_load(&f->stop))
        return true;
    if (f->wants_taken)
        return player_waits || atomic_load(&f->passed) >= f->wake_at;
    released = atomic_load(&f->released);
    return released > f->wake_at || (released > f->seen_released && player_waits);
}

static bool wait_for(struct feed *f, bool taken, uint64_t at)
{
    feed_show(f);
    pthread_mutex_lock(&f->lock);
    f->wants_taken = taken;
    f->wake_at = at;
    atomic_store(&f->thread_waits, true);
    while (!may_go_on(f))
        pthread_cond_wait(&f->changed, &f->lock);
    atomic_store(&f->thread_waits, false);
    pthread_mutex_unlock(&f->lock);
    return !atomic_load(&f->stop);
}

bool feed_wait_for_releases(struct feed *f)
{
    return wait_for(f, false, f->seen_released + (f->made - f->seen_released) / 4);
}

bool feed_wait_until_taken(struct feed *f)
{
    return wait_for(f, true, f->made - FEED_AHEAD / 4);
}

static void *run(void *ctx)
{
    struct feed *f = ctx;

    feed_read(f);
    feed_show(f); /* before |ended|: who sees that sees all steps */
    atomic_store(&f->ended, true);
    wake_player(f);
    return NULL;
}

/* The player's side. */

/* Wakes it without the lock: on the same processor it would run at once, only to wait for that. */
static void wake_thread(struct feed *f)
{
    bool wake;

    if (!atomic_load(&f->thread_waits))
        return;
    pthread_mutex_lock(&f->lock);
    wake = atomic_load(&f->thread_waits) && may_go_on(f);
    pthread_mutex_unlock(&f->lock);
    if (wake)
        pthread_cond_signal(&f->changed);
}

static void show_releases(struct feed *f)
{
    f->shown_released = f->taken_back;
    atomic_store(&f->released, f->taken_back);
    wake_thread(f);
}

/* After a wait nothing may stay in the eventfd, and nothing come into it later.  The player's loop
 * may have emptied it. */
static void end_wait(struct feed *f)
{
    int waits = PLAYER_WAITS;
    uint64_t count;

    f->waited = false;
    if (atomic_compare_exchange_strong(&f->player, &waits, PLAYER_GOES_ON))
        return;
    while (atomic_load(&f->player) == PLAYER_IS_WOKEN) /* the time of a write */
        sched_yield();
    while (read(f->event, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

static int end_of_steps(struct feed *f, struct err *err)
{
    if (f->result < 0) {
        if (err)
            *err = f->err;
        return f->result;
    }
    return FEED_END;
}

/* No step is known to be there. */
static int look_for_steps(struct feed *f, struct err *err)
{
    bool ended;

    atomic_store(&f->passed, f->given);
    show_releases(f);
    atomic_store(&f->player, PLAYER_WAITS);
    f->waited = true;
    ended = atomic_load(&f->ended);
    f->seen_made = atomic_load(&f->shown);
    if (f->seen_made != f->given || ended) {
        end_wait(f);
        return f->seen_made != f->given ? FEED_STEP : end_of_steps(f, err);
    }
    f->waits += !atomic_load(&f->thread_waits);
    wake_thread(f);
    return FEED_WAIT;
}

int feed_next(struct feed *f, const struct step **step, struct err *err)
{
    if (f->waited)
        end_wait(f);
    f->full = f->given - f->taken_back >= f->limit;
    if (f->full) {
        show_releases(f);
        return FEED_WAIT;
    }
    if (f->given == f->seen_made)
        f->seen_made = atomic_load_explicit(&f->shown, memory_order_acquire);
    if (f->given == f->seen_made) {
        int result = look_for_steps(f, err);

        if (result != FEED_STEP)
            return result;
    }
    *step = f->slots[f->given & f->mask];
    f->given++;
    if (f->given % FEED_BATCH == 0) {
        atomic_store(&f->passed, f->given);
        wake_thread(f);
    }
    if (f->given + AHEAD < f->seen_made) { /* the thread's processor has them */
        const uint8_t *soon = (const uint8_t *)f->slots[(f->given + AHEAD) & f->mask];

        __builtin_prefetch(soon);
        __builtin_prefetch(soon + FEED_LINE);
    }
    return FEED_STEP;
}

const struct step *feed_step(const struct feed *f, uint64_t number)
{
    return f->slots[number & f->mask];
}

void feed_release(struct feed *f)
{
    f->taken_back++;
    if (f->taken_back - f->shown_released >= f->batch || f->waited || f->full)
        show_releases(f);
}

int feed_fd(const struct feed *f)
{
    return f->event;
}

struct feed_stats feed_stats(const struct feed *f)
{
    struct feed_stats stats = { .given = f->given, .released = f->taken_back, .waits = f->waits };

    if (!atomic_load(&f->ended))
        return stats;
    stats.damaged = f->damaged;
    stats.damage = f->damaged ? f->err.text : NULL;
    stats.end = f->end;
    return stats;
}

static int start(struct feed *f, struct err *err)
{
    sigset_t all, before;
    int code;

    sigfillset(&all); /* signals are for the player */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&f->thread, NULL, run, f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code)
        return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(code));
    f->started = true;
    return 0;
}

static int make_rings(struct feed *f, uint64_t bytes, struct err *err)
{
    uint32_t horizon = f->script->trace.horizon;
    uint64_t slots = STEPS_MIN;

    f->limit = horizon < STEPS_MAX ? horizon : STEPS_MAX;
    while (slots < f->limit)
        slots *= 2;
    f->mask = slots - 1;
    f->batch = f->limit / 8 < FEED_BATCH ? f->limit / 8 + 1 : FEED_BATCH;
    f->ring_size =
        power_below((bytes < BYTES_MIN ? BYTES_MIN : bytes) + f->limit * sizeof(struct step));
    f->slots = ring_memory(slots * sizeof(*f->slots));
    f->ring = ring_memory(f->ring_size);
    if (!f->slots || !f->ring)
        return err_memory(err, "the operations ahead of the player");
    f->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (f->event < 0)
        return err_set(err, ERR_SYSTEM, "cannot make an eventfd: %s", strerror(errno));
    return 0;
}

struct feed *feed_new(const struct feed_setup *setup, struct err *err)
{
    struct feed *f = aligned_alloc(FEED_LINE, (sizeof(*f) + FEED_LINE - 1) / FEED_LINE * FEED_LINE);

    if (!f) {
        err_memory(err, "a feed");
        return NULL;
    }
    memset(f, 0, sizeof(*f));
    f->script = setup->script;
    f->partial = setup->partial;
    f->stop_after = setup->stop_after ? setup->stop_after : UINT64_MAX;
    f->event = -1;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    step_check_init(&f->check, f->script);
    f->script->before_read = before_read;
    f->script->before_read_ctx = f;
    if (make_rings(f, setup->bytes ? setup->bytes : BYTES, err) < 0 || start(f, err) < 0) {
        feed_free(f);
        return NULL;
    }
    return f;
}

void feed_free(struct feed *f)
{
    const uint64_t one = 1;

    if (!f)
        return;
    if (f->started) {
        atomic_store(&f->stop, true);
        while (write(f->script->stop, &one, sizeof(one)) < 0 && errno == EINTR)
            ;
        pthread_mutex_lock(&f->lock);
        pthread_cond_signal(&f->changed);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
    }
    f->script->before_read = NULL;
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    if (f->event >= 0)
        close(f->event);
    free(f->own);
    free(f->ring);
    free(f->slots);
    free(f);
}
