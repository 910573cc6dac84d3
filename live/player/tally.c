/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/tally.c
 *
 * Counts what a run has shown, operation by operation.  The contract is in tally.h.  It is called
 * for every operation of a replay, so it allocates only for a procedure that is new.
 */
#include "player/tally.h"
#include "base/escape.h"
#include "effect/effect.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    FIRST_LENGTH = 1000000, /* ns of an interval */
};
/* A call of the trace that took longer must not stretch the intervals. */
#define LATENCY_MOST INT64_C(60000000000)

const char *tally_late_name(enum tally_late cause)
{
    static const char *const names[LATE_CAUSES] = { [LATE_OWN] = "own",
                                                    [LATE_DEPENDENCY] = "dependency",
                                                    [LATE_WINDOW] = "window",
                                                    [LATE_OUTSTANDING] = "outstanding" };

    return cause < LATE_CAUSES ? names[cause] : "?";
}

struct tally *tally_new(struct err *err)
{
    struct tally *t = calloc(1, sizeof(*t));

    if (t)
        t->examples = calloc(TALLY_EXAMPLES, sizeof(*t->examples));
    if (!t || !t->examples) {
        err_memory(err, "the tally of a run");
        free(t);
        return NULL;
    }
    t->interval_length = FIRST_LENGTH;
    t->begun = t->ended = t->planned_end = -1;
    return t;
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < TALLY_PROCEDURES; i++)
        free(t->procedure[i]);
    free(t->examples);
    free(t->rules);
    free(t->dump_class);
    free(t);
}

int tally_rules(struct tally *t, uint32_t count, struct err *err)
{
    t->rules = calloc(count ? count : 1, sizeof(*t->rules));
    t->rule_count = t->rules ? count : 0;
    return t->rules ? 0 : err_memory(err, "the tally of rules");
}

void tally_round(struct tally *t)
{
    t->shift = t->ended > 0 ? t->ended : 0;
    t->ended_early = NULL;
}

/* --- examples */

/* 0: an operation without an object. */
static uint32_t object_of(const struct step *step)
{
    return step->arguments.len >= 8 && !(step->has & STEP_WITHOUT_OBJECT)
               ? load_be32(step->arguments.data + 4)
               : 0;
}

/* The object and the name of an operation, as far as its arguments say them. */
static void say_what(const struct step *step, char *to, size_t size)
{
    struct effect e = { .procedure = step->procedure,
                        .arguments_body = step->arguments,
                        .arguments_length = step->arguments.len,
                        .rpc_status = -1 };
    struct buf name = { 0 };
    uint32_t object = object_of(step);

    if (step->procedure)
        effect_decode(&e);
    if (e.name.data && e.name.len <= 64 && escape_name(e.name, false, &name) == 0)
        snprintf(to, size, "\"%.*s\" in object %" PRIu32, (int)name.len, (const char *)name.data,
                 object);
    else if (object)
        snprintf(to, size, "object %" PRIu32, object);
    else
        to[0] = '\0';
    buf_free(&name);
}

void tally_stall_words(const struct stall *stall, char *to, size_t size)
{
    const struct step step = { .number = stall->procedure,
                               .procedure = rdump_procedure(stall->procedure),
                               .arguments = { stall->arguments, stall->argument_len } };

    say_what(&step, to, size);
}

/* Those that were not sent say less: they get a tenth of the places. */
bool tally_left_out(enum verdict_class class)
{
    return class == VERDICT_SKIPPED || class == VERDICT_UNPLAYABLE || class == VERDICT_NOT_PLAYED;
}

static bool is_example(const struct tally *t, enum verdict_class class)
{
    uint64_t others =
        t->class[VERDICT_SKIPPED] + t->class[VERDICT_UNPLAYABLE] + t->class[VERDICT_NOT_PLAYED];

    if (t->example_count == TALLY_EXAMPLES)
        return false;
    return !tally_left_out(class) || others <= TALLY_LEFT_OUT;
}

static void add_example(struct tally *t, const struct done *d)
{
    struct tally_example *x = &t->examples[t->example_count++];
    const struct step *step = d->step;

    x->number = d->number;
    x->because = d->because;
    x->dump = d->dump;
    x->source = step->source;
    x->time = step->time;
    x->client = step->client;
    x->server = step->server;
    x->procedure = step->number;
    x->expected = step->status;
    x->got = d->verdict->status;
    x->class = d->verdict->class;
    say_what(step, x->what, sizeof(x->what));
    snprintf(x->text, sizeof(x->text), "%s", d->verdict->text);
}

