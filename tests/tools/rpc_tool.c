/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/rpc_tool.c
 *
 * Asks a real rpcbind or mountd, for tests that hold the answers against rpcinfo's and showmount's.
 *
 *     rpc_tool portmap ADDR:PORT[/udp] VERSION dump
 *     rpc_tool portmap ADDR:PORT[/udp] VERSION get|unset PROGRAM VERSION tcp|udp
 *     rpc_tool portmap ADDR:PORT[/udp] VERSION set PROGRAM VERSION tcp|udp ADDR:PORT
 *     rpc_tool mount ADDR:PORT[/udp] VERSION export|dump
 *     rpc_tool mount ADDR:PORT[/udp] VERSION mnt|umnt PATH
 *
 * One fact a line.  Exits with 1 if the answer is that something is wrong.
 */
#include "net/mount_client.h"
#include "net/portmap_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tool {
    struct loop *loop;
    int exit_code;
};

static int fail(const char *text)
{
    fprintf(stderr, "rpc_tool: %s\n", text);
    return 2;
}

static int end(struct tool *tool, const char *problem)
{
    if (problem) {
        printf("%s\n", problem);
        tool->exit_code = 1;
    }
    loop_stop(tool->loop);
    return 0;
}

static int on_portmap(void *ctx, const struct portmap_reply *reply, struct err *err)
{
    char text[NET_ADDRESS_TEXT];

    (void)err;
    if (!reply->problem && reply->address.family)
        printf("%s\n", net_address_text(&reply->address, text));
    for (uint32_t i = 0; i < reply->entry_count; i++) {
        const struct portmap_entry *e = &reply->entries[i];

        printf("%u %u %.*s %s %.*s\n", e->program, e->version, (int)e->netid.len,
               (const char *)e->netid.data,
               e->address.family ? net_address_text(&e->address, text) : "-", (int)e->owner.len,
               (const char *)e->owner.data);
    }
    return end(ctx, reply->problem);
}

static int on_mount(void *ctx, const struct mount_answer *answer, struct err *err)
{
    (void)err;
    for (uint32_t i = 0; i < answer->handle.len; i++)
        printf("%02x%s", answer->handle.data[i], i + 1 == answer->handle.len ? "\n" : "");
    for (uint32_t i = 0; i < answer->flavor_count; i++)
        printf("flavor %u\n", answer->flavors[i]);
    for (uint32_t i = 0; i < answer->export_count; i++) {
        const struct mount_export *e = &answer->exports[i];

        printf("%.*s", (int)e->path.len, (const char *)e->path.data);
        for (uint32_t k = 0; k < e->group_count; k++)
            printf(" %.*s", (int)e->groups[k].len, (const char *)e->groups[k].data);
        printf("\n");
    }
    for (uint32_t i = 0; i < answer->entry_count; i++)
        printf("%.*s %.*s\n", (int)answer->entries[i].host.len,
               (const char *)answer->entries[i].host.data, (int)answer->entries[i].path.len,
               (const char *)answer->entries[i].path.data);
    return end(ctx, answer->problem);
}

/* The number of a word of "a b c", from 1; 0: none of them. */
static int choose(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i + 1;
    return 0;
}

static int ask_portmap(struct rpc_client *client, struct tool *tool, int argc, char **argv,
                       struct err *err)
{
    static const char *const whats[] = { "set", "unset", "get", "dump", NULL };
    struct portmap_question q = { .version = (uint32_t)atoi(argv[3]), .owner = "rpc_tool" };

    q.what = (enum portmap_what)choose(argv[4], whats);
    q.address.family = AF_INET;
    if (!q.what || (q.what != PORTMAP_DUMP && argc < (q.what == PORTMAP_SET ? 9 : 8)))
        return err_set(err, ERR_USAGE, "which question?");
    if (q.what != PORTMAP_DUMP) {
        q.program = (uint32_t)atoi(argv[5]);
        q.program_version = (uint32_t)atoi(argv[6]);
        q.udp = strcmp(argv[7], "udp") == 0;
    }
    if (q.what == PORTMAP_SET && net_address_parse(argv[8], true, &q.address, err) < 0)
        return -ERR_USAGE;
    return portmap_call(client, &q, on_portmap, tool, err);
}

static int ask_mount(struct rpc_client *client, struct tool *tool, int argc, char **argv,
                     struct err *err)
{
    static const char *const whats[] = { "mnt", "dump", "umnt", "umntall", "export", NULL };
    struct rpc_auth root = { .flavor = RPC_AUTH_SYS,
                             .valid = true,
                             .machine = { (const uint8_t *)"rpc_tool", 8 } };
    struct mount_question q = { .version = (uint32_t)atoi(argv[3]), .credential = &root };

    q.procedure = (enum mount_procedure)choose(argv[4], whats);
    if (argc > 5)
        q.path = (struct bytes){ (const uint8_t *)argv[5], (uint32_t)strlen(argv[5]) };
    return mount_call(client, &q, on_mount, tool, err);
}

int main(int argc, char **argv)
{
    struct rpc_client_setup setup = { .limits = rpc_client_defaults };
    struct tool tool = { 0 };
    struct err err = { 0 };
    struct rpc_client *client;
    char *udp;
    int result;

    if (argc < 5)
        return fail("which service, server, version and question?");
    udp = strstr(argv[2], "/udp");
    setup.udp = udp != NULL;
    if (udp)
        *udp = '\0';
    setup.from.kind = SOURCE_PORT_PRIVILEGED;
    setup.limits.timeout = INT64_C(5000000000);
    setup.limits.attempts = 3;
    tool.loop = loop_new(&err);
    if (!tool.loop || net_address_parse(argv[2], false, &setup.server, &err) < 0)
        return fail(err.text);
    client = rpc_client_new(tool.loop, &setup, NULL, &err);
    if (!client)
        return fail(err.text);
    result = strcmp(argv[1], "portmap") == 0 ? ask_portmap(client, &tool, argc, argv, &err)
                                             : ask_mount(client, &tool, argc, argv, &err);
    if (result == 0)
        result = loop_run(tool.loop, &err);
    if (result < 0)
        tool.exit_code = fail(err.text);
    rpc_client_free(client);
    loop_free(tool.loop);
    return tool.exit_code;
}
