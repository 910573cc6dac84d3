/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_ingest.c
 *
 * "nfsdigest ingest": decides which operand is the database, ingests the others in their order, and
 * says what each held.  Where another process made the same database meanwhile, it begins again.
 * The work is ingest.h's; the contract of subcommands is in cli.h.
 */
#include "base/json.h"
#include "base/values.h"
#include "cli/engine_args.h"
#include "cli/cli.h"
#include "cli/ingest_job.h"
#include "ingest/anew.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_DATABASE "trace.db"

enum { OVERTAKEN = 1000 };

static const char about[] =
    "Reads captures and record streams into a trace database.  If the database does\n"
    "not exist, it is made.\n"
    "\n"
    "FILE is a pcap or pcapng capture or a record stream (.nfsr), also compressed\n"
    "with gzip, zstd, xz, lz4 or bzip2, or \"-\" for standard input.\n"
    "\n"
    "The database is DATABASE.  Without -o, it is the first of several operands, if\n"
    "that is a database or does not exist.  If there is neither, it is trace.db.\n"
    "\n"
    "Files are read in the order given.  Give rotated captures in order of time: a\n"
    "call in one file is paired with its reply in the next, also in a later ingest.\n"
    "Each file is stored as a whole or not at all, and a file that is already in\n"
    "the database is skipped.  After an ingest that was killed, the same command\n"
    "does what is left.\n"
    "\n"
    "With --follow, the database grows with the captures, and other commands can\n"
    "read it meanwhile; it is marked as unfinished until this command ends.\n";

static bool is_there(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 || errno != ENOENT;
}

/* Whether an operand can be meant as the database. */
static bool may_be_database(const char *path)
{
    uint8_t head[16];
    struct stat st;
    FILE *file;
    size_t len;

    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return false; /* a pipe is not opened: it may have no writer yet */
    file = fopen(path, "re");
    if (!file)
        return errno == ENOENT;
    len = fread(head, 1, sizeof(head), file);
    fclose(file);
    return store_is_database(head, len);
}

/* A new database must not have the name of something that was meant to be read. */
static bool looks_like_input(const char *path)
{
    static const char *const ends[] = {
        ".pcap", ".pcapng", ".cap", ".dmp", ".nfsr", ".gz", ".zst"
    };
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t end = strlen(ends[i]);

        if (len > end && strcmp(path + len - end, ends[i]) == 0)
            return true;
    }
    return false;
}

/* What SQLite would take for a database without a file, or for a URI. */
static int check_name(const char *database, struct err *err)
{
    if (!*database)
        return err_set(err, ERR_USAGE, "the name of the database is empty");
    if (strcmp(database, ":memory:") == 0 || strncmp(database, "file:", 5) == 0)
        return err_set(err, ERR_USAGE, "%s: write ./%s for a file of this name", database,
                       database);
    return 0;
}

/* The database, and how many operands it took, which are in |argc| and |argv|. */
static int choose_database(const char **database, int argc, char **argv, struct err *err)
{
    int taken = 0;

    if (!*database && argc >= 2 && may_be_database(argv[0])) {
        *database = argv[0];
        taken = 1;
        if (!is_there(argv[0]) && looks_like_input(argv[0]))
            return err_set(err, ERR_INPUT, "%s: no such file", argv[0]);
    }
    if (!*database)
        *database = DEFAULT_DATABASE;
    if (argc - taken < 1)
        return err_set(err, ERR_USAGE, "nothing to ingest: name captures, record streams or \"-\"");
    for (int i = taken; i < argc; i++)
        if (strcmp(argv[i], "-") != 0 && may_be_database(argv[i]) && is_there(argv[i]))
            return err_set(err, ERR_USAGE, "%s: a database cannot be ingested%s", argv[i],
                           argc == 1 ? "; name what to read into it" : "");
    return taken;
}

static void report(struct store *store, const char *path)
{
    const struct store_totals *t = store_totals(store);
    char frames[VALUE_TEXT_MAX], operations[VALUE_TEXT_MAX], further[VALUE_TEXT_MAX];
    char text[512];

    snprintf(text, sizeof(text), "%.300s: %s frames, %s operations, %s retransmissions",
             strcmp(path, "-") == 0 ? "standard input" : path, count_text(t->frames, frames),
             count_text(t->operations, operations), count_text(t->retransmissions, further));
    say(text);
}

static void say_empty(const char *path)
{
    char text[512];

    snprintf(text, sizeof(text), "%.300s: holds no packets", input_path_name(path));
    say(text);
}

static void say_anew(const char *path)
{
    char text[512];

    snprintf(text, sizeof(text), "%.300s: was unfinished: it is made anew from its files", path);
    say(text);
}

/* |state|: "stored", "known", "cut" or "unusable". */
static void report_json(struct store *store, const char *path, const char *state, const char *error)
{
    const struct store_totals *t = store_totals(store);
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "file", path);
    json_text(&j, "state", state);
    if (*state == 's' || *state == 'c') {
        json_u64(&j, "frames", t->frames);
        json_u64(&j, "operations", t->operations);
        json_u64(&j, "retransmissions", t->retransmissions);
    }
    if (error)
        json_text(&j, "error", error);
    json_object_end(&j);
    json_end(&j);
}

