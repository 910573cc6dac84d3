/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/key.h"
#include "base/escape.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "show/args.h"

static const char about[] =
    "A key decides the pseudonyms of an anonymized capture.  The same key gives the\n"
    "same pseudonyms, and a person who has it can find the originals again.  A key\n"
    "is a file that only its owner may read.\n";

/* |version| 0: it cannot be used, for the reason |error|. */
static void print_key(const char *file, uint32_t version, const char *error)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "file", file);
    json_bool(&j, "usable", version > 0);
    if (version)
        json_u64(&j, "mapping", version);
    else
        json_text(&j, "error", error);
    json_object_end(&j);
    json_end(&j);
}

static int make(int argc, char **argv, struct err *err)
{
    uint64_t version = KEY_VERSION;
    bool json = false;
    const struct arg own[] = {
        { 0, "mapping", "N",
          "version of the mapping (2); with 1, addresses are\n"
          "mapped by Crypto-PAn as published, for programs\n"
          "that know only that: they are easier to guess",
          set_count, &version },
        { 'j', "json", NULL, "print a JSON object about the key", set_flag, &json },
        { 0 },
    };
    const struct args args = {
        "nfsdigest key new [OPTION...] FILE",
        "Makes a key in a new file with mode 0600.  Never overwrites a file.\n", own, NULL, NULL
    };
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (first + 1 != argc)
        return err_set(err, ERR_USAGE, "key new takes one file to make");
    key_refuse_dumps();
    if (key_create(argv[first], version, err) < 0)
        return -err->code;
    if (json) {
        print_key(argv[first], (uint32_t)version, NULL);
        return 0;
    }
    escape_print(stdout, argv[first]);
    printf(": a new key of %d bits, which only you may read.\n"
           "Use it for all captures whose pseudonyms must agree.  Never release it: a person who\n"
           "has it can find the originals.  Protect it as you protect the captures.  Destroy it\n"
           "when no other capture must agree with these, and when you do not need to look up\n"
           "pseudonyms any more.\n",
           8 * KEY_LEN);
    return 0;
}

static int check(int argc, char **argv, struct err *err)
{
    bool json = false;
    const struct arg own[] = {
        { 'j', "json", NULL, "print a JSON object for each file", set_flag, &json },
        { 0 },
    };
    const struct args args = {
        "nfsdigest key check [OPTION...] FILE...",
        "Checks that files are complete keys, and that others cannot read them.\n"
        "Exit code 0: all can be used; 3: one cannot.\n",
        own, NULL, NULL
    };
    uint32_t version;
    int first, worst = 0, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (first == argc)
        return err_set(err, ERR_USAGE, "nothing to check: name key files");
    key_refuse_dumps();
    for (int i = first; i < argc; i++) {
        struct key key = { 0 };

        result = key_load(&key, argv[i], err);
        version = key.version;
        key_forget(&key);
        if (result == -ERR_INPUT) {
            say(err->text);
            worst = ERR_INPUT;
            if (json)
                print_key(argv[i], 0, err->text);
        } else if (result < 0) {
            return result;
        } else if (json) {
            print_key(argv[i], version, NULL);
        } else {
            escape_print(stdout, argv[i]);
            printf(": a key, can be used%s\n",
                   version == KEY_VERSION_1
                       ? "; of version 1 of the mapping, which hides less: only for captures that "
                         "agree with earlier ones"
                       : "");
        }
    }
    return worst;
}

int cmd_key(int argc, char **argv, struct err *err)
{
    static const struct command commands[] = {
        { "key new", make, "make a key" },
        { "key check", check, "check that a key can be used" },
        { 0 },
    };

    return commands_run(commands, about, argc, argv, err);
}
