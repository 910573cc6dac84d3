/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames as the engine wants them, from frames as libwireshark has them. */
#include "compat.h"
#include "feed.h"

#include <wiretap/pcap-encap.h>
#include <wiretap/wtap.h>

enum { LINKTYPES = 512, LINKTYPE_RAW = 101 };

/* LINKTYPE_ value of each WTAP_ENCAP_ value, plus one.  libwiretap exports only the other
 * direction, so this is its inverse; where several link types are one encapsulation, the first has
 * it. */
static uint16_t linktype_of[LINKTYPES];

static void learn_linktypes(void)
{
    for (int linktype = 0; linktype < LINKTYPES; linktype++) {
        int encap = wtap_pcap_encap_to_wtap_encap(linktype);
        if (encap > WTAP_ENCAP_UNKNOWN && encap < LINKTYPES && !linktype_of[encap])
            linktype_of[encap] = (uint16_t)(linktype + 1);
    }
    /* 12 and 14, which some systems use in memory, are this one in files */
    linktype_of[WTAP_ENCAP_RAW_IP] = LINKTYPE_RAW + 1;
}

static int linktype(int encap)
{
    if (!linktype_of[WTAP_ENCAP_RAW_IP])
        learn_linktypes();
    if (encap < 0 || encap >= LINKTYPES || !linktype_of[encap])
        return -1;
    return linktype_of[encap] - 1;
}

bool feed_frame(const packet_info *pinfo, tvbuff_t *tvb, struct frame *out)
{
    if (pinfo->rec->rec_type != REC_TYPE_PACKET)
        return false;
    uint32_t cap_len = tvb_captured_length(tvb), wire_len = tvb_reported_length(tvb);
    *out = (struct frame){
        .time = TIME_NONE,
        .data = cap_len ? tvb_get_ptr(tvb, 0, (int)cap_len) : (const uint8_t *)"",
        .cap_len = cap_len,
        .wire_len = wire_len > cap_len ? wire_len : cap_len,
        .link_type = linktype(pinfo->rec->rec_header.packet_header.pkt_encap),
    };
    /* not |pinfo->abs_ts|, to which Wireshark's Time Shift adds something */
    if (pinfo->rec->presence_flags & WTAP_HAS_TS)
        out->time = time_of_frame(pinfo->rec->ts.secs, (uint64_t)pinfo->rec->ts.nsecs);
    return true;
}
