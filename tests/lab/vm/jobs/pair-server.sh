# SPDX-License-Identifier: GPL-2.0-or-later
# A server that is knfsd, until the machine is ended: for pair.sh, replay.sh, tee.sh and locks.sh
ADDRESS=10.99.0.2
[ ! -e /out/parameters ] || . /out/parameters
ip addr add "$ADDRESS/24" dev eth0
ip link set eth0 up
[ -z "${ROUTER-}" ] || ip route add default via "$ROUTER"
start_knfsd ${ROUTER:+-G 10 -L 10} # with locks: a short grace period
say READY >/dev/console
sleep 3400