/* There are some. */
static void add_rules(struct tally *t, const struct done *d)
{
    const struct verdict *v = d->verdict;

    t->explained += !verdict_differs(v->class);
    for (uint32_t i = 0; i < v->rule_count; i++) {
        struct tally_rule *rule;

        if (v->rules[i] - 1 >= t->rule_count)
            continue;
        rule = &t->rules[v->rules[i] - 1];
        if (verdict_differs(v->class)) {
            rule->differ++;
            continue;
        }
        rule->operations++;
        if (i || rule->text[0])
            continue;
        rule->number = d->number;
        rule->dump = d->dump;
        rule->procedure = d->step->number;
        snprintf(rule->text, sizeof(rule->text), "%s", v->text);
    }
}

/* --- parts of the run */

/* Times of an operation since measuring began in the first run (tally_round). */
struct run_times {
    int64_t planned, sent, answered;
};

static struct tally_span joined(struct tally_span first, struct tally_span second)
{
    return (struct tally_span){ first.begun + second.begun, first.times + second.times };
}

void tally_join(struct tally *t)
{
    uint32_t half = (t->interval_count + 1) / 2;

    for (uint32_t i = 0; i < half; i++) {
        struct tally_interval both = t->interval[2 * i];

        if (2 * i + 1 < t->interval_count) {
            const struct tally_interval *second = &t->interval[2 * i + 1];

            both.done += second->done;
            both.errors += second->errors;
            both.bytes += second->bytes;
            both.trace_done += second->trace_done;
            both.busy = joined(both.busy, second->busy);
            both.trace_busy = joined(both.trace_busy, second->trace_busy);
        }
        t->interval[i] = both;
    }
    memset(t->interval + half, 0, (t->interval_count - half) * sizeof(*t->interval));
    t->interval_count = half;
    t->interval_length *= 2;
    t->joins++;
    t->sent_at.end = t->answered_at.end = t->planned_at.end = 0;
}

/* |time| is behind the last interval.  Returns the number of its own. */
static __attribute__((noinline)) uint64_t extend(struct tally *t, int64_t time)
{
    uint64_t at;

    while ((at = (uint64_t)time / FIRST_LENGTH >> t->joins) >= TALLY_INTERVALS)
        tally_join(t);
    if (at >= t->interval_count)
        t->interval_count = (uint32_t)at + 1;
    return at;
}

/* The number of the interval in which |time|, which is not below 0, lies. */
static inline uint64_t place_of(struct tally *t, int64_t time)
{
    uint64_t at = (uint64_t)time / FIRST_LENGTH >> t->joins;

    return at < t->interval_count ? at : extend(t, time);
}

/* Another interval than that of the last time. */
static __attribute__((noinline)) void move(struct tally *t, struct tally_place *place, int64_t time)
{
    uint64_t at = place_of(t, time);

    place->interval = &t->interval[at];
    place->end = (int64_t)(at + 1) * t->interval_length;
}

static inline struct tally_interval *interval_of(struct tally *t, struct tally_place *place,
                                                 int64_t time)
{
    if ((uint64_t)(place->end - time - 1) >= (uint64_t)t->interval_length)
        move(t, place, time);
    return place->interval;
}

static inline void begins(struct tally_span *span, int64_t time)
{
    span->begun++;
    span->times -= (uint64_t)time;
}

static inline void ends(struct tally_span *span, int64_t time)
{
    span->begun--;
    span->times += (uint64_t)time;
}

/* Their ends first: these may join intervals. */
static inline void add_outstanding(struct tally *t, const struct done *d,
                                   const struct run_times *at)
{
    struct tally_interval *interval = interval_of(t, &t->answered_at, at->answered);

    interval->done++;
    if (d->verdict->class != VERDICT_AS_RECORDED)
        interval->errors += verdict_differs(d->verdict->class);
    interval->bytes += d->verdict->bytes;
    ends(&interval->busy, at->answered);
    begins(&interval_of(t, &t->sent_at, at->sent)->busy, at->sent);
}

/* The call of the trace, at its planned time.  Latencies of a trace differ: the interval of the
 * last answer says little about the next one's. */
static inline void add_trace(struct tally *t, int64_t latency, int64_t planned)
{
    int64_t answered = planned + (latency < LATENCY_MOST ? latency : LATENCY_MOST);
    struct tally_interval *interval;

    if (latency < 0)
        return;
    interval = &t->interval[place_of(t, answered)];
    interval->trace_done++;
    ends(&interval->trace_busy, answered);
    begins(&interval_of(t, &t->planned_at, planned)->trace_busy, planned);
}

void tally_busy(const struct tally *t, bool trace, uint64_t *ns)
{
    uint64_t outstanding = 0, begin = 0;

    for (uint32_t i = 0; i < t->interval_count; i++) {
        const struct tally_interval *of = &t->interval[i];
        const struct tally_span *span = trace ? &of->trace_busy : &of->busy;

        outstanding += span->begun;
        ns[i] = outstanding * (uint64_t)t->interval_length + begin * span->begun + span->times;
        begin += (uint64_t)t->interval_length;
    }
}

/* --- times */

