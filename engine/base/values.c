/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/values.c
 *
 * Reads and writes numbers, sizes, times and durations as text.  The contract is in values.h.
 */
#include "base/values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

bool parse_number(const char *text, uint64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return !*end && errno == 0;
}

bool parse_size(const char *text, uint64_t *value)
{
    static const char units[] = "kMG";
    const char *unit;
    char *end;
    int shift;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (errno)
        return false;
    if (!*end)
        return true;
    unit = strchr(units, *end == 'K' ? 'k' : *end);
    if (!unit || end[1])
        return false;
    shift = 10 * (int)(unit - units + 1);
    if (*value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

/* Digits with an optional fraction, as ns of |unit| each; exact. */
static bool fraction(const char *text, const char **end, int64_t unit, int64_t *ns)
{
    int64_t whole = 0, part = 0, scale = unit;

    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text); text++) {
        if (whole > INT64_MAX / 20)
            return false;
        whole = whole * 10 + (*text - '0');
    }
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++) {
            scale /= 10;
            part += (*text - '0') * scale;
        }
    if (whole > (INT64_MAX - part) / unit)
        return false;
    *ns = whole * unit + part;
    *end = text;
    return true;
}

bool parse_duration(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        { "ns", 1 },    { "us", 1000 },       { "ms", 1000000 },      { "s", SECOND },
        { "", SECOND }, { "m", 60 * SECOND }, { "h", 3600 * SECOND },
    };
    size_t len = strspn(text, "0123456789.");
    const char *end;

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(text + len, units[i].name) == 0)
            return fraction(text, &end, units[i].ns, ns) && end == text + len;
    return false;
}

/* A day that is in the calendar, and near enough for ns. */
static bool time_of(struct tm *tm, int64_t rest, int64_t *ns)
{
    int month = tm->tm_mon, day = tm->tm_mday;
    int64_t seconds = timegm(tm); /* makes 30 February the 1st or 2nd of March */

    return tm->tm_mon == month && tm->tm_mday == day &&
           !__builtin_mul_overflow(seconds, SECOND, ns) && !__builtin_add_overflow(*ns, rest, ns);
}

bool parse_time(const char *text, int64_t *ns)
{
    static const char *const formats[] = { "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d" };
    int64_t rest = 0;
    const char *end;

    if (fraction(text, &end, SECOND, ns) && (!*end || strcmp(end, "s") == 0))
        return true;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct tm tm = { 0 };

        end = strptime(text, formats[i], &tm);
        if (!end)
            continue;
        if (i < 2 && *end == ':' && (!fraction(end + 1, &end, SECOND, &rest) || rest > 61 * SECOND))
            return false;
        if (strcmp(end, "Z") != 0 && *end)
            continue;
        return time_of(&tm, rest, ns);
    }
    return false;
}

const char *time_text(int64_t ns, char text[VALUE_TEXT_MAX])
{
    int64_t rest = (ns % SECOND + SECOND) % SECOND;
    time_t seconds = (time_t)(ns / SECOND - (ns % SECOND < 0));
    struct tm tm;
    size_t len;

    gmtime_r(&seconds, &tm);
    len = strftime(text, VALUE_TEXT_MAX, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(text + len, VALUE_TEXT_MAX - len, ".%09lld", (long long)rest);
    return text;
}

const char *duration_text(int64_t ns, char text[VALUE_TEXT_MAX])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
    const char *sign = ns < 0 ? "-" : "";
    double value = ns < 0 ? -(double)ns : (double)ns;

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (value >= units[i].ns) {
            double scaled = value / units[i].ns;

            snprintf(text, VALUE_TEXT_MAX, "%s%.*f%s", sign,
                     scaled < 9.9995   ? 3
                     : scaled < 99.995 ? 2
                     : scaled < 999.95 ? 1
                                       : 0,
                     scaled, units[i].name);
            return text;
        }
    snprintf(text, VALUE_TEXT_MAX, "%s%.0fns", sign, value);
    return text;
}

const char *duration_rough_text(int64_t ns, char text[VALUE_TEXT_MAX])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    uint64_t value = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, scale = 1, unit = 1;
    size_t i = 0;

    while (value / scale >= 100)
        scale *= 10;
    if (value <= UINT64_MAX - scale / 2)
        value += scale / 2;
    value = value / scale * scale;
    for (; i < 3 && value / unit >= 1000; i++)
        unit *= 1000;
    if (i && value / unit < 10)
        snprintf(text, VALUE_TEXT_MAX, "%s%.1f%s", ns < 0 ? "-" : "", (double)value / (double)unit,
                 units[i]);
    else
        snprintf(text, VALUE_TEXT_MAX, "%s%" PRIu64 "%s", ns < 0 ? "-" : "", value / unit,
                 units[i]);
    return text;
}

const char *size_text(uint64_t bytes, char text[VALUE_TEXT_MAX])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    size_t i = 0;

    while (value >= 1024 && i < 6) {
        value /= 1024;
        i++;
    }
    snprintf(text, VALUE_TEXT_MAX, i ? "%.1f %s" : "%.0f %s", value, units[i]);
    return text;
}

const char *count_text(uint64_t n, char text[VALUE_TEXT_MAX])
{
    char digits[24], *to = text;
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}
