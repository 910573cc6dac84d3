/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault_words.c
 *
 * The words of fault rules (fault.h): one table, from which rules are read, printed and explained.
 * What depends on the protocols is in fault_wire.c.
 */
#include "net/fault_parts.h"
#include "base/values.h"
#include "wire/field.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
const struct fault_word fault_words[WORDS] = {
    [WORD_PATH] = { "path", PATH, "PATTERN", "the object's path; * is anything, ? one byte" },
    [WORD_CLIENT] = { "client", CLIENT, "ADDR[/BITS]", "the client's address, IPv6 in brackets" },
    [WORD_UID] = { "uid", NUMBER, "UID", "the caller" },
    [WORD_OBJECT] = { "object", OBJECT, "HEX", "the object's handle" },
    [WORD_AFTER] = { "after", NUMBER, "N", "not the first N of these requests" },
    [WORD_EVERY] = { "every", NUMBER, "N", "then every Nth", .least = 1 },
    [WORD_P] = { "p", SHARE, "P", "then with this probability, 0 < P <= 1" },
    [WORD_COUNT] = { "count", NUMBER, "N", "at most N times", .least = 1 },

    [FAULT_DELAY] = { "delay", TIME, "TIME", "answer that much later" },
    [FAULT_IGNORE] = { "ignore", NOTHING, NULL, "neither execute nor answer the call" },
    [FAULT_DROP] = { "drop", NOTHING, NULL, "execute the call, but do not answer" },
    [FAULT_CLOSE] = { "close", NOTHING, NULL, "close the connection instead of answering" },
    [FAULT_TWICE] = { "twice", NOTHING, NULL, "send the reply twice" },
    [FAULT_FORGET] = { "forget", NOTHING, NULL, "execute retransmissions again" },
    [FAULT_RPC_STATUS] = { "rpc-status", NAME, "STATUS", "do not execute the call; RPC's answer" },
    [FAULT_MALFORMED] = { "malformed", NOTHING, NULL, "end the results too early", "" },

    [FAULT_STATUS] = { "status", NAME, "STATUS", "do not execute the call; the result's status" },
    [FAULT_EOF] = { "eof", NOTHING, NULL, "wrong end of file or listing", "eof" },
    [FAULT_SHORT] = { "short", NOTHING, NULL, "read or write half of the bytes", "resok.count" },
    [FAULT_WRONG_BYTES] = { "wrong-bytes", NOTHING, NULL, "wrong contents", "data" },
    [FAULT_LOSE_UNSTABLE] = { "lose-unstable", NOTHING, NULL,
        "lose what is written and not committed", "verf" },
    [FAULT_VERIFIER] = { "verifier", NOTHING, NULL, "change the write verifier", "verf" },
    [FAULT_COMMITTED] = { "committed", NAME, "HOW", "what WRITE promises", "committed" },
    [FAULT_SKIP_ENTRY] = { "skip-entry", NOTHING, NULL, "leave an entry out", "entries" },
    [FAULT_TWICE_ENTRY] = { "twice-entry", NOTHING, NULL, "return an entry twice", "entries" },
    [FAULT_COOKIE_VERIFIER] = { "cookie-verifier", NOTHING, NULL,
        "change the cookie verifier", "cookieverf" },

    [FAULT_NO_ATTRIBUTES] = { "no-attributes", NOTHING, NULL,
        "leave optional attributes out", .role = FAULT_ATTRIBUTES },
    [FAULT_NO_BEFORE] = { "no-before", NOTHING, NULL,
        "leave attributes from before the operation out", "before" },
    [FAULT_BEFORE_CURRENT] = { "before-current", NOTHING, NULL,
        "attributes from before the operation are those after it", "before" },
    [FAULT_NO_HANDLE] = { "no-handle", NOTHING, NULL, "leave optional handles out", "handle" },
    [FAULT_HANDLE] = { "handle", NOTHING, NULL, "another handle for the same object",
        .role = ROLE_NEW_OBJECT | ROLE_ENTRY_OBJECT },
    [FAULT_NO_ATIME] = { "no-atime", NOTHING, NULL, "access times are 0", "atime.seconds" },
    [FAULT_KEEP_TIMES] = { "keep-times", NOTHING, NULL,
        "changes do not change mtime and ctime", "mtime.seconds" },
    [FAULT_SHIFT_TIMES] = { "shift-times", SHIFT, "TIME", "times are that much later",
        "mtime.seconds" },
    [FAULT_MODE_BITS] = { "mode-bits", OCTAL, "OCTAL", "invert these bits of modes", "mode",
        .least = 1 },
    [FAULT_LINK_COUNT] = { "link-count", NOTHING, NULL, "link counts are one too high", "nlink" },
    [FAULT_SIZE] = { "size", NOTHING, NULL, "sizes are one too large", "size" },
    [FAULT_FILEID] = { "fileid", NOTHING, NULL, "another fileid for the same object", "fileid" },
    [FAULT_FSID] = { "fsid", NOTHING, NULL, "another fsid for the same file system", "fsid" },
};
/* clang-format on */

