/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/tally_merge.c
 *
 * Tallies of several players that played one run together: as bytes, and added up.  The contract is
 * in tally.h.
 *
 * One function goes through the members, writing or reading, so that both have the same form:
 * numbers of 8 bytes, big-endian, and texts with their length.  Bytes come from a socket: all
 * lengths and indices are checked.
 */
#include "base/grow.h"
#include "player/tally.h"

#include <stdlib.h>

enum { MAGIC = 0x54414c32, DUMPS_MOST = 1 << 16 };
#define ANY (UINT64_C(1) << 32) /* number of 32 bits */

struct io {
    struct buf *to;    /* writing */
    struct bytes from; /* reading */
    bool reads, failed, no_memory;
};

static void word(struct io *io, uint64_t *value)
{
    uint8_t bytes[8];

    if (!io->reads) {
        store_be64(bytes, *value);
        io->no_memory |= buf_append(io->to, bytes, sizeof(bytes)) < 0;
        return;
    }
    if (io->from.len < 8) {
        io->failed = true;
        *value = 0;
        return;
    }
    *value = load_be64(io->from.data);
    io->from.data += 8;
    io->from.len -= 8;
}

static void time_of(struct io *io, int64_t *value)
{
    uint64_t bits = (uint64_t)*value;

    word(io, &bits);
    *value = (int64_t)bits;
}

/* A number that has to be below |most|. */
static void small(struct io *io, uint32_t *value, uint64_t most)
{
    uint64_t wide = *value;

    word(io, &wide);
    if (wide >= most) {
        io->failed = true;
        wide = 0;
    }
    *value = (uint32_t)wide;
}

static void some(struct io *io, void *value, uint32_t len)
{
    if (!io->reads) {
        io->no_memory |= buf_append(io->to, value, len) < 0;
        return;
    }
    if (len > io->from.len) {
        io->failed = true;
        return;
    }
    if (len)
        memcpy(value, io->from.data, len);
    io->from.data += len;
    io->from.len -= len;
}

/* |size| with the 0 at its end. */
static void text(struct io *io, char *value, uint32_t size)
{
    uint32_t len = io->reads ? 0 : (uint32_t)strnlen(value, size - 1);

    small(io, &len, size);
    some(io, value, len);
    if (io->reads)
        value[io->failed ? 0 : len] = '\0';
}

/* The slots that have something. */
static void histogram(struct io *io, struct histogram *h)
{
    uint64_t used = 0;

    word(io, &h->count);
    word(io, &h->sum);
    time_of(io, &h->least);
    time_of(io, &h->most);
    if (io->reads)
        histogram_set_limits(h);
    for (unsigned i = 0; i < HISTOGRAM_SLOTS && !io->reads; i++)
        used += h->slot[i] != 0;
    word(io, &used);
    if (used > HISTOGRAM_SLOTS)
        io->failed = true;
    for (uint32_t i = 0; i < HISTOGRAM_SLOTS && !io->reads; i++)
        if (h->slot[i]) {
            small(io, &i, HISTOGRAM_SLOTS);
            word(io, &h->slot[i]);
        }
    for (uint32_t i = 0, at = 0; i < used && io->reads && !io->failed; i++) {
        small(io, &at, HISTOGRAM_SLOTS);
        word(io, &h->slot[at]);
    }
}

static void procedures(struct io *io, struct tally *t)
{
    for (unsigned i = 0; i < TALLY_PROCEDURES && !io->failed && !io->no_memory; i++) {
        uint32_t there = t->procedure[i] != NULL;
        struct tally_procedure *p;

        small(io, &there, 2);
        if (!there)
            continue;
        if (io->reads && !t->procedure[i])
            t->procedure[i] = calloc(1, sizeof(*p));
        p = t->procedure[i];
        if (!p) {
            io->no_memory = true;
            return;
        }
        word(io, &p->done);
        for (unsigned k = 0; k < VERDICT_CLASSES; k++)
            word(io, &p->class[k]);
        word(io, &p->bytes_read);
        word(io, &p->bytes_written);
        histogram(io, &p->sent);
        histogram(io, &p->planned);
        histogram(io, &p->trace);
    }
}

