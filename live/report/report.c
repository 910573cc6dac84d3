/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report.c
 *
 * Makes the report of a run from its tally, and writes the run's folder.
 */
#include "report/report_parts.h"
#include "base/json.h"
#include "rdump/rdump.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096 };

struct report *report_new(struct err *err)
{
    struct report *report = calloc(1, sizeof(*report));

    if (!report)
        err_memory(err, "the report");
    return report;
}

void report_free(struct report *report)
{
    free(report);
}

/* --- figures */

static void count_object(struct report_set *set, const struct rdump_object *object)
{
    set->files += object->type == NF3REG;
    set->directories += object->type == NF3DIR;
    set->others += object->type != NF3REG && object->type != NF3DIR;
    set->bytes += object->type == NF3REG ? object->size : 0;
}

void report_data(struct report *report, const struct script *script, uint32_t server)
{
    for (uint32_t i = 0; script->objects && i < script->object_count; i++) {
        if (script->objects[i].server != server)
            continue;
        count_object(&report->run.initial, &script->objects[i]);
        if (script->objects[i].used)
            count_object(&report->run.accessed, &script->objects[i]);
    }
}

void report_dump(struct report *report, const char *name, int64_t delay)
{
    struct report_dump *to;

    if (report->counts[REPORT_DUMPS] == REPORT_DUMPS_MAX)
        return;
    to = &report->dumps[report->counts[REPORT_DUMPS]++];
    *to = (struct report_dump){ .delay = delay };
    snprintf(to->name, sizeof(to->name), "%s", name);
}

struct report_times report_times_of(const struct histogram *h)
{
    return (struct report_times){
        .count = h->count,
        .sum = h->sum > INT64_MAX ? INT64_MAX : (int64_t)h->sum,
        .mean = h->count ? (int64_t)(h->sum / h->count) : 0,
        .p50 = histogram_at(h, 0.5),
        .p90 = histogram_at(h, 0.9),
        .p99 = histogram_at(h, 0.99),
        .p999 = histogram_at(h, 0.999),
        .most = h->count ? h->most : 0,
    };
}

const char *report_procedure_name(unsigned number, char room[24])
{
    const struct procedure *p =
        number == RDUMP_NO_PROCEDURE ? NULL : rdump_procedure((uint8_t)number);

    snprintf(room, 24, "%s%s", number >= RDUMP_ACL && p ? "ACL-" : "", p ? p->name : "unknown");
    return room;
}

static void add_procedure(struct report *report, unsigned number, const struct tally_procedure *p)
{
    struct report_procedure *to = &report->procedures[report->counts[REPORT_PROCEDURES]++];

    report_procedure_name(number, to->name);
    to->operations = p->done;
    to->differ = 0;
    for (unsigned i = 0; i < VERDICT_CLASSES; i++)
        to->differ += verdict_differs((enum verdict_class)i) ? p->class[i] : 0;
    to->bytes_read = p->bytes_read;
    to->bytes_written = p->bytes_written;
    to->trace = report_times_of(&p->trace);
    to->sent = report_times_of(&p->sent);
    to->planned = report_times_of(&p->planned);
    report->run.bytes_read += p->bytes_read;
    report->run.bytes_written += p->bytes_written;
}

static void add_example(struct report_example *to, const struct tally_example *from)
{
    to->dump = from->dump;
    to->number = from->number;
    to->because = from->because;
    to->source = from->source;
    to->time = from->time;
    report_procedure_name(from->procedure, to->procedure);
    snprintf(to->class, sizeof(to->class), "%s", verdict_class_name(from->class));
    memcpy(to->what, from->what, sizeof(to->what));
    memcpy(to->text, from->text, sizeof(to->text));
}

/* Those that were not sent say less: they come last. */
static bool was_left_out(enum verdict_class class)
{
    return class == VERDICT_SKIPPED || class == VERDICT_UNPLAYABLE || class == VERDICT_NOT_PLAYED;
}

static void add_examples(struct report *report, const struct tally *tally, bool left_out)
{
    uint32_t *count = &report->counts[REPORT_FIRST_EXAMPLES];

    for (uint32_t i = 0; i < tally->example_count && *count < REPORT_EXAMPLES; i++)
        if (was_left_out(tally->examples[i].class) == left_out)
            add_example(&report->examples[(*count)++], &tally->examples[i]);
}

