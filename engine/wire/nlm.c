/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nlm.c
 *
 * The Network Lock Manager, program 100021: versions 1 and 3 (X/Open "Protocols for Interworking:
 * XNFS", chapter 10) and version 4 (RFC 1813 s6, appendix II), which has 64-bit offsets and
 * more status codes.  Version 3 is version 1 with DOS sharing.  A _MSG procedure carries the
 * arguments of the procedure of its name and has no result; a _RES procedure, called the other
 * way, carries the result as its argument.
 */
#include "wire/programs.h"

#include <stddef.h>

enum {
    LM_MAXSTRLEN = 1024,
    LM_MAXNAMELEN = LM_MAXSTRLEN + 1,
    MAXNETOBJ_SZ = 1024,
};

static const struct value_name nlm_stats_names[] = {
    { 0, "LCK_GRANTED" },
    { 1, "LCK_DENIED" },
    { 2, "LCK_DENIED_NOLOCKS" },
    { 3, "LCK_BLOCKED" },
    { 4, "LCK_DENIED_GRACE_PERIOD" },
    { 0, NULL },
};

/* RFC 1813 s6.1.4 nlm4_stats */
static const struct value_name nlm4_stats_names[] = {
    { 0, "NLM4_GRANTED" },
    { 1, "NLM4_DENIED" },
    { 2, "NLM4_DENIED_NOLOCKS" },
    { 3, "NLM4_BLOCKED" },
    { 4, "NLM4_DENIED_GRACE_PERIOD" },
    { 5, "NLM4_DEADLCK" },
    { 6, "NLM4_ROFS" },
    { 7, "NLM4_STALE_FH" },
    { 8, "NLM4_FBIG" },
    { 9, "NLM4_FAILED" },
    { 0, NULL },
};

static const struct value_name fsh_mode_names[] = {
    { 0, "fsm_DN" }, { 1, "fsm_DR" }, { 2, "fsm_DW" }, { 3, "fsm_DRW" }, { 0, NULL },
};

static const struct value_name fsh_access_names[] = {
    { 0, "fsa_NONE" }, { 1, "fsa_R" }, { 2, "fsa_W" }, { 3, "fsa_RW" }, { 0, NULL },
};

/* Fields that many structures share. */
/* clang-format off */
#define ROW(...) { __VA_ARGS__ }
/* clang-format on */
#define COOKIE                                                                                     \
    ROW("cookie", XDR_OPAQUE, CLASS_COOKIE, .max = MAXNETOBJ_SZ, .wireshark = "nlm.cookie")
#define BLOCK ROW("block", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nlm.block")
#define EXCLUSIVE ROW("exclusive", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nlm.exclusive")
#define RECLAIM ROW("reclaim", XDR_BOOL, CLASS_BOOLEAN, .wireshark = "nlm.reclaim")
#define CALLER_NAME                                                                                \
    ROW("caller_name", XDR_STRING, CLASS_HOST, .max = LM_MAXSTRLEN,                                \
        .wireshark = "nlm.lock.caller_name")
#define FH                                                                                         \
    ROW("fh", XDR_OPAQUE, CLASS_HANDLE, ROLE_OBJECT, MAXNETOBJ_SZ, .wireshark = "nfs.fhandle")
#define OH                                                                                         \
    ROW("oh", XDR_OPAQUE, CLASS_LOCK_OWNER, .max = MAXNETOBJ_SZ, .wireshark = "nlm.lock.owner")
#define LOCK(type) ROW("alock", XDR_STRUCT, .sub = &(type))
#define STATE ROW("state", XDR_I32, CLASS_COUNT, .wireshark = "nlm.state")
#define STAT(values)                                                                               \
    ROW("stat", XDR_ENUM, CLASS_STATUS, ROLE_STATUS, .names = (values), .wireshark = "nlm.stat")

/* The byte range; a length of 0 reaches to the file's end. |start| and |length| are roles. */
#define RANGE32(start, length)                                                                     \
    ROW("l_offset", XDR_U32, CLASS_OFFSET, (start), .wireshark = "nlm.lock.l_offset"),             \
        ROW("l_len", XDR_U32, CLASS_COUNT, (length), .wireshark = "nlm.lock.l_len")
#define RANGE64(start, length)                                                                     \
    ROW("l_offset", XDR_U64, CLASS_OFFSET, (start), .wireshark = "nlm.lock.l_offset64"),           \
        ROW("l_len", XDR_U64, CLASS_COUNT, (length), .wireshark = "nlm.lock.l_len64")

/* The process that asks: XNFS's uppid, RFC 1813's svid. */
#define PROCESS(name) ROW((name), XDR_I32, CLASS_LOCK_OWNER, .wireshark = "nlm.lock.svid")

/* Versions 1 and 3 */
static const struct field nlm_lock_fields[] = {
    CALLER_NAME, FH, OH, PROCESS("uppid"), RANGE32(ROLE_RANGE_START, ROLE_RANGE_LENGTH), END,
};
TYPE(nlm_lock);

static const struct field nlm_testargs_fields[] = {
    COOKIE,
    EXCLUSIVE,
    LOCK(nlm_lock),
    END,
};
TYPE(nlm_testargs);

static const struct field nlm_lockargs_fields[] = {
    COOKIE, BLOCK, EXCLUSIVE, LOCK(nlm_lock), RECLAIM, STATE, END,
};
TYPE(nlm_lockargs);

static const struct field nlm_cancargs_fields[] = {
    COOKIE, BLOCK, EXCLUSIVE, LOCK(nlm_lock), END,
};
TYPE(nlm_cancargs);

static const struct field nlm_unlockargs_fields[] = {
    COOKIE,
    LOCK(nlm_lock),
    END,
};
TYPE(nlm_unlockargs);

static const struct field nlm_stat_fields[] = { STAT(nlm_stats_names), END };
TYPE(nlm_stat);
static const struct field nlm_res_fields[] = {
    COOKIE,
    { "stat", XDR_STRUCT, .sub = &nlm_stat },
    END,
};
TYPE(nlm_res);

/* Who holds what stands in the way. Its range is not the operation's. */
static const struct field nlm_holder_fields[] = {
    EXCLUSIVE, PROCESS("uppid"), OH, RANGE32(0, 0), END,
};
TYPE(nlm_holder);
static const struct arm nlm_testrply_arms[] = {
    { 1, "holder", &nlm_holder },
    ARM_DEFAULT(NULL, NULL),
};
static const struct field nlm_testrply_fields[] = {
    { "stat", XDR_UNION, CLASS_STATUS, ROLE_STATUS, .arms = nlm_testrply_arms,
      .names = nlm_stats_names, .wireshark = "nlm.test_stat.stat" },
    END,
};
TYPE(nlm_testrply);
static const struct field nlm_testres_fields[] = {
    COOKIE,
    { "test_stat", XDR_STRUCT, .sub = &nlm_testrply },
    END,
};
TYPE(nlm_testres);

/* DOS sharing is alike in versions 3 and 4 but for the status codes. */
static const struct field nlm_share_fields[] = {
    CALLER_NAME,
    FH,
    OH,
    { "mode", XDR_ENUM, CLASS_ENUM, .names = fsh_mode_names, .wireshark = "nlm.share.mode" },
    { "access", XDR_ENUM, CLASS_ENUM, .names = fsh_access_names, .wireshark = "nlm.share.access" },
    END,
};
TYPE(nlm_share);
static const struct field nlm_shareargs_fields[] = {
    COOKIE,
    { "share", XDR_STRUCT, .sub = &nlm_share },
    RECLAIM,
    END,
};
TYPE(nlm_shareargs);
static const struct field nlm_shareres_fields[] = {
    COOKIE,
    STAT(nlm_stats_names),
    { "sequence", XDR_I32, CLASS_COUNT, .wireshark = "nlm.sequence" },
    END,
};
TYPE(nlm_shareres);
static const struct field nlm_notify_fields[] = {
    { "name", XDR_STRING, CLASS_HOST, .max = LM_MAXNAMELEN, .wireshark = "nlm.share.name" },
    STATE,
    END,
};
TYPE(nlm_notify);

/* Version 4, RFC 1813 s6.1.4 */
static const struct field nlm4_lock_fields[] = {
    CALLER_NAME, FH, OH, PROCESS("svid"), RANGE64(ROLE_RANGE_START, ROLE_RANGE_LENGTH), END,
};
TYPE(nlm4_lock);

static const struct field nlm4_testargs_fields[] = {
    COOKIE,
    EXCLUSIVE,
    LOCK(nlm4_lock),
    END,
};
TYPE(nlm4_testargs);

static const struct field nlm4_lockargs_fields[] = {
    COOKIE, BLOCK, EXCLUSIVE, LOCK(nlm4_lock), RECLAIM, STATE, END,
};
TYPE(nlm4_lockargs);

static const struct field nlm4_cancargs_fields[] = {
    COOKIE, BLOCK, EXCLUSIVE, LOCK(nlm4_lock), END,
};
TYPE(nlm4_cancargs);

static const struct field nlm4_unlockargs_fields[] = {
    COOKIE,
    LOCK(nlm4_lock),
    END,
};
TYPE(nlm4_unlockargs);

static const struct field nlm4_stat_fields[] = { STAT(nlm4_stats_names), END };
TYPE(nlm4_stat);
static const struct field nlm4_res_fields[] = {
    COOKIE,
    { "stat", XDR_STRUCT, .sub = &nlm4_stat },
    END,
};
TYPE(nlm4_res);

static const struct field nlm4_holder_fields[] = {
    EXCLUSIVE, PROCESS("svid"), OH, RANGE64(0, 0), END,
};
TYPE(nlm4_holder);
static const struct arm nlm4_testrply_arms[] = {
    { 1, "holder", &nlm4_holder },
    ARM_DEFAULT(NULL, NULL),
};
static const struct field nlm4_testrply_fields[] = {
    { "stat", XDR_UNION, CLASS_STATUS, ROLE_STATUS, .arms = nlm4_testrply_arms,
      .names = nlm4_stats_names, .wireshark = "nlm.test_stat.stat" },
    END,
};
TYPE(nlm4_testrply);
static const struct field nlm4_testres_fields[] = {
    COOKIE,
    { "stat", XDR_STRUCT, .sub = &nlm4_testrply },
    END,
};
TYPE(nlm4_testres);

static struct type nlm4_shareargs = { .name = "nlm4_shareargs", .fields = nlm_shareargs_fields };
static const struct field nlm4_shareres_fields[] = {
    COOKIE,
    STAT(nlm4_stats_names),
    { "sequence", XDR_I32, CLASS_COUNT, .wireshark = "nlm.sequence" },
    END,
};
TYPE(nlm4_shareres);
static struct type nlm4_notify = { .name = "nlm4_notify", .fields = nlm_notify_fields };

/* Procedures 0 to 15 with the structures of prefix |p|; |s| is their source. */
#define LOCK_PROCEDURES(p, s)                                                                      \
    ROW(0, "NULL", &wire_void, &wire_void, s), ROW(1, "TEST", &p##_testargs, &p##_testres, s),     \
        ROW(2, "LOCK", &p##_lockargs, &p##_res, s), ROW(3, "CANCEL", &p##_cancargs, &p##_res, s),  \
        ROW(4, "UNLOCK", &p##_unlockargs, &p##_res, s),                                            \
        ROW(5, "GRANTED", &p##_testargs, &p##_res, s),                                             \
        ROW(6, "TEST_MSG", &p##_testargs, &wire_void, s),                                          \
        ROW(7, "LOCK_MSG", &p##_lockargs, &wire_void, s),                                          \
        ROW(8, "CANCEL_MSG", &p##_cancargs, &wire_void, s),                                        \
        ROW(9, "UNLOCK_MSG", &p##_unlockargs, &wire_void, s),                                      \
        ROW(10, "GRANTED_MSG", &p##_testargs, &wire_void, s),                                      \
        ROW(11, "TEST_RES", &p##_testres, &wire_void, s),                                          \
        ROW(12, "LOCK_RES", &p##_res, &wire_void, s),                                              \
        ROW(13, "CANCEL_RES", &p##_res, &wire_void, s),                                            \
        ROW(14, "UNLOCK_RES", &p##_res, &wire_void, s),                                            \
        ROW(15, "GRANTED_RES", &p##_res, &wire_void, s)

/* 16 to 19 are not used. */
#define SHARE_PROCEDURES(p, s)                                                                     \
    [20] = ROW(20, "SHARE", &p##_shareargs, &p##_shareres, s),                                     \
    [21] = ROW(21, "UNSHARE", &p##_shareargs, &p##_shareres, s),                                   \
    [22] = ROW(22, "NM_LOCK", &p##_lockargs, &p##_res, s),                                         \
    [23] = ROW(23, "FREE_ALL", &p##_notify, &wire_void, s)

static const struct procedure nlm1_procedures[] = { LOCK_PROCEDURES(nlm, "XNFS 10") };
static const struct procedure nlm3_procedures[] = { LOCK_PROCEDURES(nlm, "XNFS 10"),
                                                    SHARE_PROCEDURES(nlm, "XNFS 10") };
static const struct procedure nlm4_procedures[] = { LOCK_PROCEDURES(nlm4, "RFC 1813 s6"),
                                                    SHARE_PROCEDURES(nlm4, "RFC 1813 s6") };

const struct program wire_nlm1 = { 100021, 1, "NLM", nlm1_procedures, COUNT_OF(nlm1_procedures) };
const struct program wire_nlm3 = { 100021, 3, "NLM", nlm3_procedures, COUNT_OF(nlm3_procedures) };
const struct program wire_nlm4 = { 100021, 4, "NLM", nlm4_procedures, COUNT_OF(nlm4_procedures) };
