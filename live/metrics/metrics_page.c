/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/metrics/metrics_page.c
 *
 * Writes pages for Prometheus.  The contract is in metrics_page.h; the format is described in
 * https://prometheus.io/docs/instrumenting/exposition_formats/.
 */
#include "metrics/metrics_page.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* --- tables */

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* |colons|: of a metric. */
static bool is_name(const char *name, size_t len, bool colons)
{
    if (len == 0 || len > METRIC_NAME_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!letter(name[i]) && !(colons && name[i] == ':') &&
            !(i && name[i] >= '0' && name[i] <= '9'))
            return false;
    return true;
}

static int check_labels(const struct metric *metric, struct err *err)
{
    uint32_t count = 0;

    for (const char *p = metric->labels ? metric->labels : ""; *p;) {
        size_t len = strcspn(p, " ");

        if (!is_name(p, len, false) || strncmp(p, "__", 2) == 0 ||
            (metric->kind == METRIC_HISTOGRAM && len == 2 && strncmp(p, "le", 2) == 0) ||
            ++count > METRIC_LABELS_MAX)
            return err_set(err, ERR_USAGE, "metric %s: \"%s\" are not labels", metric->name,
                           metric->labels);
        p += len + (p[len] == ' ');
    }
    return 0;
}

int metrics_check(const struct metric *table, uint32_t count, struct err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = table[i].name;
        size_t len = strlen(name);

        if (!is_name(name, len, true))
            return err_set(err, ERR_USAGE, "\"%.60s\" is not a metric's name", name);
        if ((table[i].kind == METRIC_COUNTER) != (len > 6 && strcmp(name + len - 6, "_total") == 0))
            return err_set(err, ERR_USAGE, "metric %s: counters, and nothing else, end in _total",
                           name);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(name, table[k].name) == 0)
                return err_set(err, ERR_USAGE, "metric %s is there twice", name);
        if (check_labels(&table[i], err) < 0)
            return -ERR_USAGE;
    }
    return 0;
}

/* --- text */

static void put(struct metrics_page *page, const char *text, size_t len)
{
    if (buf_append(&page->text, text, len) < 0)
        page->failed = true;
}

static void put_text(struct metrics_page *page, const char *text)
{
    put(page, text, strlen(text));
}

/* Backslashes and newlines escaped, in label values also quotes; the text has to be UTF-8, so what
 * is not becomes U+FFFD. */
static void put_escaped(struct metrics_page *page, const char *text, bool quotes)
{
    const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);

    while (p < end) {
        uint32_t code, len = utf8_read(p, (size_t)(end - p), &code);

        if (!len)
            put_text(page, "\xef\xbf\xbd");
        else if (*p == '\n')
            put_text(page, "\\n");
        else if (*p == '\\' || (quotes && *p == '"'))
            put(page, (const char[]){ '\\', (char)*p }, 2);
        else
            put(page, (const char *)p, len);
        p += len ? len : 1;
    }
}

/* The metric's head, before its first sample.  False: it may not come now. */
static bool begin(struct metrics_page *page, const struct metric *metric)
{
    static const char *const kinds[] = { "counter", "gauge", "histogram" };
    uint32_t number = (uint32_t)(metric - page->table);

    if (metric < page->table || number >= page->count || number + 1 < page->next) {
        page->out_of_order = true;
        return false;
    }
    if (number + 1 == page->next)
        return true;
    page->next = number + 1;
    put_text(page, "# HELP ");
    put_text(page, metric->name);
    put_text(page, " ");
    put_escaped(page, metric->help, false);
    put_text(page, "\n# TYPE ");
    put_text(page, metric->name);
    put_text(page, " ");
    put_text(page, kinds[metric->kind]);
    put_text(page, "\n");
    return true;
}

/* NAME{LABELS} VALUE; |le|: one more label, or NULL. */
static void sample(struct metrics_page *page, const struct metric *metric, const char *suffix,
                   const char *const *labels, const char *le, const char *value)
{
    const char *before = "{";

    put_text(page, metric->name);
    put_text(page, suffix);
    for (const char *p = metric->labels ? metric->labels : ""; *p; labels++) {
        size_t len = strcspn(p, " ");

        put_text(page, before);
        put(page, p, len);
        put_text(page, "=\"");
        put_escaped(page, *labels, true);
        put_text(page, "\"");
        before = ",";
        p += len + (p[len] == ' ');
    }
    if (le) {
        put_text(page, before);
        put_text(page, "le=\"");
        put_text(page, le);
        put_text(page, "\"");
        before = ",";
    }
    put_text(page, *before == ',' ? "} " : " ");
    put_text(page, value);
    put_text(page, "\n");
}

/* As few digits as give the number back. */
static const char *number_text(double value, char text[32])
{
    if (value != value)
        return "NaN";
    if (value > 1.7976931348623157e308)
        return "+Inf";
    if (value < -1.7976931348623157e308)
        return "-Inf";
    for (int digits = 1; digits <= 17; digits++) {
        double again;

        snprintf(text, 32, "%.*g", digits, value);
        if (sscanf(text, "%lf", &again) == 1 && again == value)
            break;
    }
    return text;
}

static const char *u64_text(uint64_t value, char text[32])
{
    snprintf(text, 32, "%llu", (unsigned long long)value);
    return text;
}

void metrics_page_u64(struct metrics_page *page, const struct metric *metric,
                      const char *const *labels, uint64_t value)
{
    char text[32];

    if (begin(page, metric))
        sample(page, metric, "", labels, NULL, u64_text(value, text));
}

void metrics_page_double(struct metrics_page *page, const struct metric *metric,
                         const char *const *labels, double value)
{
    char text[32];

    if (begin(page, metric))
        sample(page, metric, "", labels, NULL, number_text(value, text));
}

void metrics_page_histogram(struct metrics_page *page, const struct metric *metric,
                            const char *const *labels, const struct metric_histogram *histogram)
{
    char le[32], text[32];
    uint64_t sum = 0;

    if (!begin(page, metric))
        return;
    for (uint32_t i = 0; i < histogram->count; i++) {
        sum += histogram->counts[i];
        sample(page, metric, "_bucket", labels, number_text(histogram->bounds[i], le),
               u64_text(sum, text));
    }
    u64_text(sum + histogram->counts[histogram->count], text);
    sample(page, metric, "_bucket", labels, "+Inf", text);
    sample(page, metric, "_sum", labels, NULL, number_text(histogram->sum, le));
    sample(page, metric, "_count", labels, NULL, text);
}

int metrics_page_end(const struct metrics_page *page, struct err *err)
{
    if (page->out_of_order)
        return err_set(err, ERR_USAGE, "metrics do not come in the order of their table");
    return page->failed ? err_memory(err, "metrics") : 0;
}
