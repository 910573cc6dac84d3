/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/cmd_shadow.c
 *
 * nfstee shadow: options, servers and totals around shadow/shadow.h.
 */
#include "base/values.h"
#include "player/target.h"
#include "relay/relay_entry.h"
#include "ring/ring_door.h"
#include "tee/commands.h"
#include "tee/remount.h"
#include "tee/shadow_options.h"
#include "tee/shadow_page.h"
#include "tee/shadow_refuse.h"
#include "tee/shadow_view.h"
#include "tee/tell_shadow.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define PATIENCE INT64_C(10000000000) /* ns: for each question at the beginning */

struct shadowing {
    struct shadow_options options;
    struct loop *loop;
    struct target reference, sut;
    char machine[sizeof(RELAY_MARK_NAME) + RELAY_MARK_SIZE]; /* with the mark behind it */
    struct rpc_auth credential;
    struct shadow *shadow;
    struct told_shadow told;
    struct control *control;
    struct metrics *metrics;
    struct remount remount; /* of the SUT */
    struct timer end;
    struct timer look; /* if all is synchronized */
    struct shadow_view view;
    struct shadow_page *page;
};

static int ended(void *ctx, struct err *err)
{
    struct shadowing *p = ctx;

    (void)err;
    loop_stop(p->loop);
    return 0;
}

static void tell(void *ctx, const char *text)
{
    struct shadowing *p = ctx;

    shadow_view_clear(&p->view);
    if (!p->options.quiet)
        fprintf(stderr, "the SUT: %s\n", text);
}

static void log_failed(void *ctx, const char *why)
{
    struct shadowing *p = ctx;

    shadow_view_clear(&p->view);
    fprintf(stderr,
            "nfstee: the log: %s; it gets nothing more, and what differs from now on is only "
            "counted\n",
            why);
}

/* --- a SUT that begins anew */

static int lost_root(void *ctx, struct err *err)
{
    struct shadowing *p = ctx;

    tell(p, "it does not know its root any more; everything is copied again");
    return remount_begin(&p->remount, err);
}

static int mounted(void *ctx, struct bytes root, struct err *err)
{
    struct shadowing *p = ctx;

    if (shadow_sut_root(p->shadow, root, err) < 0)
        return -err->code;
    return p->options.quiet ? 0 : loop_set(p->loop, &p->look, loop_clock(), err);
}

/* --- the control socket, and metrics */

static int begin_telling(struct shadowing *p, struct err *err)
{
    struct metrics_setup setup;

    p->told = (struct told_shadow){ p->loop, p->shadow };
    if (p->options.metrics.family) {
        setup = tell_shadow_metrics(&p->told, &p->options.metrics);
        p->metrics = metrics_new(p->loop, &setup, err);
        if (!p->metrics)
            return err_prefix(err, "--metrics");
    }
    if (!p->options.control)
        return 0;
    p->control = control_new(p->loop, p->options.control, err);
    if (!p->control || tell_shadow_control(p->control, &p->told, err) < 0)
        return err_prefix(err, "--control");
    return 0;
}

/* --- the page */

static void tell_of_page(void *ctx, const char *text)
{
    struct shadowing *p = ctx;

    shadow_view_clear(&p->view);
    if (!p->options.quiet)
        fprintf(stderr, "the page: %s\n", text);
}

static int begin_page(struct shadowing *p, struct err *err)
{
    const struct shadow_options *o = &p->options;
    const struct shadow_page_setup setup = { .loop = p->loop,
                                             .shadow = p->shadow,
                                             .path = o->html,
                                             .reference = o->relay,
                                             .sut = o->sut,
                                             .log = o->log,
                                             .tell = tell_of_page,
                                             .ctx = p };

    if (!o->html)
        return 0;
    p->page = shadow_page_new(&setup, err);
    return p->page ? 0 : err_prefix(err, "--html");
}

/* --- the run */

static int open_place(struct shadowing *p, const char *text, struct target *to, struct err *err)
{
    const struct target_setup setup = {
        .text = text,
        .ports = p->options.privileged ? SOURCE_PORT_PRIVILEGED : SOURCE_PORT_ANY,
        .timeout = PATIENCE,
        .machine = p->machine,
    };

    return target_open(p->loop, &setup, to, err);
}

static struct shadow_place place_of(const struct target *t)
{
    struct shadow_place place = {
        .nfs = t->nfs, .root_len = t->root_len, .wtmax = t->wtmax, .from = t->from
    };

    memcpy(place.root, t->root, t->root_len);
    return place;
}

