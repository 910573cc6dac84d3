/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/portmap.c
 *
 * PORTMAP version 2 and RPCBIND versions 3 and 4, all of them program 100000 (RFC 1833).
 * Fields with ports and universal addresses are marked with ROLE_PORT_*.  From them the engine
 * learns which ports carry RPC.
 */
#include "wire/programs.h"

#include <stddef.h>

static const struct value_name protocol_names[] = {
    { 6, "IPPROTO_TCP" },
    { 17, "IPPROTO_UDP" },
    { 0, NULL },
};

/* clang-format off */
#define ROW(...) { __VA_ARGS__ }
/* clang-format on */

/* RFC 1833 s3.1 mapping; |port_role| says whether its port is a fact. */
#define MAPPING_FIELDS(port_role)                                                                  \
    ROW("prog", XDR_U32, CLASS_NONE, ROLE_PORT_PROGRAM, .wireshark = "portmap.prog"),              \
        ROW("vers", XDR_U32, CLASS_NONE, ROLE_PORT_VERSION, .wireshark = "portmap.version"),       \
        ROW("prot", XDR_ENUM, CLASS_ENUM, ROLE_PORT_PROTOCOL, .names = protocol_names,             \
            .wireshark = "portmap.proto"),                                                         \
        ROW("port", XDR_U32, CLASS_NONE, (port_role), .wireshark = "portmap.port"), END

static const struct field mapping_fields[] = { MAPPING_FIELDS(ROLE_PORT) };
TYPE(mapping);

/* GETPORT and UNSET disregard the port (RFC 1833 s3.2). */
static const struct field mapping_question_fields[] = { MAPPING_FIELDS(0) };
static struct type mapping_question = { .name = "mapping", .fields = mapping_question_fields };

static const struct field answer_fields[] = {
    { "answer", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "portmap.answer" },
    END,
};
static struct type set_result = { .name = "PMAPPROC_SETres", .fields = answer_fields };
static struct type unset_result = { .name = "PMAPPROC_UNSETres", .fields = answer_fields };

static const struct field getport_result_fields[] = {
    { "port", XDR_U32, CLASS_NONE, ROLE_PORT, .wireshark = "portmap.port" },
    END,
};
static struct type getport_result = { .name = "PMAPPROC_GETPORTres",
                                      .fields = getport_result_fields };

/* RFC 1833 s3.1 pmaplist */
static const struct field pmaplist_entry_fields[] = {
    { "map", XDR_STRUCT, .sub = &mapping },
    END,
};
TYPE(pmaplist_entry);
static const struct field pmaplist_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &pmaplist_entry, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(pmaplist);

/* RFC 1833 s3.1 call_args and call_result: another program's call and result as they are. */
static const struct field call_args_fields[] = {
    { "prog", XDR_U32, CLASS_NONE, .wireshark = "portmap.prog" },
    { "vers", XDR_U32, CLASS_NONE, .wireshark = "portmap.version" },
    { "proc", XDR_U32, CLASS_NONE, .wireshark = "portmap.proc" },
    { "args", XDR_OPAQUE, CLASS_OPAQUE, .wireshark = "portmap.args" },
    END,
};
TYPE(call_args);
static const struct field call_result_fields[] = {
    { "port", XDR_U32, CLASS_NONE, .wireshark = "portmap.port" },
    { "res", XDR_OPAQUE, CLASS_OPAQUE, .wireshark = "portmap.result" },
    END,
};
TYPE(call_result);

static const struct procedure portmap2_procedures[] = {
    { 0, "NULL", &wire_void, &wire_void, "RFC 1833 s3.2" },
    { 1, "SET", &mapping, &set_result, "RFC 1833 s3.2" },
    { 2, "UNSET", &mapping_question, &unset_result, "RFC 1833 s3.2" },
    { 3, "GETPORT", &mapping_question, &getport_result, "RFC 1833 s3.2" },
    { 4, "DUMP", &wire_void, &pmaplist, "RFC 1833 s3.2" },
    { 5, "CALLIT", &call_args, &call_result, "RFC 1833 s3.2" },
};

