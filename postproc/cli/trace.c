/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/trace.c
 *
 * Finds out whether an input is a database, and reads another one into a temporary database: for
 * all commands that take a trace.  The contract is in trace.h.
 */
#include "cli/trace.h"
#include "cli/cli.h"
#include "ingest/ingest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell(const struct input *input)
{
    char text[512];

    if (!isatty(STDERR_FILENO))
        return;
    snprintf(text, sizeof(text), "%.300s: is read into a temporary database", input_name(input));
    say(text);
}

/* Reads |input| into a new database at |path|, "" for a private one. */
static struct store *ingest_to(const char *path, struct input *input, int64_t shift,
                               struct err *cut, struct err *err)
{
    static const struct engine_options defaults;
    struct store *store = store_open(path, STORE_WRITE, err);
    struct ingest *ingest = store ? ingest_new(store, &defaults, &progress_line, err) : NULL;
    struct err note = { 0 };
    int result;

    tell(input);
    if (ingest)
        ingest_shift(ingest, shift);
    result = ingest ? ingest_input(ingest, input, true, &note, err) : -err->code;
    if (result == INGEST_CUT) {
        if (!cut->code)
            *cut = *err;
        *err = (struct err){ 0 }; /* what comes next may look at it */
    }
    if (result >= 0)
        result = ingest_finish(ingest, err);
    ingest_free(ingest);
    progress_clear();
    if (note.text[0])
        say(note.text);
    if (result >= 0)
        return store;
    store_close(store);
    return NULL;
}

void trace_say_unfinished(const struct store *store)
{
    char text[512];

    if (!store_is_unfinished(store))
        return;
    snprintf(text, sizeof(text), "%.300s: " STORE_UNFINISHED, store_path(store));
    say(text);
}

/* Opens an input.  Returns 1 if it is a database, which is not read from it, else 0. */
static int look(const char *path, struct input **input, struct err *err)
{
    const uint8_t *head;
    size_t len;
    bool is_file;

    *input = input_open(path, true, err);
    if (!*input)
        return -err->code;
    len = input_head(*input, &head);
    if (!store_is_database(head, len))
        return 0;
    is_file = input_is_file(*input) || store_no_stream(input_name(*input), err) == 0;
    input_close(*input);
    *input = NULL;
    return is_file ? 1 : -err->code;
}

static int end(const struct err *cut, int result, struct err *err)
{
    if (result < 0 || !cut->code)
        return result;
    *err = *cut;
    return -cut->code;
}

static int open_trace(struct trace *trace, const char *path, bool stores, int64_t shift,
                      struct err *err)
{
    struct input *input = NULL;
    int result = 1;

    *trace = (struct trace){ .store = NULL };
    if (!stores && (result = look(path, &input, err)) < 0)
        return result;
    if (result && shift)
        return err_set(err, ERR_USAGE, "%s: frames are shifted in .nfsr streams only", path);
    trace->store =
        result ? store_open(path, STORE_READ, err) : ingest_to("", input, shift, &trace->cut, err);
    input_close(input);
    if (!trace->store)
        return -err->code;
    if (stores && store_is_unfinished(trace->store)) {
        store_close(trace->store);
        trace->store = NULL;
        return err_set(err, ERR_INPUT, "%s: " STORE_UNFINISHED "; nothing can be stored in it",
                       path);
    }
    trace_say_unfinished(trace->store);
    return 0;
}

int trace_open(struct trace *trace, const char *path, bool stores, struct err *err)
{
    return open_trace(trace, path, stores, 0, err);
}

int trace_open_shifted(struct trace *trace, const char *path, int64_t shift, struct err *err)
{
    return open_trace(trace, path, false, shift, err);
}

int trace_close(struct trace *trace, int result, struct err *err)
{
    store_close(trace->store);
    trace->store = NULL;
    return end(&trace->cut, result, err);
}

int trace_temporary(char *path, size_t size, struct err *err)
{
    const char *folder = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    int fd;

    if ((size_t)snprintf(path, size, "%s/nfsdigest.XXXXXX", folder) >= size)
        return err_set(err, ERR_SYSTEM, "TMPDIR is too long");
    fd = mkstemp(path);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

static int make_file(struct trace_files *files, const char *path, struct input *input,
                     struct err *err)
{
    struct trace_file *file = &files->files[files->count];
    struct store *store;
    int result;

    if (files->count == TRACE_FILES)
        return err_set(err, ERR_USAGE, "%s: too many files that are no databases", path);
    file->path = strdup(path);
    if (!file->path)
        return err_memory(err, "a file's name");
    files->count++;
    cleanup_hold();
    result = trace_temporary(file->file, sizeof(file->file), err);
    if (result == 0) {
        cleanup_enter(&file->cleanup, cleanup_unlink, file->file);
    } else {
        file->file[0] = '\0';
    }
    cleanup_release();
    if (result < 0)
        return result;
    store = ingest_to(file->file, input, 0, &files->cut, err);
    store_close(store);
    return store ? 0 : -err->code;
}

/* The database at |path| is read through another connection, which says what is wrong with it. */
static int say_once(struct trace_files *files, const char *path)
{
    struct store *store;
    uint32_t i = 0;

    while (i < TRACE_FILES && files->said[i] && strcmp(files->said[i], path) != 0)
        i++;
    if (i == TRACE_FILES || files->said[i])
        return 0;
    store = store_open(path, STORE_READ, NULL);
    if (store)
        trace_say_unfinished(store);
    store_close(store);
    files->said[i] = path;
    return 0;
}

int trace_files_find(struct trace_files *files, const char *path, const char **file,
                     struct err *err)
{
    struct input *input;
    struct stat st;
    int result;

    for (uint32_t i = 0; i < files->count; i++)
        if (strcmp(files->files[i].path, path) == 0) {
            *file = files->files[i].file;
            return 0;
        }
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s: not a file; what comes through a pipe is named \"-\"",
                       path);
    result = look(path, &input, err);
    *file = path;
    if (result != 0)
        return result < 0 ? result : say_once(files, path);
    result = make_file(files, path, input, err);
    input_close(input);
    if (result == 0)
        *file = files->files[files->count - 1].file;
    return result;
}

int trace_files_remove(struct trace_files *files, int result, struct err *err)
{
    for (uint32_t i = 0; i < files->count; i++) {
        cleanup_hold();
        if (files->files[i].file[0])
            unlink(files->files[i].file);
        cleanup_drop(&files->files[i].cleanup);
        cleanup_release();
        free(files->files[i].path);
    }
    files->count = 0;
    return end(&files->cut, result, err);
}
