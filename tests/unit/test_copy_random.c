/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_copy_random.c
 *
 * live/copy while clients change the reference.  A seed gives a tree on each side, and then steps:
 * an operation begins, is executed, ends, is read in the ring; the copy goes on.  These happen in
 * any order, so an operation may be executed long before its reply is seen.  The host does what
 * the shadow does in a simple way: it notes changes of objects that are copied, and makes those of
 * synchronized objects on the SUT, too, where each must succeed.  At the end both trees must be the
 * same: nothing heals an object that was called synchronized too early.
 *
 *     test_copy_random [SEEDS [FIRST]]
 */
#include "copy_shadow.h"

/* --- one seed */

static void faults(struct lab *lab, uint32_t procedure, struct fault_effects *effects)
{
    static const enum nfsstat3 statuses[] = { NFS3ERR_IO, NFS3ERR_NOSPC, NFS3ERR_DQUOT,
                                              NFS3ERR_JUKEBOX };

    (void)lab, (void)procedure;
    if (next(5) == 0)
        effects->set |= 1u << FAULT_SHORT;
    if (next(5) == 0)
        effects->set |= UINT64_C(1) << FAULT_NO_ATTRIBUTES;
    if (next(30) == 0)
        effects->set |= 1u << FAULT_VERIFIER | 1u << FAULT_LOSE_UNSTABLE;
    if (sim.has_refusals && next(100) == 0) {
        effects->set |= 1u << FAULT_STATUS;
        effects->value[FAULT_STATUS] = statuses[next(4)];
    }
}

static void grow_tree(struct fs *fs, bool is_reference)
{
    static const enum ftype3 types[] = { NF3REG, NF3REG, NF3DIR, NF3DIR, NF3LNK, NF3FIFO, NF3CHR };
    uint32_t directories[64], directory_count = 1, objects = (uint32_t)next(8 * sim.names), object;
    char name[4];

    directories[0] = fs_root(fs);
    for (uint32_t i = 0; i < objects; i++) {
        uint32_t in = directories[next(directory_count)];
        struct fs_new new_object = { .type = types[next(7)], .link_text = lab_text("somewhere") };

        set_name(name);
        if (fs_make(fs, &lab_root_user, in, lab_text(name), &new_object, &object))
            continue;
        if (new_object.type == NF3DIR && directory_count < 64)
            directories[directory_count++] = object;
        if (new_object.type == NF3REG && next(3))
            lab_write(fs, object, next(4) ? 0 : next(5000), 1 + (uint32_t)next(3000), (uint8_t)i);
        set_name(name);
        if (new_object.type != NF3DIR && next(4) == 0)
            fs_link(fs, &lab_root_user, object, directories[next(directory_count)], lab_text(name));
        if (is_reference)
            remember(object);
    }
}

static void begin_seed(uint64_t seed)
{
    struct fs_config config = { .fsid = 1, .root_mode = 0755, .keep_unstable = true };
    struct lab lab = sim.lab;

    memset(&sim, 0, sizeof(sim));
    sim.lab = lab;
    sim.seed = seed;
    sim.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 10; i++)
        next(2);
    sim.has_faults = next(3) == 0;
    sim.has_refusals = next(40) == 0;
    sim.names = next(4) ? 6 : 26;
    sim.lab.ring = sim.lab.read = 0;
    memset(sim.lab.failed, 0, sizeof(sim.lab.failed));
    lab_begin_fs(&sim.lab, &config, REF);
    lab_begin_fs(&sim.lab, &config, SUT_SIDE);
    remember(fs_root(ref()));
    grow_tree(ref(), true);
    if (next(2))
        grow_tree(lab_fs(&sim.lab, SUT_SIDE), false);
    sim.lab.answered = answered;
    sim.lab.setup.host = lab_host(&sim.lab);
    sim.lab.setup.host.is_quiet = is_quiet;
    sim.lab.setup.host.synchronized = on_synchronized;
    sim.lab.setup.host.played = on_played;
    sim.lab.setup.host.failed = on_failed;
    sim.lab.setup.piece = BLOCK;
    sim.lab.setup.list_bytes = 1024;
    sim.lab.setup.objects = 1 + (uint32_t)next(6);
    sim.lab.pool = change_pool_open(next(3) ? 1 << 20 : 1000, 1 << 20, NULL);
    for (int i = 0; i < LAB_SIDES; i++)
        sim.lab.side[i].faults = sim.has_faults ? faults : NULL;
    lab_begin_copy(&sim.lab);
}

static uint32_t under_way(void)
{
    uint32_t count = 0;

    for (int i = 0; i < OPS; i++)
        count += sim.ops[i].state == BEGUN || sim.ops[i].state == EXECUTED;
    return count;
}