static int begin_shadow(struct shadowing *p, struct err *err)
{
    const struct shadow_options *o = &p->options;
    const struct shadow_setup setup = {
        .loop = p->loop,
        .attach = o->attach,
        .mark = (const uint8_t *)p->machine + sizeof(RELAY_MARK_NAME) - 1,
        .reference = place_of(&p->reference),
        .sut = place_of(&p->sut),
        .credential = &p->credential,
        .limits = { .in_flight = (uint32_t)o->in_flight,
                    .queue_bytes = o->queue_bytes,
                    .timeout = o->timeout,
                    .sync_bytes = o->sync_bytes,
                    .sync_objects = o->sync_objects,
                    .tree_order = o->tree_order },
        .exclude = { o->exclude.texts, o->exclude.count },
        .only = { o->only.texts, o->only.count },
        .log = o->log,
        .logging = { .rules = o->rules.texts,
                     .rule_count = o->rules.count,
                     .record_all = o->record_all,
                     .log_max = o->log_max,
                     .on_mismatch = o->on_mismatch },
        .scrubs = o->scrubs,
        .scrub_bytes = o->scrub_bytes,
        .tell = tell,
        .log_failed = log_failed,
        .ended = ended,
        .lost_root = lost_root,
        .ctx = p,
    };

    p->shadow = shadow_new(&setup, err);
    return p->shadow ? 0 : -err->code;
}

static int on_look(void *ctx, struct err *err)
{
    struct shadowing *p = ctx;

    if (shadow_is_synchronized(p->shadow)) {
        shadow_view_clear(&p->view);
        fprintf(stderr, "synchronized\n");
        return 0;
    }
    return loop_set(p->loop, &p->look, loop_now(p->loop) + 100000000, err);
}

static int refuse(struct shadowing *p, struct err *err)
{
    const struct shadow_options *o = &p->options;
    const struct shadow_refusing setup = { p->loop, &p->reference, &p->sut, o->overwrite,
                                           o->exclude.count || o->only.count };
    struct buf removed = { 0 };
    int result = shadow_refuse(&setup, &removed, err);

    if (result == 0 && removed.len && !p->options.quiet)
        fprintf(stderr, "the SUT: its export is not empty.  This will be removed from it: %.*s\n",
                (int)removed.len, (const char *)removed.data);
    buf_free(&removed);
    return result;
}

/* Before anything is asked of the reference: other shadows must not take that for requests of
 * clients.  Who may read the ring may know the mark. */
static int tell_mark(struct shadowing *p, struct err *err)
{
    char *mark = p->machine + sizeof(RELAY_MARK_NAME) - 1;
    uint64_t number[2];

    _Static_assert((int)RELAY_MARK_SIZE == (int)RING_DOOR_MARK, "the relay's marks are the door's");
    if (getrandom(number, sizeof(number), 0) != sizeof(number))
        return err_set(err, ERR_SYSTEM, "no random numbers: %s", strerror(errno));
    snprintf(p->machine, sizeof(p->machine), "%s%016" PRIx64 "%016" PRIx64, RELAY_MARK_NAME,
             number[0], number[1]);
    return ring_mark(p->options.attach, p->loop, (const uint8_t *)mark, err) < 0
               ? err_prefix(err, "--attach")
               : 0;
}

static int begin(struct shadowing *p, struct err *err)
{
    p->loop = loop_new(err);
    if (!p->loop || loop_take_signals(p->loop, err) < 0)
        return -err->code;
    if (tell_mark(p, err) < 0)
        return -err->code;
    p->credential = (struct rpc_auth){
        .flavor = RPC_AUTH_SYS,
        .valid = true,
        .machine = { (const uint8_t *)p->machine, sizeof(p->machine) - 1 },
        .uid = (uint32_t)p->options.sync_uid,
        .gid = (uint32_t)p->options.sync_gid,
    };
    if (open_place(p, p->options.relay, &p->reference, err) < 0)
        return err_prefix(err, "--relay");
    if (open_place(p, p->options.sut, &p->sut, err) < 0)
        return err_prefix(err, "--sut");
    p->remount = (struct remount){ .loop = p->loop, .target = &p->sut, .done = mounted, .ctx = p };
    remount_init(&p->remount);
    p->reference.credential = p->sut.credential = p->credential;
    if (refuse(p, err) < 0 || begin_shadow(p, err) < 0 || begin_page(p, err) < 0 ||
        begin_telling(p, err) < 0)
        return -err->code;
    p->end = (struct timer){ .due = ended, .ctx = p };
    p->look = (struct timer){ .due = on_look, .ctx = p };
    if (!p->options.quiet && (loop_set(p->loop, &p->look, loop_clock(), err) < 0 ||
                              shadow_view_begin(&p->view, p->loop, p->shadow, err) < 0))
        return -err->code;
    return p->options.duration ? loop_set(p->loop, &p->end, loop_clock() + p->options.duration, err)
                               : 0;
}

