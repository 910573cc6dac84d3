/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/shadow_options.h"
#include "base/values.h"
#include "metrics/metrics.h"
#include "net/address.h"
#include "rules/rules.h"
#include "show/args.h"
#include "tee/find_server.h"
#include "teelog/teelog.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_size(void *to, const char *value, struct err *err)
{
    return parse_size(value, to)
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\" is not a size such as 512k, 64M or 2G", value);
}

static int add_text(void *to, const char *value, struct err *err)
{
    struct shadow_list *list = to;

    if (list->count == SHADOW_LIST_MAX)
        return err_set(err, ERR_USAGE, "given more than %d times", SHADOW_LIST_MAX);
    list->texts[list->count++] = value;
    return 0;
}

/* What no path can match would be left out silently. */
static int add_pattern(void *to, const char *value, struct err *err)
{
    size_t len = strlen(value);

    if (!len || (strchr(value, '/') && (value[0] != '/' || value[len - 1] == '/')))
        return err_set(err, ERR_USAGE,
                       "\"%s\" is neither a name nor a path: paths begin with / at the export's "
                       "root, and do not end with it",
                       value);
    return add_text(to, value, err);
}

static int set_record(void *to, const char *value, struct err *err)
{
    *(bool *)to = strcmp(value, "all") == 0;
    return *(bool *)to || strcmp(value, "differing") == 0
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\": say all or differing", value);
}

static int set_scrub(void *to, const char *value, struct err *err)
{
    struct shadow_options *o = to;

    o->scrubs = true;
    return set_size(&o->scrub_bytes, value, err);
}

static int set_order(void *to, const char *value, struct err *err)
{
    *(bool *)to = strcmp(value, "tree") == 0;
    return *(bool *)to || strcmp(value, "popularity") == 0
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\": say popularity or tree", value);
}

static const char about[] =
    "Keeps a second server, the system under test (SUT), equal to the one behind a relay,\n"
    "sends it the clients' requests, too, and compares what both answer.  Clients do not\n"
    "notice.  The SUT's export should be empty:\n"
    "\n"
    "    nfstee relay --listen :2049 --to server.example:2049 --attach /run/tee.sock\n"
    "    nfstee shadow --attach /run/tee.sock --relay nfs://localhost/export \\\n"
    "                  --sut nfs://new.example/export --log differences\n"
    "\n"
    "\"nfsdigest compare differences\" shows what differs.  It ends with the relay, at SIGINT or\n"
    "SIGTERM, or after --for, with exit code 1 if answers differed.\n";

/* What is wrong with files is said before anything starts that clients would notice. */
static int check_rules(const struct shadow_list *rules, struct err *err)
{
    struct rules *loaded;
    struct stat st;

    for (uint32_t i = 0; i < rules->count; i++)
        if (stat(rules->texts[i], &st) == 0 && !S_ISREG(st.st_mode))
            return 0; /* a pipe can be read only once */
    if (rules_load(rules->texts, rules->count, &loaded, err) < 0)
        return -err->code;
    rules_free(loaded);
    return 0;
}