int64_t report_stall_most(const struct report_stall *x)
{
    /* the report of a file may have anything */
    return x->waited < 0 || x->missed < 0 ? x->waited : stalls_sum(x->waited, x->missed);
}

static void add_stalls(struct report *report, const struct tally *tally)
{
    const struct stall *rows[REPORT_STALLS_MAX];
    uint32_t count = stalls_longest(&tally->stalls, rows, REPORT_STALLS_MAX);

    for (uint32_t i = 0; i < count; i++) {
        struct report_stall *to = &report->stalls[report->counts[REPORT_STALLS]++];
        const struct stall *from = rows[i];

        to->dump = from->dump;
        to->object = from->object;
        to->operations = from->operations;
        to->waited = from->waited;
        to->missed = from->missed;
        to->longest = from->longest;
        to->number = from->number;
        report_procedure_name(from->procedure, to->procedure);
        tally_stall_words(from, to->what, sizeof(to->what));
    }
}

static void add_counts(struct report *report, const struct tally *tally)
{
    struct report_run *run = &report->run;

    for (unsigned i = 0; i < VERDICT_CLASSES; i++) {
        struct report_class *to = &report->classes[report->counts[REPORT_CLASSES]++];

        snprintf(to->name, sizeof(to->name), "%s", verdict_class_name((enum verdict_class)i));
        to->operations = tally->class[i];
        run->operations += tally->class[i];
    }
    run->explained = tally->explained;
    run->refused = tally->refused;
    run->warm_up = tally->warm_up;
    run->resent = tally->resent;
    run->lost_connections = tally->lost_connections;
    run->outages = tally->outages;
    run->outages_ns = tally->outages_ns;
    run->calls = tally->calls;
    run->writes = tally->writes;
    run->cpu_user = tally->cpu_user;
    run->cpu_system = tally->cpu_system;
    run->critical_path = tally->critical_path;
    run->interval_length = tally->interval_length;
    if (tally->begun >= 0) {
        run->duration = tally->ended - tally->begun;
        run->planned = tally->planned_end > tally->begun ? tally->planned_end - tally->begun : 0;
    }
}

static void add_dumps(struct report *report, const struct tally *tally)
{
    for (uint32_t i = 0; i < report->counts[REPORT_DUMPS] && i < tally->dump_count; i++) {
        struct report_dump *to = &report->dumps[i];

        to->operations = 0;
        for (unsigned k = 0; k < VERDICT_CLASSES; k++) {
            to->in_class[k] = tally->dump_class[i][k];
            to->operations += to->in_class[k];
        }
    }
}

static void add_intervals(struct report *report, const struct tally *tally)
{
    uint64_t busy[TALLY_INTERVALS], trace_busy[TALLY_INTERVALS];

    tally_busy(tally, false, busy);
    tally_busy(tally, true, trace_busy);
    for (uint32_t i = 0; i < tally->interval_count; i++) {
        const struct tally_interval *from = &tally->interval[i];

        report->intervals[report->counts[REPORT_INTERVALS]++] = (struct report_interval){
            from->done, from->errors, from->bytes, busy[i], from->trace_done, trace_busy[i],
        };
    }
}

void report_fill(struct report *report, const char *dump, const char *target, const char *pace,
                 const struct tally *tally)
{
    snprintf(report->run.dump, sizeof(report->run.dump), "%s", dump);
    snprintf(report->run.target, sizeof(report->run.target), "%s", target);
    snprintf(report->run.pace, sizeof(report->run.pace), "%s", pace);
    memset(report->counts, 0, REPORT_DUMPS * sizeof(report->counts[0]));
    report->counts[REPORT_RUN] = 1;
    add_dumps(report, tally);
    add_counts(report, tally);
    for (unsigned i = 0; i <= LATE_CAUSES; i++) {
        struct report_late *to = &report->late[report->counts[REPORT_LATE]++];

        snprintf(to->cause, sizeof(to->cause), "%s",
                 i == LATE_CAUSES ? "all" : tally_late_name((enum tally_late)i));
        to->times = report_times_of(i == LATE_CAUSES ? &tally->late_all : &tally->late[i]);
    }
    add_stalls(report, tally);
    for (unsigned i = 0; i < TALLY_PROCEDURES; i++)
        if (tally->procedure[i])
            add_procedure(report, i, tally->procedure[i]);
    add_intervals(report, tally);
    add_examples(report, tally, false);
    add_examples(report, tally, true);
}

/* --- the folder */

static int make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return 0;
}