/* Times count from |begin|, the interval's. */
static void span(struct io *io, struct tally_span *s, uint64_t begin)
{
    uint64_t begun = s->begun, times = s->times + begin * begun;

    word(io, &begun);
    word(io, &times);
    if (!io->reads)
        return;
    s->begun = begun;
    s->times = times - begin * begun;
}

static void intervals(struct io *io, struct tally *t)
{
    small(io, &t->joins, 43); /* 2^42 ms */
    small(io, &t->interval_count, TALLY_INTERVALS + 1);
    t->interval_length = INT64_C(1000000) << t->joins;
    for (uint32_t i = 0; i < t->interval_count && !io->failed; i++) {
        struct tally_interval *interval = &t->interval[i];
        uint64_t begin = (uint64_t)t->interval_length * i;

        word(io, &interval->done);
        word(io, &interval->errors);
        word(io, &interval->bytes);
        word(io, &interval->trace_done);
        span(io, &interval->busy, begin);
        span(io, &interval->trace_busy, begin);
    }
}

static void example(struct io *io, struct tally_example *x)
{
    uint32_t procedure = x->procedure, class = (uint32_t)x->class;

    word(io, &x->number);
    word(io, &x->because);
    small(io, &x->dump, ANY);
    time_of(io, &x->source);
    time_of(io, &x->time);
    small(io, &x->client, ANY);
    small(io, &x->server, ANY);
    small(io, &procedure, 256);
    small(io, &x->expected, ANY);
    small(io, &x->got, ANY);
    small(io, &class, VERDICT_CLASSES);
    x->procedure = (uint8_t)procedure;
    x->class = (enum verdict_class) class;
    text(io, x->what, sizeof(x->what));
    text(io, x->text, sizeof(x->text));
}

static void rules(struct io *io, struct tally *t)
{
    uint32_t count = t->rule_count;

    small(io, &count, ANY);
    if (count != t->rule_count)
        io->failed = true; /* the ranks have the same command line */
    for (uint32_t i = 0; i < t->rule_count && !io->failed; i++) {
        struct tally_rule *rule = &t->rules[i];
        uint32_t procedure = rule->procedure;

        word(io, &rule->operations);
        word(io, &rule->differ);
        word(io, &rule->number);
        small(io, &rule->dump, ANY);
        small(io, &procedure, 256);
        rule->procedure = (uint8_t)procedure;
        text(io, rule->text, sizeof(rule->text));
    }
}

static void dumps(struct io *io, struct tally *t)
{
    small(io, &t->dump_count, DUMPS_MOST);
    if (io->reads && t->dump_count) {
        free(t->dump_class);
        t->dump_class = calloc(t->dump_count, sizeof(*t->dump_class));
        if (!t->dump_class) {
            io->no_memory = true;
            t->dump_count = 0;
        }
    }
    for (uint32_t i = 0; i < t->dump_count; i++)
        for (unsigned k = 0; k < VERDICT_CLASSES; k++)
            word(io, &t->dump_class[i][k]);
}

static void stalls(struct io *io, struct tally *t)
{
    struct stalls *s = &t->stalls;

    small(io, &s->count, STALLS_OBJECTS + 1);
    for (uint32_t i = 0; i < s->count && !io->failed; i++) {
        struct stall *x = &s->of[i];
        uint32_t procedure = x->procedure, len = x->argument_len;

        small(io, &x->dump, ANY);
        small(io, &x->object, ANY);
        word(io, &x->operations);
        time_of(io, &x->waited);
        time_of(io, &x->missed);
        time_of(io, &x->longest);
        word(io, &x->number);
        small(io, &procedure, 256);
        x->procedure = (uint8_t)procedure;
        small(io, &len, STALL_ARGUMENTS + 1);
        x->argument_len = (uint8_t)len;
        some(io, x->arguments, len);
        io->failed |= x->waited < 0 || x->missed < 0;
    }
    if (io->reads && !io->failed)
        stalls_index(s);
}

