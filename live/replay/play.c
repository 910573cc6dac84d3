/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/play.c
 *
 * The run of all dumps of a session.  See play.h.
 */
#include "replay/play.h"
#include "base/values.h"
#include "fill/fill.h"
#include "replay/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FEED_BYTES = 32 << 20,
    FEED_BYTES_LEAST = 1 << 20,
    EACH_LEAST = 128,      /* calls under way on a connection */
    SHOW_EVERY = 200000000 /* ns: what happened in less says nothing of a rate */
};

/* Opens what the player needs of one dump, whose tree was found. */
static int open_dump(struct play *p, uint32_t index, struct err *err)
{
    const struct replay_options *o = p->session->options;
    struct session_dump *of = &p->session->dumps[index];
    struct play_tree *tree = &p->trees[index];
    struct player_dump *dump = &p->dumps[index];
    struct feed_setup feed = { .script = &of->script,
                               .bytes = FEED_BYTES / p->session->dump_count,
                               .stop_after = o->stop_after,
                               .partial = o->partial };
    struct verdict_setup verdict = { .script = &of->script,
                                     .objects = tree->objects,
                                     .fill = tree->fills,
                                     .links = tree->links,
                                     .ignore = o->ignore,
                                     .rules = o->rules,
                                     .late_stale = true };

    if (feed.bytes < FEED_BYTES_LEAST)
        feed.bytes = FEED_BYTES_LEAST;
    *dump = (struct player_dump){ .script = &of->script,
                                  .objects = tree->objects,
                                  .target = tree->targets,
                                  .stale = tree->stale,
                                  .delay = of->delay,
                                  .operations = of->survey.operations };
    if (o->stop_after && o->stop_after < dump->operations)
        dump->operations = o->stop_after;
    dump->verdicts = verdicts_new(&verdict, err);
    if (dump->verdicts)
        dump->feed = feed_new(&feed, err);
    return dump->feed ? 0 : -err->code;
}

int play_find(struct play *p, struct session *session, struct tally *tally, struct err *err)
{
    const struct replay_options *o = session->options;
    uint32_t count = session->dump_count;
    int result = 0;

    *p = (struct play){ .session = session,
                        .tally = tally,
                        .outstanding = (uint32_t)o->outstanding,
                        .connections = (uint32_t)o->connections,
                        .beside = 1 };
    p->trees = calloc(count, sizeof(*p->trees));
    p->dumps = calloc(count, sizeof(*p->dumps));
    if (!p->trees || !p->dumps)
        return err_memory(err, "dumps");
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = play_tree_find(&p->trees[i], session, &session->dumps[i], err);
    return result;
}

int play_note_trees(struct play *p, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < p->session->dump_count && result == 0; i++)
        result = play_tree_note(&p->trees[i], err);
    return result;
}

int play_open(struct play *p, struct err *err)
{
    int result = 0;

    fill_at(0, 0); /* before there are threads */
    for (uint32_t i = 0; i < p->session->dump_count && result == 0; i++)
        result = open_dump(p, i, err);
    return result;
}

int play_new(struct play *p, struct session *session, struct tally *tally, struct err *err)
{
    int result = play_find(p, session, tally, err);

    if (result == 0)
        result = play_note_trees(p, err);
    return result < 0 ? result : play_open(p, err);
}

/* With a number of connections, they share the calls that may be under way. */
static uint32_t outstanding_each(const struct play *p)
{
    uint64_t all = p->connections;
    uint64_t each = all ? (p->outstanding + all - 1) / all : 0;

    return each > EACH_LEAST ? (uint32_t)each : EACH_LEAST;
}

/* How long the run lasts if nothing is late, in ns; 0: there is no such plan. */
static int64_t planned_length(const struct play *p)
{
    const struct replay_options *o = p->session->options;
    const double turns = p->session->dump_count; /* that dumps take with a rate */
    double most = 0;

    if (o->pace == PACE_ASAP || o->warm_up || o->warm_up_operations ||
        (o->pace == PACE_TRACE && o->stop_after))
        return 0;
    for (uint32_t i = 0; i < p->session->dump_count; i++) {
        const struct session_dump *d = &p->session->dumps[i];
        double length = o->pace == PACE_RATE
                            ? (double)p->dumps[i].operations * turns * 1e9 / o->rate
                            : ((double)d->survey.last - (double)d->survey.first) / o->scale;

        if (length + (double)d->delay > most)
            most = length + (double)d->delay;
    }
    if (o->duration && (double)o->duration < most)
        return o->duration;
    return most < 4e18 ? (int64_t)most : 0;
}

static void note_rate(struct play *p, const struct player_progress *progress)
{
    int64_t passed = progress->now - p->shown.at;

    if (passed < SHOW_EVERY)
        return;
    p->shown.rate = (uint64_t)((double)(progress->done - p->shown.done) * 1e9 / (double)passed);
    p->shown.at = progress->now;
    p->shown.done = progress->done;
}