static inline void raise_to(int64_t *most, int64_t value)
{
    if (value > *most)
        *most = value;
}

/* The part of being late from |from| on that |cause| explains, which ends at |until|. */
static inline int64_t add_late(struct tally *t, enum tally_late cause, int64_t from, int64_t until)
{
    if (until <= from)
        return from;
    histogram_add(&t->late[cause], until - from);
    return until;
}

static inline int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static __attribute__((noinline)) void add_stall(struct tally *t, const struct done *d, int64_t ns)
{
    const struct bytes arguments = d->step->arguments;
    uint32_t object = object_of(d->step);
    struct stall *x = object ? stalls_add(&t->stalls, d->dump, object, ns) : NULL;

    if (!x)
        return;
    x->number = d->number;
    x->procedure = d->step->number;
    x->argument_len = (uint8_t)(arguments.len < STALL_ARGUMENTS ? arguments.len : STALL_ARGUMENTS);
    memcpy(x->arguments, arguments.data, x->argument_len);
}

static inline void add_lateness(struct tally *t, const struct done *d)
{
    int64_t from = d->planned, entered;

    if (d->sent <= from)
        return;
    histogram_add(&t->late_all, d->sent - from);
    if (from < d->ready) { /* at full speed it is planned when it is ready */
        entered = add_late(t, LATE_WINDOW, from, earlier(d->entered, d->sent));
        from = add_late(t, LATE_DEPENDENCY, entered, earlier(d->ready, d->sent));
        if (from > entered)
            add_stall(t, d, from - entered);
    }
    from = add_late(t, LATE_OUTSTANDING, from, earlier(d->allowed, d->sent));
    add_late(t, LATE_OWN, from, d->sent);
}

static inline void add_times(struct tally *t, struct tally_procedure *p, const struct done *d)
{
    const bool is_planned = d->planned >= 0;
    const int64_t shift = t->shift - d->measured;
    const struct run_times at = { d->planned + shift, d->sent + shift, d->answered + shift };

    histogram_add(&p->sent, d->answered - d->sent);
    if (d->step->latency >= 0)
        histogram_add(&p->trace, d->step->latency);
    add_outstanding(t, d, &at);
    if (is_planned) {
        histogram_add(&p->planned, d->answered - d->planned);
        add_lateness(t, d);
        add_trace(t, d->step->latency, at.planned);
        raise_to(&t->planned_end, at.planned);
    }
    if ((uint64_t)at.sent < (uint64_t)t->begun) /* -1: there is none yet */
        t->begun = at.sent;
    raise_to(&t->ended, at.answered);
    raise_to(&t->critical_path, d->chain);
}

/* The first operation of a procedure, or of a dump. */
static int make_room(struct tally *t, uint8_t procedure, uint32_t dump, struct err *err)
{
    if (!t->procedure[procedure])
        t->procedure[procedure] = calloc(1, sizeof(**t->procedure));
    if (!t->procedure[procedure])
        return err_memory(err, "the times of a procedure");
    if (dump >= t->dump_count) {
        void *more = realloc(t->dump_class, ((size_t)dump + 1) * sizeof(*t->dump_class));

        if (!more)
            return err_memory(err, "the counts of a dump");
        t->dump_class = more;
        memset(t->dump_class + t->dump_count, 0,
               (dump + 1 - t->dump_count) * sizeof(*t->dump_class));
        t->dump_count = dump + 1;
    }
    return 0;
}

/* Contents of files that a READ or a WRITE moved. */
static void add_bytes(struct tally_procedure *p, const struct done *d)
{
    enum action action = d->step->procedure ? (enum action)d->step->procedure->action : ACTION_NONE;

    if (action == ACTION_READ)
        p->bytes_read += d->verdict->bytes;
    if (action == ACTION_WRITE)
        p->bytes_written += d->verdict->bytes;
}

int tally_add(struct tally *t, const struct done *d, struct err *err)
{
    const uint8_t number = d->step->number;
    enum verdict_class class = d->verdict->class;
    struct tally_procedure *p;

    if ((!t->procedure[number] || d->dump >= t->dump_count) &&
        make_room(t, number, d->dump, err) < 0)
        return -ERR_SYSTEM;
    p = t->procedure[number];
    t->class[class]++;
    t->dump_class[d->dump][class]++;
    p->done++;
    p->class[class]++;
    t->resent += d->resent;
    if (class != VERDICT_AS_RECORDED && is_example(t, class))
        add_example(t, d);
    if (d->verdict->rule_count)
        add_rules(t, d);
    if (d->warm_up) {
        t->warm_up += class != VERDICT_NOT_PLAYED;
        return 0;
    }
    if (d->sent < 0 || d->answered < d->sent)
        return 0;
    t->refused += class == VERDICT_UNANSWERED;
    if (d->verdict->bytes)
        add_bytes(p, d);
    add_times(t, p, d);
    return 0;
}
