/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/run_options.h"
#include "tee/find_server.h"

#include <stdio.h>
#include <string.h>

/* What is otherwise here than in the command's own table. */
struct change {
    const char *name, *as, *help; /* |as| NULL: there is no such option here */
};

static const struct change of_relay[] = {
    { "to", "to", "nfs://HOST[:PORT]/EXPORT of the server" },
    { "mount-to", NULL, NULL }, /* "to" says it */
    { "attach", NULL, NULL },   /* in a folder that nobody else sees */
    { "nlm-listen", NULL, NULL },
    { "nsm-listen", NULL, NULL },
    { "transparent", NULL,
      NULL }, /* does not work for clients on this machine, such as the shadow */
    { "upgrade", NULL, NULL },
    { "drain", NULL, NULL },
    { "quiet", NULL, NULL }, /* what it prints is read */
    { "json", NULL, NULL },  /* that of the shadow */
    { 0 },
};

static const struct change of_shadow[] = {
    { "attach", NULL, NULL },
    { "relay", NULL, NULL },
    { "for", NULL, NULL }, /* it ends with the relay */
    { "control", "shadow-control", "take commands for the shadow on this Unix socket" },
    { "metrics", "shadow-metrics", "metrics of the shadow" },
    { 0 },
};

static const char about[] =
    "Does what \"nfstee relay\" and \"nfstee shadow\" do, in two processes: relays clients to a\n"
    "server, keeps a second one (SUT) equal to it, and compares what both answer:\n"
    "\n"
    "    nfstee run --listen :2049 --to nfs://server.example/export \\\n"
    "               --sut nfs://new.example/export --log differences\n"
    "\n"
    "\"nfsdigest compare differences\" shows what differs.  If the shadow ends before the relay,\n"
    "clients do not notice.  SIGINT and SIGTERM end both.\n";

/* Checks the value as the command does, and keeps it for the command. */
static int pass(void *to, const char *value, struct err *err)
{
    struct run_row *row = to;
    struct passed *passed = row->to;

    if (row->of_command.set(row->of_command.to, value, err) < 0)
        return -err->code;
    if (passed->count + 2 > PASSED_WORDS)
        return err_set(err, ERR_USAGE, "there are more than %d options", PASSED_WORDS / 2);
    passed->words[passed->count++] = row->option;
    if (row->of_command.value)
        passed->words[passed->count++] = value;
    return 0;
}

static const struct change *find(const struct change *changes, const char *name)
{
    while (changes->name && strcmp(changes->name, name) != 0)
        changes++;
    return changes->name ? changes : NULL;
}

/* Makes the table for |args| from a command's |own|.  Returns the place behind it. */
static struct arg *take(struct run_options *o, const struct arg *own, const struct change *changes,
                        struct passed *to, struct arg *args)
{
    for (; own->name; own++) {
        const struct change *change = find(changes, own->name);
        struct run_row *row = &o->rows[o->row_count];

        if (change && !change->as)
            continue;
        o->row_count++;
        *row = (struct run_row){ .of_command = *own, .to = to };
        snprintf(row->option, sizeof(row->option), "--%s", own->name);
        *args = *own;
        args->set = pass;
        args->to = row;
        if (change) {
            args->name = change->as;
            args->help = change->help;
        }
        args++;
    }
    *args = (struct arg){ 0 };
    return args;
}

static int check(struct run_options *o, struct err *err)
{
    if (!o->relay.listen)
        return err_set(err, ERR_USAGE, "say --listen ADDRESS:PORT for the clients");
    if (!o->relay.to || !server_is_nfs_address(o->relay.to))
        return err_set(err, ERR_USAGE, "say --to nfs://HOST[:PORT]/EXPORT for the server");
    o->relay.attach = o->shadow.attach = o->shadow.relay = o->relay.to; /* they are known later */
    if (o->restart && !o->shadow.overwrite)
        return err_set(err, ERR_USAGE,
                       "--restart needs --overwrite: a shadow that begins again finds what the one "
                       "before it copied");
    return relay_options_check(&o->relay, err) < 0 || shadow_options_check(&o->shadow, err) < 0
               ? -err->code
               : 1;
}

int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err)
{
    struct arg relay[RELAY_ARGS], shadow[SHADOW_ARGS], own[RELAY_ARGS], more[SHADOW_ARGS + 1];
    const struct args args = { .usage = "nfstee run --listen ADDRESS:PORT --to nfs://... "
                                        "--sut nfs://... --log DIR [OPTION...]",
                               .about = about,
                               .own = own,
                               .more = more,
                               .more_title = "The second server, and what is compared",
                               .takes = "no arguments",
                               .program = "nfstee " };
    struct arg *end;
    int first, result;

    memset(o, 0, sizeof(*o));
    relay_options_begin(&o->relay, relay);
    shadow_options_begin(&o->shadow, shadow);
    take(o, relay, of_relay, &o->to_relay, own);
    end = take(o, shadow, of_shadow, &o->to_shadow, more);
    end[0] = (struct arg){
        0,
        "restart",
        NULL,
        "begin the shadow again if it dies, with the log DIR.2,\nDIR.3, ...; needs --overwrite",
        set_flag,
        &o->restart
    };
    end[1] = (struct arg){ 0 };
    result = args_parse(&args, argc, argv, &first, err);
    if (result == 1 && first < argc)
        return err_set(err, ERR_USAGE, "\"%s\": nfstee run takes no arguments, only options",
                       argv[first]);
    return result == 1 ? check(o, err) : result;
}
