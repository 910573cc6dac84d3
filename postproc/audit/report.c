/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/report.c
 *
 * Texts that the reports in text, HTML and JSON share: quotes of values, places of findings, the
 * verdict, and what was compared.  With |redact| they leave out values and frame numbers of the
 * original, and by how much times were shifted.  The contract is in report.h.
 */
#include "audit/report.h"

static bool is_printable(const struct quote *q, uint32_t shown)
{
    for (uint32_t i = 0; i < shown; i++)
        if (q->data[i] < 0x20 || q->data[i] >= 0x7f || q->data[i] == '"' || q->data[i] == '\\')
            return false;
    return shown > 0;
}

const char *quote_text(const struct quote *q, bool redact, char text[QUOTE_TEXT_MAX])
{
    uint32_t shown = q->len < FINDING_BYTES ? q->len : FINDING_BYTES;
    int at = 0;

    if (redact)
        snprintf(text, QUOTE_TEXT_MAX, q->is_number ? "a number" : "%u bytes", q->len);
    if (redact)
        return text;
    if (q->is_number) {
        snprintf(text, QUOTE_TEXT_MAX, "%llu", (unsigned long long)q->number);
        return text;
    }
    if (is_printable(q, shown)) {
        at = snprintf(text, QUOTE_TEXT_MAX, "\"%.*s\"", (int)shown, (const char *)q->data);
    } else {
        at = snprintf(text, QUOTE_TEXT_MAX, shown ? "0x" : "\"\"");
        for (uint32_t i = 0; i < shown; i++)
            at += snprintf(text + at, QUOTE_TEXT_MAX - (size_t)at, "%02x", q->data[i]);
    }
    if (shown < q->len)
        snprintf(text + at, QUOTE_TEXT_MAX - (size_t)at, "... (%u bytes)", q->len);
    return text;
}

const char *finding_place(const struct finding *f, bool redact, char text[LINE_TEXT_MAX])
{
    const char *between = "";
    int at = 0;

    text[0] = '\0';
    if (f->offset >= 0) {
        at = snprintf(text, LINE_TEXT_MAX, "byte %lld", (long long)f->offset);
        between = ", ";
    }
    if (f->frame) {
        at += snprintf(text + at, LINE_TEXT_MAX - (size_t)at, "%sframe %llu", between,
                       (unsigned long long)f->frame);
        between = ", ";
    }
    if (f->place[0]) {
        at += snprintf(text + at, LINE_TEXT_MAX - (size_t)at, "%s%s", between, f->place);
        between = "; ";
    }
    if (f->original_frame && !redact)
        snprintf(text + at, LINE_TEXT_MAX - (size_t)at, "%soriginal frame %llu", between,
                 (unsigned long long)f->original_frame);
    return text;
}

const char *report_warning(bool redact)
{
    return redact ? "This report does not quote the original.  You may release it with the "
                    "anonymized file."
                  : "This report quotes the original.  Keep it as private as the original.";
}

const char *report_verdict(const struct audit *a, char text[LINE_TEXT_MAX])
{
    if (!a->finding_total)
        snprintf(text, LINE_TEXT_MAX, "clean: nothing was found");
    else
        snprintf(text, LINE_TEXT_MAX, "%llu finding%s", (unsigned long long)a->finding_total,
                 a->finding_total == 1 ? "" : "s");
    return text;
}

uint64_t report_distinct(const struct audit *a, enum secret_class cls)
{
    return (uint64_t)a->secrets.classes[cls].count << a->secrets.classes[cls].halvings;
}

const char *report_sampled(const struct audit *a, enum secret_class cls, char text[LINE_TEXT_MAX])
{
    uint32_t count = a->secrets.classes[cls].count;

    if (!a->secrets.classes[cls].halvings)
        snprintf(text, LINE_TEXT_MAX, "%u", count);
    else
        snprintf(text, LINE_TEXT_MAX, "%u of ~%llu", count,
                 (unsigned long long)report_distinct(a, cls));
    return text;
}

