/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_portmap.c
 *
 * PORTMAP version 2 and RPCBIND versions 3 and 4, written by hand from RFC 1833.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire_check.h"

static struct sample s;

static const struct procedure *portmap(uint32_t version, uint32_t number)
{
    sample_reset(&s);
    return procedure_find(100000, version, number);
}

static void done(const struct type *type)
{
    check_sample(&s, type);
    sample_reset(&s);
}

static void signed32(const char *name, int32_t value)
{
    sample_line(&s, "%s%s=%llu@%u\n", s.prefix, name, (unsigned long long)(int64_t)value, s.len);
    put_u32(&s, (uint32_t)value);
}

static void mapping(const char *name, uint32_t protocol)
{
    size_t outer = enter(&s, name);

    u32(&s, "prog", 100003);
    u32(&s, "vers", 3);
    u32(&s, "prot", protocol);
    u32(&s, "port", 2049);
    leave(&s, outer);
}

static void test_portmap_2(void **state)
{
    int i;

    (void)state;
    mapping("mapping", 6);
    done(procedure_find(100000, 2, 1)->arguments);
    mapping("mapping", 17);
    done(procedure_find(100000, 2, 2)->arguments);
    mapping("mapping", 4711);
    done(procedure_find(100000, 2, 3)->arguments);
    u32(&s, "PMAPPROC_SETres.answer", 1);
    done(procedure_find(100000, 2, 1)->result);
    u32(&s, "PMAPPROC_UNSETres.answer", 0);
    done(procedure_find(100000, 2, 2)->result);
    u32(&s, "PMAPPROC_GETPORTres.port", 0);
    done(procedure_find(100000, 2, 3)->result);
    for (i = 0; i < 3; i++) {
        u32(&s, "pmaplist", 1);
        mapping("pmaplist.map", 6);
    }
    u32(&s, "pmaplist", 0);
    done(procedure_find(100000, 2, 4)->result);
    u32(&s, "call_args.prog", 7);
    u32(&s, "call_args.vers", 8);
    u32(&s, "call_args.proc", 9);
    opaque(&s, "call_args.args", "any bytes", 9);
    done(procedure_find(100000, 2, 5)->arguments);
    u32(&s, "call_result.port", 999);
    opaque(&s, "call_result.res", "", 0);
    done(procedure_find(100000, 2, 5)->result);
    done(portmap(2, 0)->arguments);
    done(portmap(2, 0)->result);
    done(portmap(2, 4)->arguments);
    assert_null(portmap(2, 6));
    assert_null(portmap(1, 3));
}

static void rpcb(const char *name, const char *netid, const char *address, const char *owner)
{
    size_t outer = enter(&s, name);

    u32(&s, "r_prog", 100003);
    u32(&s, "r_vers", 3);
    string(&s, "r_netid", netid);
    string(&s, "r_addr", address);
    string(&s, "r_owner", owner);
    leave(&s, outer);
}

static void test_rpcbind_both(void **state)
{
    uint32_t version, i;

    (void)state;
    sample_reset(&s);
    for (version = 3; version <= 4; version++) {
        for (i = 1; i <= 3; i++) {
            rpcb("rpcb", "tcp", "192.0.2.1.8.1", i == 1 ? "superuser" : "");
            done(procedure_find(100000, version, i)->arguments);
        }
        u32(&s, "RPCBPROC_SETres.answer", 1);
        done(procedure_find(100000, version, 1)->result);
        u32(&s, "RPCBPROC_UNSETres.answer", 0);
        done(procedure_find(100000, version, 2)->result);
        string(&s, "RPCBPROC_GETADDRres.uaddr", "::1.8.1");
        done(procedure_find(100000, version, 3)->result);
        u32(&s, "rpcblist_ptr", 1);
        rpcb("rpcblist_ptr.rpcb_map", "udp6", "::.0.111", "superuser");
        u32(&s, "rpcblist_ptr", 1);
        rpcb("rpcblist_ptr.rpcb_map", "local", "/run/rpcbind.sock", "");
        u32(&s, "rpcblist_ptr", 0);
        done(procedure_find(100000, version, 4)->result);
        u32(&s, "rpcb_rmtcallargs.prog", 7);
        u32(&s, "rpcb_rmtcallargs.vers", 8);
        u32(&s, "rpcb_rmtcallargs.proc", 9);
        opaque(&s, "rpcb_rmtcallargs.args", "any bytes", 9);
        done(procedure_find(100000, version, 5)->arguments);
        string(&s, "rpcb_rmtcallres.addr", "192.0.2.1.8.1");
        opaque(&s, "rpcb_rmtcallres.results", "abc", 3);
        done(procedure_find(100000, version, 5)->result);
        u32(&s, "RPCBPROC_GETTIMEres.time", 1700000000);
        done(procedure_find(100000, version, 6)->result);
        string(&s, "RPCBPROC_UADDR2TADDRargs.uaddr", "192.0.2.1.8.1");
        done(procedure_find(100000, version, 7)->arguments);
        u32(&s, "netbuf.maxlen", 128);
        opaque(&s, "netbuf.buf", "\2\0\10\1\300\0\2\1", 8);
        done(procedure_find(100000, version, 7)->result);
        u32(&s, "netbuf.maxlen", 0);
        opaque(&s, "netbuf.buf", "", 0);
        done(procedure_find(100000, version, 8)->arguments);
        string(&s, "RPCBPROC_TADDR2UADDRres.uaddr", "192.0.2.1.8.1");
        done(procedure_find(100000, version, 8)->result);
        done(portmap(version, 0)->arguments);
        done(portmap(version, 0)->result);
        done(portmap(version, 4)->arguments);
        done(portmap(version, 6)->arguments);
    }
    assert_string_equal(portmap(3, 5)->name, "CALLIT");
    assert_string_equal(portmap(4, 5)->name, "BCAST");
    assert_null(portmap(3, 9));
    assert_null(portmap(4, 13));
}

