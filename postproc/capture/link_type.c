/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/link_type.h"

#include <pcap/pcap.h>

int link_type_of(int dlt)
{
    switch (dlt) {
    case DLT_ATM_RFC1483:
        return 100;
    case DLT_RAW:
    case 14: /* DLT_RAW of OpenBSD */
        return 101;
    case DLT_SLIP_BSDOS:
        return 102;
    case DLT_PPP_BSDOS:
        return 103;
    case DLT_C_HDLC:
        return 104;
    default:
        return dlt;
    }
}
