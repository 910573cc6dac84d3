/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/operands.h"
#include "show/args.h"

#include <stdio.h>
#include <string.h>

/* [SERVER=]TARGET; the address may have a '=', too. */
static int add_target(struct replay_options *o, const char *text, struct err *err)
{
    const char *address = strstr(text, "nfs://");
    struct replay_target *t;

    if (o->target_count == REPLAY_TARGETS_MAX)
        return err_set(err, ERR_USAGE, "more than %d targets", REPLAY_TARGETS_MAX);
    if (!address || (address > text && address[-1] != '=') || address == text + 1)
        return err_set(err, ERR_USAGE,
                       "\"%s\" is not a target: nfs://HOST/EXPORT, or SERVER=nfs://HOST/EXPORT",
                       text);
    t = &o->targets[o->target_count++];
    t->address = address;
    if (address > text) {
        t->server = text;
        t->server_len = (uint32_t)(address - text - 1);
    }
    return 0;
}

static const char standard_input[] = "/dev/stdin";

/* DUMP[@DELAY] */
static int add_dump(struct replay_options *o, char *text, struct err *err)
{
    char *at = strrchr(text, '@');
    struct replay_dump *dump;
    struct err ignored = { 0 };

    if (o->dump_count == REPLAY_DUMPS_MAX)
        return err_set(err, ERR_USAGE, "more than %d dumps", REPLAY_DUMPS_MAX);
    dump = &o->dumps[o->dump_count++];
    *dump = (struct replay_dump){ .path = text, .delay = -1 };
    if (at && at > text && set_duration(&dump->delay, at + 1, &ignored) == 0)
        *at = 0;
    else
        dump->delay = -1;
    if (strcmp(text, "-") != 0)
        return 0;
    dump->path = standard_input;
    for (uint32_t i = 0; i + 1 < o->dump_count; i++)
        if (o->dumps[i].path == standard_input)
            return err_set(err, ERR_USAGE, "standard input can be one dump only");
    return 0;
}

int operands_parse(struct replay_options *o, int argc, char **argv, struct err *err)
{
    int result = 0;

    for (int i = 0; i < argc && result == 0; i++) {
        bool is_target = strstr(argv[i], "nfs://");

        if (!is_target && i && o->target_count)
            result = err_set(err, ERR_USAGE,
                             "\"%s\" is not a target (nfs://HOST/EXPORT, or SERVER=nfs://HOST/"
                             "EXPORT), and dumps stand before the targets",
                             argv[i]);
        else
            result = is_target ? add_target(o, argv[i], err) : add_dump(o, argv[i], err);
    }
    if (result < 0)
        return result;
    if (!o->dump_count)
        return err_set(err, ERR_USAGE, "there is no dump before the targets");
    if (!o->target_count)
        return err_set(err, ERR_USAGE,
                       "there is no target behind \"%s\": nfs://HOST/EXPORT, or "
                       "SERVER=nfs://HOST/EXPORT",
                       o->dumps[o->dump_count - 1].path);
    if (o->record && o->rounds > 1)
        return err_set(err, ERR_USAGE, "--record keeps one round: it cannot be used with --loop");
    if (o->dump_count * o->copies > REPLAY_DUMPS_MAX)
        return err_set(err, ERR_USAGE, "%d dumps and copies can be played at once",
                       REPLAY_DUMPS_MAX);
    return 0;
}

int64_t operands_delay(const struct replay_options *o, const struct replay_dump *dump,
                       uint32_t index)
{
    uint64_t x = (o->seed + index + 1) * UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */

    if (dump->delay >= 0)
        return dump->delay;
    if (!o->start_delay)
        return 0;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((x ^ x >> 31) % (uint64_t)o->start_delay);
}

/* --- words */

static size_t add_text(char text[REPLAY_NAMES_TEXT], size_t len, const char *before,
                       const char *more)
{
    if (len < REPLAY_NAMES_TEXT)
        len +=
            (size_t)snprintf(text + len, REPLAY_NAMES_TEXT - len, "%s%s", len ? before : "", more);
    return len;
}

const char *replay_dumps_text(const struct replay_options *o, char text[REPLAY_NAMES_TEXT])
{
    char copies[32], rounds[32];
    size_t len = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < o->dump_count; i++)
        len = add_text(text, len, ", ", o->dumps[i].path);
    snprintf(copies, sizeof(copies), "%u copies%s", (unsigned)o->copies,
             o->dump_count > 1 ? " of each" : "");
    if (o->copies > 1)
        len = add_text(text, len, ", ", copies);
    snprintf(rounds, sizeof(rounds), "%u rounds", (unsigned)o->rounds);
    if (o->rounds > 1)
        add_text(text, len, ", ", rounds);
    return text;
}

const char *replay_targets_text(const struct replay_options *o, char text[REPLAY_NAMES_TEXT])
{
    size_t len = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < o->target_count; i++)
        len = add_text(text, len, ", ", o->targets[i].address);
    return text;
}
