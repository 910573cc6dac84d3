/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/top_run.c
 *
 * The loop of "nfsdigest top": packets go through an engine into the counts of top.h, in this
 * thread alone. What is live goes by the clock; a file is shown when it was read.  For cmd_top.c.
 * The contract is in top_run.h.
 */
#include "cli/top_run.h"
#include "capture/capture.h"
#include "capture/feed.h"
#include "capture/live.h"
#include "capture/sniff.h"
#include "cli/cli.h"
#include "cli/signals.h"
#include "cli/top_metrics.h"
#include "cli/top_view.h"
#include "record/nfsr.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK = 256,
    PACKETS = 4096,
    WAIT_MS = 100
}; /* frames or records between two looks at the clock */

struct run {
    const struct top_options *o;
    struct top *top;
    struct engine *engine; /* NULL: a record stream */
    struct top_view view;
    struct screen screen;
    bool on_screen, live, paused, done; /* |done|: the user wants to end */
    int64_t began, since, next;     /* ns of the clock: the beginning, of the interval, its end */
    uint64_t frames, base, counted; /* |base|: frames before this engine; |counted|: intervals */
    struct sniff_counts packets;
    struct sniff *sniff;
    struct tell *tell; /* or NULL */
};

static atomic_bool stop; /* as long as the process: its thread for signals sets it */