const struct program wire_portmap2 = { 100000, 2, "PORTMAP", portmap2_procedures,
                                       COUNT_OF(portmap2_procedures) };

/* RFC 1833 s2.1 rpcb; |address_role| says whether its address is a fact. */
#define RPCB_FIELDS(address_role)                                                                  \
    ROW("r_prog", XDR_U32, CLASS_NONE, ROLE_PORT_PROGRAM, .wireshark = "portmap.rpcb.prog"),       \
        ROW("r_vers", XDR_U32, CLASS_NONE, ROLE_PORT_VERSION,                                      \
            .wireshark = "portmap.rpcb.version"),                                                  \
        ROW("r_netid", XDR_STRING, CLASS_NONE, ROLE_PORT_PROTOCOL,                                 \
            .wireshark = "portmap.rpcb.netid"),                                                    \
        ROW("r_addr", XDR_STRING, CLASS_ADDRESS, (address_role),                                   \
            .wireshark = "portmap.rpcb.addr"),                                                     \
        ROW("r_owner", XDR_STRING, CLASS_OPAQUE, .wireshark = "portmap.rpcb.owner"), END

static const struct field rpcb_fields[] = { RPCB_FIELDS(ROLE_PORT) };
TYPE(rpcb);

/* GETADDR, GETVERSADDR and GETADDRLIST take the address as a hint where the caller is; UNSET
 * disregards it (RFC 1833 s2.1). */
static const struct field rpcb_question_fields[] = { RPCB_FIELDS(0) };
static struct type rpcb_question = { .name = "rpcb", .fields = rpcb_question_fields };

static const struct field rpcb_answer_fields[] = {
    { "answer", XDR_BOOL, CLASS_BOOLEAN },
    END,
};
static struct type rpcb_set_result = { .name = "RPCBPROC_SETres", .fields = rpcb_answer_fields };
static struct type rpcb_unset_result = { .name = "RPCBPROC_UNSETres",
                                         .fields = rpcb_answer_fields };

/* "" where the program is not registered (RFC 1833 s2.2.1). */
static const struct field getaddr_result_fields[] = {
    { "uaddr", XDR_STRING, CLASS_ADDRESS, ROLE_PORT, .wireshark = "portmap.uaddr" },
    END,
};
static struct type getaddr_result = { .name = "RPCBPROC_GETADDRres",
                                      .fields = getaddr_result_fields };
static const struct field getversaddr_result_fields[] = {
    { "uaddr", XDR_STRING, CLASS_ADDRESS, ROLE_PORT },
    END,
};
static struct type getversaddr_result = { .name = "RPCBPROC_GETVERSADDRres",
                                          .fields = getversaddr_result_fields };

/* RFC 1833 s2.1 rpcblist_ptr */
static const struct field rp__list_fields[] = {
    { "rpcb_map", XDR_STRUCT, .sub = &rpcb },
    END,
};
TYPE(rp__list);
static const struct field rpcblist_ptr_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &rp__list, .wireshark = "rpc.value_follows" },
    END,
};
TYPE(rpcblist_ptr);

/* RFC 1833 s2.1 rpcb_rmtcallargs, rpcb_rmtcallres */
static struct type rpcb_rmtcallargs = { .name = "rpcb_rmtcallargs", .fields = call_args_fields };
static const struct field rpcb_rmtcallres_fields[] = {
    { "addr", XDR_STRING, CLASS_ADDRESS, .wireshark = "portmap.rpcb.addr" },
    { "results", XDR_OPAQUE, CLASS_OPAQUE, .wireshark = "portmap.result" },
    END,
};
TYPE(rpcb_rmtcallres);

