/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/unmask.c
 *
 * Reads a value as text under the word for its class (table words), has the mapping convert it, and
 * writes the result as text.  A file of candidates is converted line by line; if pseudonyms are
 * given, only those that become one of them are shown.  For "nfsdigest unmask".  The contract is in
 * unmask.h.
 */
#include "anon/unmask.h"
#include "anon/address_text.h"
#include "anon/mapping.h"
#include "base/escape.h"
#include "base/values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NUMBER, KIND_EXTRA, KIND_ADDRESS, KIND_HANDLE, KIND_TEXT };

struct word {
    const char *name;
    enum kind kind;
    int what; /* enum field_class or policy_extra */
    unsigned bits;
};

static const struct word words[] = {
    { "address", KIND_ADDRESS, CLASS_ADDRESS, 0 },
    { "uid", KIND_NUMBER, CLASS_UID, 32 },
    { "gid", KIND_NUMBER, CLASS_GID, 32 },
    { "fileid", KIND_NUMBER, CLASS_FILEID, 64 },
    { "fsid", KIND_NUMBER, CLASS_FSID, 64 },
    { "device", KIND_NUMBER, CLASS_DEVICE, 32 },
    { "cookie", KIND_NUMBER, CLASS_COOKIE, 64 },
    { "verifier", KIND_NUMBER, CLASS_VERIFIER, 64 },
    { "lock_owner", KIND_NUMBER, CLASS_LOCK_OWNER, 32 },
    { "time", KIND_NUMBER, CLASS_TIME, 32 },
    { "stamp", KIND_EXTRA, EXTRA_STAMP, 32 },
    { "xid", KIND_EXTRA, EXTRA_XID, 32 },
    { "port", KIND_EXTRA, EXTRA_PORT, 16 },
    { "handle", KIND_HANDLE, CLASS_HANDLE, 0 },
    { "name", KIND_TEXT, CLASS_NAME, 0 },
    { "path", KIND_TEXT, CLASS_PATH, 0 },
    { "host", KIND_TEXT, CLASS_HOST, 0 },
    { 0 },
};

enum { HANDLE_MAX = 64, CANDIDATE_MAX = 1 << 16 };

struct unmask {
    struct policy *policy;
    struct mapping *mapping;
    const struct word *word;
    enum rule rule;
    struct buf in, out; /* bytes that a text stands for; the answer's text, ended by 0 */
};

static int no_memory(struct err *err)
{
    return err_memory(err, "a value");
}

static int answer(struct unmask *u, const char *text, struct err *err)
{
    return buf_append(&u->out, text, strlen(text) + 1) < 0 ? no_memory(err) : 0;
}

static int convert_number(struct unmask *u, const char *text, bool back, struct err *err)
{
    const struct word *w = u->word;
    char result[24];
    uint64_t value;

    if (!parse_number(text, &value) || (w->bits < 64 && value >> w->bits))
        return err_set(err, ERR_USAGE, "\"%s\" is not a number of %u bits", text, w->bits);
    if (w->kind == KIND_EXTRA)
        value = (back ? mapping_extra_back : mapping_extra)(u->mapping, (enum policy_extra)w->what,
                                                            (uint32_t)value);
    else
        value = (back ? mapping_number_back : mapping_number)(u->mapping, (enum field_class)w->what,
                                                              u->rule, w->bits, value);
    snprintf(result, sizeof(result), w->what == CLASS_VERIFIER ? "0x%016" PRIx64 : "%" PRIu64,
             value);
    return answer(u, result, err);
}