static int64_t clock_ns(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int new_engine(struct run *r, struct err *err)
{
    struct sink sink = top_sink(r->top);

    engine_free(r->engine);
    r->base = r->frames;
    r->engine = engine_new(&r->o->engine.settings.options, &sink, NULL, err);
    return r->engine ? 0 : -err->code;
}

static void measure(struct run *r)
{
    int64_t first = top_first_time(r->top), last = top_last_time(r->top);
    int64_t now = clock_ns(CLOCK_MONOTONIC);

    r->view.time = r->live ? clock_ns(CLOCK_REALTIME) : last;
    if (r->live) {
        r->view.now = (double)(now - r->since) / 1e9;
        r->view.begun = (double)(now - r->began) / 1e9;
    } else {
        r->view.now = r->view.begun = first != TIME_NONE ? (double)(last - first) / 1e9 : 0;
    }
    if (r->sniff)
        sniff_count(r->sniff, &r->packets);
}

/* What waits for a reply is only known from an engine. */
static int look_at_waiting(struct run *r, struct err *err)
{
    int result;

    if (!r->engine || r->view.ended)
        return 0;
    top_waiting_begin(r->top);
    result = engine_pause(r->engine, false, err);
    top_waiting_end(r->top);
    return result;
}

static void draw(struct run *r)
{
    if (r->on_screen)
        top_draw(&r->view, &r->screen, r->paused);
    else if (r->o->json)
        top_json(&r->view);
    else
        top_print(&r->view);
}

/* The engine keeps all names of live traffic. */
static int bound_names(struct run *r, struct err *err)
{
    if (!r->live || !r->engine || top_names(r->top) <= TOP_NAMES_MAX)
        return 0;
    top_forget(r->top);
    r->view.forgotten++;
    return new_engine(r, err);
}

/* Ends an interval, or shows how far a file was read. */
static int show(struct run *r, struct err *err)
{
    r->next = clock_ns(CLOCK_MONOTONIC) + r->o->every;
    if (r->paused)
        return bound_names(r, err);
    measure(r);
    if (look_at_waiting(r, err) < 0)
        return -err->code;
    if (r->live)
        top_next(r->top);
    if (r->o->slower < 0)
        draw(r);
    r->counted++;
    if (r->live)
        r->since = clock_ns(CLOCK_MONOTONIC);
    return bound_names(r, err);
}

static void next_column(struct top_view *v, int by)
{
    v->sort = (enum top_column)(((int)v->sort + by + TOP_COLUMNS) % TOP_COLUMNS);
}

/* Returns true if the screen has to be drawn anew. */
static bool take_key(struct run *r, int key)
{
    static const struct {
        char key;
        enum top_by by;
    } tables[] = { { 'c', TOP_CLIENT },
                   { 'p', TOP_PATH },
                   { 'o', TOP_PROCEDURE },
                   { 'u', TOP_UID },
                   { 'e', TOP_EXPORT } };

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (key == tables[i].key)
            r->view.by = tables[i].by;
    if (key == '\t')
        r->view.by = (enum top_by)((r->view.by + 1) % TOP_TABLES);
    if (key == '<' || key == '>' || key == ',' || key == '.')
        next_column(&r->view, key == '<' || key == ',' ? -1 : 1);
    if (key == 't' && r->live)
        r->view.all = !r->view.all;
    if (key == ' ')
        r->paused = !r->paused;
    if (key == 'q' || key == 3 || key == 27)
        r->done = true;
    return key != 0;
}

static void take_keys(struct run *r)
{
    bool changed = false;
    int key;

    while (r->on_screen && (key = screen_key(&r->screen)))
        changed |= take_key(r, key);
    if (changed)
        top_draw(&r->view, &r->screen, r->paused);
}

static bool is_over(struct run *r)
{
    return atomic_load(&stop) || r->done || (r->o->intervals && r->counted >= r->o->intervals);
}

static bool is_time(const struct run *r)
{
    return (r->live || r->on_screen) && clock_ns(CLOCK_MONOTONIC) >= r->next;
}

/* Keys and the end of intervals: called often. */
static int look(struct run *r, struct err *err)
{
    take_keys(r);
    if (tell_poll(r->tell, err) < 0)
        return -err->code;
    return is_time(r) ? show(r, err) : 0;
}

static int take_frame(void *ctx, const struct frame *frame, struct err *err)
{
    struct run *r = ctx;
    struct frame numbered = *frame;

    numbered.number = ++r->frames - r->base;
    return engine_frame(r->engine, &numbered, err);
}

static int run_interface(struct run *r, struct err *err)
{
    struct pollfd p[2];
    int result = 0;

    r->sniff = sniff_open(r->o->interface, r->o->packet_filter, err);
    if (!r->sniff || new_engine(r, err) < 0)
        return -err->code;
    r->view.packets = &r->packets;
    r->view.name = r->o->interface;
    while (result >= 0 && !is_over(r)) {
        p[0] = (struct pollfd){ .fd = sniff_fd(r->sniff), .events = POLLIN };
        p[1] = (struct pollfd){ .fd = r->on_screen ? r->screen.fd : -1, .events = POLLIN };
        poll(p, 2, WAIT_MS);
        result = sniff_read(r->sniff, PACKETS, take_frame, r, err);
        if (result >= 0)
            result = look(r, err);
    }
    return result < 0 ? result : 0;
}

/* struct live of a file or pipe. */
static int still(void *ctx, struct err *err)
{
    struct run *r = ctx;

    (void)err;
    return !is_over(r);
}

static bool is_stopped(void *ctx)
{
    return is_over(ctx);
}

static bool always(void *ctx)
{
    (void)ctx;
    return true;
}

static int at_rest(void *ctx, struct err *err)
{
    return look(ctx, err);
}

static void came(void *ctx)
{
    (void)ctx;
}

static int read_capture(struct run *r, struct input *input, struct err *err)
{
    struct capture *capture = capture_open(input, err);
    struct frame frame;
    int result = capture && new_engine(r, err) == 0 ? 1 : -err->code;

    while (result == 1 && !is_over(r) && (result = capture_next(capture, &frame, err)) == 1) {
        if (take_frame(r, &frame, err) < 0 || (r->frames % LOOK == 0 && look(r, err) < 0))
            result = -err->code;
    }
    capture_close(capture);
    return result < 0 ? result : 0;
}

struct stream {
    struct run *run;
    struct sink sink;
    struct input *input;
    uint64_t records;
};

static int take_record(void *ctx, const struct record *record, struct err *err)
{
    struct stream *s = ctx;

    if (record->kind == RECORD_END && input_live(s->input))
        input_end_live(s->input);
    if (s->sink.put(s->sink.ctx, record, err) < 0)
        return -err->code;
    return ++s->records % LOOK == 0 ? look(s->run, err) : 0;
}

static int read_stream(struct run *r, struct input *input, struct err *err)
{
    struct stream stream = { .run = r, .sink = top_sink(r->top), .input = input };
    struct sink sink = { take_record, &stream };

    r->view.knows_waiting = false;
    return nfsr_read_stream(input_read, input, input_name(input), &sink, err);
}

static int run_file(struct run *r, struct err *err)
{
    struct live live = { .still = still,
                         .stopped = is_stopped,
                         .due = always,
                         .rest = at_rest,
                         .came = came,
                         .ctx = r };
    struct input *input =
        r->live ? input_open_live(r->o->file, &live, err) : input_open(r->o->file, false, err);
    const uint8_t *head;
    size_t len;
    int result;

    if (!input)
        return -err->code;
    r->view.name = input_name(input);
    len = input_head(input, &head);
    if (!len && is_over(r))
        result = 0;
    else
        result =
            nfsr_is_stream(head, len) ? read_stream(r, input, err) : read_capture(r, input, err);
    input_close(input);
    return result;
}

/* After the last packet: in a file, what waits is given up; the last interval, or the whole file,
 * is shown. */
static int finish(struct run *r, struct err *err)
{
    if (r->live) {
        if (look_at_waiting(r, err) < 0)
            return -err->code;
    } else if (r->engine && engine_end(r->engine, false, err) < 0) {
        return -err->code;
    }
    if (!r->live) { /* what was given up does not wait */
        top_waiting_begin(r->top);
        top_waiting_end(r->top);
    }
    r->view.ended = true;
    r->paused = false;
    if (!(r->o->intervals && r->counted >= r->o->intervals) && show(r, err) < 0)
        return -err->code;
    while (r->on_screen && !atomic_load(&stop) && !r->done) {
        struct pollfd p = { .fd = r->screen.fd, .events = POLLIN };

        poll(&p, 1, WAIT_MS);
        take_keys(r);
    }
    return 0;
}

static void tell_slow(void *ctx, const struct top_operation *operation)
{
    const struct run *r = ctx;

    /* 0 prints all, also those whose latency is negative or not known */
    if (r->o->slower && operation->latency < r->o->slower && !operation->is_error)
        return;
    if (r->o->json)
        top_slow_json(operation);
    else
        top_slow(operation);
}

static int begin_metrics(struct run *r, struct err *err)
{
    const struct tell_setup setup = top_metrics(&r->view, r->o->metrics);
    char listens[TELL_ADDRESS], text[TELL_ADDRESS + 32];

    if (!r->o->metrics)
        return 0;
    r->tell = tell_new(&setup, listens, err);
    if (!r->tell)
        return -err->code;
    snprintf(text, sizeof(text), "metrics: %s", listens);
    say(text);
    return 0;
}

static int begin(struct run *r, struct err *err)
{
    const struct top_options *o = r->o;
    const struct top_setup setup = { .filter = o->filter,
                                     .each = o->slower >= 0 ? tell_slow : NULL,
                                     .ctx = r };

    r->top = top_new(&setup, err);
    if (!r->top)
        return -err->code;
    r->live = o->interface || o->follow || strcmp(o->file, "-") == 0;
    r->view = (struct top_view){ .top = r->top,
                                 .by = o->by,
                                 .sort = o->sort,
                                 .limit = o->limit,
                                 .all = !r->live,
                                 .name = o->interface ? o->interface : o->file,
                                 .knows_waiting = true };
    r->began = r->since = clock_ns(CLOCK_MONOTONIC);
    r->next = r->began + o->every;
    r->on_screen = !o->batch && !o->json && o->slower < 0 && isatty(STDOUT_FILENO);
    return begin_metrics(r, err);
}

/* What the numbers are without. */
static void say_unopened(const struct run *r)
{
    struct unopened unopened = { 0 };
    struct err note = { 0 };

    if (r->engine)
        engine_unopened(r->engine, &unopened);
    feed_note_unopened(&unopened, r->view.name, &note);
    if (*note.text)
        say(note.text);
}

int top_run(const struct top_options *options, struct err *err)
{
    struct run r = { .o = options, .screen = { .fd = -1 } };
    struct err cut = { 0 };
    int result = begin(&r, err);

    signals_catch(&stop);
    if (result == 0 && r.on_screen)
        result = screen_begin(&r.screen, stdout, err);
    if (result == 0 && r.on_screen) {
        measure(&r);
        top_draw(&r.view, &r.screen, false);
    }
    if (result == 0)
        result = options->interface ? run_interface(&r, err) : run_file(&r, err);
    if (result == -ERR_INPUT && r.frames + (uint64_t)(top_first_time(r.top) != TIME_NONE)) {
        cut = *err; /* what could be read is shown */
        result = 0;
    }
    if (result == 0)
        result = finish(&r, err);
    screen_end(&r.screen);
    say_unopened(&r);
    tell_free(r.tell);
    sniff_close(r.sniff);
    engine_free(r.engine);
    top_free(r.top);
    if (result == 0 && cut.code && !atomic_load(&stop) && !r.done) {
        *err = cut;
        return -cut.code;
    }
    return result;
}
