/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/shadow_parts.h
 *
 * For the files of the shadow alone.
 */
#ifndef NFSDIGEST_SHADOW_PARTS_H
#define NFSDIGEST_SHADOW_PARTS_H

#include "base/compact.h"
#include "base/index.h"
#include "base/pool.h"
#include "mirror/objects.h"
#include "mirror/popularity.h"
#include "shadow/others.h"
#include "shadow/request_parts.h"
#include "tap/tap_ring.h"

/* --- objects */

/* Each of millions of objects has a struct known, so its members share words.  Numbers of entries
 * have 48 bits: a million entries a second for nine years. */
enum { SEEN_DIGEST_BITS = 47 };

/* Attributes, as they were seen last.  Of size, mtime and ctime only a digest is kept: it is asked
 * whether they are the same. */
struct attributes_seen {
    uint64_t since : 48; /* entry in which they were seen first, */
    uint64_t contents : 16;
    uint64_t end : 48; /* and last */
    uint64_t is_known : 1;
    uint64_t digest_high : 15;
    uint32_t digest_low;
    uint32_t at; /* when |since| was, in seconds since 1970, rounded up */
};
uint16_t seen_contents(uint64_t size, int64_t mtime); /* a digest of what names leave alone */
uint64_t seen_digest(uint64_t size, int64_t mtime, int64_t ctime); /* SEEN_DIGEST_BITS */
static inline uint64_t seen_digest_of(const struct attributes_seen *seen)
{
    return (uint64_t)seen->digest_high << 32 | seen->digest_low;
}

/* What most objects do not have. */
struct known_rare {
    /* Of the last time that it ceased to be synchronized: */
    uint64_t broken; /* at which entry: later pairs say nothing, */
    int64_t left;    /* and when, ns since 1970: later answers of the SUT say nothing */
    /* It was the same on both servers before this entry of the ring, from which on changes may have
     * been missed; and its handle on the SUT then.  0: it was not, or has to be copied anyway. */
    uint64_t same_before : 48;
    bool scrub_left : 1;  /* it differed again, although it was copied again */
    bool gone_early : 1;  /* struct gone_early */
    bool times_open : 1;  /* open_times.c looks at it, */
    bool times_alone : 1; /* and all but its times is the same on the handle |same_handle| */
    uint32_t same_handle;
    uint32_t object;      /* that has all this */
    uint64_t changed;     /* entry of the end of the last change that was sent to the SUT */
    int64_t sut_changed;  /* when the SUT answered it, ns since 1970 */
    uint64_t scrub_found; /* entry up to which the ring was read when a scrub found a difference */
    int64_t differed; /* ns of the loop's clock: until then attributes do not let it be copied */
};
_Static_assert(sizeof(struct known_rare) <= 64, "the memory of an object");

enum { KNOWN_EPOCHS = (1 << 20) - 1 };

/* Beside the mirror's object with the same id. */
struct known {
    struct attributes_seen seen;
    uint64_t copied : 48; /* entry up to which the ring was read when it was synchronized */
    uint64_t is_there : 1;
    uint64_t is_held : 1; /* changes are being played: duplicates wait */
    uint64_t was_copied : 1;
    uint64_t has_links : 1;   /* attributes said how many names it has, */
    uint64_t is_linked : 1;   /* and these are more than one */
    uint64_t was_linked : 1;  /* has or had more than one name, on one of the servers */
    uint64_t has_rare : 1;    /* known_rare_find */
    uint64_t is_unwanted : 1; /* that is why it is excluded: a name can change it (paths.c) */
    uint64_t is_wanted : 1;   /* one of its names is, or was; not of directories */
    uint64_t played : 44;     /* when it was synchronized: known_played */
    uint64_t epoch : 20;      /* how often it ceased to be synchronized, or to be, modulo 2^20 */
};
_Static_assert(sizeof(struct known) <= 40, "the memory of an object");

/* |played| is in units of 2^18 ns, a quarter of a ms, rounded up: until 2116. */
enum { PLAYED_SHIFT = 18 };
static inline int64_t known_played(const struct known *k)
{
    return (int64_t)((uint64_t)k->played << PLAYED_SHIFT);
}
static inline uint64_t known_played_at(int64_t time)
{
    return ((uint64_t)time + ((UINT64_C(1) << PLAYED_SHIFT) - 1)) >> PLAYED_SHIFT;
}

enum { KNOWN_CHUNK = 1024 };

/* A name that went because a reply said that its object has one link: the request that took it may
 * be answered later. */