static void totals(struct io *io, struct tally *t)
{
    uint32_t unread = t->unread;
    uint64_t *const words[] = { &t->warm_up, &t->resent, &t->lost_connections, &t->explained,
                                &t->writes,  &t->calls,  &t->outages };
    int64_t *const times[] = { &t->begun,    &t->ended,      &t->planned_end, &t->critical_path,
                               &t->cpu_user, &t->cpu_system, &t->outages_ns };

    for (unsigned i = 0; i < VERDICT_CLASSES; i++)
        word(io, &t->class[i]);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        word(io, words[i]);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        time_of(io, times[i]);
    small(io, &unread, 2);
    t->unread = unread;
}

static void all(struct io *io, struct tally *t)
{
    uint32_t magic = MAGIC;

    small(io, &magic, ANY);
    if (magic != MAGIC)
        io->failed = true;
    totals(io, t);
    dumps(io, t);
    procedures(io, t);
    for (unsigned i = 0; i < LATE_CAUSES; i++)
        histogram(io, &t->late[i]);
    histogram(io, &t->late_all);
    stalls(io, t);
    intervals(io, t);
    small(io, &t->example_count, TALLY_EXAMPLES + 1);
    for (uint32_t i = 0; i < t->example_count && !io->failed; i++)
        example(io, &t->examples[i]);
    rules(io, t);
    word(io, &t->refused);
}

int tally_write(const struct tally *tally, struct buf *to, struct err *err)
{
    struct io io = { .to = to };

    all(&io, (struct tally *)(uintptr_t)tally); /* which it only reads */
    return io.no_memory ? err_memory(err, "the tally of a rank") : 0;
}

int tally_read(struct tally *tally, struct bytes from, struct err *err)
{
    struct io io = { .from = from, .reads = true };

    all(&io, tally);
    if (io.no_memory)
        return err_memory(err, "the tally of a rank");
    return io.failed || io.from.len ? err_set(err, ERR_INPUT, "this is not the tally of a rank")
                                    : 0;
}

/* --- adding up */

