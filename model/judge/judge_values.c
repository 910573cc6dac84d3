/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_values.c
 *
 * Prints values as words.
 */
#include "judge/judge_values.h"

#include "base/escape.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

bool values_is_number(const struct item *item)
{
    return !field_is_bytes(item->place->field);
}

static const char *name_of(const struct field *field, uint64_t value)
{
    for (const struct value_name *n = field->names; n && n->name; n++)
        if (n->value == value)
            return n->name;
    return NULL;
}

static void time_words(const struct item *item, char text[COMPARE_TEXT_MAX])
{
    uint64_t over = (uint64_t)item->over * item->place->scale, ns = item->value - over;
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    size_t len;

    gmtime_r(&seconds, &tm);
    len = strftime(text, COMPARE_TEXT_MAX, "%Y-%m-%d %H:%M:%S", &tm);
    if (over) {
        snprintf(text + len, COMPARE_TEXT_MAX - len, " and %llu ns", (unsigned long long)over);
        return;
    }
    snprintf(text + len, COMPARE_TEXT_MAX - len, ".%09llu", (unsigned long long)(ns % 1000000000u));
}

static void hex_words(const uint8_t *data, uint32_t len, char text[COMPARE_TEXT_MAX])
{
    uint32_t shown = len < 80 ? len : 80;

    for (uint32_t i = 0; i < shown; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    text[2 * shown] = '\0';
    if (shown < len)
        snprintf(text + 2 * shown, COMPARE_TEXT_MAX - 2 * shown, "... (%u bytes)", len);
}

static void name_words(struct bytes name, bool is_path, char text[COMPARE_TEXT_MAX])
{
    struct buf buf = { 0 };
    size_t len = 0;

    if (escape_name(name, is_path, &buf) == 0) {
        len = buf.len < COMPARE_TEXT_MAX ? buf.len : COMPARE_TEXT_MAX - 1;
        while (len < buf.len && len && (buf.data[len] & 0xc0) == 0x80)
            len--; /* not within a character */
        if (len)
            memcpy(text, buf.data, len);
    }
    text[len] = '\0';
    buf_free(&buf);
}

const char *values_text(const struct item *item, const struct bytes *digest,
                        char text[COMPARE_TEXT_MAX])
{
    const struct field *field = item->place->field;
    struct bytes bytes = { item->data, item->len };
    const char *name;

    if (item->place->is_time) {
        time_words(item, text);
    } else if (field->cls == CLASS_DATA && digest) {
        hex_words(digest->data, digest->len, text);
        snprintf(text + strlen(text), COMPARE_TEXT_MAX - strlen(text), " (XXH3 of %u bytes)",
                 item->full_len);
    } else if (field->kind == XDR_STRING) {
        name_words(bytes, field->cls == CLASS_PATH, text);
    } else if (field_is_bytes(field)) {
        hex_words(item->data, item->len, text);
    } else if (field_is_list(field)) {
        snprintf(text, COMPARE_TEXT_MAX, "%llu elements", (unsigned long long)item->value);
    } else if (field->kind == XDR_BOOL || field->kind == XDR_OPTIONAL ||
               (field->kind == XDR_UNION && field->cls == CLASS_BOOLEAN)) {
        snprintf(text, COMPARE_TEXT_MAX, "%s", item->value ? "yes" : "no");
    } else if ((name = name_of(field, item->value))) {
        snprintf(text, COMPARE_TEXT_MAX, "%s", name);
    } else if (field->cls == CLASS_MODE) {
        snprintf(text, COMPARE_TEXT_MAX, item->value ? "0%llo" : "0",
                 (unsigned long long)item->value);
    } else if (field->cls == CLASS_ENUM || field->cls == CLASS_FSID) {
        snprintf(text, COMPARE_TEXT_MAX, "0x%llx", (unsigned long long)item->value);
    } else {
        snprintf(text, COMPARE_TEXT_MAX, "%llu", (unsigned long long)item->value);
    }
    return text;
}

void values_expected(const struct item *item, uint64_t value, char text[COMPARE_TEXT_MAX])
{
    struct item expected = *item;
    char words[COMPARE_TEXT_MAX];
    uint8_t bytes[sizeof(value)];
    size_t len = strlen(text);

    memcpy(bytes, &value, sizeof(value));
    expected.value = value;
    if (!values_is_number(item)) {
        if (item->len != sizeof(value))
            return; /* all that is kept of it is a digest */
        expected.data = bytes;
    }
    snprintf(text + len, COMPARE_TEXT_MAX - len, " (%.100s expected)",
             values_text(&expected, NULL, words));
}

static void bits_difference(uint64_t ref, uint64_t sut, bool octal, char text[COMPARE_TEXT_MAX])
{
    const char *form = octal ? "0%llo only %s" : "0x%llx only %s";
    size_t len = 0;

    *text = '\0';
    if (ref & ~sut)
        len =
            (size_t)snprintf(text, COMPARE_TEXT_MAX, form, (unsigned long long)(ref & ~sut), "ref");
    if (sut & ~ref) {
        len += (size_t)snprintf(text + len, COMPARE_TEXT_MAX - len, "%s", len ? ", " : "");
        snprintf(text + len, COMPARE_TEXT_MAX - len, form, (unsigned long long)(sut & ~ref), "sut");
    }
}

void values_difference(const struct item *ref, const struct item *sut, char text[COMPARE_TEXT_MAX])
{
    const struct field *field = ref->place->field;
    char a[COMPARE_TEXT_MAX], b[COMPARE_TEXT_MAX];
    const char *how;

    if (field_is_bytes(field)) {
        how = field->kind == XDR_STRING ? alike_difference((struct bytes){ ref->data, ref->len },
                                                           (struct bytes){ sut->data, sut->len })
                                        : NULL;
        snprintf(text, COMPARE_TEXT_MAX, "%s", how ? how : "differs");
    } else if (field->kind == XDR_BOOL || field->kind == XDR_OPTIONAL) {
        snprintf(text, COMPARE_TEXT_MAX, "only %s", ref->value ? "ref" : "sut");
    } else if (field->kind == XDR_ENUM || field->kind == XDR_UNION || field->names) {
        snprintf(text, COMPARE_TEXT_MAX, "%.100s, %.100s", values_text(ref, NULL, a),
                 values_text(sut, NULL, b));
    } else if (field->cls == CLASS_MODE || field->cls == CLASS_ENUM) {
        bits_difference(ref->value, sut->value, field->cls == CLASS_MODE, text);
    } else {
        snprintf(text, COMPARE_TEXT_MAX, "sut %s", sut->value > ref->value ? "larger" : "smaller");
    }
}

uint64_t values_key(const struct item *item)
{
    uint64_t value = 0;

    if (values_is_number(item))
        return item->value;
    if (item->len != sizeof(value))
        return XXH3_64bits(item->data, item->len);
    memcpy(&value, item->data, sizeof(value)); /* a verifier is shown */
    return value;
}
