/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_json.c
 *
 * Reports as JSON.  The tables below describe every member once, for writing and reading.  Each
 * row stands on a line of its own, so a reader of flat objects is enough.
 */
#include "base/json.h"
#include "net/flat_json.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>

enum { VERSION = 1, LINE_MAX_ = 16384, MEMBERS_MAX = 64, NAME_ROOM = 64 };
enum kind { U64, I64, TEXT };

struct member {
    const char *name;
    uint16_t offset, size;
    uint8_t kind;
    bool later; /* earlier reports lack it: then it is 0 or "" */
};

/* clang-format off */
#define NUMBER(s, kind, m) { #m, offsetof(struct s, m), 8, kind }
#define WORDS(s, m) { #m, offsetof(struct s, m), sizeof(((struct s *)NULL)->m), TEXT }
#define LATER_NUMBER(s, kind, m) { #m, offsetof(struct s, m), 8, kind, true }
#define LATER_WORDS(s, m) { #m, offsetof(struct s, m), sizeof(((struct s *)NULL)->m), TEXT, true }
#define INNER(s, kind, m, n) { #m "_" #n, offsetof(struct s, m.n), 8, kind }
#define TIMES(s, m) INNER(s, U64, m, count), INNER(s, I64, m, sum), INNER(s, I64, m, mean), \
    INNER(s, I64, m, p50), INNER(s, I64, m, p90), INNER(s, I64, m, p99), INNER(s, I64, m, p999), \
    INNER(s, I64, m, most)
#define SET(s, m) INNER(s, U64, m, files), INNER(s, U64, m, directories), \
    INNER(s, U64, m, others), INNER(s, U64, m, bytes)
/* clang-format on */

static const struct member run[] = {
    WORDS(report_run, dump),
    WORDS(report_run, target),
    WORDS(report_run, pace),
    WORDS(report_run, rules),
    LATER_WORDS(report_run, options),
    WORDS(report_run, note),
    NUMBER(report_run, U64, operations),
    NUMBER(report_run, U64, explained),
    LATER_NUMBER(report_run, U64, refused),
    NUMBER(report_run, U64, warm_up),
    NUMBER(report_run, U64, resent),
    NUMBER(report_run, U64, lost_connections),
    NUMBER(report_run, U64, outages),
    NUMBER(report_run, U64, calls),
    NUMBER(report_run, U64, writes),
    NUMBER(report_run, I64, duration),
    NUMBER(report_run, I64, planned),
    NUMBER(report_run, I64, critical_path),
    NUMBER(report_run, I64, outages_ns),
    NUMBER(report_run, I64, cpu_user),
    NUMBER(report_run, I64, cpu_system),
    NUMBER(report_run, I64, interval_length),
    NUMBER(report_run, U64, bytes_read),
    NUMBER(report_run, U64, bytes_written),
    SET(report_run, initial),
    SET(report_run, accessed),
    { 0 },
};

static const struct member class[] = {
    WORDS(report_class, name),
    NUMBER(report_class, U64, operations),
    { 0 },
};

static const struct member late[] = {
    WORDS(report_late, cause),
    TIMES(report_late, times),
    { 0 },
};

static const struct member stall[] = {
    NUMBER(report_stall, U64, dump),
    NUMBER(report_stall, U64, object),
    NUMBER(report_stall, U64, operations),
    NUMBER(report_stall, I64, waited),
    NUMBER(report_stall, I64, missed),
    NUMBER(report_stall, I64, longest),
    NUMBER(report_stall, U64, number),
    WORDS(report_stall, procedure),
    WORDS(report_stall, what),
    { 0 },
};

static const struct member procedure[] = {
    WORDS(report_procedure, name),
    NUMBER(report_procedure, U64, operations),
    NUMBER(report_procedure, U64, differ),
    NUMBER(report_procedure, U64, bytes_read),
    NUMBER(report_procedure, U64, bytes_written),
    TIMES(report_procedure, trace),
    TIMES(report_procedure, sent),
    TIMES(report_procedure, planned),
    { 0 },
};

static const struct member interval[] = {
    NUMBER(report_interval, U64, done),
    NUMBER(report_interval, U64, errors),
    NUMBER(report_interval, U64, bytes),
    NUMBER(report_interval, U64, busy),
    NUMBER(report_interval, U64, trace_done),
    NUMBER(report_interval, U64, trace_busy),
    { 0 },
};