static FILE *create(const char *folder, const char *name, struct err *err)
{
    char path[PATH_ROOM];
    FILE *file;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        err_set(err, ERR_SYSTEM, "%s: the path is too long", folder);
        return NULL;
    }
    file = fopen(path, "w");
    if (!file)
        err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return file;
}

static void discard(const char *folder, const char *name)
{
    char path[PATH_ROOM];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path))
        remove(path);
}

/* Closes |file|, the last write of which may fail now.  A file that is not whole is removed. */
static int finish(FILE *file, const char *folder, const char *name, struct err *err)
{
    int why = fflush(file) ? errno : ferror(file) ? EIO : 0;

    if (fclose(file) && !why)
        why = errno;
    if (!why)
        return 0;
    discard(folder, name);
    return err_set(err, ERR_SYSTEM, "%s/%s: cannot write: %s", folder, name, strerror(why));
}

static int save_times(const struct histogram *h, const char *folder, const char *name,
                      const char *what, struct err *err)
{
    char file_name[96];
    FILE *file;

    if (!h->count)
        return 0;
    snprintf(file_name, sizeof(file_name), "latencies/%s.%s.hgrm", name, what);
    file = create(folder, file_name, err);
    if (!file)
        return -ERR_SYSTEM;
    histogram_write(h, 1000, file);
    return finish(file, folder, file_name, err);
}

static int save_latencies(const struct tally *tally, const char *folder, struct err *err)
{
    char path[PATH_ROOM], name[24];

    snprintf(path, sizeof(path), "%.4000s/latencies", folder);
    if (make_folder(path, err) < 0)
        return -ERR_SYSTEM;
    for (unsigned i = 0; i < TALLY_PROCEDURES; i++) {
        const struct tally_procedure *p = tally->procedure[i];

        if (p && (save_times(&p->sent, folder, report_procedure_name(i, name), "sent", err) < 0 ||
                  save_times(&p->planned, folder, name, "planned", err) < 0 ||
                  save_times(&p->trace, folder, name, "trace", err) < 0))
            return -ERR_SYSTEM;
    }
    for (unsigned i = 0; i < LATE_CAUSES; i++)
        if (save_times(&tally->late[i], folder, "late", tally_late_name((enum tally_late)i), err) <
            0)
            return -ERR_SYSTEM;
    return save_times(&tally->late_all, folder, "late", "all", err);
}

static void write_mismatch(FILE *file, const struct tally_example *x)
{
    struct json j = { .out = file };
    char name[24];

    json_object(&j, NULL);
    json_u64(&j, "dump", x->dump);
    json_u64(&j, "number", x->number);
    json_i64(&j, "source", x->source);
    json_i64(&j, "time", x->time);
    json_u64(&j, "client", x->client);
    json_u64(&j, "server", x->server);
    json_text(&j, "procedure", report_procedure_name(x->procedure, name));
    json_text(&j, "class", verdict_class_name(x->class));
    if (x->class == VERDICT_SKIPPED)
        json_u64(&j, "because", x->because);
    json_u64(&j, "expected", x->expected);
    json_u64(&j, "got", x->got);
    json_text(&j, "what", x->what);
    json_text(&j, "text", x->text);
    json_object_end(&j);
    json_end(&j);
}

static int save_mismatches(const struct tally *tally, const char *folder, struct err *err)
{
    FILE *file = create(folder, "mismatches.jsonl", err);

    if (!file)
        return -ERR_SYSTEM;
    for (uint32_t i = 0; i < tally->example_count; i++)
        write_mismatch(file, &tally->examples[i]);
    return finish(file, folder, "mismatches.jsonl", err);
}

static int save_report(const struct report *report, const char *folder, struct err *err)
{
    FILE *file = create(folder, "report.json", err);
    struct err said = { 0 }; /* finish says why */

    if (!file)
        return -ERR_SYSTEM;
    report_json(report, file, &said);
    return finish(file, folder, "report.json", err);
}

/* The report first: the rest is worth less without it. */
int report_save(const struct report *report, const struct tally *tally, const char *folder,
                struct err *err)
{
    if (make_folder(folder, err) < 0 || save_report(report, folder, err) < 0)
        return -ERR_SYSTEM;
    if (save_mismatches(tally, folder, err) < 0 || save_latencies(tally, folder, err) < 0) {
        discard(folder, "latencies"); /* if there is nothing in it */
        return err_prefix(err, "%s/report.json was kept, but not all else", folder);
    }
    return 0;
}