static int64_t first_of(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int merge_dumps(struct tally *to, const struct tally *from, struct err *err)
{
    if (from->dump_count > to->dump_count) {
        void *more = realloc(to->dump_class, from->dump_count * sizeof(*to->dump_class));

        if (!more)
            return err_memory(err, "the counts of a dump");
        to->dump_class = more;
        memset(to->dump_class + to->dump_count, 0,
               (from->dump_count - to->dump_count) * sizeof(*to->dump_class));
        to->dump_count = from->dump_count;
    }
    for (uint32_t i = 0; i < from->dump_count; i++)
        for (unsigned k = 0; k < VERDICT_CLASSES; k++)
            to->dump_class[i][k] += from->dump_class[i][k];
    return 0;
}

static int merge_procedures(struct tally *to, const struct tally *from, struct err *err)
{
    for (unsigned i = 0; i < TALLY_PROCEDURES; i++) {
        const struct tally_procedure *f = from->procedure[i];
        struct tally_procedure *t;

        if (!f)
            continue;
        if (!to->procedure[i])
            to->procedure[i] = calloc(1, sizeof(*t));
        t = to->procedure[i];
        if (!t)
            return err_memory(err, "the times of a procedure");
        t->done += f->done;
        for (unsigned k = 0; k < VERDICT_CLASSES; k++)
            t->class[k] += f->class[k];
        t->bytes_read += f->bytes_read;
        t->bytes_written += f->bytes_written;
        histogram_merge(&t->sent, &f->sent);
        histogram_merge(&t->planned, &f->planned);
        histogram_merge(&t->trace, &f->trace);
    }
    return 0;
}

static void add_span(struct tally_span *to, const struct tally_span *from)
{
    to->begun += from->begun;
    to->times += from->times;
}

static void merge_intervals(struct tally *to, struct tally *from)
{
    while (to->joins < from->joins)
        tally_join(to);
    while (from->joins < to->joins)
        tally_join(from);
    for (uint32_t i = 0; i < from->interval_count; i++) {
        struct tally_interval *t = &to->interval[i];
        const struct tally_interval *f = &from->interval[i];

        t->done += f->done;
        t->errors += f->errors;
        t->bytes += f->bytes;
        t->trace_done += f->trace_done;
        add_span(&t->busy, &f->busy);
        add_span(&t->trace_busy, &f->trace_busy);
    }
    if (from->interval_count > to->interval_count)
        to->interval_count = from->interval_count;
}

static int by_place(const void *a, const void *b)
{
    const struct tally_example *x = a, *y = b;

    if (x->dump != y->dump)
        return x->dump < y->dump ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The first ones of both. */
static int merge_examples(struct tally *to, const struct tally *from, struct err *err)
{
    uint32_t count = to->example_count + from->example_count, left_out = 0;
    struct tally_example *both = calloc((size_t)count + 1, sizeof(*both));

    if (!both)
        return err_memory(err, "examples");
    memcpy(both, to->examples, to->example_count * sizeof(*both));
    memcpy(both + to->example_count, from->examples, from->example_count * sizeof(*both));
    qsort(both, count, sizeof(*both), by_place);
    to->example_count = 0;
    for (uint32_t i = 0; i < count && to->example_count < TALLY_EXAMPLES; i++) {
        left_out += tally_left_out(both[i].class);
        if (!tally_left_out(both[i].class) || left_out <= TALLY_LEFT_OUT)
            to->examples[to->example_count++] = both[i];
    }
    free(both);
    return 0;
}

static void merge_rules(struct tally *to, const struct tally *from)
{
    for (uint32_t i = 0; i < to->rule_count && i < from->rule_count; i++) {
        struct tally_rule *t = &to->rules[i], sum;
        const struct tally_rule *f = &from->rules[i];

        sum = *t;
        if (f->text[0] &&
            (!t->text[0] || f->dump < t->dump || (f->dump == t->dump && f->number < t->number)))
            sum = *f;
        sum.operations = t->operations + f->operations;
        sum.differ = t->differ + f->differ;
        *t = sum;
    }
}

int tally_merge(struct tally *to, struct tally *from, struct err *err)
{
    for (unsigned i = 0; i < VERDICT_CLASSES; i++)
        to->class[i] += from->class[i];
    to->warm_up += from->warm_up;
    to->resent += from->resent;
    to->refused += from->refused;
    to->lost_connections += from->lost_connections;
    to->explained += from->explained;
    to->writes += from->writes;
    to->calls += from->calls;
    to->outages += from->outages;
    to->outages_ns += from->outages_ns;
    to->cpu_user += from->cpu_user;
    to->cpu_system += from->cpu_system;
    to->unread |= from->unread;
    to->begun = first_of(to->begun, from->begun);
    to->ended = most_of(to->ended, from->ended);
    to->planned_end = most_of(to->planned_end, from->planned_end);
    to->critical_path = most_of(to->critical_path, from->critical_path);
    for (unsigned i = 0; i < LATE_CAUSES; i++)
        histogram_merge(&to->late[i], &from->late[i]);
    histogram_merge(&to->late_all, &from->late_all);
    stalls_merge(&to->stalls, &from->stalls);
    merge_intervals(to, from);
    merge_rules(to, from);
    if (merge_dumps(to, from, err) < 0 || merge_procedures(to, from, err) < 0)
        return -ERR_SYSTEM;
    return merge_examples(to, from, err);
}
