/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_phase.c
 *
 * "nfsdigest phase": makes a client send a mark, a LOOKUP of a reserved name (store/phases.h), by
 * asking for that name in a directory.  Clients remember names that do not exist, so each mark has
 * a suffix of its own.  The contract of subcommands is in cli.h.
 */
#include "base/escape.h"
#include "cli/cli.h"
#include "show/args.h"
#include "store/phases.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static const char about[] =
    "Marks the begin of a phase in the traffic of this client.  DIRECTORY is on an\n"
    "NFS mount.  The client asks the server for the name\n"
    "\n"
    "  .nfsdigest-phase-NAME.SUFFIX\n"
    "\n"
    "in it, which does not exist.  Nothing is made.  The phase ends with the next mark\n"
    "of this client, or with --end.  A trace of the traffic knows the phases: see\n"
    "--by phase of \"nfsdigest info\", and --phase of info and ops.\n";

enum {
    NAME_MAX_BYTES = 100,  /* of a phase */
    SUFFIX_MAX_BYTES = 64, /* together they fit into a name of 255 bytes */
    MARK_MAX = sizeof(PHASE_PREFIX) + NAME_MAX_BYTES + 1 + SUFFIX_MAX_BYTES,
};

/* What can stand in a mark: its text in the trace is what was said here. */
static int check_part(const char *what, const char *text, size_t most, struct err *err)
{
    if (strlen(text) > most)
        return err_set(err, ERR_USAGE, "%s: has %zu bytes, at most %zu can be used", what,
                       strlen(text), most);
    for (const char *c = text; *c; c++)
        if (*c == '/' || *c == '\\' || (unsigned char)*c < ' ' || *c == 0x7f)
            return err_set(err, ERR_USAGE,
                           "%s: cannot have slashes, backslashes and control characters", what);
    return 0;
}

/* |suffix| NULL: a random one. */
static int make_mark(char mark[MARK_MAX], const char *name, const char *suffix, struct err *err)
{
    char text[SUFFIX_MAX_BYTES + 1];
    uint64_t number;

    if (check_part("the name of a phase", name, NAME_MAX_BYTES, err) < 0)
        return -err->code;
    if (suffix && (check_part("--suffix", suffix, SUFFIX_MAX_BYTES, err) < 0))
        return -err->code;
    if (suffix && (!*suffix || strchr(suffix, '.')))
        return err_set(err, ERR_USAGE, "--suffix takes a text without dots");
    if (!suffix && getrandom(&number, sizeof(number), 0) != sizeof(number))
        return err_set(err, ERR_SYSTEM, "random numbers: %s", strerror(errno));
    if (!suffix)
        snprintf(text, sizeof(text), "%016" PRIx64, number);
    snprintf(mark, MARK_MAX, PHASE_PREFIX "%s.%s", name, suffix ? suffix : text);
    return 0;
}

static int look_up(const char *directory, const char *mark, struct err *err)
{
    size_t size = strlen(directory) + 1 + strlen(mark) + 1;
    char *path = malloc(size);
    struct statfs fs;
    struct stat st;
    int result;

    if (!path)
        return err_memory(err, "a path");
    if (stat(directory, &st) < 0 || statfs(directory, &fs) < 0) {
        free(path);
        return err_set(err, ERR_INPUT, "%s: %s", directory, strerror(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        free(path);
        return err_set(err, ERR_INPUT, "%s: not a directory", directory);
    }
    if (fs.f_type != NFS_SUPER_MAGIC)
        say("note: the directory is not on an NFS mount; a trace will not have this mark");
    snprintf(path, size, "%s/%s", directory, mark);
    result = lstat(path, &st);
    if (result < 0 && errno == ENOENT)
        result = 0;
    else if (result == 0)
        result =
            err_set(err, ERR_INPUT, "%s: exists, so this client may not ask for it again", path);
    else
        result = err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    free(path);
    return result;
}

int cmd_phase(int argc, char **argv, struct err *err)
{
    bool end = false, print = false;
    const char *suffix = NULL;
    const struct arg own[] = {
        { 0, "end", NULL, "only end the phase: there is no NAME", set_flag, &end },
        { 0, "suffix", "TEXT",
          "end the name with .TEXT, not with a random\n"
          "number: TEXT must be new for this client",
          set_text, &suffix },
        { 0, "print", NULL,
          "print the name, and do not ask for it; there is\n"
          "no DIRECTORY then",
          set_flag, &print },
        { 0 },
    };
    const struct args args = { "nfsdigest phase [OPTION...] NAME DIRECTORY\n"
                               "       nfsdigest phase --end DIRECTORY",
                               about, own, NULL, NULL };
    char mark[MARK_MAX];
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (argc - first != !end + !print)
        return err_set(err, ERR_USAGE,
                       "phase takes a name and a directory; --end replaces the name, --print the "
                       "directory");
    if (!end && !*argv[first])
        return err_set(err, ERR_USAGE, "the name of a phase is empty; --end ends a phase");
    if (make_mark(mark, end ? "" : argv[first], suffix, err) < 0)
        return -err->code;
    if (!print)
        return look_up(argv[argc - 1], mark, err);
    escape_print(stdout, mark);
    putchar('\n');
    return 0;
}