/* |path| can be made: its folder is there and can be written to. */
static int check_folder(const char *option, const char *path, struct err *err)
{
    const char *end = path + strlen(path);
    char folder[PATH_MAX] = ".";
    size_t len;

    while (end > path && end[-1] == '/')
        end--;
    while (end > path && end[-1] != '/')
        end--;
    while (end > path + 1 && end[-1] == '/')
        end--;
    len = (size_t)(end - path);
    if (len >= sizeof(folder))
        return err_set(err, ERR_USAGE, "%s: the path is too long", option);
    if (len)
        snprintf(folder, sizeof(folder), "%.*s", (int)len, path);
    if (access(folder, W_OK | X_OK) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s: %s", option, folder, strerror(errno));
    return 0;
}

static int check_page(const char *path, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return err_set(err, ERR_USAGE, "--html needs a file, beside which it writes others");
    return check_folder("--html", path, err);
}

static int check_log(const char *path, struct err *err)
{
    if (teelog_check(path, err) < 0)
        return err_prefix(err, "--log");
    if (access(path, F_OK) < 0)
        return check_folder("--log", path, err);
    if (access(path, W_OK | X_OK) < 0)
        return err_set(err, ERR_SYSTEM, "--log: %s: %s", path, strerror(errno));
    return 0;
}

int shadow_options_check(const struct shadow_options *o, struct err *err)
{
    struct nfs_address sut;

    if (!o->attach)
        return err_set(err, ERR_USAGE, "say --attach PATH, the path that the relay was given");
    if (!o->relay || !server_is_nfs_address(o->relay))
        return err_set(err, ERR_USAGE,
                       "say --relay nfs://HOST[:PORT]/EXPORT: the relay's address, and the export "
                       "behind it");
    if (!o->sut || !server_is_nfs_address(o->sut))
        return err_set(err, ERR_USAGE, "say --sut nfs://HOST[:PORT]/EXPORT for the second server");
    if (!o->log)
        return err_set(err, ERR_USAGE, "say --log DIR, a directory for what differs");
    if (!o->in_flight || !o->queue_bytes || !o->timeout)
        return err_set(err, ERR_USAGE, "%s: 0 would leave no room for any request",
                       !o->in_flight     ? "--in-flight"
                       : !o->queue_bytes ? "--queue"
                                         : "--timeout");
    if (o->sync_uid > UINT32_MAX || o->sync_gid > UINT32_MAX || o->in_flight > 4096)
        return err_set(err, ERR_USAGE,
                       "users and groups are from 0 to %" PRIu32 ", --in-flight to 4096",
                       UINT32_MAX);
    if (nfs_address_parse(o->sut, &sut, err) < 0)
        return err_prefix(err, "--sut");
    if (check_log(o->log, err) < 0 || (o->html && check_page(o->html, err) < 0))
        return -err->code;
    return check_rules(&o->rules, err) < 0 ? -err->code : 1;
}

void shadow_options_begin(struct shadow_options *o, struct arg *args)
{
    /* clang-format off */
    const struct arg table[] = {
        { 'a', "attach", "PATH", "the Unix socket that the relay was given with --attach", set_text, &o->attach },
        { 0, "relay", "nfs://...", "the relay's address, and the export behind it", set_text, &o->relay },
        { 0, "sut", "nfs://...", "the second server, and its export", set_text, &o->sut },
        { 0, "log", "DIR", "what differs: a new or empty directory", set_text, &o->log },
        { 'r', "rules", "FILE", "rules for the comparison, as of \"nfsdigest compare\";\nrepeat it for more", add_text, &o->rules },
        { 0, "record", "WHAT", "log pairs that are \"differing\" (the default), or \"all\"", set_record, &o->record_all },
        { 0, "log-max", "SIZE", "log at most so much, and only count then", set_size, &o->log_max },
        { 0, "on-mismatch", "COMMAND", "run it with sh at the first difference of each kind", set_text, &o->on_mismatch },
        { 0, "exclude", "PATTERN", "do not synchronize these names, or paths from the\nexport's root, and what is below; repeat it for more", add_pattern, &o->exclude },
        { 0, "only", "PATTERN", "synchronize nothing else; repeat it for more", add_pattern, &o->only },
        { 0, "sync-rate", "SIZE", "read at most so many bytes a second to synchronize", set_size, &o->sync_bytes },
        { 0, "sync-objects", "N", "synchronize at most N objects a second", set_count, &o->sync_objects },
        { 0, "order", "ORDER", "synchronize by \"popularity\" (the default), or by \"tree\":\nlevel by level from the root", set_order, &o->tree_order },
        { 0, "sync-uid", "N", "synchronize as this user instead of root", set_count, &o->sync_uid },
        { 0, "sync-gid", "N", "and as this group", set_count, &o->sync_gid },
        { 0, "scrub", "RATE", "while clients are quiet, compare synchronized objects by\nreading at most so many bytes a second of each server;\n0: without a limit", set_scrub, o },
        { 0, "overwrite", NULL, "the SUT's export need not be empty: what the reference\ndoes not have is removed there", set_flag, &o->overwrite },
        { 0, "privileged", NULL, "connect from privileged ports, as root", set_flag, &o->privileged },
        { 0, "in-flight", "N", "requests at the SUT at once (128)", set_count, &o->in_flight },
        { 0, "queue", "SIZE", "requests that may wait for the SUT (64M)", set_size, &o->queue_bytes },
        { 0, "timeout", "TIME", "wait so long for an answer of the SUT (10s)", set_duration, &o->timeout },
        { 0, "control", "PATH", "take commands on this Unix socket; see \"nfstee ctl\"", set_text, &o->control },
        { 0, "metrics", "[ADDRESS:]PORT", "metrics for Prometheus, over HTTP", metrics_known_address, &o->metrics },
        { 0, "html", "FILE.html", "a page that shows all this, and keeps itself up to date, with\na .js and a .json beside it", set_text, &o->html },
        { 0, "for", "TIME", "end after this time", set_duration, &o->duration },
        { 'j', "json", NULL, "print the totals as JSON", set_flag, &o->json },
        { 'q', "quiet", NULL, "print nothing but errors", set_flag, &o->quiet },
        { 0 },
    };
    /* clang-format on */

    _Static_assert(sizeof(table) / sizeof(*table) <= SHADOW_ARGS, "the table is longer");
    memcpy(args, table, sizeof(table));
    memset(o, 0, sizeof(*o));
    o->in_flight = 128;
    o->queue_bytes = 64 << 20;
    o->timeout = INT64_C(10000000000);
}

int shadow_options_parse(struct shadow_options *o, int argc, char **argv, struct err *err)
{
    struct arg table[SHADOW_ARGS];
    const struct args args = { .usage = "nfstee shadow --attach PATH --relay nfs://... "
                                        "--sut nfs://... --log DIR [OPTION...]",
                               .about = about,
                               .own = table,
                               .takes = "no arguments",
                               .program = "nfstee " };
    int first, result;

    shadow_options_begin(o, table);
    result = args_parse(&args, argc, argv, &first, err);
    if (result == 1 && first < argc)
        return err_set(err, ERR_USAGE, "\"%s\": nfstee shadow takes no arguments, only options",
                       argv[first]);
    return result == 1 ? shadow_options_check(o, err) : result;
}
