/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_warn.c
 *
 * Lists the private values that a policy shows, but that another policy could hide.
 */
#include "anon/policy_parts.h"

#include <glib.h>
#include <stdlib.h>

struct warnings {
    GString *text;
    int count;
};

static void warn(struct warnings *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void warn(struct warnings *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_string_append_vprintf(w->text, format, args);
    va_end(args);
    g_string_append_c(w->text, '\n');
    w->count++;
}

/* What a policy gives away if it keeps a class; NULL: nothing that a policy could hide. */
static const char *const kept_means[CLASS_MAX] = {
    [CLASS_HANDLE] = "file handles often hold inode numbers and file system ids, and a person who "
                     "can reach the server can open the file with them",
    [CLASS_NAME] = "names of files and directories are visible",
    [CLASS_PATH] = "exported paths and targets of symbolic links are visible",
    [CLASS_UID] = "numbers of users are visible",
    [CLASS_GID] = "numbers of groups are visible",
    [CLASS_HOST] = "names of clients and netgroups are visible",
    [CLASS_ADDRESS] = "addresses of clients and servers are visible",
    [CLASS_TIME] =
        "a reader who knows when something happened, or the times of a file, can find it",
    [CLASS_INTERVAL] = "fractions of seconds can identify a file, even if its times are shifted",
    [CLASS_MODE] = "rare permissions can identify a file",
    [CLASS_FILEID] = "inode numbers are visible",
    [CLASS_FSID] = "file system ids are visible",
    [CLASS_DEVICE] = "device numbers are visible",
    [CLASS_COOKIE] = "cookies of some file systems are hashes of names",
    [CLASS_VERIFIER] = "verifiers are often the time when a server started or a file was made",
    [CLASS_DATA] = "contents of files are visible",
    [CLASS_LOCK_OWNER] = "lock owners hold process ids and often host names",
    [CLASS_OPAQUE] = "bytes of unknown meaning are visible",
};

static const char *const extra_means[EXTRA_MAX] = {
    [EXTRA_STAMP] = "stamps of AUTH_SYS identify a client, and often say when it started",
    [EXTRA_CREDENTIAL] = "bodies of credentials other than AUTH_SYS are visible",
};

static void warn_rule(struct warnings *w, const char *what, enum field_class cls, enum rule rule)
{
    if (rule == RULE_KEEP && kept_means[cls])
        warn(w, "%s = keep: %s", what, kept_means[cls]);
    if (rule == RULE_SAME && cls != CLASS_LOCK_OWNER)
        warn(w, "%s = same: lengths stay; with few candidates, a length identifies a name", what);
    if (rule == RULE_NOISE)
        warn(w, "%s = noise: a reader sees which contents are equal", what);
}

static bool is_common(enum field_class cls, uint64_t value)
{
    if (cls != CLASS_UID && cls != CLASS_GID)
        return value == 0;
    return value == 0 || value == 65534 || value >= UINT32_MAX - 1; /* root and nobody */
}

static void warn_kept(struct warnings *w, enum field_class cls, const struct policy_kept *kept)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < kept->count; i++)
        count += !is_common(cls, kept->values[i]);
    if (count)
        warn(w, "[keep] %s: %u values stay besides the common ones", class_name(cls), count);
}

static int warn_fields(struct warnings *w, const struct policy *policy, struct err *err)
{
    const struct policy_override **rows;
    uint32_t count;

    if (policy_overrides_by_path(policy, &rows, &count, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i]->rule != policy->rules[rows[i]->field->cls])
            warn_rule(w, rows[i]->path, (enum field_class)rows[i]->field->cls,
                      (enum rule)rows[i]->rule);
    free(rows);
    return 0;
}

int policy_warn(const struct policy *policy, struct buf *out, struct err *err)
{
    struct warnings w = { g_string_new(NULL), 0 };
    guint suffixes = g_strv_length(policy->suffixes);
    int result;

    for (int cls = 0; cls < CLASS_MAX; cls++)
        warn_rule(&w, class_name((enum field_class)cls), (enum field_class)cls,
                  (enum rule)policy->rules[cls]);
    if (policy->rules[CLASS_NAME] != policy->rules[CLASS_PATH])
        warn(&w, "name and path have different rules: targets of links cannot be matched with "
                 "names, and the weaker rule decides for a name that is in both");
    for (int i = 0; i < EXTRA_MAX; i++)
        if (policy->extras[i] == RULE_KEEP && extra_means[i])
            warn(&w, "%s = keep: %s", policy_extra_words[i].name, extra_means[i]);
    if (policy->unread == UNREAD_HEADER)
        warn(&w, "unread = header: program and procedure of messages that cannot be read are "
                 "visible");
    if (suffixes)
        warn(&w, "keep-suffixes: %u suffixes reveal kinds of files", suffixes);
    for (guint i = 0; policy->prefixes[i]; i++)
        warn(&w, "keep-prefixes: names that begin with \"%s\" can be recognized",
             policy->prefixes[i]);
    if (policy->ranges & RANGE_PRIVATE)
        warn(&w, "keep-ranges: a reader sees which addresses are private, and in which range");
    for (int cls = 0; cls < CLASS_MAX; cls++)
        warn_kept(&w, (enum field_class)cls, &policy->kept[cls]);
    result = warn_fields(&w, policy, err);
    if (result == 0 && buf_append(out, w.text->str, w.text->len) < 0)
        result = err_memory(err, "a policy's warnings");
    g_string_free(w.text, TRUE);
    return result < 0 ? result : w.count;
}