static const struct field gettime_result_fields[] = {
    { "time", XDR_U32, CLASS_TIME },
    END,
};
static struct type gettime_result = { .name = "RPCBPROC_GETTIMEres",
                                      .fields = gettime_result_fields };

/* RFC 1833 s2.1 netbuf: a transport's own form of an address */
static const struct field netbuf_fields[] = {
    { "maxlen", XDR_U32, CLASS_COUNT },
    { "buf", XDR_OPAQUE, CLASS_ADDRESS },
    END,
};
TYPE(netbuf);
static const struct field uaddr_fields[] = {
    { "uaddr", XDR_STRING, CLASS_ADDRESS },
    END,
};
static struct type uaddr2taddr_args = { .name = "RPCBPROC_UADDR2TADDRargs",
                                        .fields = uaddr_fields };
static struct type taddr2uaddr_result = { .name = "RPCBPROC_TADDR2UADDRres",
                                          .fields = uaddr_fields };

/* What versions 3 and 4 have in common; |name5| is procedure 5's. */
#define RPCBIND_PROCEDURES(name5)                                                                  \
    ROW(0, "NULL", &wire_void, &wire_void, "RFC 1833 s2.1"),                                       \
        ROW(1, "SET", &rpcb, &rpcb_set_result, "RFC 1833 s2.1"),                                   \
        ROW(2, "UNSET", &rpcb_question, &rpcb_unset_result, "RFC 1833 s2.1"),                      \
        ROW(3, "GETADDR", &rpcb_question, &getaddr_result, "RFC 1833 s2.1"),                       \
        ROW(4, "DUMP", &wire_void, &rpcblist_ptr, "RFC 1833 s2.1"),                                \
        ROW(5, (name5), &rpcb_rmtcallargs, &rpcb_rmtcallres, "RFC 1833 s2.1"),                     \
        ROW(6, "GETTIME", &wire_void, &gettime_result, "RFC 1833 s2.1"),                           \
        ROW(7, "UADDR2TADDR", &uaddr2taddr_args, &netbuf, "RFC 1833 s2.1"),                        \
        ROW(8, "TADDR2UADDR", &netbuf, &taddr2uaddr_result, "RFC 1833 s2.1")

static const struct procedure rpcbind3_procedures[] = { RPCBIND_PROCEDURES("CALLIT") };

const struct program wire_rpcbind3 = { 100000, 3, "RPCBIND", rpcbind3_procedures,
                                       COUNT_OF(rpcbind3_procedures) };

/* RFC 1833 s2.1 rpcb_entry_list_ptr; r_nc_semantics is a constant of TLI (NC_TPI_*). */
static const struct value_name semantics_names[] = {
    { 1, "NC_TPI_CLTS" }, { 2, "NC_TPI_COTS" }, { 3, "NC_TPI_COTS_ORD" },
    { 4, "NC_TPI_RAW" },  { 0, NULL },
};
static const struct field rpcb_entry_fields[] = {
    { "r_maddr", XDR_STRING, CLASS_ADDRESS, ROLE_PORT },
    { "r_nc_netid", XDR_STRING, CLASS_NONE, ROLE_PORT_PROTOCOL },
    { "r_nc_semantics", XDR_ENUM, CLASS_ENUM, .names = semantics_names },
    { "r_nc_protofmly", XDR_STRING, CLASS_NONE },
    { "r_nc_proto", XDR_STRING, CLASS_NONE },
    END,
};
TYPE(rpcb_entry);
static const struct field rpcb_entry_list_fields[] = {
    { "rpcb_entry_map", XDR_STRUCT, .sub = &rpcb_entry },
    END,
};
TYPE(rpcb_entry_list);
static const struct field rpcb_entry_list_ptr_fields[] = {
    { NULL, XDR_LIST, CLASS_BOOLEAN, .sub = &rpcb_entry_list },
    END,
};
TYPE(rpcb_entry_list_ptr);