void ingest_tell(const struct ingest_job *j, struct store *store, const char *path, int result,
                 const struct err *err)
{
    if (result == INGEST_STORED && !store_totals(store)->frames)
        result = INGEST_EMPTY;
    if (j->json && (result >= 0 || result == -ERR_INPUT)) {
        report_json(store, path,
                    result == INGEST_STORED  ? "stored"
                    : result == INGEST_KNOWN ? "known"
                    : result == INGEST_CUT   ? "cut"
                    : result == INGEST_EMPTY ? "empty"
                                             : "unusable",
                    result == INGEST_STORED || result == INGEST_EMPTY ? NULL : err->text);
        return;
    }
    if ((result == INGEST_STORED || result == INGEST_CUT) && !j->quiet)
        report(store, path);
    if (result == INGEST_KNOWN && !j->quiet)
        say(err->text);
    if (result == INGEST_EMPTY && !j->quiet)
        say_empty(path);
}

static int ingest_all(const struct ingest_job *j, struct ingest *ingest, struct store *store,
                      struct err *err)
{
    struct err note = { 0 };
    int worst = 0, result;

    for (int i = 0; i < j->count; i++) {
        result = ingest_file(ingest, j->paths[i], i == j->count - 1, &note, err);
        if (note.text[0])
            say(note.text);
        ingest_tell(j, store, j->paths[i], result, err);
        if (result == INGEST_CUT || result == -ERR_INPUT) {
            say(err->text);
            worst = ERR_INPUT;
        } else if (result < 0) {
            return result;
        }
    }
    result = ingest_finish(ingest, err);
    return result < 0 ? result : worst;
}

/* Files can be read again; pipes cannot. */
static bool are_files(int count, char **paths)
{
    struct stat st;

    for (int i = 0; i < count; i++)
        if (stat(paths[i], &st) < 0 || !S_ISREG(st.st_mode))
            return false;
    return true;
}

/* OVERTAKEN: another process has made the database meanwhile, and nothing was stored. */
static int ingest_into(const struct ingest_job *j, struct err *err)
{
    struct store *store = store_open(j->database, STORE_WRITE, err);
    struct ingest *ingest = store ? ingest_new(store, j->options, &progress_line, err) : NULL;
    int result = ingest ? ingest_all(j, ingest, store, err) : -err->code;

    if (result < 0 && store && store_was_overtaken(store) && are_files(j->count, j->paths))
        result = OVERTAKEN;
    ingest_free(ingest);
    store_close(store);
    return result;
}

int cmd_ingest(int argc, char **argv, struct err *err)
{
    const char *database = NULL;
    struct engine_args engine;
    struct ingest_job job = { .options = &engine.settings.options };
    struct arg more[ENGINE_ARG_COUNT];
    struct follow_args follow = { .follows = false };
    bool blocks = false, anew = false;
    const struct arg own[] = {
        { 'o', "database", "DATABASE", "the trace database; all operands are then files", set_text,
          &database },
        { 'q', "quiet", NULL, "print only errors and warnings", set_flag, &job.quiet },
        { 0, "block-digests", NULL, BLOCK_DIGESTS_HELP, set_flag, &blocks },
        { 'j', "json", NULL, "print a JSON object for each file", set_flag, &job.json },
        { 0, "follow", NULL,
          "FILE is still being written, or a folder with rotated\n"
          "captures: read it as it grows, until a signal or --idle",
          set_flag, &follow.follows },
        { 0, "anew", NULL,
          "if a follow that was killed left DATABASE unfinished,\n"
          "and its files are still there, make it anew",
          set_flag, &anew },
        { 0, "idle", "TIME", "with --follow: end when nothing came for TIME", set_duration,
          &follow.idle },
        { 0, "metrics", "[ADDRESS:]PORT", "with --follow: metrics for Prometheus, over HTTP",
          set_text, &follow.metrics },
        { 0 },
    };
    const struct args args = { "nfsdigest ingest [OPTION...] [-o DATABASE | DATABASE] FILE...",
                               about, own, more, "How captures are read" };
    int first, taken, result;

    engine_arg_table(&engine, true, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    engine.settings.options.block_digests = blocks;
    taken = choose_database(&database, argc - first, argv + first, err);
    if (taken < 0 || check_name(database, err) < 0)
        return -err->code;
    job.database = database;
    job.count = argc - first - taken;
    job.paths = argv + first + taken;
    if (anew && (result = anew_remove(database, err)) != 0) {
        if (result < 0)
            return result;
        if (!job.quiet)
            say_anew(database);
    }
    if (follow.follows)
        return ingest_follow(&job, &follow, err);
    if (follow.idle || follow.metrics)
        return err_set(err, ERR_USAGE, "%s is for --follow", follow.idle ? "--idle" : "--metrics");
    do
        result = ingest_into(&job, err);
    while (result == OVERTAKEN);
    return result;
}
