/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* The judge: times of two servers whose clocks are not the same, and times from before an
 * operation. */
#include "judge_lab.h"

/* Step N is called at 2000 + 10 N seconds and answered a millisecond later. */
static void test_clocks(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "GETATTR 2 mtime=2100/2100.2" }, /* the tolerance of the default rules */
        { "GETATTR 2 mtime=2100/2100.3", "mtime: sut later" },
        { "GETATTR 2 mtime=2100.3/2100", "mtime: sut earlier" },
        { "GETATTR 2 mtime=1000/1001", "mtime: both from before the trace" },
        { "GETATTR 2 mtime=1000/2100", "mtime: ref from before the trace, sut not" },
        { "GETATTR 2 mtime=2100/1000", "mtime: sut from before the trace, ref not" },
        /* of the request itself, whatever the other says */
        { "SETATTR 2 set=mode mtime=2070/2070.0005" },
        { "SETATTR 2 set=mode mtime=2080/2070", "mtime: ref of this request, sut earlier" },
        /* the offset of the clocks is known */
        { "" },
        { "clock offset=0/5000000000" },
        { "GETATTR 2 mtime=2100/2105" },
        { "GETATTR 2 mtime=2100/2100", NULL },
        { "GETATTR 2 mtime=2100/2100.1", "mtime: sut earlier" },
        { "clock offset=0/-5000000000" },
        { "GETATTR 2 mtime=2100/2095" },
        /* and only known to so much */
        { "" },
        { "clock error=0/3000000000" },
        { "GETATTR 2 mtime=2100/2103" },
        { "GETATTR 2 mtime=2100/2104", "mtime: sut later" },
        /* a server that keeps seconds only */
        { "" },
        { "clock step=1/1000000000" },
        { "GETATTR 2 mtime=2100.9/2100" },
        { "GETATTR 2 mtime=2101.3/2100", "mtime: sut earlier" },
    };

    (void)state;
    RUN(lines);
}

/* Times that the client gave are the client's. */
static void test_client_times(void **state)
{
    static const struct lab_line lines[] = {
        { "" },
        { "SETATTR 2 set=mtime setmtime=3000/4000 attributes=0" },
        { "GETATTR 2 mtime=3000/4000" },
        { "GETATTR 2 mtime=3000/4001", "mtime: sut later" },
        { "GETATTR 2 mtime=3000+123/4000", "mtime: sut later" },
        { "SETATTR 2 set=mtime setmtime=3000+123456789/4000+123456789" },
        { "GETATTR 2 mtime=3000+123456000/4000+123456789" }, /* microseconds */
        { "GETATTR 2 mtime=3000+123000000/4000+123456789", "mtime: sut later" },
        { "SETATTR 2 set=mode" },
        { "GETATTR 2 mtime=3000+123456789/4000+123456789" },
        /* the verifier of an exclusive CREATE may be in them */
        { "" },
        { "CREATE 1.a new=11 how=2 verf=1/2 mtime=2500/2600 atime=2500/2600",
          "atime(verifier); mtime(verifier); atime: sut later; mtime: sut later" }, /* the
                                                                                       directory's
                                                                                     */
        { "GETATTR 11 mtime=2500/2600 atime=2500/2600", "atime(verifier); mtime(verifier)" },
        { "GETATTR 11 ctime=2500/2600", "ctime: sut later" },
        { "SETATTR 11 set=mtime setmtime=5 mtime=5" },
        { "GETATTR 11 mtime=2500/2600", "mtime: sut later" },
        { "CREATE 1.b new=12 how=2 verf=1/1 mtime=2500/2600",
          "mtime: sut later; mtime: sut later" },
    };

    (void)state;
    RUN(lines);
}

/* wcc_attr: the times that a client compares with those it knows. */
static void test_before(void **state)
{
    static const struct lab_line lines[] = {
        /* the reference tells what it told before, the other server its own time of this request */
        { "" },
        { "GETATTR 2 mtime=2001 ctime=2001" },
        { "SETATTR 2 set=mode bmtime=2001/2020 bctime=2001/2020 mtime=2020 ctime=2020",
          "mtime: sut of this request, ref earlier; ctime: sut of this request, ref earlier" },
        { "" },
        { "GETATTR 2 mtime=2001 ctime=2001" },
        { "SETATTR 2 set=mode bmtime=2001 bctime=2001 mtime=2020 ctime=2020" },
        /* both told what they told before, though that of one is as late as this request */
        { "" },
        { "GETATTR 2 mtime=2020/1500", "mtime: sut from before the trace, ref not" },
        { "SETATTR 2 set=mode bmtime=2020/1500 bctime=1000 mtime=2020/1500",
          "mtime: sut from before the trace, ref not; mtime: ref of this request, sut earlier" },
        /* somebody else's change came last: nobody can say */
        { "" },
        { "GETATTR 2 mtime=2001 ctime=2001" },
        { "SETATTR 2 set=mode bmtime=2001/2020 bctime=2001/2020 mtime=2020 ctime=2020 overlap=o",
          "mtime(overlap); ctime(overlap)" },
        /* two changes at once, of which the other server made the first one last: at the same tick
         * of its clock as this one */
        { "live" },
        { "SETATTR 2 set=mode ctime=2020.1 takes=10.15" },
        { "SETATTR 2 set=mode ctime=2020.11/2020.02" },
        { "SETATTR 2 set=mode bctime=2020.11/2020.1 ctime=2020.13/2020.1" },
        /* one after the other: it told something else before */
        { "live" },
        { "SETATTR 2 set=mode ctime=2020.1" },
        { "SETATTR 2 set=mode ctime=2020.11/2020.02" },
        { "SETATTR 2 set=mode bctime=2020.11/2020.1 ctime=2020.13/2020.1",
          "ctime: sut of this request, ref earlier" },
        /* the size from before is a value as any other */
        { "" },
        { "SETATTR 2 set=mode bsize=5/6 bmtime=2001 bctime=2001", "size: sut larger" },
    };

    (void)state;
    RUN(lines);
}

/* Captures run at different paces: along the anchors. */
static void test_carried(void **state)
{
    (void)state;
    lab_open(NULL, false);
    for (int i = 0; i <= 10; i++) /* the other one took twice as long */
        assert_int_equal(clock_anchor(&lab.clock, (2000 + 10ll * i) * SECOND,
                                      (2000 + 20ll * i) * SECOND, &lab.err),
                         0);
    assert_int_equal(clock_settle(&lab.clock, &lab.err), 0);
    lab_step("GETATTR 2 mtime=2050/2100");
    assert_string_equal(lab.out, "");
    lab_step("GETATTR 2 mtime=2055/2110");
    assert_string_equal(lab.out, "");
    lab_step("GETATTR 2 mtime=2050/2050");
    assert_string_equal(lab.out, "");
    lab_step("GETATTR 2 mtime=2050/2052");
    assert_string_equal(lab.out, "mtime: sut earlier");
    lab_step("GETATTR 2 mtime=2030/2064");
    assert_string_equal(lab.out, "mtime: sut later");
    lab_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_client_times),
        cmocka_unit_test(test_before),
        cmocka_unit_test(test_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
