/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/args.h"
#include "cli/cli.h"

#include "anon/address_text.h"
#include "anon/mapping.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Finds the originals of values in an anonymized capture, with the key and the\n"
    "policy that it was made with.  Prints each value, a tab, and its original.\n"
    "\n"
    "CLASS says what the values are:\n"
    "  address                                     as RFC 5952 writes it\n"
    "  uid, gid, fileid, fsid, device, cookie,\n"
    "  verifier, lock_owner, time, stamp, xid,\n"
    "  port                                        numbers, hexadecimal with 0x\n"
    "  handle                                      hexadecimal\n"
    "  name, path, host                            text\n"
    "\n"
    "Names, paths and hosts that became tokens cannot be mapped back.  For these,\n"
    "use --candidates to guess: it prints the candidates that became one of the\n"
    "values, or without values all candidates with their pseudonyms.\n"
    "\n"
    "Bytes that are not printable UTF-8 are written \\xNN, and a backslash \\\\.\n"
    "Exit code 0: success; 1: no candidate became one of the values.\n";

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
    const char *key, *policy_name, *candidates;
    bool forward, json;
    struct policy *policy;
    struct mapping *mapping;
    const struct word *word;
    enum rule rule;
    struct buf in, out; /* bytes that a text stands for; the answer's text, ended by 0 */
};

/* --- one value --- */

static int no_memory(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "no memory for a value");
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

/* --- what is printed --- */

static void print_pair(const struct unmask *u, bool original_first, const char *pseudonym,
                       const char *original)
{
    if (!u->json) {
        printf("%s\t%s\n", original_first ? original : pseudonym,
               original_first ? pseudonym : original);
        return;
    }
    printf("{\"class\":\"%s\",\"pseudonym\":", u->word->name);
    json_text(stdout, pseudonym);
    fputs(",\"original\":", stdout);
    json_text(stdout, original);
    fputs("}\n", stdout);
}

static int unmask_values(struct unmask *u, char **values, int count, struct err *err)
{
    for (int i = 0; i < count; i++) {
        const char *result;

        if (convert(u, values[i], !u->forward, err) < 0)
            return -err->code;
        result = (const char *)u->out.data;
        print_pair(u, u->forward, u->forward ? result : values[i], u->forward ? values[i] : result);
    }
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Exit code: 0, or EXIT_FINDINGS when there are |values| and no candidate is one of them. */
static int try_candidates(struct unmask *u, FILE *file, const char *name, char **values, int count,
                          struct err *err)
{
    size_t size = 0, line_number = 0;
    uint64_t found = 0;
    char *line = NULL;
    ssize_t len;
    int result = 0;

    qsort(values, (size_t)count, sizeof(*values), compare_texts);
    while (result == 0 && (len = getline(&line, &size, file)) >= 0) {
        const char *pseudonym;

        line_number++;
        if (len && line[len - 1] == '\n')
            line[--len] = '\0';
        if (!len)
            continue;
        if (len > CANDIDATE_MAX || strlen(line) != (size_t)len) {
            result =
                err_set(err, ERR_INPUT, "%s: line %zu: %s", name, line_number,
                        len > CANDIDATE_MAX ? "too long" : "has a NUL byte: write it as \\x00");
            break;
        }
        result = convert(u, line, false, err);
        pseudonym = (const char *)u->out.data;
        if (result == 0 && count &&
            !bsearch(&pseudonym, values, (size_t)count, sizeof(*values), compare_texts))
            continue;
        if (result == 0) {
            print_pair(u, false, pseudonym, line);
            found++;
        }
    }
    if (result == 0 && ferror(file))
        result = err_set(err, ERR_INPUT, "%s: cannot read: %s", name, strerror(errno));
    free(line);
    return result < 0 ? result : count && !found ? EXIT_FINDINGS : 0;
}

static int open_candidates(struct unmask *u, char **values, int count, struct err *err)
{
    bool standard = strcmp(u->candidates, "-") == 0;
    const char *name = standard ? "standard input" : u->candidates;
    FILE *file = standard ? stdin : fopen(u->candidates, "r");
    int result;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot open: %s", name, strerror(errno));
    result = try_candidates(u, file, name, values, count, err);
    if (!standard)
        fclose(file);
    return result;
}

/* --- what was asked for --- */

static int find_word(struct unmask *u, const char *name, struct err *err)
{
    for (u->word = words; u->word->name; u->word++)
        if (strcmp(u->word->name, name) == 0)
            return 0;
    return err_set(err, ERR_USAGE,
                   "no class \"%s\" can be looked up: see \"nfsdigest unmask --help\"", name);
}

static bool has_way_back(const struct unmask *u)
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

static int check_request(struct unmask *u, int values, struct err *err)
{
    u->rule = (enum rule)(u->word->kind == KIND_EXTRA ? u->policy->extras[u->word->what]
                                                      : u->policy->rules[u->word->what]);
    if (u->candidates)
        return u->forward ? err_set(err, ERR_USAGE, "--candidates are originals: without --forward")
               : u->word->kind != KIND_TEXT
                   ? err_set(err, ERR_USAGE, "--candidates are names, paths or hosts, no %s",
                             u->word->name)
                   : 0;
    if (!values)
        return err_set(err, ERR_USAGE, "no value to look up");
    if (!u->forward && !has_way_back(u))
        return err_set(err, ERR_USAGE, "a %s under \"%s\" of policy %s cannot be mapped back%s",
                       u->word->name, rule_name(u->rule), u->policy->name,
                       u->word->kind == KIND_TEXT ? ": guess with --candidates" : "");
    return 0;
}

static int open_mapping(struct unmask *u, struct err *err)
{
    struct key key;
    int result = policy_load(u->policy_name, &u->policy, err);

    key_refuse_dumps();
    if (result == 0)
        result = key_load(&key, u->key, err);
    if (result < 0)
        return result;
    u->mapping = mapping_new(&key, u->policy, err);
    key_forget(&key);
    return u->mapping ? 0 : -err->code;
}

static int run(struct unmask *u, char **argv, int count, struct err *err)
{
    int result;

    if (!u->key)
        return err_set(err, ERR_USAGE, "--key FILE is needed");
    if (!count)
        return err_set(err, ERR_USAGE, "name a class of values, and values");
    result = find_word(u, argv[0], err);
    if (result == 0)
        result = open_mapping(u, err);
    if (result == 0)
        result = check_request(u, count - 1, err);
    if (result < 0)
        return result;
    return u->candidates ? open_candidates(u, argv + 1, count - 1, err)
                         : unmask_values(u, argv + 1, count - 1, err);
}

int cmd_unmask(int argc, char **argv, struct err *err)
{
    struct unmask u = { .policy_name = "public" };
    const struct arg own[] = {
        { 'k', "key", "FILE", "the key of the capture", set_text, &u.key },
        { 'p', "policy", "NAME|FILE", "the policy of the capture (public)", set_text,
          &u.policy_name },
        { 'c', "candidates", "FILE|-", "names, paths or hosts to try, one on each line", set_text,
          &u.candidates },
        { 'F', "forward", NULL, "the other direction: values are originals", set_flag, &u.forward },
        { 'j', "json", NULL, "print a JSON object on each line", set_flag, &u.json },
        { 0 },
    };
    const struct args args = { "nfsdigest unmask --key FILE [OPTION...] CLASS [VALUE...]", about,
                               own, NULL, NULL };
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    result = run(&u, argv + first, argc - first, err);
    mapping_free(u.mapping);
    policy_free(u.policy);
    buf_free(&u.in);
    buf_free(&u.out);
    return result;
}
