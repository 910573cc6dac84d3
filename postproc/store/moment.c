/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/moment.h"
#include "base/values.h"
#include "store/sql.h"

#include <ctype.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)

int moment_span_read(sqlite3 *db, struct moment_span *span, struct err *err)
{
    if (sql_number(db, "SELECT min(first_time) FROM source", INT64_MIN, &span->first, err) < 0 ||
        sql_number(db, "SELECT max(last_time) FROM source", INT64_MIN, &span->last, err) < 0)
        return -err->code;
    span->known = span->first != INT64_MIN && span->last != INT64_MIN;
    return 0;
}

/* Two digits below |limit|. */
static bool two_digits(const char **text, int limit, int64_t *value)
{
    const char *s = *text;

    if (!isdigit((unsigned char)s[0]) || !isdigit((unsigned char)s[1]))
        return false;
    *value = (s[0] - '0') * 10 + (s[1] - '0');
    *text += 2;
    return *value < limit;
}

/* "10:03:20.5": ns since midnight. */
static bool time_of_day(const char *text, int64_t *ns)
{
    int64_t hour, minute, second = 0, scale = SECOND, rest = 0;

    if (isdigit((unsigned char)text[0]) && text[1] == ':') { /* 9:30 */
        hour = *text++ - '0';
    } else if (!two_digits(&text, 24, &hour)) {
        return false;
    }
    if (*text++ != ':' || !two_digits(&text, 60, &minute))
        return false;
    if (*text == ':') {
        text++;
        if (!two_digits(&text, 60, &second))
            return false;
        if (*text == '.')
            for (text++; isdigit((unsigned char)*text); text++) {
                scale /= 10;
                rest += (*text - '0') * scale;
            }
    }
    *ns = ((hour * 60 + minute) * 60 + second) * SECOND + rest;
    return !*text;
}

static int64_t day_of(int64_t ns)
{
    return ns / DAY - (ns % DAY < 0);
}

/* The day on which the trace has the time of day.  If it has only one day, that one. */
static int on_its_day(const char *text, const struct moment_span *span, int64_t *ns,
                      struct err *err)
{
    int64_t first = day_of(span->first), last = day_of(span->last), of_day = *ns, fits = 0;

    if (last - first > 2)
        fits = 2; /* a day between them has it, and another one */
    for (int64_t day = first; fits < 2 && day <= last; day++) {
        int64_t at;

        if (__builtin_mul_overflow(day, DAY, &at) || __builtin_add_overflow(at, of_day, &at))
            continue;
        if (first == last || (at >= span->first && at <= span->last)) {
            fits++;
            *ns = at;
        }
    }
    if (fits == 1)
        return 0;
    return err_set(err, ERR_USAGE,
                   "the trace has \"%s\" on %s of its days: write the date too (2026-11-21 10:03)",
                   text, fits ? "several" : "none");
}

/* "2324" would be a second of 1970: who types it means something else, unless the trace is of that
 * time. */
static int far_number(const char *text, const struct moment_span *span, int64_t ns, struct err *err)
{
    if (text[strspn(text, "0123456789.")] || ns >= 365 * DAY || !span->known ||
        span->first < 365 * DAY)
        return 0;
    return err_set(err, ERR_USAGE,
                   "\"%s\" alone is in seconds since 1970: write a time of day as 23:24, or +%ss"
                   " for seconds after the first packet",
                   text, text);
}

int moment_parse(const char *text, const struct moment_span *span, int64_t *ns, struct err *err)
{
    bool after = *text == '+', before = *text == '-', of_day = false;
    int64_t duration;

    if (after || before) {
        if (!parse_duration(text + 1, &duration))
            return err_set(err, ERR_USAGE, "\"%s\" is not a duration after + or -, such as +5m",
                           text);
    } else {
        of_day = time_of_day(text, ns);
        if (!of_day && !parse_time(text, ns))
            return err_set(err, ERR_USAGE,
                           "\"%s\" is not a time such as 10:03, 10:03:20.5, +5m, -30s or"
                           " \"2026-11-21 05:48:01.5\" (UTC)",
                           text);
    }
    if (!after && !before && !of_day)
        return far_number(text, span, *ns, err);
    if (!span->known)
        return err_set(err, ERR_USAGE, "\"%s\" needs a trace whose packets have times", text);
    if (of_day)
        return on_its_day(text, span, ns, err);
    if (after ? __builtin_add_overflow(span->first, duration, ns)
              : __builtin_sub_overflow(span->last, duration, ns))
        return err_set(err, ERR_USAGE, "\"%s\" is too far from the trace", text);
    return 0;
}