static int convert_address(struct unmask *u, const char *text, bool back, struct err *err)
{
    char result[ADDRESS_TEXT_MAX];
    struct address address;

    if (!address_parse((const uint8_t *)text, strlen(text), &address))
        return err_set(err, ERR_USAGE,
                       "\"%s\" is not an IPv4 or IPv6 address as RFC 5952 writes it", text);
    (back ? mapping_address_back : mapping_address)(u->mapping, &address, &address);
    return answer(u, address_text(&address, result), err);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

/* The bytes of u->in, there or back. */
static int convert_bytes(struct unmask *u, bool back, struct bytes *result, struct err *err)
{
    enum field_class cls = (enum field_class)u->word->what;
    uint32_t len = (uint32_t)u->in.len;

    return back ? mapping_bytes_back(u->mapping, cls, u->rule, u->in.data, len, result, err)
                : mapping_bytes(u->mapping, cls, u->rule, u->word->kind == KIND_TEXT, 0, u->in.data,
                                len, result, err);
}

static int convert_handle(struct unmask *u, const char *text, bool back, struct err *err)
{
    size_t len = strlen(text);
    struct bytes result;
    char hex[3];

    if (len % 2 || !len || len > 2 * HANDLE_MAX)
        return err_set(err, ERR_USAGE, "\"%.140s\" is not a handle: 1 to %d bytes in hexadecimal",
                       text, HANDLE_MAX);
    u->in.len = 0;
    for (size_t i = 0; i < len; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        uint8_t byte = (uint8_t)((unsigned)high << 4 | (unsigned)low);

        if (high < 0 || low < 0)
            return err_set(err, ERR_USAGE, "\"%s\" is not a handle: hexadecimal digits only", text);
        if (buf_append(&u->in, &byte, 1) < 0)
            return no_memory(err);
    }
    if (convert_bytes(u, back, &result, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < result.len; i++) {
        snprintf(hex, sizeof(hex), "%02x", result.data[i]);
        if (buf_append(&u->out, hex, 2) < 0)
            return no_memory(err);
    }
    return answer(u, "", err);
}

static int convert_text(struct unmask *u, const char *text, bool back, struct err *err)
{
    struct bytes result;

    u->in.len = 0;
    if (unescape_name(text, strlen(text), &u->in) < 0)
        return no_memory(err);
    if (convert_bytes(u, back, &result, err) < 0)
        return -err->code;
    if (escape_name(result, u->word->what != CLASS_NAME, &u->out) < 0)
        return no_memory(err);
    return answer(u, "", err);
}

/* Into u->out: the original of |text|, or, not |back|, its pseudonym. */
static int convert(struct unmask *u, const char *text, bool back, struct err *err)
{
    u->out.len = 0;
    switch (u->word->kind) {
    case KIND_NUMBER:
    case KIND_EXTRA:
        return convert_number(u, text, back, err);
    case KIND_ADDRESS:
        return convert_address(u, text, back, err);
    case KIND_HANDLE:
        return convert_handle(u, text, back, err);
    default:
        return convert_text(u, text, back, err);
    }
}

int unmask_value(struct unmask *u, const char *text, bool back, const char **result,
                 struct err *err)
{
    if (convert(u, text, back, err) < 0)
        return -err->code;
    *result = (const char *)u->out.data;
    return 0;
}

/* --- candidates --- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A line without its end. */
static int try_candidate(struct unmask *u, const struct unmask_guess *g, const char *line,
                         uint64_t *found, struct err *err)
{
    const char *pseudonym;

    if (unmask_value(u, line, false, &pseudonym, err) < 0)
        return -err->code;
    if (g->count &&
        !bsearch(&pseudonym, g->values, (size_t)g->count, sizeof(*g->values), compare_texts))
        return 0;
    g->show(g->ctx, pseudonym, line);
    ++*found;
    return 0;
}

int unmask_candidates(struct unmask *u, const struct unmask_guess *g, struct err *err)
{
    size_t size = 0, line_number = 0;
    uint64_t found = 0;
    char *line = NULL;
    ssize_t len;
    int result = 0;

    qsort(g->values, (size_t)g->count, sizeof(*g->values), compare_texts);
    while (result == 0 && (len = getline(&line, &size, g->file)) >= 0) {
        line_number++;
        if (len && line[len - 1] == '\n')
            line[--len] = '\0';
        if (len > CANDIDATE_MAX || strlen(line) != (size_t)len)
            result =
                err_set(err, ERR_INPUT, "%s: line %zu: %s", g->name, line_number,
                        len > CANDIDATE_MAX ? "too long" : "has a NUL byte: write it as \\x00");
        else if (len)
            result = try_candidate(u, g, line, &found, err);
    }
    if (result == 0 && ferror(g->file))
        result = err_set(err, ERR_INPUT, "%s: cannot read: %s", g->name, strerror(errno));
    free(line);
    return result < 0 ? result : g->count && !found;
}

/* --- what can be asked --- */

bool unmask_has_way_back(const struct unmask *u)
{
    switch (u->rule) {
    case RULE_KEEP:
    case RULE_KEYED:
    case RULE_SAME:
    case RULE_SHIFT:
        return true;
    case RULE_TOKEN: /* lock owners' numbers are permuted; hosts may be addresses */
        return u->word->kind == KIND_NUMBER || u->word->what == CLASS_HOST;
    default:
        return false;
    }
}

bool unmask_is_text(const struct unmask *u)
{
    return u->word->kind == KIND_TEXT;
}

const char *unmask_rule(const struct unmask *u)
{
    return rule_name(u->rule);
}

const char *unmask_policy(const struct unmask *u)
{
    return u->policy->name;
}

static int find_word(struct unmask *u, const char *name, struct err *err)
{
    for (u->word = words; u->word->name; u->word++)
        if (strcmp(u->word->name, name) == 0)
            return 0;
    return err_set(err, ERR_USAGE,
                   "no class \"%s\" can be looked up: see \"nfsdigest unmask --help\"", name);
}

static int open_mapping(struct unmask *u, const char *key_file, const char *policy, struct err *err)
{
    struct key key;

    if (policy_load(policy, &u->policy, err) < 0 || key_load(&key, key_file, err) < 0)
        return -err->code;
    u->mapping = mapping_new(&key, u->policy, err);
    key_forget(&key);
    if (!u->mapping)
        return -err->code;
    u->rule = (enum rule)(u->word->kind == KIND_EXTRA ? u->policy->extras[u->word->what]
                                                      : u->policy->rules[u->word->what]);
    return 0;
}

struct unmask *unmask_new(const char *key, const char *policy, const char *cls, struct err *err)
{
    struct unmask *u = calloc(1, sizeof(*u));

    if (!u) {
        no_memory(err);
        return NULL;
    }
    if (find_word(u, cls, err) == 0 && open_mapping(u, key, policy, err) == 0)
        return u;
    unmask_free(u);
    return NULL;
}

void unmask_free(struct unmask *u)
{
    if (!u)
        return;
    mapping_free(u->mapping);
    policy_free(u->policy);
    buf_free(&u->in);
    buf_free(&u->out);
    free(u);
}