struct name_gone {
    uint32_t parent, object;
    uint64_t hash, entry; /* of the name; of the reply */
};

enum { NAMES_GONE = 64 };

/* The copy did not find it any more.  In the ring, requests may come that still did. */
struct gone_early {
    int64_t found; /* by the loop's clock */
    uint32_t object;
};

/* open_times.c */
struct open_times {
    uint32_t object;
    uint32_t calm; /* looks at which no request touched it, the latest ones */
};

/* --- listings.c: where the SUT's listing goes on when the reference's does.  A reply has a place
 * for each entry, so this is enough for 32 connections that list at once, with 1000 entries in a
 * reply. */

enum { LISTINGS = 32768 };

/* Clients list one directory at the same time, also one client by different calls: the same cookie
 * of the reference need not be the same place of the SUT.  |form|: of these calls, what they ask
 * for. */
struct listing_key {
    uint32_t object, flow;
    uint64_t cookie;
    uint32_t form;
};

struct listings {
    struct listing *ring; /* LISTINGS */
    uint32_t next;
    struct index by_cookie;
};

/* The verifier of a listing's reply; zeros if it has none. */
void listings_verifier(const struct effect *sut, uint8_t to[8]);
int listings_note(struct listings *listings, struct request *request, const struct effect *sut,
                  struct err *err);
/* The place where a listing like |r|'s goes on from |cookie|. */
struct listing_key listings_key(const struct request *r, uint64_t cookie);
/* Where the flow's own listing goes on, best one of the same form, or else the latest one.  NULL:
 * not known. */
const struct listing *listings_find(const struct listings *listings, const struct listing_key *key);
void listings_free(struct listings *listings);

/* --- list_more.c: further calls for the SUT's part of a listing */

/* Both return 1 if the SUT has to be asked again by |r->more|, 0, or a negative code.  |sut|: its
 * answer to the request; list_take: its answer to such a call.  |ahead|: of the wall clock. */
int list_more(struct request *r, const struct effect *sut, struct err *err);
int list_take(struct request *r, const struct rpc_answer *answer, const struct effect *sut,
              int64_t ahead, struct err *err);
void list_more_free(struct list_more *more); /* NULL is allowed */

struct shadow {
    struct shadow_setup setup;
    struct shadow_limits limits; /* no zeros */
    struct loop *loop;
    struct mirror *mirror;
    struct change_pool *pool;
    struct copy *copy;
    struct teelog *log;
    struct tap *tap;
    struct tap_ring *ring;
    struct rpc_client *copy_reference, *copy_sut, *sut;
    struct net_address own; /* of |copy_reference|'s socket; family 0: none so far */
    struct net_address sut_own, copy_sut_own;

    struct known **known; /* by the mirror's id, KNOWN_CHUNK at a time */
    uint32_t known_chunks, known_cap;
    uint32_t known_end;     /* larger than the ids that are known */
    struct pool rare;       /* struct known_rare */
    struct compact by_rare; /* ids of objects, to theirs */
    uint32_t *born;         /* objects that the latest message showed first */
    uint32_t born_count, born_cap;
    struct gone_early *gone; /* objects that the copy did not find any more */
    uint32_t gone_count, gone_cap;

    /* requests */
    struct pool requests, touches, where; /* struct request, touch, touch_where */
    struct index touched; /* ids of objects, to the first touch; its |previous| is the last one */
    uint32_t by_xid[REQUEST_CHAINS];
    struct request_list called;  /* by |begin| */
    struct request_list recent;  /* STAGE_ENDED, by |end| */
    struct request_list pending; /* from STAGE_WAITING on, by |end| */
    uint32_t ready, last_ready;
    uint32_t queued; /* so many came to the queue, modulo 2^32 */
    struct packing packing;
    uint64_t position;              /* the last entry with a message, */
    int64_t position_time;          /* and its time, ns since 1970 */
    uint64_t first_lost, last_lost; /* entries, of a series of gaps (gaps.c) */
    int64_t lost_time;              /* |position_time| when it began */
    int64_t last_gap, gap_noticed;  /* ns of the loop's clock; |gap_noticed| 0: calls were ended */
    uint64_t forgotten;             /* ends of requests up to here are not known any more */
    const struct request *judged;   /* now */
    int64_t unsettled;              /* when not all was synchronized the last time, ns since 1970 */
    struct request *last_called;    /* what the latest message made */
    struct buf reply;               /* the latest one's bytes */
    uint32_t reply_flags;
    struct others others;
    bool is_own;         /* the latest message was the copy's */
    int64_t client_seen; /* the latest one of a client, ns of the loop's clock */
    struct name_gone names_gone[NAMES_GONE]; /* the latest ones */
    uint32_t next_gone;
    struct open_times *open_times;
    uint32_t open_count, open_cap;
    /* Entries of the ends of the last requests that took a name of nobody knows what, and moved it.
     */
    uint64_t gone_unknown, moved_unknown;
    uint32_t removed[2], moved; /* objects that lost a name by the operation that ends now */
    bool removed_unknown;       /* and so did one that is not known */
    bool names_changed;         /* so that more objects may be wanted */
    struct reading readings[READINGS];
    uint64_t reading_used; /* the latest number */
    struct listings listings;
    struct scrub *scrub; /* NULL: it was not wanted */