static const struct member example[] = {
    NUMBER(report_example, U64, dump),    NUMBER(report_example, U64, number),
    NUMBER(report_example, U64, because), NUMBER(report_example, I64, source),
    NUMBER(report_example, I64, time),    WORDS(report_example, procedure),
    WORDS(report_example, class),         WORDS(report_example, what),
    WORDS(report_example, text),          { 0 },
};

static const struct member rule[] = {
    WORDS(report_rule, file),
    NUMBER(report_rule, U64, line),
    WORDS(report_rule, rule),
    WORDS(report_rule, reason),
    NUMBER(report_rule, U64, operations),
    NUMBER(report_rule, U64, differ),
    NUMBER(report_rule, U64, dump),
    NUMBER(report_rule, U64, number),
    WORDS(report_rule, procedure),
    WORDS(report_rule, text),
    { 0 },
};

/* clang-format off */
#define CLASS(name, n) { name, offsetof(struct report_dump, in_class) + 8 * (n), 8, U64 }

static const struct member dump[] = {
    WORDS(report_dump, name),
    NUMBER(report_dump, I64, delay),
    NUMBER(report_dump, U64, operations),
    CLASS("as_recorded", VERDICT_AS_RECORDED),
    CLASS("new_error", VERDICT_NEW_ERROR),
    CLASS("vanished_error", VERDICT_VANISHED_ERROR),
    CLASS("different_error", VERDICT_DIFFERENT_ERROR),
    CLASS("different_result", VERDICT_DIFFERENT_RESULT),
    CLASS("skipped", VERDICT_SKIPPED),
    CLASS("uncertain", VERDICT_UNCERTAIN),
    CLASS("unanswered", VERDICT_UNANSWERED),
    CLASS("unplayable", VERDICT_UNPLAYABLE),
    CLASS("not_played", VERDICT_NOT_PLAYED),
    { 0 },
};
_Static_assert(VERDICT_CLASSES == 10, "each class has a member");

#define SECTION(n, m, table) { n, offsetof(struct report, m), \
    sizeof(((struct report *)NULL)->m[0]), \
    sizeof(((struct report *)NULL)->m) / sizeof(((struct report *)NULL)->m[0]), table }
/* clang-format on */

static const struct section {
    const char *name;
    size_t offset, size;
    uint32_t most;
    const struct member *members;
} sections[REPORT_SECTIONS] = {
    [REPORT_RUN] = { "run", offsetof(struct report, run), sizeof(struct report_run), 1, run },
    [REPORT_CLASSES] = SECTION("classes", classes, class),
    [REPORT_LATE] = SECTION("late", late, late),
    [REPORT_STALLS] = SECTION("stalls", stalls, stall),
    [REPORT_PROCEDURES] = SECTION("procedures", procedures, procedure),
    [REPORT_INTERVALS] = SECTION("intervals", intervals, interval),
    [REPORT_FIRST_EXAMPLES] = SECTION("examples", examples, example),
    [REPORT_RULES] = SECTION("rules", rules, rule),
    [REPORT_DUMPS] = SECTION("dumps", dumps, dump),
};

static void *row_at(const struct report *report, const struct section *s, uint32_t row)
{
    return (char *)(uintptr_t)report + s->offset + row * s->size;
}

/* --- writing */

static void write_row(struct json *j, const struct member *m, const void *row)
{
    for (; m->name; m++) {
        const char *at = (const char *)row + m->offset;

        if (m->kind == TEXT)
            json_text(j, m->name, at);
        else if (m->kind == U64)
            json_u64(j, m->name, *(const uint64_t *)(const void *)at);
        else
            json_i64(j, m->name, *(const int64_t *)(const void *)at);
    }
}

int report_json(const struct report *report, FILE *to, struct err *err)
{
    struct json j = { .out = to, .indented = true };

    json_object(&j, NULL);
    json_u64(&j, "version", VERSION);
    json_one_line(&j);
    json_object(&j, sections[REPORT_RUN].name);
    write_row(&j, run, &report->run);
    json_object_end(&j);
    for (unsigned i = REPORT_CLASSES; i < REPORT_SECTIONS; i++) {
        json_array(&j, sections[i].name);
        for (uint32_t row = 0; row < report->counts[i]; row++) {
            json_one_line(&j);
            json_object(&j, NULL);
            write_row(&j, sections[i].members, row_at(report, &sections[i], row));
            json_object_end(&j);
        }
        json_array_end(&j);
    }
    json_object_end(&j);
    json_end(&j);
    return j.failed || ferror(to) ? err_set(err, ERR_SYSTEM, "the report cannot be written") : 0;
}

