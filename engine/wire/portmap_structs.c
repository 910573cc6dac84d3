/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/portmap_structs.h"

#include "wire/programs.h"

static const struct bind_row portmap_answer_rows[] = {
    BIND(portmap_answer, "answer", answer),
    BIND_END,
};

/* --- version 2 */

static const struct bind_row portmap_mapping_rows[] = {
    BIND(portmap_mapping, "prog", prog),
    BIND(portmap_mapping, "vers", vers),
    BIND(portmap_mapping, "prot", prot),
    BIND(portmap_mapping, "port", port),
    BIND_END,
};
static const struct bind_row portmap_port_rows[] = {
    BIND(portmap_port, "port", port),
    BIND_END,
};
static const struct bind_row pmaplist_entry_rows[] = {
    BIND_ALL(portmap_mapping, "map"),
    BIND_END,
};
static const struct bind_row pmaplist_rows[] = {
    BIND_LIST_BY(pmaplist, "", list, portmap_mapping, pmaplist_entry_rows),
    BIND_END,
};

static const struct bind_struct structs2[] = {
    BIND_STRUCT_OF("mapping", portmap_mapping),
    BIND_STRUCT_OF("PMAPPROC_SETres", portmap_answer),
    BIND_STRUCT_OF("PMAPPROC_UNSETres", portmap_answer),
    BIND_STRUCT_OF("PMAPPROC_GETPORTres", portmap_port),
    BIND_STRUCT_OF("pmaplist", pmaplist),
};
static const struct bind_structs all2 = { &wire_portmap2, structs2, COUNT_OF(structs2) };

/* --- versions 3 and 4 */

static const struct bind_row rpcb_rows[] = {
    BIND(rpcb, "r_prog", r_prog), BIND(rpcb, "r_vers", r_vers),   BIND(rpcb, "r_netid", r_netid),
    BIND(rpcb, "r_addr", r_addr), BIND(rpcb, "r_owner", r_owner), BIND_END,
};
static const struct bind_row rpcb_address_rows[] = {
    BIND(rpcb_address, "uaddr", uaddr),
    BIND_END,
};
static const struct bind_row rp__list_rows[] = {
    BIND_ALL(rpcb, "rpcb_map"),
    BIND_END,
};
static const struct bind_row rpcblist_rows[] = {
    BIND_LIST_BY(rpcblist, "", list, rpcb, rp__list_rows),
    BIND_END,
};

static const struct bind_struct structs34[] = {
    BIND_STRUCT_OF("rpcb", rpcb),
    BIND_STRUCT_OF("RPCBPROC_SETres", portmap_answer),
    BIND_STRUCT_OF("RPCBPROC_UNSETres", portmap_answer),
    BIND_STRUCT_OF("RPCBPROC_GETADDRres", rpcb_address),
    BIND_STRUCT_OF("RPCBPROC_GETVERSADDRres", rpcb_address),
    BIND_STRUCT_OF("rpcblist_ptr", rpcblist),
};
static const struct bind_structs all3 = { &wire_rpcbind3, structs34, COUNT_OF(structs34) };
static const struct bind_structs all4 = { &wire_rpcbind4, structs34, COUNT_OF(structs34) };

static struct bindings version2, version3, version4;

int portmap_structs_init(struct err *err)
{
    int result = bindings_make(&version2, &all2, err);

    if (result == 0)
        result = bindings_make(&version3, &all3, err);
    if (result == 0)
        result = bindings_make(&version4, &all4, err);
    if (result < 0)
        portmap_structs_free();
    return result;
}

void portmap_structs_free(void)
{
    bindings_free(&version2);
    bindings_free(&version3);
    bindings_free(&version4);
}

const struct wire_binding *portmap2_binding(uint32_t procedure)
{
    return bindings_find(&version2, procedure);
}

const struct wire_binding *rpcbind3_binding(uint32_t procedure)
{
    return bindings_find(&version3, procedure);
}

const struct wire_binding *rpcbind4_binding(uint32_t procedure)
{
    return bindings_find(&version4, procedure);
}
