/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record mode: tshark -z nfspair,out=FILE[,...].
 *
 * A listener on the "frame" tap gives every frame to the engine, which writes the stream.  The run
 * ends in two steps.  libwireshark calls the tap's draw callback when the capture was read to its
 * end, and not when somebody interrupted it.  Whether that end was a clean one only tshark's
 * exit status tells, so the stream is closed in an exit handler, which also gives an error of ours
 * the exit status that it needs.  (A plugin stays loaded until then: see -z nodelete.) */
#include "nfspair.h"
#include "options.h"
#include "record/nfsr.h"
#include "link/worker.h"

#include <epan/epan_dissect.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <wiretap/wtap.h>
#include <wsutil/report_message.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct recorder {
    struct record_options options;
    struct output *file;
    struct nfsr_writer *writer;
    struct engine *engine;
    struct worker *worker; /* NULL: before the first frame, and with decap=wireshark */
    uint64_t base;         /* frames of the files before this one of a live capture's ring */
    uint32_t last;         /* frame number within this file */
    bool read_to_end, failed;
    uint64_t frames, frames_at_tick;
    bool flushed;
    struct err err;
};

static struct recorder *recorder;

bool record_is_running(void)
{
    return recorder != NULL;
}

static void say(const char *text)
{
    fflush(stdout);
    fprintf(stderr, "nfspair: %s\n", text);
}

static void recorder_free(struct recorder *r)
{
    worker_free(r->worker);
    engine_free(r->engine);
    nfsr_writer_free(r->writer);
    output_close(r->file);
    options_free(&r->options);
    free(r);
}

/* Says what went wrong and has tshark end as after an interrupt: a live capture's child and
 * temporary file need that. */
static void fail(struct recorder *r)
{
    struct sigaction action;
    r->failed = true;
    say(r->err.text);
    if (!sigaction(SIGTERM, NULL, &action) && action.sa_handler != SIG_DFL &&
        action.sa_handler != SIG_IGN)
        raise(SIGTERM);
    else
        exit(r->err.code);
}

static int feed_engine(void *ctx, const struct frame *frame, struct err *err)
{
    return engine_frame(ctx, frame, err);
}

/* The thread is started as late as this because a live capture forks before. */
static int queue_frame(struct recorder *r, const struct frame *frame)
{
    if (!r->worker)
        r->worker = worker_new(feed_engine, r->engine, &r->err);
    return r->worker ? worker_frame(r->worker, frame, &r->err) : -r->err.code;
}

static int drain(struct recorder *r)
{
    return r->worker ? worker_drain(r->worker, &r->err) : 0;
}

static int record_frame(struct recorder *r, const struct frame *frame, uint32_t number)
{
    if (!r->options.decap_wireshark)
        return queue_frame(r, frame);
    unsigned count;
    const struct ip_payload *payloads = payload_take(number, &count);
    int result = engine_frame_seen(r->engine, frame, &r->err);
    for (unsigned i = 0; i < count && !result; i++)
        result = engine_payload(r->engine, frame, &payloads[i], &r->err);
    return result;
}

/* Every frame of the capture: nothing here but what the engine needs. */
static tap_packet_status tap_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                    const void *data, tap_flags_t flags)
{
    (void)data;
    (void)flags;
    struct recorder *r = tapdata;
    struct frame frame;
    if (r->failed)
        return TAP_PACKET_FAILED;
    /* numbers start again in each file of a ring, and after tshark -M */
    if (pinfo->num <= r->last)
        r->base += r->last;
    r->last = pinfo->num;
    r->frames++;
    if (!feed_frame(pinfo, edt->tvb, &frame))
        return TAP_PACKET_DONT_REDRAW;
    frame.number = r->base + pinfo->num;
    if (!record_frame(r, &frame, pinfo->num))
        return TAP_PACKET_DONT_REDRAW;
    fail(r);
    return TAP_PACKET_FAILED;
}

static void tap_draw(void *tapdata)
{
    struct recorder *r = tapdata;
    r->read_to_end = true;
}

/* Once a second, and only while a live capture waits for packets: what is there goes out when
 * nothing more came. */
static gboolean tick(gpointer data)
{
    struct recorder *r = data;
    if (r != recorder || r->failed)
        return G_SOURCE_REMOVE;
    if (r->frames != r->frames_at_tick)
        r->flushed = false;
    else if (!r->flushed && (drain(r) < 0 || nfsr_writer_flush(r->writer, &r->err) < 0))
        fail(r);
    else
        r->flushed = true;
    r->frames_at_tick = r->frames;
    return G_SOURCE_CONTINUE;
}