    struct idle send, judge;
    struct timer look; /* for verdicts that wait for calls on the reference */
    bool is_down;      /* no connection to the SUT */
    bool is_given_up;  /* it has been down for too long */
    bool is_checking;  /* the SUT is asked if it still is the same */
    bool is_ending;
    struct shadow_counts counts;
    struct shadow_latency latencies[SHADOW_LATENCIES];
    struct teelog_counts verdicts; /* the last ones, when the log is closed */
    struct teelog_group *groups;   /* likewise */
    uint32_t group_count;
    uint64_t further;
};

/* --- intake.c: the tap's host */

int intake_message(void *ctx, const struct engine_tapped *tapped, struct err *err);
int intake_record(void *ctx, const struct record *record, struct err *err);
int intake_gap(void *ctx, const struct tap_gap *gap, struct err *err);

/* --- numbers of requests and touches; 0: NULL */

static inline struct request *request_at(const struct shadow *s, uint32_t id)
{
    return id ? pool_at(&s->requests, id) : NULL;
}

static inline struct touch *touch_at(const struct shadow *s, uint32_t id)
{
    return id ? pool_at(&s->touches, id) : NULL;
}

static inline struct request *request_of(const struct shadow *s, const struct touch *t)
{
    return pool_at(&s->requests, t->request);
}

/* --- requests.c: calls that the reference has not answered, and all lists */

int requests_begin(struct shadow *s, struct err *err);
/* A new one, all zeros but for its |rest|.  NULL: no memory. */
struct request *requests_new(struct shadow *s, struct err *err);
/* Takes a client's call. */
int requests_called(struct shadow *s, const struct engine_tapped *tapped, struct err *err);
struct request *requests_find(const struct shadow *s, const struct record_operation *operation);
/* Takes it out of the table of calls and out of its list. */
void requests_answered(struct shadow *s, struct request *r);
void requests_append(struct shadow *s, struct request_list *list, struct request *r);
void requests_take_first(struct shadow *s, struct request_list *list);
/* Frees one that is in no list, and counts what became of it. */
void requests_drop(struct shadow *s, struct request *r);
/* Frees it without counting. */
void requests_free(struct shadow *s, struct request *r);
void requests_free_all(struct shadow *s);
/* With the messages of the SUT. */
uint64_t requests_bytes(const struct request *r);
/* Counts its bytes as they are now, in |waiting_bytes|, until it is freed: packed ones are freed by
 * requests_free_all alone. */
void requests_count(struct request *r);
/* Sets what others look at, so that they need not read it. */
void requests_sum_up(struct request *r, const struct effect *effect);
/* Takes the bytes of long messages away, that are not needed if it is not sent. */
void requests_shorten(struct shadow *s, struct request *r);
/* Adds what is not there yet.  NULL: no memory. */
struct exchange *requests_exchange(struct request *r, struct err *err);

/* --- known.c: what is known of objects */

/* Of an object that a request touches, or that a record named. */
static inline struct known *known_of(const struct shadow *s, uint32_t object)
{
    return &s->known[object / KNOWN_CHUNK][object % KNOWN_CHUNK];
}

/* The first touch of the object; or NULL. */
static inline struct touch *touches_of(const struct shadow *s, uint32_t object)
{
    return touch_at(s, index_number(&s->touched, object));
}