uint64_t report_found(const struct audit *a, unsigned kind, const char *what)
{
    for (uint32_t i = 0; i < a->count_rows; i++)
        if (a->counts[i].kind == kind && a->counts[i].what == what)
            return a->counts[i].count;
    return 0;
}

const char *report_name_lengths(const struct audit *a)
{
    const struct name_row *names = &a->names;

    if (!names->distinct)
        return "unknown";
    if (names->same_length == names->distinct)
        return "kept";
    for (unsigned i = 0; i < LENGTHS; i++)
        if (names->lengths[i] == names->distinct)
            return "hidden";
    return "mixed";
}

uint64_t report_values(const struct audit *a)
{
    uint64_t values = 0;

    for (unsigned i = 0; i < ITEM_CLASSES; i++)
        values += a->fields[i];
    return values;
}

/* Long: it is the list of what was compared, in the report's order. */
void report_coverage(const struct audit *a, bool redact, report_line *line, void *ctx)
{
    char text[LINE_TEXT_MAX], dropped[64];

    (void)redact;
    snprintf(text, sizeof(text), "%llu messages in %llu frames (%llu calls, %llu replies)",
             (unsigned long long)(a->original.calls + a->original.replies),
             (unsigned long long)a->original.frames, (unsigned long long)a->original.calls,
             (unsigned long long)a->original.replies);
    line(ctx, "Original", text);
    snprintf(text, sizeof(text), "%llu messages in %llu frames, %llu bytes searched",
             (unsigned long long)(a->anonymized.calls + a->anonymized.replies),
             (unsigned long long)a->anonymized.frames, (unsigned long long)a->bytes_searched);
    line(ctx, "Anonymized", text);
    snprintf(dropped, sizeof(dropped),
             a->has_dropped ? "the file says that %llu were dropped"
                            : "the file does not say how many were dropped",
             (unsigned long long)a->dropped);
    snprintf(
        text, sizeof(text),
        "%llu messages with %llu values compared; %llu missing (%s), %llu not in the original; "
        "%llu with bytes missing, %llu bodies that cannot be read",
        (unsigned long long)a->matched, (unsigned long long)report_values(a),
        (unsigned long long)a->missing, dropped, (unsigned long long)a->surplus,
        (unsigned long long)a->incomplete, (unsigned long long)a->unread_bodies);
    line(ctx, "Messages", text);
    snprintf(
        text, sizeof(text),
        "in the original, %llu datagrams on RPC ports are not RPC messages, %llu bytes of streams "
        "are in no message, and %llu bytes were not captured",
        (unsigned long long)a->original.not_rpc, (unsigned long long)a->original.skipped,
        (unsigned long long)a->original.lost);
    line(ctx, "Not messages", text);
    snprintf(text, sizeof(text), "%s%s%s%s; %s", a->policy[0] ? a->policy : "not stated",
             a->policy_digest[0] ? ", SHA-256 " : "", a->policy_digest,
             a->options->policy ? " (as the command line says)" : "",
             a->has_provenance ? a->provenance : "the file does not say what made it");
    line(ctx, "Policy", text);
    if (a->recomputed.done)
        snprintf(text, sizeof(text),
                 "yes, with the key: %llu messages were anonymized again and compared with %llu "
                 "bytes of "
                 "the file%s",
                 (unsigned long long)a->recomputed.messages,
                 (unsigned long long)a->recomputed.bytes,
                 a->recomputed.other_version ? ", which another version of the program made" : "");
    else
        snprintf(text, sizeof(text), "no: this needs the key");
    line(ctx, "Recomputed", text);
    snprintf(text, sizeof(text), "%s for %llu distinct names; %llu kept a suffix, %llu a prefix",
             report_name_lengths(a), (unsigned long long)a->names.distinct,
             (unsigned long long)a->names.suffix, (unsigned long long)a->names.prefix);
    line(ctx, "Name lengths", text);
    if (!a->has_shift)
        snprintf(text, sizeof(text), "no message could be matched");
    else if (a->shift)
        snprintf(text, sizeof(text),
                 redact ? "all shifted by one constant" : "all shifted by %lld ns",
                 (long long)a->shift);
    else
        snprintf(text, sizeof(text), "not changed");
    line(ctx, "Times", text);
}