/* RFC 1833 s2.1 rpcb_stat_byvers: counters of the server, one set for each version. */
static const struct field rpcbs_addrlist_fields[] = {
    { "prog", XDR_U32, CLASS_NONE },     { "vers", XDR_U32, CLASS_NONE },
    { "success", XDR_I32, CLASS_COUNT }, { "failure", XDR_I32, CLASS_COUNT },
    { "netid", XDR_STRING, CLASS_NONE }, END,
};
TYPE(rpcbs_addrlist);
static const struct field rpcbs_rmtcalllist_fields[] = {
    { "prog", XDR_U32, CLASS_NONE },     { "vers", XDR_U32, CLASS_NONE },
    { "proc", XDR_U32, CLASS_NONE },     { "success", XDR_I32, CLASS_COUNT },
    { "failure", XDR_I32, CLASS_COUNT }, { "indirect", XDR_I32, CLASS_COUNT },
    { "netid", XDR_STRING, CLASS_NONE }, END,
};
TYPE(rpcbs_rmtcalllist);

/* One counter a procedure: version 4's numbers, RPCBSTAT_HIGHPROC of them in every set. */
static const struct field rpcbs_proc_fields[] = {
    { "null", XDR_I32, CLASS_COUNT },        { "set", XDR_I32, CLASS_COUNT },
    { "unset", XDR_I32, CLASS_COUNT },       { "getaddr", XDR_I32, CLASS_COUNT },
    { "dump", XDR_I32, CLASS_COUNT },        { "callit", XDR_I32, CLASS_COUNT },
    { "gettime", XDR_I32, CLASS_COUNT },     { "uaddr2taddr", XDR_I32, CLASS_COUNT },
    { "taddr2uaddr", XDR_I32, CLASS_COUNT }, { "getversaddr", XDR_I32, CLASS_COUNT },
    { "indirect", XDR_I32, CLASS_COUNT },    { "getaddrlist", XDR_I32, CLASS_COUNT },
    { "getstat", XDR_I32, CLASS_COUNT },     END,
};
TYPE(rpcbs_proc);
static const struct field rpcb_stat_fields[] = {
    { "info", XDR_STRUCT, .sub = &rpcbs_proc },
    { "setinfo", XDR_I32, CLASS_COUNT },
    { "unsetinfo", XDR_I32, CLASS_COUNT },
    { "addrinfo", XDR_LIST, CLASS_BOOLEAN, .sub = &rpcbs_addrlist },
    { "rmtinfo", XDR_LIST, CLASS_BOOLEAN, .sub = &rpcbs_rmtcalllist },
    END,
};
TYPE(rpcb_stat);
static const struct field rpcb_stat_byvers_fields[] = {
    { "RPCBVERS_2_STAT", XDR_STRUCT, .sub = &rpcb_stat },
    { "RPCBVERS_3_STAT", XDR_STRUCT, .sub = &rpcb_stat },
    { "RPCBVERS_4_STAT", XDR_STRUCT, .sub = &rpcb_stat },
    END,
};
TYPE(rpcb_stat_byvers);

static const struct procedure rpcbind4_procedures[] = {
    RPCBIND_PROCEDURES("BCAST"),
    { 9, "GETVERSADDR", &rpcb_question, &getversaddr_result, "RFC 1833 s2.1" },
    { 10, "INDIRECT", &rpcb_rmtcallargs, &rpcb_rmtcallres, "RFC 1833 s2.1" },
    { 11, "GETADDRLIST", &rpcb_question, &rpcb_entry_list_ptr, "RFC 1833 s2.1" },
    { 12, "GETSTAT", &wire_void, &rpcb_stat_byvers, "RFC 1833 s2.1" },
};

const struct program wire_rpcbind4 = { 100000, 4, "RPCBIND", rpcbind4_procedures,
                                       COUNT_OF(rpcbind4_procedures) };