/* --- values */

static int read_value(struct fault_rule *rule, uint32_t number, const char *text, struct err *err)
{
    const struct fault_word *word = &fault_words[number];
    uint64_t *value = &rule->value[number];
    bool good = true;
    char *end;

    switch (word->kind) {
    case PATH:
        return fault_read_path(rule, text, err);
    case CLIENT:
        return fault_read_client(rule, text, err);
    case OBJECT:
        return fault_read_object(rule, text, err);
    case NAME:
        return fault_read_name(rule, number, text, value, err);
    case TIME:
    case SHIFT:
        good = fault_read_time(text, value) && (word->kind == SHIFT || (int64_t)*value >= 0);
        break;
    case SHARE:
        good = fault_read_share(text, value);
        break;
    case OCTAL:
        *value = strtoull(text, &end, 8);
        good = *text >= '0' && *text <= '7' && !*end && *value <= UINT32_MAX;
        break;
    case NUMBER:
        good = parse_number(text, value) && *value <= UINT32_MAX;
        break;
    case NOTHING:
        break;
    }
    if (!good || *value < word->least)
        return err_set(err, ERR_USAGE, "%s: \"%.40s\" is not %s", word->name, text,
                       word->kind == TIME    ? "a time such as 250ms"
                       : word->kind == SHIFT ? "a time such as 250ms or -1s"
                       : word->kind == SHARE ? "a probability, above 0 and at most 1"
                       : word->kind == OCTAL ? "an octal number above 0"
                       : word->least         ? "a number from 1"
                                             : "a number");
    return 0;
}

static int read_word(struct fault_rule *rule, char *text, struct err *err)
{
    char *equals = strchr(text, '=');
    uint32_t number = 0;

    if (equals)
        *equals = '\0';
    while (number < WORDS && strcmp(fault_words[number].name, text) != 0)
        number++;
    if (number == WORDS)
        return err_set(err, ERR_USAGE, "\"%.60s\" is neither a condition nor an effect of a fault",
                       text);
    if (rule_has(rule, number))
        return err_set(err, ERR_USAGE, "%s: given twice", text);
    if (equals && !fault_words[number].value)
        return err_set(err, ERR_USAGE, "%s: takes no value", text);
    if (fault_words[number].value && (!equals || !equals[1]))
        return err_set(err, ERR_USAGE, "%s: a value is missing: %s=%s", text, text,
                       fault_words[number].value);
    rule->words |= UINT64_C(1) << number;
    rule->order[rule->word_count++] = (uint8_t)number;
    if (number < FAULT_EFFECTS && fault_check_effect(rule, number, err) < 0)
        return -ERR_USAGE;
    return equals ? read_value(rule, number, equals + 1, err) : 0;
}

