/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes calls and replies of all procedures by the tables, with random values from a seed: a line
 * "program version procedure call reply" each, both in hexadecimal, without record marks.
 *
 *     write_sample SEED COUNT
 */
#include "generated.h"
#include "wire/rpc_put.h"

#include <stdio.h>
#include <stdlib.h>

static void print(const struct buf *message)
{
    putchar(' ');
    for (size_t i = 0; i < message->len; i++)
        printf("%02x", message->data[i]);
}

/* A header and the body that was generated. */
static int put_message(struct generated *g, const struct type *type, const struct rpc_header *h,
                       struct buf *message, struct err *err)
{
    struct xdr_put to = xdr_put_to(message, 1 << 20);

    message->len = 0;
    if (generate(g, type, err) < 0)
        return -err->code;
    rpc_put_header(&to, h);
    xdr_put_bytes(&to, g->body.data, g->body.len);
    if (xdr_put_end(&to, type->name, err) < 0)
        return -err->code;
    print(message);
    return 0;
}

static int put_pair(struct generated *g, const struct program *program,
                    const struct procedure *procedure, struct buf *message, struct err *err)
{
    static const struct rpc_auth user = { .flavor = RPC_AUTH_SYS,
                                          .valid = true,
                                          .machine = { (const uint8_t *)"client", 6 },
                                          .uid = 1000,
                                          .gid = 100,
                                          .gid_count = 2,
                                          .gids = { 4, 24 } };
    struct rpc_header h = { .xid = (uint32_t)generated_random(g, UINT32_MAX),
                            .rpc_version = 2,
                            .program = program->number,
                            .version = program->version,
                            .procedure = procedure->number,
                            .credential = user };

    printf("%u %u %u", program->number, program->version, procedure->number);
    if (put_message(g, procedure->arguments, &h, message, err) < 0)
        return -err->code;
    h.direction = RPC_REPLY;
    if (put_message(g, procedure->result, &h, message, err) < 0)
        return -err->code;
    putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    struct generated g = { .plain = true };
    struct buf message = { 0 };
    struct err err = { 0 };
    int count;

    if (argc != 3)
        return 2;
    wire_init();
    g.state = strtoull(argv[1], NULL, 10);
    count = atoi(argv[2]);
    for (int k = 0; k < count; k++)
        for (const struct program *const *p = wire_programs; *p; p++)
            for (uint32_t i = 0; i < (*p)->procedure_count; i++) {
                g.success = k & 1;
                if ((*p)->procedures[i].name &&
                    put_pair(&g, *p, &(*p)->procedures[i], &message, &err) < 0) {
                    fprintf(stderr, "write_sample: %s\n", err.text);
                    return 4;
                }
            }
    generated_free(&g);
    buf_free(&message);
    return 0;
}
