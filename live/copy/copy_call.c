/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_call.c
 *
 * The calls of lanes, to one of the two servers, and the answers to them; and --sync-rate, which
 * lets lanes wait before they read.
 */
#include "copy/copy_parts.h"
#include "wire/nfsacl_structs.h"

#include <stdio.h>

static const int64_t second = 1000000000;

static int on_problem(struct lane *lane, const struct bound_answer *answer)
{
    bool answered = answer->rpc->outcome == RPC_ANSWERED;

    if (lane->side == REFERENCE)
        return copy_job_failed(lane->job, COPY_NO_REFERENCE, "the reference: %s", answer->problem);
    return copy_job_failed(lane->job, answered ? COPY_SUT : COPY_NO_SUT, "the SUT: %s",
                           answer->problem);
}

static int on_answer(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct lane *lane = (struct lane *)(void *)call;
    struct job *job = lane->job;
    struct copy *copy = job->copy;

    if (copy->ended)
        return 0;
    job->calls--;
    copy_look_later(copy);
    if (job->end == JOB_GOES_ON && !copy_job_is_ours(job))
        copy_job_ends(job, JOB_DROPPED);
    if (job->end != JOB_GOES_ON)
        return 0;
    if (answer->problem && call->program == NFSACL_PROGRAM && answer->rpc->outcome == RPC_ANSWERED)
        return copy_acl_unavailable(lane, err);
    if (answer->problem)
        return on_problem(lane, answer);
    copy->hold = 0;
    if (load_be32(answer->body.data) == NFS3ERR_JUKEBOX)
        return copy_job_failed(job, lane->side == REFERENCE ? COPY_REFERENCE : COPY_SUT,
                               "%s: %s: NFS3ERR_JUKEBOX",
                               lane->side == REFERENCE ? "reference" : "SUT", call->table->name);
    return lane->took(lane, answer->body, err);
}

/* The call of |lane|, whose program and procedure are set. */
static int call(struct lane *lane, enum copy_side side, const struct wire_binding *binding,
                const void *arguments, struct err *err)
{
    struct copy *copy = lane->job->copy;
    int result;

    lane->call.done = on_answer;
    lane->call.credential = copy->setup.credential;
    lane->side = (uint8_t)side;
    result = bound_call(side == REFERENCE ? copy->setup.reference : copy->setup.sut, &lane->call,
                        binding, arguments, err);
    if (result == RPC_CLIENT_FULL) /* the clients' limits are too small */
        return copy_job_failed(lane->job, side == REFERENCE ? COPY_NO_REFERENCE : COPY_NO_SUT,
                               "too many calls are outstanding");
    if (result < 0)
        return result;
    lane->job->calls++;
    *(side == REFERENCE ? &copy->counts.reference_calls : &copy->counts.sut_calls) += 1;
    return 0;
}

int copy_lane_call(struct lane *lane, enum copy_side side, uint32_t procedure,
                   const void *arguments, took_fn *took, struct err *err)
{
    const struct nfs3_binding *nfs3 = nfs3_binding(procedure);
    struct wire_binding binding = { nfs3->arguments_size, nfs3->result_size, nfs3->arguments,
                                    nfs3->result };

    lane->call.program = NFS3_PROGRAM;
    lane->call.version = NFS3_VERSION;
    lane->call.procedure = procedure;
    lane->took = took;
    return call(lane, side, &binding, arguments, err);
}

int copy_lane_acl_call(struct lane *lane, enum copy_side side, uint32_t procedure,
                       const void *arguments, took_fn *took, struct err *err)
{
    lane->call.program = NFSACL_PROGRAM;
    lane->call.version = COPY_ACL_VERSION;
    lane->call.procedure = procedure;
    lane->took = took;
    return call(lane, side, nfsacl3_binding(procedure), arguments, err);
}

static void want_position(struct lane *lane)
{
    struct job *job = lane->job;

    job->xid = lane->call.xid;
    job->wants_position = true;
    job->has_position = false;
}

int copy_lane_last_call(struct lane *lane, uint32_t procedure, const void *arguments, took_fn *took,
                        struct err *err)
{
    int result = copy_lane_call(lane, REFERENCE, procedure, arguments, took, err);

    want_position(lane);
    return result;
}

int copy_lane_last_acl_call(struct lane *lane, const void *arguments, took_fn *took,
                            struct err *err)
{
    int result = copy_lane_acl_call(lane, REFERENCE, COPY_GETACL, arguments, took, err);

    want_position(lane);
    return result;
}

uint32_t copy_lane_result(const struct lane *lane, struct bytes body, void *result)
{
    bind_read(nfs3_binding(lane->call.procedure)->result, body, result);
    return load_be32(body.data);
}

/* --- --sync-rate */

static int64_t cost(const struct copy *copy, uint64_t bytes)
{
    return (int64_t)((double)bytes / (double)copy->setup.bytes_per_second * (double)second);
}

static int pass(struct lane *lane, struct err *err)
{
    struct copy *copy = lane->job->copy;
    int64_t now = loop_now(copy->setup.loop);

    if (copy->next_byte < now - copy->setup.burst)
        copy->next_byte = now - copy->setup.burst;
    copy->next_byte += cost(copy, lane->charged);
    return lane->paced(lane, err);
}

int copy_lane_pace(struct lane *lane, uint32_t bytes, lane_fn *paced, struct err *err)
{
    struct copy *copy = lane->job->copy;

    if (!copy->setup.bytes_per_second)
        return paced(lane, err);
    lane->charged = bytes;
    lane->paced = paced;
    lane->next = NULL;
    if (!copy->paced && copy->next_byte <= loop_now(copy->setup.loop))
        return pass(lane, err);
    *copy->paced_end = lane;
    copy->paced_end = &lane->next;
    copy_look_later(copy);
    return 0;
}

void copy_lane_charge(struct lane *lane, uint32_t bytes)
{
    struct copy *copy = lane->job->copy;

    copy->counts.bytes_read += bytes;
    if (copy->setup.bytes_per_second && bytes < lane->charged)
        copy->next_byte -= cost(copy, lane->charged - bytes);
}

int copy_run_paced(struct copy *copy, struct err *err)
{
    int result = 0;

    while (copy->paced && copy->next_byte <= loop_now(copy->setup.loop) && result == 0) {
        struct lane *lane = copy->paced;

        copy->paced = lane->next;
        if (!copy->paced)
            copy->paced_end = &copy->paced;
        result = pass(lane, err);
    }
    return result;
}

static void drop_from(struct lane **list, struct lane ***end, const struct job *job)
{
    struct lane **at = list;

    while (*at)
        if ((*at)->job == job)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    if (end)
        *end = at;
}

void copy_drop_waiting(struct job *job)
{
    drop_from(&job->copy->paced, &job->copy->paced_end, job);
    drop_from(&job->copy->scratch.waiting, NULL, job);
}
