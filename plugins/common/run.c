/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/run.c
 *
 * What the recorders of one tshark run share: its end, its exit status, its protocols.  The
 * contract is in run.h.
 */
#include "compat.h"
#include "feed.h"
#include "payload.h"
#include "protocols.h"
#include "run.h"
#include "base/cleanup.h"

#include <epan/epan_dissect.h>
#include <epan/tap.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct run {
    struct run_member *first;
    struct run_end end;
    uint64_t base;    /* frames of the files before this one of a live capture's ring */
    uint32_t last;    /* frame number within this file */
    uint32_t skipped; /* frames since the last packet that are none */
    uint64_t frames, frames_at_tick;
    bool paused;
    bool decap_wireshark; /* somebody wants |payloads| */
    struct payloads payloads;
    struct protocols_off *off; /* or NULL */
};

/* GLib keeps the run by this name; the string itself, of which there is one in a process, is the
 * place where it does. */
#define RUN_NAME "nfsdigest-run " NFSDIGEST_VERSION

static struct run *run_find(void)
{
    return g_dataset_get_data(g_intern_static_string(RUN_NAME), RUN_NAME);
}

bool run_is_on(void)
{
    return run_find() != NULL;
}

void run_say(const char *name, const char *text)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", name, text);
}

/* Until tshark has handlers of its own, which end the reading in order (and SIGHUP's it only sets
 * where there is none): only files under temporary names are there to be removed. */
static void end_early(int number)
{
    cleanup_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_early(int number)
{
    struct sigaction action;
    if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_DFL) {
        action = (struct sigaction){ .sa_handler = end_early };
        sigaction(number, &action, NULL);
    }
}

void run_catch_signals(void)
{
    catch_early(SIGINT);
    catch_early(SIGTERM);
}

/* Says what went wrong and has tshark end as after an interrupt: a live capture's child and
 * temporary file need that. */
static void fail(struct run_member *member)
{
    struct sigaction action;
    member->failed = true;
    run_say(member->name, member->err.text);
    if (!sigaction(SIGTERM, NULL, &action) && action.sa_handler != SIG_DFL &&
        action.sa_handler != SIG_IGN && action.sa_handler != end_early)
        raise(SIGTERM);
    else
        exit(member->err.code);
}

/* Every frame of the capture: nothing here but what the engine needs. */
static tap_packet_status tap_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                    const void *data, tap_flags_t flags)
{
    (void)data;
    (void)flags;
    struct run *run = tapdata;
    struct frame frame;
    const struct ip_payload *payloads = NULL;
    unsigned count = 0;
    /* numbers start again in each file of a ring, and after tshark -M */
    if (pinfo->num <= run->last)
        run->base += run->last;
    run->last = pinfo->num;
    run->frames++;
    run->end.any_frame = true;
    if (run->decap_wireshark)
        payloads = payload_take(&run->payloads, pinfo->num, &count);
    if (!feed_frame(pinfo, edt->tvb, &frame)) {
        run->skipped++;
        return TAP_PACKET_DONT_REDRAW;
    }
    frame.number = run->base + pinfo->num;
    frame.skipped = run->skipped;
    run->skipped = 0;
    for (struct run_member *m = run->first; m; m = m->next)
        if (!m->failed && m->frame(m, &frame, payloads, count) < 0)
            fail(m);
    return TAP_PACKET_DONT_REDRAW;
}

static void tap_draw(void *tapdata)
{
    struct run *run = tapdata;
    run->end.read_to_end = true;
}

/* Once a second, and only while a live capture waits for packets: what is there goes out when
 * nothing more came. */
static gboolean tick(gpointer data)
{
    struct run *run = data;
    if (run != run_find())
        return G_SOURCE_REMOVE;
    if (run->frames != run->frames_at_tick) {
        run->paused = false;
    } else if (!run->paused) {
        for (struct run_member *m = run->first; m; m = m->next)
            if (!m->failed && m->pause(m) < 0)
                fail(m);
        run->paused = true;
    }
    run->frames_at_tick = run->frames;
    return G_SOURCE_CONTINUE;
}

static void run_free(struct run *run)
{
    while (run->first) {
        struct run_member *member = run->first;
        run->first = member->next;
        member->free(member);
    }
    protocols_off_free(run->off);
    g_free(run->payloads.items);
    free(run);
}

static void at_exit(int status, void *data)
{
    struct run *run = data;
    int code = status;
    run->end.status = status;
    for (struct run_member *m = run->first; m; m = m->next) {
        int own = m->failed ? m->err.code : m->finish(m, &run->end);
        /* of several reasons that which is no consequence of another's */
        if (own != status && (code == status || m->failed))
            code = own;
    }
    g_dataset_remove_data(g_intern_static_string(RUN_NAME), RUN_NAME);
    run_free(run);
    if (code != status) {
        fflush(NULL);
        _exit(code);
    }
}

static int start(struct run **out, struct err *err)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return err_memory(err, "a listener");
    GString *problem = register_tap_listener("frame", run, NULL, TL_REQUIRES_NOTHING, NULL,
                                             tap_packet, tap_draw, NULL);
    if (problem) {
        err_set(err, ERR_SYSTEM, "%s", problem->str);
        g_string_free(problem, TRUE);
        free(run);
        return -err->code;
    }
    if (on_exit(at_exit, run)) {
        remove_tap_listener(run);
        free(run);
        return err_memory(err, "a listener");
    }
    g_timeout_add_seconds(1, tick, run);
    g_dataset_set_data(g_intern_static_string(RUN_NAME), RUN_NAME, run);
    *out = run;
    return 0;
}

/* As many as want to may write to /dev/null. */
static bool is_device(const char *path)
{
    struct stat st;
    return strcmp(path, "-") && !stat(path, &st) && S_ISCHR(st.st_mode);
}

int run_admits(const char *name, const char *out, struct err *err)
{
    const struct run *run = run_find();
    for (const struct run_member *m = run ? run->first : NULL; m; m = m->next) {
        if (!strcmp(m->name, name))
            return err_set(err, ERR_USAGE, "-z %s is given twice", name);
        if (!strcmp(m->out, out) && !is_device(out))
            return err_set(err, ERR_USAGE, "out=%s is where %s writes to", out, m->name);
    }
    return 0;
}

int run_join(struct run_member *member, struct err *err)
{
    struct run *run = run_find();
    if (!run && start(&run, err))
        return -err->code;
    struct run_member **end = &run->first;
    while (*end)
        end = &(*end)->next;
    *end = member;
    if (member->decap_wireshark && !run->decap_wireshark) {
        if (run->off)
            protocols_on(run->off);
        payload_start(&run->payloads);
        run->decap_wireshark = true;
    } else if (!run->decap_wireshark && !run->off) {
        run->off = protocols_off();
    }
    return 0;
}