/* What is known of an object that may be new here.  NULL: no memory. */
struct known *known_get(struct shadow *s, uint32_t object, struct err *err);
/* What is rare of the object; or NULL. */
struct known_rare *known_rare_find(const struct shadow *s, uint32_t object);
/* The same, which is added if it is not there.  NULL: no memory. */
struct known_rare *known_rare_get(struct shadow *s, uint32_t object, struct err *err);
/* To read: all zeros if there is none. */
static inline const struct known_rare *rare_of(const struct shadow *s, uint32_t object)
{
    static const struct known_rare none;
    const struct known_rare *rare = known_rare_find(s, object);

    return rare ? rare : &none;
}
void known_forget(struct shadow *s, uint32_t object);
void known_free_all(struct shadow *s);
/* The latest message showed it first. */
bool known_is_new(const struct shadow *s, uint32_t object);
/* Finds or adds the object.  NULL: no memory, or not a handle (-ERR_INPUT). */
struct mirror_object *known_object(struct shadow *s, struct bytes handle, struct err *err);

/* --- touches.c */

/* What names of a request stand for; 0: nothing, or not known so far. */
struct named {
    uint32_t gone, moved;   /* what it removed and moved */
    uint32_t first, second; /* what its names stand for, if it failed */
};

int touches_set(struct shadow *s, struct request *r, const struct named *named, struct err *err);
void touches_clear(struct shadow *s, struct request *r);
struct overlap_touch touch_what(const struct shadow *s, const struct touch *t);
/* Gives |r|, which ends now, and all that were under way with it their bits.  Objects whose order
 * of changes is not known are copied again. */
int touches_meet(struct shadow *s, struct request *r, struct err *err);
/* Gives |r|, which is judged now, the bits of those that were under way with it and still are. */
int touches_meet_called(struct shadow *s, struct request *r, struct err *err);
/* Another request that changes the object was under way at the same time. */
bool touches_rival(const struct shadow *s, const struct request *r, uint32_t object);
bool touches_quiet(const struct shadow *s, uint32_t object, uint64_t before);
/* A request that changes the object is under way on the reference, or was so after |since|. */
bool touches_changing(const struct shadow *s, uint32_t object, uint64_t since);

/* --- open_times.c: times that two requests at the same time set */

/* Both touches, of one object that is synchronized, set its times. */
int open_times_note(struct shadow *s, struct touch *mine, struct touch *theirs, struct err *err);
/* |r| has been judged, or is not judged. */
int open_times_tell(struct shadow *s, const struct request *r, struct err *err);
/* Copies the times of those that no request touches. */
int open_times_look(struct shadow *s, struct err *err);

/* --- learn.c: objects, names and attributes */

int learn_record(struct shadow *s, const struct record *record, struct err *err);
int learn_attributes(struct shadow *s, struct request *r, struct err *err);
/* What the reference has answered to the shadow's own request tells. */
int learn_own(struct shadow *s, const struct record_operation *operation, struct err *err);
/* Others than clients of the relay have changed the object; it was seen after the entry |since|. */
int learn_behind(struct shadow *s, struct mirror_object *object, uint64_t since, struct err *err);
/* What the SUT's answer tells of names. */
void learn_links(struct shadow *s, const struct request *r, const struct effect *sut);
/* The object that lost a name by the operation that ends now, other than the one that was moved; 0:
 * none. */
uint32_t learn_gone(const struct shadow *s);
/* What names of |r| stand for, which ends now. */
struct named learn_named(const struct shadow *s, const struct request *r,
                         const struct record_operation *operation);
/* Notes that an object lost its last name by |r|. */
int learn_removed(struct shadow *s, const struct request *r, uint32_t object, struct err *err);
/* Forgets an object that is gone, if no request touches it any more. */
void learn_forget(struct shadow *s, uint32_t object);
/* Those that the copy did not find any more. */
void learn_forget_gone(struct shadow *s);

/* --- dispatch.c: what becomes of a request that the reference has answered */

int dispatch(struct shadow *s, struct request *r, struct err *err);
/* The object must be copied again, because of what was not the same from the entry |since| on. */
int dispatch_again(struct shadow *s, struct mirror_object *object, uint64_t since, struct err *err);
/* The changes of |r| will not reach the SUT. */
int dispatch_mend(struct shadow *s, struct request *r, struct err *err);
/* Ends |r|, which the SUT will not get, because of |fate|. */
int dispatch_leave_out(struct shadow *s, struct request *r, enum shadow_fate fate, struct err *err);
/* Copies what |r| has made, if a client had found it before the reply, so that nobody knows whether
 * it was changed meanwhile.  Call it when |r| was judged: what it says of the object is older. */
int dispatch_made(struct shadow *s, const struct request *r, struct err *err);
/* Nothing is known to be the same any more, since something was missed after the entry |since|. */
int dispatch_all_again(struct shadow *s, uint64_t since, struct err *err);