/* "4.004s", and of how long a time it is, if that is known. */
static void time_words(const struct play *p, const struct player_progress *progress,
                       char to[2 * VALUE_TEXT_MAX + 8])
{
    int64_t all = planned_length(p);
    char now[VALUE_TEXT_MAX], length[VALUE_TEXT_MAX];

    duration_text(progress->now, now);
    if (all && progress->total)
        snprintf(to, 2 * VALUE_TEXT_MAX + 8, "%s of %s", now, duration_text(all, length));
    else
        snprintf(to, 2 * VALUE_TEXT_MAX + 8, "%s", now);
}

static int on_play_progress(void *ctx, const struct player_progress *progress, struct err *err)
{
    struct play *p = ctx;
    char done[2 * VALUE_TEXT_MAX], total[VALUE_TEXT_MAX], differ[VALUE_TEXT_MAX],
        late[VALUE_TEXT_MAX], rate[VALUE_TEXT_MAX], passed[2 * VALUE_TEXT_MAX + 8], text[320];
    uint64_t all = progress->total;

    (void)err;
    if (progress->note && !p->session->options->quiet) {
        session_progress(p->session, NULL);
        fprintf(stderr, "nfsreplay: %s\n", progress->note);
    }
    if (all) /* a dump that changed meanwhile may have more */
        snprintf(done, sizeof(done), "%.0f %% of %s",
                 progress->done < all ? 100.0 * (double)progress->done / (double)all : 100.0,
                 count_text(all, total));
    else
        count_text(progress->done, done);
    note_rate(p, progress);
    time_words(p, progress, passed);
    snprintf(text, sizeof(text),
             "%s operations in %s, %s/s, %s late, %s differ, %" PRIu64 " outstanding", done, passed,
             count_text(p->shown.rate, rate), duration_text(progress->late, late),
             count_text(progress->differ, differ), progress->outstanding);
    session_progress(p->session, text);
    return 0;
}

int play_run(struct play *p, struct err *err)
{
    const struct replay_options *o = p->session->options;
    const struct player_setup setup = { .loop = p->session->loop,
                                        .dumps = p->dumps,
                                        .dump_count = p->session->dump_count,
                                        .pace = o->pace,
                                        .scale = o->scale,
                                        .rate = o->rate,
                                        .order = o->order,
                                        .pick = o->pick,
                                        .seed = o->seed,
                                        .connections = p->connections,
                                        .outstanding = p->outstanding,
                                        .outstanding_each = outstanding_each(p),
                                        .warm_up = o->warm_up,
                                        .warm_up_operations = o->warm_up_operations,
                                        .duration = o->duration,
                                        .spin = sysconf(_SC_NPROCESSORS_ONLN) > (long)p->beside,
                                        .timeout = o->timeout,
                                        .give_up = o->give_up,
                                        .tally = p->tally,
                                        .progress = on_play_progress,
                                        .ctx = p,
                                        .message = p->session->recorder ? recording_put : NULL,
                                        .message_ctx = p->session,
                                        .others = p->others,
                                        .begin = p->begin };
    int result;

    p->player = player_new(&setup, err);
    if (!p->player)
        return -err->code;
    if (p->stop)
        player_stop(p->player);
    result = player_run(p->player, err);
    session_progress(p->session, NULL);
    p->interrupted = session_interrupted(p->session);
    for (uint32_t i = 0; i < p->session->dump_count && result == 0; i++) {
        const struct survey *survey = &p->session->dumps[i].survey;

        p->shortened |= o->stop_after && feed_stats(p->dumps[i].feed).given == o->stop_after &&
                        (survey->is_pipe || survey->operations > o->stop_after);
    }
    return result;
}

const char *play_damage(const struct play *p, uint32_t index)
{
    struct feed_stats stats = feed_stats(p->dumps[index].feed);

    return stats.damaged ? stats.damage : NULL;
}

/* What the run was to play, if that is not all. */
static void note_part(const struct play *p, char *to, size_t size)
{
    const bool several = p->session->dump_count > 1;
    bool damaged = false;

    for (uint32_t i = 0; i < p->session->dump_count; i++)
        damaged |= play_damage(p, i) != NULL;
    to[0] = 0;
    if (damaged)
        snprintf(to, size, "only what stands before the damage of %s",
                 several ? "a dump" : "the dump");
    else if (p->shortened)
        snprintf(to, size, "only the first %" PRIu64 " operations of %s",
                 p->session->options->stop_after, several ? "each dump" : "the dump");
}

void play_note(const struct play *p, char *to, size_t size)
{
    const char *early = p->interrupted          ? "interrupted by a signal"
                        : p->tally->ended_early ? p->tally->ended_early
                                                : "";
    char first[64];

    note_part(p, first, sizeof(first));
    snprintf(to, size, "%s%s%s%s%s", first, first[0] && early[0] ? "; " : "", early,
             p->tally->unread && (first[0] || early[0]) ? "; " : "",
             p->tally->unread ? "the rest of the dump was not read" : "");
}

void play_free(struct play *p)
{
    player_free(p->player);
    for (uint32_t i = 0; i < p->session->dump_count && p->dumps && p->trees; i++) {
        feed_free(p->dumps[i].feed);
        verdicts_free(p->dumps[i].verdicts);
        play_tree_free(&p->trees[i]);
    }
    free(p->dumps);
    free(p->trees);
}
