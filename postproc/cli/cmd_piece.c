/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/engine_args.h"
#include "cli/outputs.h"
#include "pieces/piece.h"
#include "pieces/state.h"

#include <string.h>
#include <sys/stat.h>

static const char about[] =
    "Makes the records of a piece of a capture, so that many machines can read one\n"
    "capture: a range of bytes of an uncompressed pcap or pcapng file, or a whole file.\n"
    "\n"
    "A piece takes the packets that begin in its range.  Its reader begins a little\n"
    "before it, to know the calls and connections that are open there.  \"nfsdigest\n"
    "join\" tells whether that was enough, and which pieces must be made again.\n"
    "\n"
    "The output is NAME.nfsr (records), NAME.border (for join) and NAME.state (for\n"
    "--continue).  Frames in NAME.nfsr are counted from where its reader began.\n";

static void print_json(const struct piece *p, const struct piece_result *r)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "piece", p->name);
    json_file(&j, "capture", p->path);
    json_u64(&j, "from", r->from);
    json_u64(&j, "to", r->to);
    json_u64(&j, "lead_in_frames", r->lead);
    json_u64(&j, "frames", r->frames);
    json_u64(&j, "operations", r->operations);
    json_u64(&j, "waiting", r->waiting);
    json_bool(&j, "cut", r->cut);
    json_object_end(&j);
    json_end(&j);
}

/* The first bytes say whether it can be read in parts; then it is read from its beginning. */
static int check_file(const char *path, struct err *err)
{
    struct stat st;

    if (strcmp(path, "-") != 0 &&
        (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return 0;
    return err_set(err, ERR_USAGE, "%s: it is read more than once: give a file", path);
}

/* A piece has four files, and reads those of the piece that it continues. */
static int spare_inputs(const struct piece *p, struct err *err)
{
    static const char *const suffixes[] = { ".nfsr", ".border", ".state", ".order" };
    char *const captures[] = { (char *)p->path, (char *)p->before };
    char *const previous = (char *)p->previous;
    char path[STATE_PATH_MAX];

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        state_path(path, p->name, suffixes[i]);
        if (outputs_spare_each(captures, p->before ? 2 : 1, "", "--output", path, err) < 0 ||
            outputs_spare_each(&previous, p->previous ? 1 : 0, suffixes[i], "--output", path, err) <
                0)
            return -err->code;
    }
    return 0;
}

int cmd_piece(int argc, char **argv, struct err *err)
{
    struct engine_args options;
    struct piece piece = { .to = UINT64_MAX,
                           .lead_bytes = PIECE_LEAD_BYTES,
                           .lead_time = PIECE_LEAD_TIME,
                           .progress = &progress_line };
    struct piece_result result;
    struct arg more[ENGINE_ARG_COUNT];
    bool json = false, blocks = false;
    const struct arg own[] = {
        { 'o', "output", "NAME", "the names of the output, without .nfsr", set_text, &piece.name },
        { 0, "from", "BYTE", "where the range begins (default: 0)", set_count, &piece.from },
        { 0, "to", "BYTE", "where it ends (default: at the end of the file)", set_count,
          &piece.to },
        { 0, "before", "FILE",
          "the file of the capture before CAPTURE, for the\nlead-in of a piece that begins with "
          "its file",
          set_text, &piece.before },
        { 0, "continue", "NAME",
          "make the piece again, from the state at the end\nof the piece NAME, which stands before "
          "it",
          set_text, &piece.previous },
        { 0, "last", NULL,
          "the capture ends with this piece: put what becomes\nof what still waits", set_flag,
          &piece.last },
        { 0, "lead-in", "BYTES", "begin so many bytes before the range (default:\n4194304), and",
          set_count, &piece.lead_bytes },
        { 0, "lead-in-time", "TIME", "so much time before it (default: 1s)", set_duration,
          &piece.lead_time },
        { 0, "block-digests", NULL, BLOCK_DIGESTS_HELP, set_flag, &blocks },
        { 'j', "json", NULL, "print what was made as JSON", set_flag, &json },
        { 0 },
    };
    const struct args args = { .usage = "nfsdigest piece [OPTION...] -o NAME CAPTURE",
                               .about = about,
                               .own = own,
                               .more = more,
                               .more_title = "How captures are read",
                               .operands = 1,
                               .takes = "one capture" };
    int first, rc;

    engine_arg_table(&options, true, more);
    rc = args_parse(&args, argc, argv, &first, err);
    if (rc != 1)
        return rc;
    piece.path = argv[first];
    if (!piece.name || !*piece.name)
        return err_set(err, ERR_USAGE, "-o NAME is missing: the names of the output");
    if (piece.previous && strcmp(piece.previous, piece.name) == 0)
        return err_set(err, ERR_USAGE, "a piece cannot continue itself: -o %s", piece.name);
    if (piece.previous && piece.before)
        return err_set(err, ERR_USAGE, "--continue has no lead-in: leave out --before");
    if (piece.to <= piece.from)
        return err_set(err, ERR_USAGE, "--to must be behind --from");
    if (check_file(piece.path, err) < 0 || spare_inputs(&piece, err) < 0)
        return -err->code;
    options.settings.options.block_digests = blocks;
    piece.options = &options.settings.options;
    rc = piece_make(&piece, &result, err);
    if (rc < 0)
        return rc;
    if (json)
        print_json(&piece, &result);
    if (result.cut) {
        say(result.note.text);
        return ERR_INPUT;
    }
    return 0;
}