/* --- reading */

/* Names are shown as they are; longer texts are escaped. */
static bool is_plain(const char *text)
{
    while (*text >= ' ' && *text <= '~')
        text++;
    return !*text;
}

static int read_value(const struct member *m, void *row, const struct flat_member *got,
                      struct err *err)
{
    char *at = (char *)row + m->offset, *end = NULL;

    if (!got->value)
        return err_set(err, ERR_INPUT, "%s is null", m->name);
    errno = 0;
    if (m->kind == TEXT) {
        if (m->size <= NAME_ROOM && !is_plain(got->value))
            return err_set(err, ERR_INPUT, "%s is not a name", m->name);
        snprintf(at, m->size, "%s", got->value);
        return 0;
    }
    if (m->kind == U64 && got->value[0] != '-')
        *(uint64_t *)(void *)at = strtoull(got->value, &end, 10);
    else
        *(int64_t *)(void *)at = strtoll(got->value, &end, 10);
    if (m->kind == U64 && got->value[0] == '-')
        errno = ERANGE;
    if (errno || end == got->value || *end)
        return err_set(err, ERR_INPUT, "%s: \"%.40s\" is not a whole number, or too large", m->name,
                       got->value);
    return 0;
}

/* Members that are not known come from a later version: they are passed over. */
static int read_row(char *line, size_t len, const struct section *s, void *row, struct err *err)
{
    struct flat_member members[MEMBERS_MAX];
    int count = flat_json_read(line, len, members, MEMBERS_MAX, err);

    for (const struct member *m = s->members; count >= 0 && m->name; m++) {
        int i = 0;

        while (i < count && strcmp(members[i].name, m->name) != 0)
            i++;
        if (i == count && m->later)
            continue;
        if (i == count)
            return err_set(err, ERR_INPUT, "%s has no %s", s->name, m->name);
        if (read_value(m, row, &members[i], err) < 0)
            return -ERR_INPUT;
    }
    return count < 0 ? count : 0;
}

/* Returns the section that begins on this line, or NULL. */
static const struct section *section_of(const char *line)
{
    for (unsigned i = 0; i < REPORT_SECTIONS; i++) {
        size_t len = strlen(sections[i].name);

        if (line[0] == '"' && !strncmp(line + 1, sections[i].name, len) && line[len + 1] == '"')
            return &sections[i];
    }
    return NULL;
}

static int read_line(struct report *report, char *line, const struct section **section,
                     struct err *err)
{
    const struct section *begun;
    size_t len;
    char *object;

    line += strspn(line, " ");
    begun = section_of(line);
    if (begun)
        *section = begun;
    object = line[0] == '{' ? line : begun ? strchr(line, '{') : NULL;
    if (!object || !*section || object[1] == '\n')
        return 0;
    len = strcspn(object, "\n");
    if (len && object[len - 1] == ',')
        len--;
    object[len] = '\0';
    begun = *section;
    if (report->counts[begun - sections] == begun->most)
        return err_set(err, ERR_INPUT, "too many rows of %s", begun->name);
    return read_row(object, len, begun, row_at(report, begun, report->counts[begun - sections]++),
                    err);
}

int report_read(struct report *report, FILE *file, const char *path, struct err *err)
{
    static const char first[] = "  \"version\": 1,\n";
    const struct section *section = NULL;
    uint64_t number = 0;
    bool ended = false;
    char line[LINE_MAX_];

    memset(report, 0, sizeof(*report));
    while (fgets(line, sizeof(line), file)) {
        number++;
        ended = strcmp(line, "}\n") == 0;
        if (!strchr(line, '\n') || (number == 1 && strcmp(line, "{\n") != 0) ||
            (number == 2 && strcmp(line, first) != 0))
            return err_set(err, ERR_INPUT, "%s: not a report of nfsreplay of version 1", path);
        if (number > 2 && read_line(report, line, &section, err) < 0)
            return err_prefix(err, "%s: line %llu", path, (unsigned long long)number);
    }
    if (ferror(file))
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (!ended || !report->counts[REPORT_RUN] || report->counts[REPORT_LATE] != LATE_CAUSES + 1)
        return err_set(err, ERR_INPUT, "%s: not a whole report of nfsreplay", path);
    return 0;
}

int report_load(struct report *report, const char *path, struct err *err)
{
    FILE *file = fopen(path, "r");
    int result;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    result = report_read(report, file, path, err);
    fclose(file);
    return result;
}