static int finish(struct recorder *r, int status)
{
    if (r->failed)
        return r->err.code;
    if (!r->frames && !r->read_to_end)
        return status ? status : ERR_SYSTEM; /* tshark has said why */
    if (!r->read_to_end) {
        err_set(&r->err, status ? status : ERR_SYSTEM,
                "the capture was not read to its end: %s is not complete",
                strcmp(r->options.out, "-") ? r->options.out : "the stream on standard output");
    } else if (drain(r) >= 0 && engine_end(r->engine, status != 0, &r->err) >= 0 &&
               output_commit(r->file, &r->err) >= 0) {
        return status;
    }
    say(r->err.text);
    return r->err.code;
}

static void at_exit(int status, void *data)
{
    struct recorder *r = data;
    int code = finish(r, status);
    recorder = NULL;
    recorder_free(r);
    payload_free();
    if (code != status) {
        fflush(NULL);
        _exit(code);
    }
}

static int pass_over(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    (void)pinfo;
    (void)tree;
    (void)data;
    return (int)tvb_captured_length(tvb);
}

/* All that can be switched off; "frame" and its tap cannot.  What follows a frame is given to
 * nobody, which is quicker than to the one who shows unknown data. */
static void switch_protocols_off(void)
{
    void *cookie = NULL;
    dissector_handle_t nobody = create_dissector_handle(pass_over, -1);
    for (int encap = 0; encap < wtap_get_num_encap_types(); encap++)
        dissector_change_uint("wtap_encap", (uint32_t)encap, nobody);
    for (int id = proto_get_first_protocol(&cookie); id != -1;
         id = proto_get_next_protocol(&cookie)) {
        const protocol_t *protocol = find_protocol_by_id(id);
        if (proto_can_toggle_protocol(id) && !proto_is_pino(protocol) &&
            proto_is_protocol_enabled(protocol))
            proto_set_decoding(id, FALSE);
    }
}

static int open_stream(struct recorder *r)
{
    r->file = output_open(r->options.out, &r->err);
    if (!r->file)
        return r->err.code;
    /* nothing else may get between the records: without -q tshark prints a line for each packet */
    if (!strcmp(r->options.out, "-"))
        dup2(STDERR_FILENO, STDOUT_FILENO);
    r->writer = nfsr_writer_new(output_write, r->file, &r->err);
    if (!r->writer)
        return r->err.code;
    struct sink sink = nfsr_writer_sink(r->writer);
    r->engine = engine_new(&r->options.engine, &sink, NULL, &r->err);
    return r->engine ? 0 : r->err.code;
}

static int start(struct recorder *r, const char *argument)
{
    if (options_parse(&r->options, argument, &r->err))
        return r->err.code;
    if (r->options.help) {
        fputs(options_usage, stdout);
        return -1;
    }
    if (recorder)
        return -err_set(&r->err, ERR_USAGE, "-z nfspair is given twice");
    int code = open_stream(r);
    if (code)
        return code;
    GString *problem = register_tap_listener("frame", r, NULL, TL_REQUIRES_NOTHING, NULL,
                                             tap_packet, tap_draw, NULL);
    if (problem) {
        err_set(&r->err, ERR_SYSTEM, "%s", problem->str);
        g_string_free(problem, TRUE);
        return r->err.code;
    }
    if (on_exit(at_exit, r))
        return -err_set(&r->err, ERR_SYSTEM, "no memory");
    return 0;
}

/* -z nfspair,...: called once, before the capture is read and when preferences are final. */
static compat_stat_result init(const char *argument, void *userdata)
{
    (void)userdata;
    if (g_strcmp0(g_get_prgname(), "tshark")) {
        report_failure("-z nfspair,out=FILE records with tshark only; here the NFS Pair tree and "
                       "its filters show the same.");
        COMPAT_STAT_RETURN(false);
    }
    struct recorder *r = calloc(1, sizeof *r);
    int code = r ? start(r, argument) : ERR_SYSTEM;
    if (code) {
        if (code > 0)
            say(r ? r->err.text : "no memory");
        if (code == ERR_USAGE)
            fputs("nfspair: \"-z nfspair,help\" shows the options\n", stderr);
        if (r)
            recorder_free(r);
        exit(code > 0 ? code : 0);
    }
    recorder = r;
    if (r->options.decap_wireshark)
        payload_start();
    else
        switch_protocols_off();
    g_timeout_add_seconds(1, tick, r);
    COMPAT_STAT_RETURN(true);
}

void record_register(void)
{
    static stat_tap_ui ui = {
        .group = REGISTER_STAT_GROUP_GENERIC,
        .cli_string = "nfspair",
        .tap_init_cb = init,
    };
    register_stat_tap_ui(&ui, NULL);
}