static void step(uint32_t load)
{
    struct op *op;

    switch (next(8)) {
    case 0:
    case 1:
        if (under_way() < load)
            begin_op();
        break;
    case 2:
    case 3:
        if ((op = op_in(BEGUN)))
            execute(op);
        break;
    case 4:
        for (uint64_t n = 1 + next(2); n && (op = op_in(EXECUTED)); n--)
            end_op(op);
        break;
    case 5:
        for (uint64_t n = next(12); n; n--)
            read_entry();
        break;
    case 6:
        if (next(8) == 0)
            forget_gone();
        break;
    default:
        lab_run(&sim.lab, 0);
    }
}

static void drain(void)
{
    struct op *op;
    int64_t until = loop_clock() + INT64_C(20000000000);

    while ((op = op_in(BEGUN)))
        execute(op);
    while ((op = op_in(EXECUTED)))
        end_op(op);
    for (int i = 0; i < LAB_SIDES; i++)
        sim.lab.side[i].faults = NULL;
    do {
        while (sim.first != sim.last)
            read_entry();
        forget_playing();
        pump();
        lab_run(&sim.lab, 0);
    } while ((!lab_is_idle(&sim.lab) || sim.held_count) && loop_clock() < until);
}

static void check(void)
{
    const struct mirror_object *object = NULL;
    struct copy_counts counts = copy_counts(sim.lab.copy);
    const char *differ;

    if (!lab_is_idle(&sim.lab) || sim.held_count)
        fail_seed("it does not end: %s: %u held, %u at work, %u pausing, %s, %llu queued",
                  sim.lab.last_failure, sim.held_count, counts.at_work, counts.pausing,
                  counts.has_scratch ? "scratch" : "no scratch",
                  (unsigned long long)mirror_count_state(sim.lab.mirror, MIRROR_QUEUED));
    while ((object = mirror_next(sim.lab.mirror, object)))
        if (object->state != MIRROR_SYNCHRONIZED && object->state != MIRROR_GONE &&
            lab_find(&sim.lab, REF, mirror_handle(sim.lab.mirror, object)))
            fail_seed("object %u (%u) is in state %u", object->id,
                      lab_find(&sim.lab, REF, mirror_handle(sim.lab.mirror, object)),
                      object->state);
    differ = lab_differ(&sim.lab, false);
    if (differ)
        fail_seed("%s", differ);
    if (!sim.has_refusals)
        for (int i = 0; i < COPY_REASONS; i++)
            if (sim.lab.failed[i] && i != COPY_GONE && i != COPY_LOST && i != COPY_BUSY)
                fail_seed("%s: %s", copy_why_text((enum copy_why)i), sim.lab.last_failure);
    assert_int_equal(fs_check(lab_fs(&sim.lab, SUT_SIDE), NULL), 0);
    assert_int_equal(change_pool_notes(sim.lab.pool), 0);
    assert_int_equal(change_pool_contents(sim.lab.pool), 0);
}

static uint64_t seeds = 300, first_seed = 1;

static void random_changes(void **state)
{
    uint64_t duplicates = 0, noted = 0, conflicts = 0, mended = 0, begun_again = 0, busy = 0;

    (void)state;
    lab_begin_servers(&sim.lab);
    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        uint32_t load, steps;

        begin_seed(seed);
        load = 1 + (uint32_t)next(UNDER_WAY);
        steps = (uint32_t)next(2 * STEPS);
        for (uint32_t i = 0; i < steps; i++)
            step(load);
        drain();
        check();
        duplicates += sim.duplicates;
        noted += sim.noted;
        conflicts += sim.conflicts;
        mended += sim.mended;
        begun_again += copy_counts(sim.lab.copy).again;
        busy += sim.lab.failed[COPY_BUSY];
        lab_end_copy(&sim.lab);
    }
    lab_end_servers(&sim.lab);
    loop_free(sim.lab.loop);
    print_message("%llu seeds: %llu changes noted, %llu duplicated, %llu ambiguous; %llu objects "
                  "mended, %llu begun again, %llu too busy\n",
                  (unsigned long long)seeds, (unsigned long long)noted,
                  (unsigned long long)duplicates, (unsigned long long)conflicts,
                  (unsigned long long)mended, (unsigned long long)begun_again,
                  (unsigned long long)busy);
    if (seeds >= 100) { /* the test tests what it says */
        assert_true(noted > seeds);
        assert_true(duplicates > seeds);
        assert_true(begun_again > seeds / 10);
        assert_in_range(busy, 0, seeds / 100);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_changes) };

    if (argc > 1)
        seeds = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