/* --- gaps.c: the ring was overwritten before it was read */

int gaps_note(struct shadow *s, const struct tap_gap *gap, struct err *err);
/* Calls whose replies must have been in the gap are given up. */
int gaps_end_calls(struct shadow *s, struct err *err);
/* The object has been the same before the gap, and its attributes show that it still is. */
bool gaps_was_same(void *ctx, const struct mirror_object *object, const struct fattr3 *attributes);
/* Something may have been missed of the object.  First: the entry before which it was the same, or
 * 0.  Then, when it is queued again: its attributes will tell whether it still is. */
uint64_t gaps_same_before(const struct shadow *s, const struct mirror_object *object);
int gaps_suspect(struct shadow *s, const struct mirror_object *object, uint64_t before,
                 struct err *err);
/* Of what is queued again, only times differ. */
int gaps_only_times(struct shadow *s, const struct mirror_object *object, struct err *err);
/* It has to be copied, whatever its attributes are.  NULL is allowed. */
void gaps_clear(struct shadow *s, const struct mirror_object *object);
/* The SUT began anew. */
void gaps_forget(struct shadow *s);
/* FATE_COMPARED: all is synchronized that the request needs. */
enum shadow_fate dispatch_fate(struct shadow *s, const struct request *r);
/* Changes of the object are played: what waited for that goes on. */
void dispatch_unhold(struct shadow *s, uint32_t object);
/* The rest of its changes will not be played: pairs about it say nothing. */
int dispatch_unplayed(struct shadow *s, uint32_t object, struct err *err);

/* --- notes.c: changes of an object that is being copied */

int notes_take(struct shadow *s, struct request *r, struct err *err);
/* The file contents of a call; none: it has none. */
struct bytes notes_contents(const struct request *r);

/* --- rewrite.c: the arguments with what belongs to the SUT */

enum shadow_fate rewrite(struct shadow *s, const struct request *r, struct xdr_put *put);

/* --- order.c: which requests wait for which */

/* Adds to |waits| of |r| those that came to the queue before, and held objects. */
void order_find(struct shadow *s, struct request *r);
/* |x| is answered, or given up: others wait for one less. */
void order_release(struct shadow *s, struct request *x);

/* --- send.c */

int send_queue(struct shadow *s, struct request *r, struct err *err);
/* |r| waits for one less. */
void send_release(struct shadow *s, struct request *r);
/* Everything that waits is given up; if the SUT has begun |anew|, also what was sent to it. */
int send_give_up(struct shadow *s, bool anew, struct err *err);
int send_run(void *ctx, struct err *err); /* idle */
int send_room(void *ctx, struct err *err);
/* Notes if names of one server are not on the other one now. */
void send_note_unsettled(struct shadow *s);
/* ns since 1970 minus the loop's clock. */
int64_t send_wall_clock_ahead(void);
/* Learns from an answer that came while the SUT was asked for its root. */
int send_learn(struct shadow *s, struct request *r, struct err *err);

/* --- connection.c */

int send_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err);
/* Asks if the SUT still knows its root. */
int send_check(struct shadow *s, struct err *err);

/* --- verdicts.c: the pairs, in their order, to the log */

int verdicts_run(void *ctx, struct err *err);  /* idle */
int verdicts_look(void *ctx, struct err *err); /* timer */
int verdicts_all(struct shadow *s, struct err *err);
/* True if nobody changed the object on one of the servers while that executed the request which is
 * judged now. */
bool verdicts_steady(const struct shadow *s, uint32_t object);
/* True if the object has its names in the directory whose listing is judged now, or all names are
 * settled.  Until then, on the SUT ".." may be another directory, or the copy's own. */
bool verdicts_placed(const struct shadow *s, const struct mirror_object *object);

/* --- shadow_json.c */

/* Nothing is queued or being copied. */
bool shadow_has_copied_all(const struct shadow *s);

/* --- latencies.c */

void latencies_begin(struct shadow *s);
void latencies_add(struct shadow *s, const struct request *r, int side, int64_t ns);
void latencies_json(const struct shadow *s, struct json *j);

/* --- scrub.c: compares objects while clients are quiet (scrub.h) */

int scrub_begin(struct shadow *s, struct err *err);
void scrub_free(struct shadow *s); /* after the clients */
/* The ring showed the reply to one of the shadow's own requests. */
int scrub_replied(struct shadow *s, const struct record_operation *operation, struct err *err);

#endif
