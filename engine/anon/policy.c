/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy.c
 *
 * Finds a policy, its words, and the rule for a field.
 */
#include "anon/policy_parts.h"

#include "wire/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BIT(rule) (1u << (rule))

static const char *const rule_names[RULE_MAX] = {
    [RULE_UNSET] = "unset", [RULE_KEEP] = "keep",   [RULE_KEYED] = "keyed",
    [RULE_TOKEN] = "token", [RULE_SAME] = "same",   [RULE_ZERO] = "zero",
    [RULE_NOISE] = "noise", [RULE_SHIFT] = "shift", [RULE_OWNER] = "owner",
};

/* What is not here may only be kept: sizes, counts, types and the like hold a message together. */
static const uint32_t allowed[CLASS_MAX] = {
    [CLASS_HANDLE] = BIT(RULE_KEYED) | BIT(RULE_KEEP),
    [CLASS_NAME] = BIT(RULE_TOKEN) | BIT(RULE_SAME) | BIT(RULE_KEEP),
    [CLASS_PATH] = BIT(RULE_TOKEN) | BIT(RULE_SAME) | BIT(RULE_KEEP),
    [CLASS_HOST] = BIT(RULE_TOKEN) | BIT(RULE_SAME) | BIT(RULE_KEEP),
    [CLASS_LOCK_OWNER] = BIT(RULE_TOKEN) | BIT(RULE_SAME) | BIT(RULE_KEEP),
    [CLASS_ADDRESS] = BIT(RULE_KEYED) | BIT(RULE_KEEP),
    [CLASS_UID] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_GID] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_FILEID] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_FSID] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_DEVICE] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_COOKIE] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_VERIFIER] = BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_TIME] = BIT(RULE_SHIFT) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_INTERVAL] = BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_MODE] = BIT(RULE_OWNER) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
    [CLASS_DATA] = BIT(RULE_ZERO) | BIT(RULE_NOISE) | BIT(RULE_KEEP),
    [CLASS_OPAQUE] = BIT(RULE_TOKEN) | BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP),
};

/* Ports stay: a reader knows services by them, and a port says little about who uses it. */
const struct policy_word policy_extra_words[EXTRA_MAX] = {
    [EXTRA_STAMP] = { "stamp", BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP) },
    [EXTRA_CREDENTIAL] = { "credential", BIT(RULE_KEYED) | BIT(RULE_ZERO) | BIT(RULE_KEEP) },
    [EXTRA_XID] = { "xid", BIT(RULE_KEYED) | BIT(RULE_KEEP) },
    [EXTRA_PORT] = { "port", BIT(RULE_KEEP) },
};

const struct policy_word policy_range_words[] = {
    { "loopback", RANGE_LOOPBACK },
    { "link-local", RANGE_LINK_LOCAL },
    { "multicast", RANGE_MULTICAST },
    { "private", RANGE_PRIVATE },
    { NULL, 0 },
};

const char *const policy_unread_words[2] = { [UNREAD_HEADER] = "header", [UNREAD_DROP] = "drop" };

const char *rule_name(enum rule rule)
{
    return (unsigned)rule < RULE_MAX ? rule_names[rule] : NULL;
}

uint32_t policy_allowed(enum field_class cls)
{
    return allowed[cls] ? allowed[cls] : BIT(RULE_KEEP);
}

enum field_class policy_class(const char *name)
{
    int cls = 0;

    while (cls < CLASS_MAX && strcmp(class_name((enum field_class)cls), name) != 0)
        cls++;
    return (enum field_class)cls;
}

unsigned policy_kept_bits(enum field_class cls)
{
    switch (cls) {
    case CLASS_UID:
    case CLASS_GID:
    case CLASS_DEVICE:
        return 32;
    case CLASS_FILEID:
    case CLASS_FSID:
    case CLASS_COOKIE:
    case CLASS_VERIFIER:
        return 64;
    default:
        return 0;
    }
}

void policy_free(struct policy *policy)
{
    if (!policy)
        return;
    g_free(policy->name);
    g_free(policy->description);
    for (int cls = 0; cls < CLASS_MAX; cls++)
        g_free(policy->kept[cls].values);
    g_strfreev(policy->suffixes);
    g_strfreev(policy->prefixes);
    for (uint32_t i = 0; i < policy->override_count; i++)
        g_free(policy->overrides[i].path);
    g_free(policy->overrides);
    g_free(policy);
}