/* Appends the word |number|, whose value was given as |given|. */
static void print_word(struct fault_rule *rule, uint32_t number, const char *given)
{
    char value[FAULT_TEXT_MAX] = "";
    size_t at = strlen(rule->text), room = sizeof(rule->text) - at;

    switch (fault_words[number].kind) {
    case PATH:
        snprintf(value, sizeof(value), "%s", given);
        break;
    case CLIENT:
        fault_print_client(rule, value, sizeof(value));
        break;
    case OBJECT:
        for (uint32_t i = 0; i < rule->object_len; i++)
            snprintf(value + (size_t)2 * i, 3, "%02x", rule->object[i]);
        break;
    case NAME:
        fault_print_name(rule, number, value, sizeof(value));
        break;
    case TIME:
    case SHIFT:
        fault_print_time(rule->value[number], value, sizeof(value));
        break;
    case SHARE:
        fault_print_share(rule->value[number], value, sizeof(value));
        break;
    case OCTAL:
        snprintf(value, sizeof(value), "%llo", (unsigned long long)rule->value[number]);
        break;
    case NUMBER:
        snprintf(value, sizeof(value), "%llu", (unsigned long long)rule->value[number]);
        break;
    case NOTHING:
        break;
    }
    snprintf(rule->text + at, room, ":%s%s%s", fault_words[number].name,
             fault_words[number].value ? "=" : "", value);
}

/* The end of the word at |p|: a colon in a value in brackets does not count. */
static char *word_end(char *p)
{
    bool brackets = false;

    for (; *p && (*p != ':' || brackets); p++) {
        if (p[0] == '=' && p[1] == '[')
            brackets = true;
        else if (*p == ']')
            brackets = false;
    }
    return p;
}

/* Names in the place of numbers make the text longer, but by far not as long as |rule|->text. */
int fault_rule_parse(struct fault_rule *rule, const char *text, struct err *err)
{
    char copy[FAULT_TEXT_MAX / 2];
    char *next = copy, *word;

    wire_init();
    if (strlen(text) >= sizeof(copy))
        return err_set(err, ERR_USAGE, "a fault has at most %zu bytes", sizeof(copy) - 1);
    snprintf(copy, sizeof(copy), "%s", text);
    for (bool more = true; more;) {
        word = next;
        next = word_end(word);
        more = *next;
        *next++ = '\0';
        if (word == copy) {
            if (fault_read_procedure(rule, word, err) < 0)
                return -ERR_USAGE;
            snprintf(rule->text, sizeof(rule->text), "%s", word);
            continue;
        }
        if (read_word(rule, word, err) < 0)
            return -ERR_USAGE;
        print_word(rule, rule->order[rule->word_count - 1], word + strlen(word) + 1);
    }
    if (!(rule->words & ((UINT64_C(1) << FAULT_EFFECTS) - 1)))
        return err_set(err, ERR_USAGE,
                       "\"%.100s\" has no effect: add one, such as delay=250ms, drop, close or "
                       "status=NFS3ERR_IO",
                       text);
    if (strlen(rule->text) >= sizeof(copy))
        return err_set(err, ERR_USAGE, "a fault has at most %zu bytes", sizeof(copy) - 1);
    return 0;
}

int fault_rule_check(const struct fault_rule *rule, uint64_t words, const char *who,
                     struct err *err)
{
    char allowed[256] = "";
    uint64_t others = rule->words & ~words;
    size_t at = 0;

    if (!others)
        return 0;
    for (uint32_t i = 0; i < WORDS && at < sizeof(allowed); i++)
        if (words >> i & 1)
            at += (size_t)snprintf(allowed + at, sizeof(allowed) - at, "%s%s", at ? ", " : "",
                                   fault_words[i].name);
    return err_set(err, ERR_USAGE, "%s: %s cannot do this; it knows %s",
                   fault_words[__builtin_ctzll(others)].name, who, allowed);
}

int fault_help(const struct faults *faults, struct buf *out)
{
    uint64_t words = faults_words(faults);

    for (uint32_t pass = 0; pass < 2; pass++) { /* conditions first */
        const char *title = pass ? "effects:\n" : "conditions:\n";

        for (uint32_t i = pass ? 0 : FAULT_EFFECTS; i < (pass ? FAULT_EFFECTS : WORDS); i++) {
            char name[40], line[160];
            int len;

            if (!(words >> i & 1))
                continue;
            snprintf(name, sizeof(name), "%s%s%s", fault_words[i].name,
                     fault_words[i].value ? "=" : "",
                     fault_words[i].value ? fault_words[i].value : "");
            len = snprintf(line, sizeof(line), "%s  %-19s %s\n", title, name, fault_words[i].help);
            title = "";
            if (buf_append(out, line, (size_t)len) < 0)
                return -ERR_SYSTEM;
        }
    }
    return 0;
}