/* --- totals */

static void print_json(struct shadowing *p)
{
    struct json j = { .out = stdout, .indented = true };

    json_object(&j, NULL);
    shadow_json(p->shadow, &j);
    json_object_end(&j);
    json_end(&j);
}

/* Of both servers, by procedure. */
static void print_latencies(const struct shadow *shadow)
{
    const struct shadow_latency *l = shadow_latencies(shadow);
    char count[VALUE_TEXT_MAX], median[VALUE_TEXT_MAX], late[VALUE_TEXT_MAX];

    if (!l->side[REF].count)
        return;
    printf("%-16s %11s %9s %9s %11s %9s %9s\n", "latencies", "reference", "median", "99 %", "SUT",
           "median", "99 %");
    for (uint32_t i = 0; i < SHADOW_LATENCIES; i++, l++) {
        if (!l->side[REF].count)
            continue;
        printf("%-16s", l->name);
        for (int side = 0; side < SIDES; side++) {
            const struct histogram *h = &l->side[side];

            printf(" %11s %9s %9s", count_text(h->count, count),
                   h->count ? duration_text(histogram_at(h, 0.5), median) : "-",
                   h->count ? duration_text(histogram_at(h, 0.99), late) : "-");
        }
        putchar('\n');
    }
}

static void print_totals(struct shadowing *p)
{
    const struct shadow_counts *c = shadow_counts(p->shadow);
    const struct teelog_counts *t = shadow_verdicts(p->shadow);

    if (p->options.json) {
        print_json(p);
        return;
    }
    printf("%" PRIu64 " requests, %" PRIu64 " of them compared (%.1f %%)\n", c->requests,
           c->fates[FATE_COMPARED],
           c->requests ? 100.0 * (double)c->fates[FATE_COMPARED] / (double)c->requests : 0);
    for (int i = FATE_UNANSWERED; i < FATES; i++)
        if (c->fates[i])
            printf("%12" PRIu64 " %s\n", c->fates[i], shadow_fate_name((enum shadow_fate)i));
    printf("%" PRIu64 " agree, %" PRIu64 " differ, %" PRIu64 " withheld\n", t->agree, t->differ,
           t->withheld);
    if (p->options.scrubs)
        printf("%" PRIu64 " objects compared while clients were quiet, %" PRIu64 " differ\n",
               c->scrub.objects, c->scrub.differ);
    if (c->others)
        printf("%" PRIu64 " calls of other synchronizers\n", c->others);
    print_latencies(p->shadow);
}

/* Returns the exit code, or a negative one.  Totals come even if a log or a page cannot be written.
 */
static int finish(struct shadowing *p, struct err *err)
{
    struct err of_page = { 0 };
    int result = shadow_end(p->shadow, err);

    if (p->page && shadow_page_end(p->page, &of_page) < 0) {
        if (result < 0)
            tell_of_page(p, of_page.text);
        else
            result = err_set(err, of_page.code, "%s", of_page.text);
    }
    shadow_view_end(&p->view);
    if (!p->options.quiet || p->options.json)
        print_totals(p);
    if (result == 0 &&
        (shadow_verdicts(p->shadow)->differ || shadow_verdicts(p->shadow)->scrubs_differ))
        result = 1;
    return result;
}

/* Without this, glibc takes large blocks from the heap once it has seen one freed, and each table
 * of objects that grows leaves its former place behind: a sixth of the memory. */
static void keep_tables_apart(void)
{
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

int cmd_shadow(int argc, char **argv, struct err *err)
{
    struct shadowing p = { .loop = NULL };
    int result = shadow_options_parse(&p.options, argc, argv, err);

    if (result != 1)
        return result;
    keep_tables_apart();
    result = begin(&p, err);
    if (result == 0)
        result = loop_run(p.loop, err);
    if (result == 0)
        result = finish(&p, err);
    control_free(p.control);
    metrics_free(p.metrics);
    remount_free(&p.remount);
    if (p.loop) {
        loop_unset(p.loop, &p.end);
        loop_unset(p.loop, &p.look);
        loop_unset(p.loop, &p.view.timer);
    }
    shadow_page_free(p.page);
    shadow_free(p.shadow);
    loop_free(p.loop);
    return result;
}