static const struct policy_builtin *builtin_find(const char *name)
{
    const struct policy_builtin *builtin = policy_builtins;

    while (builtin->name && strcmp(builtin->name, name) != 0)
        builtin++;
    return builtin->name ? builtin : NULL;
}

static int load_builtin(const struct policy_builtin *builtin, struct policy **out, struct err *err)
{
    char where[POLICY_NAME_MAX + 16];

    snprintf(where, sizeof(where), "policy %s", builtin->name);
    return policy_read(where, builtin->text, strlen(builtin->text), out, err);
}

/* The name goes into what is released: there it must not promise what the policy does not hold. */
static int check_name(const char *path, const struct policy *policy, struct err *err)
{
    const struct policy_builtin *builtin = builtin_find(policy->name);
    struct policy *other;
    bool same;

    if (!builtin)
        return 0;
    if (load_builtin(builtin, &other, err) < 0)
        return -err->code;
    same = memcmp(other->digest, policy->digest, sizeof(policy->digest)) == 0;
    policy_free(other);
    if (same)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s: name = %s, but this is not that built-in policy: give it another name",
                   path, policy->name);
}

/* Reads at most POLICY_FILE_MAX bytes and a 0 behind them. */
static int read_file(const char *path, struct buf *text, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    if (fd >= 0 && buf_reserve(text, POLICY_FILE_MAX + 2) == 0) {
        while (text->len <= POLICY_FILE_MAX) {
            n = read(fd, text->data + text->len, POLICY_FILE_MAX + 1 - text->len);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                break;
            text->len += (size_t)n;
        }
    }
    if (fd < 0 || n < 0)
        err_set(err, ERR_INPUT, "%s: %s", path, errno == ENOENT ? "no such file" : strerror(errno));
    else if (text->len > POLICY_FILE_MAX)
        err_set(err, ERR_INPUT, "%s: too large for a policy, above %d bytes", path,
                POLICY_FILE_MAX);
    else
        text->data[text->len] = '\0';
    if (fd >= 0)
        close(fd);
    return fd < 0 || n < 0 || text->len > POLICY_FILE_MAX ? -ERR_INPUT : 0;
}

bool policy_is_file(const char *what)
{
    return strpbrk(what, "/.") != NULL;
}

int policy_load(const char *what, struct policy **out, struct err *err)
{
    const struct policy_builtin *builtin;
    struct buf text = { 0 };
    int result;

    *out = NULL;
    if (!policy_is_file(what)) {
        GString *names;

        builtin = builtin_find(what);
        if (builtin)
            return load_builtin(builtin, out, err);
        names = g_string_new(NULL);
        for (builtin = policy_builtins; builtin->name; builtin++)
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", builtin->name);
        err_set(err, ERR_USAGE,
                "no policy is called \"%.64s\": there are %s; a file is known by a '/' or '.' in "
                "its name, as in ./%.64s",
                what, names->str, what);
        g_string_free(names, TRUE);
        return -ERR_USAGE;
    }
    result = read_file(what, &text, err);
    if (result == 0)
        result = policy_read(what, (const char *)text.data, text.len, out, err);
    buf_free(&text);
    if (result == 0)
        result = check_name(what, *out, err);
    if (result < 0) {
        policy_free(*out);
        *out = NULL;
    }
    return result;
}

/* Pointers first: hardly any field has a row, and a path costs much more. */
enum rule policy_override(const struct policy *policy, const struct walk *walk,
                          const struct field *field)
{
    uint32_t low = 0, high = policy->override_count;
    char path[WALK_PATH_MAX];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if ((uintptr_t)policy->overrides[middle].field < (uintptr_t)field)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == policy->override_count || policy->overrides[low].field != field)
        return (enum rule)policy->rules[field->cls];
    walk_path(walk, field, path);
    for (; low < policy->override_count && policy->overrides[low].field == field; low++)
        if (strcmp(policy->overrides[low].path, path) == 0)
            return (enum rule)policy->overrides[low].rule;
    return (enum rule)policy->rules[field->cls];
}