static void entry(const char *address, const char *netid, uint32_t semantics)
{
    size_t outer;

    u32(&s, "rpcb_entry_list_ptr", 1);
    outer = enter(&s, "rpcb_entry_list_ptr.rpcb_entry_map");
    string(&s, "r_maddr", address);
    string(&s, "r_nc_netid", netid);
    u32(&s, "r_nc_semantics", semantics);
    string(&s, "r_nc_protofmly", "inet");
    string(&s, "r_nc_proto", netid);
    leave(&s, outer);
}

/* One element of a list of GETSTAT. */
static void statistics_entry(const char *list, bool remote)
{
    size_t outer;

    u32(&s, list, 1);
    outer = enter(&s, list);
    u32(&s, "prog", 100003);
    u32(&s, "vers", 3);
    if (remote)
        u32(&s, "proc", 1);
    signed32("success", 10);
    signed32("failure", -1);
    if (remote)
        signed32("indirect", 4);
    string(&s, "netid", "tcp");
    leave(&s, outer);
}

static void statistics(const char *version, int entries)
{
    static const char *const procedures[] = {
        "null",     "set",         "unset",       "getaddr",     "dump",
        "callit",   "gettime",     "uaddr2taddr", "taddr2uaddr", "getversaddr",
        "indirect", "getaddrlist", "getstat",
    };
    size_t outer = enter(&s, version), inner = enter(&s, "info");
    int i;

    for (i = 0; i < 13; i++)
        signed32(procedures[i], i - 5);
    leave(&s, inner);
    signed32("setinfo", 17);
    signed32("unsetinfo", 18);
    for (i = 0; i < entries; i++)
        statistics_entry("addrinfo", false);
    u32(&s, "addrinfo", 0);
    for (i = 0; i < entries; i++)
        statistics_entry("rmtinfo", true);
    u32(&s, "rmtinfo", 0);
    leave(&s, outer);
}

static void test_rpcbind_4(void **state)
{
    size_t outer;

    (void)state;
    rpcb("rpcb", "tcp", "", "");
    done(procedure_find(100000, 4, 9)->arguments);
    string(&s, "RPCBPROC_GETVERSADDRres.uaddr", "");
    done(procedure_find(100000, 4, 9)->result);
    u32(&s, "rpcb_rmtcallargs.prog", 7);
    u32(&s, "rpcb_rmtcallargs.vers", 8);
    u32(&s, "rpcb_rmtcallargs.proc", 9);
    opaque(&s, "rpcb_rmtcallargs.args", "", 0);
    done(procedure_find(100000, 4, 10)->arguments);
    string(&s, "rpcb_rmtcallres.addr", "192.0.2.1.8.1");
    opaque(&s, "rpcb_rmtcallres.results", "abcd", 4);
    done(procedure_find(100000, 4, 10)->result);
    rpcb("rpcb", "udp", "0.0.0.0.0.0", "me");
    done(procedure_find(100000, 4, 11)->arguments);
    entry("192.0.2.1.8.1", "tcp", 3);
    entry("192.0.2.1.8.1", "udp", 1);
    u32(&s, "rpcb_entry_list_ptr", 0);
    done(procedure_find(100000, 4, 11)->result);
    done(procedure_find(100000, 4, 12)->arguments);
    outer = enter(&s, "rpcb_stat_byvers");
    statistics("RPCBVERS_2_STAT", 0);
    statistics("RPCBVERS_3_STAT", 2);
    statistics("RPCBVERS_4_STAT", 1);
    leave(&s, outer);
    done(procedure_find(100000, 4, 12)->result);
}

/* Ports are facts in SET, in DUMP's entries and in answers, not in questions. */
static int check_port_role(void *ctx, const struct field_place *place)
{
    static const char *const facts[] = {
        "mapping.port",
        "PMAPPROC_GETPORTres.port",
        "pmaplist.map.port",
        "rpcb.r_addr",
        "rpcblist_ptr.rpcb_map.r_addr",
        "RPCBPROC_GETADDRres.uaddr",
        "RPCBPROC_GETVERSADDRres.uaddr",
        "rpcb_entry_list_ptr.rpcb_entry_map.r_maddr",
    };
    bool is_fact = false;
    size_t i;

    if (place->program->number != 100000)
        return 0;
    for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        is_fact |= strcmp(facts[i], place->path) == 0;
    if (!place->result && place->procedure->number != 1)
        is_fact = false;
    assert_int_equal(!!(place->field->role & ROLE_PORT), is_fact);
    *(int *)ctx += is_fact;
    return 0;
}

static void test_roles(void **state)
{
    int facts = 0;

    (void)state;
    assert_int_equal(wire_each_field(check_port_role, &facts), 0);
    assert_int_equal(facts, 3 + 3 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_portmap_2),
        cmocka_unit_test(test_rpcbind_both),
        cmocka_unit_test(test_rpcbind_4),
        cmocka_unit_test(test_roles),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
