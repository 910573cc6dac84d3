/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/recorder.c
 *
 * A -z statistic that writes a file: frames go to a worker's thread, the file appears at the end.
 * For both plugins.  The contract is in recorder.h.
 */
#include "compat.h"
#include "recorder.h"
#include "run.h"
#include "link/worker.h"

#include <epan/stat_tap_ui.h>
#include <wsutil/report_message.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct recorder {
    struct run_member member; /* must be first */
    const struct recorder_type *type;
    struct options *options;
    struct output *file;
    void *state;
    struct worker *worker; /* NULL: before the first frame, and with decap=wireshark */
};

/* The one of this plugin's that -z is about: the callback gets no argument of ours. */
static const struct recorder_type *registered;

static void recorder_free(struct run_member *member)
{
    struct recorder *r = (struct recorder *)member;
    worker_free(r->worker);
    if (r->state)
        r->type->close(r->state);
    output_close(r->file);
    if (r->options)
        options_free(r->type->options, r->options);
    free(r->options);
    free(r);
}

static int feed_engine(void *ctx, const struct frame *frame, struct err *err)
{
    return engine_frame(ctx, frame, err);
}

/* The thread is started as late as this because a live capture forks before. */
static int queue_frame(struct recorder *r, const struct frame *frame)
{
    struct err *err = &r->member.err;
    if (!r->worker)
        r->worker = worker_new(feed_engine, r->type->engine(r->state), err);
    return r->worker ? worker_frame(r->worker, frame, err) : -err->code;
}

static int recorder_frame(struct run_member *member, const struct frame *frame,
                          const struct ip_payload *payloads, unsigned count)
{
    struct recorder *r = (struct recorder *)member;
    if (!member->decap_wireshark)
        return queue_frame(r, frame);
    struct engine *engine = r->type->engine(r->state);
    int result = engine_frame_seen(engine, frame, &member->err);
    for (unsigned i = 0; i < count && !result; i++)
        result = engine_payload(engine, frame, &payloads[i], &member->err);
    return result;
}

static int drain(struct recorder *r)
{
    return r->worker ? worker_drain(r->worker, &r->member.err) : 0;
}

static int recorder_pause(struct run_member *member)
{
    struct recorder *r = (struct recorder *)member;
    int result = drain(r);
    return result < 0 ? result : r->type->flush(r->state, &member->err);
}

/* What tshark without our option would have opened. */
static void say_unopened(struct recorder *r)
{
    struct unopened unopened;
    char text[512];
    engine_unopened(r->type->engine(r->state), &unopened);
    if (!unopened.packets)
        return;
    snprintf(text, sizeof text,
             "%" G_GUINT64_FORMAT " packets in encapsulations (%s) are not opened here; with "
             "decap=wireshark Wireshark opens them",
             unopened.packets, unopened.names);
    run_say(r->member.name, text);
}

static int recorder_finish(struct run_member *member, const struct run_end *end)
{
    struct recorder *r = (struct recorder *)member;
    int status = end->status;
    if (!end->any_frame && !end->read_to_end)
        return status ? status : ERR_SYSTEM; /* tshark has said why */
    if (!end->read_to_end) {
        bool named = strcmp(member->out, "-");
        err_set(&member->err, status ? status : ERR_SYSTEM,
                "the capture was not read to its end: %s%s is not complete",
                named ? member->out : r->type->stream, named ? "" : " on standard output");
    } else if (drain(r) >= 0 && r->type->end(r->state, status != 0, &member->err) >= 0 &&
               output_commit(r->file, &member->err) >= 0) {
        if (!member->decap_wireshark)
            say_unopened(r);
        if (r->type->summary)
            r->type->summary(r->state, r->options);
        return status;
    }
    run_say(member->name, member->err.text);
    return member->err.code;
}

/* Returns 0, a negative code, or 1 when only the usage was wanted. */
static int start(struct recorder *r, const char *argument)
{
    struct run_member *member = &r->member;
    struct err *err = &member->err;
    sigset_t signals, before;
    r->options = malloc(r->type->options->size);
    if (!r->options)
        return err_memory(err, "a recorder");
    if (options_parse(r->type->options, r->options, argument, err))
        return -err->code;
    if (r->options->help) {
        options_usage(r->type->options, stdout);
        return 1;
    }
    member->out = r->options->out;
    member->decap_wireshark = r->options->decap_wireshark;
    if (run_admits(member->name, member->out, err))
        return -err->code;
    run_catch_signals();
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    /* not between the making of the file and its being known */
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    r->state = r->type->open(r->options, &r->file, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!r->state)
        return -err->code;
    /* nothing else may get into the stream: without -q tshark prints a line for each packet */
    if (!strcmp(member->out, "-"))
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return run_join(member, err);
}

static struct recorder *recorder_new(const struct recorder_type *type)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->type = type;
    r->member = (struct run_member){ .name = type->options->name,
                                     .frame = recorder_frame,
                                     .pause = recorder_pause,
                                     .finish = recorder_finish,
                                     .free = recorder_free };
    return r;
}

/* -z NAME,...: called once, before the capture is read and when preferences are final. */
static compat_stat_result init(const char *argument, void *userdata)
{
    (void)userdata;
    const char *name = registered->options->name;
    if (g_strcmp0(g_get_prgname(), "tshark")) {
        report_failure("%s", registered->elsewhere);
        COMPAT_STAT_RETURN(false);
    }
    struct recorder *r = recorder_new(registered);
    int result = r ? start(r, argument) : -ERR_SYSTEM;
    if (result) {
        if (result < 0)
            run_say(name, r ? r->member.err.text : "out of memory");
        if (result == -ERR_USAGE)
            fprintf(stderr, "%s: \"-z %s,help\" shows the options\n", name, name);
        if (r)
            recorder_free(&r->member);
        exit(result < 0 ? -result : 0);
    }
    COMPAT_STAT_RETURN(true);
}

void recorder_register(const struct recorder_type *type)
{
    static stat_tap_ui ui = { .group = REGISTER_STAT_GROUP_GENERIC, .tap_init_cb = init };
    registered = type;
    ui.cli_string = type->options->name;
    register_stat_tap_ui(&ui, NULL);
}
