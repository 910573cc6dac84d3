/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "base/values.h"
#include "cli/csv.h"
#include "cli/info_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000 };

/* The time with as many digits as the intervals need. */
static const char *start_text(int64_t start, int64_t every, char text[VALUE_TEXT_MAX])
{
    time_text(start, text);
    if (every % (1000 * MS) == 0)
        *strchr(text, '.') = '\0';
    else if (every % MS == 0)
        strchr(text, '.')[4] = '\0';
    return text;
}

void info_intervals_text(const struct intervals *in)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];
    int width = (int)strlen(start_text(in->start, in->every, a));

    printf("%-*s %10s %8s %10s %10s %9s %9s %9s %9s %9s %10s %11s\n", width, "time (UTC)",
           "operations", "errors", "read", "written", "p50", "p90", "p99", "max", "resent",
           "unanswered", "outstanding");
    for (uint32_t n = 0; n < in->count; n++) {
        const struct interval *i = &in->intervals[n];

        printf("%-*s %10s %8s", width, start_text(in->start + n * in->every, in->every, a),
               count_text(i->operations, b), count_text(i->errors, c));
        printf(" %10s %10s", i->read ? size_text(i->read, a) : "-",
               i->written ? size_text(i->written, b) : "-");
        if (i->answered)
            printf(" %9s %9s %9s %9s", duration_text(i->p50, a), duration_text(i->p90, b),
                   duration_text(i->p99, c), duration_text(i->max, d));
        else
            printf(" %9s %9s %9s %9s", "-", "-", "-", "-");
        printf(" %9s %10s %11lld\n", count_text(i->retransmissions, a),
               count_text(i->unanswered, b), (long long)i->outstanding);
    }
    if (in->untimed)
        printf("%s operations have no time\n", count_text(in->untimed, a));
}

void info_intervals_csv(const struct intervals *in)
{
    char text[VALUE_TEXT_MAX];

    fputs("time,operations,errors,read,written,answered,p50,p90,p99,max,retransmissions,unanswered,"
          "outstanding" CSV_END,
          stdout);
    for (uint32_t n = 0; n < in->count; n++) {
        const struct interval *i = &in->intervals[n];

        printf("%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
               start_text(in->start + n * in->every, in->every, text), i->operations, i->errors,
               i->read, i->written, i->answered);
        if (i->answered)
            printf(",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, i->p50, i->p90, i->p99, i->max);
        else
            fputs(",,,,", stdout);
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRId64 CSV_END, i->retransmissions, i->unanswered,
               i->outstanding);
    }
}

static void json_latency(struct json *j, const char *key, const struct interval *i, int64_t ns)
{
    if (i->answered)
        json_i64(j, key, ns);
    else
        json_null(j, key);
}

int info_intervals_json(const char *name, const struct intervals *in, struct err *err)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "database", name);
    json_i64(&j, "every", in->every);
    json_u64(&j, "untimed", in->untimed);
    json_array(&j, "intervals");
    for (uint32_t n = 0; n < in->count; n++) {
        const struct interval *i = &in->intervals[n];

        json_break(&j);
        json_object(&j, NULL);
        json_i64(&j, "time", in->start + n * in->every);
        json_u64(&j, "operations", i->operations);
        json_u64(&j, "errors", i->errors);
        json_u64(&j, "read", i->read);
        json_u64(&j, "written", i->written);
        json_u64(&j, "answered", i->answered);
        json_latency(&j, "p50", i, i->p50);
        json_latency(&j, "p90", i, i->p90);
        json_latency(&j, "p99", i, i->p99);
        json_latency(&j, "max", i, i->max);
        json_u64(&j, "retransmissions", i->retransmissions);
        json_u64(&j, "unanswered", i->unanswered);
        json_i64(&j, "outstanding", i->outstanding);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "names") : 0;
}
