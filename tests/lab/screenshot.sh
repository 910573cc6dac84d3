#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# screenshot.sh BUILD OUT.png [CAPTURE] [FRAME] [FILTER] [DISCREPANCIES.db]
#
# Makes a picture of Wireshark's window with the plugin of a build folder. A capture is open, a display
# filter on nfspair.path is applied, and the NFS Pair tree of a packet is expanded. Needs no screen.
# With the result of a comparison, the window has the plugin's profile, and the packet's last
# discrepancy is expanded too.
# Packages: wireshark xvfb xdotool imagemagick fonts-dejavu-core zstd
set -eu
. "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || die "usage: screenshot.sh BUILD OUT.png [CAPTURE] [FRAME] [FILTER] [DISCREPANCIES.db]"
build=$(cd "$1" && pwd) out=$2
capture=${3:-$lab/../../captures/pair-knfsd.pcap.zst}
frame=${4:-12947}
filter=${5:-nfspair.path contains \"/w/d1\"}
found=${6-}
need wireshark Xvfb xdotool import zstd

scratch=$(mktemp -d)
chmod 777 "$scratch"
pids=()
clean() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || :
    wait 2>/dev/null || :
    rm -rf "$scratch"
}
trap clean EXIT

case $capture in
    *.zst) name=$(basename "$capture" .zst); zstd -q -d "$capture" -o "$scratch/$name" ;;
    *) name=$(basename "$capture"); cp "$capture" "$scratch/$name" ;;
esac

# A profile of our own: columns from the plugin, a window of known size, the details above all.
profile=$scratch/home/.config/wireshark
mkdir -p "$profile"
cat >"$profile/preferences" <<END
gui.column.format: "No.", "%m", "Time", "%t", "Source", "%s", "Procedure", "%Cus:nfspair.procedure:0:R", "Message", "%Cus:nfspair.message:0:R", "Status", "%Cus:nfspair.status:0:R", "Latency", "%Cus:nfspair.latency:0:R", "Path", "%Cus:nfspair.path:0:R"
gui.layout_content_3: NONE
gui.update.enabled: FALSE
gui.ask_unsaved: FALSE
gui.geometry.save.position: TRUE
gui.geometry.save.size: TRUE
gui.qt.font_name: DejaVu Sans Mono,10,-1,5,50,0,0,0,0,0
END
cat >"$profile/recent" <<END
privs.warn_if_elevated: FALSE
sys.warn_if_no_capture: FALSE
END
cat >"$profile/recent_common" <<END
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: 1280
gui.geometry_main_height: 860
gui.geometry_main_maximized: FALSE
privs.warn_if_elevated: FALSE
sys.warn_if_no_capture: FALSE
END
options=() keys="Home Left End Right End Up"
if [ -n "$found" ]; then
    mkdir "$profile/profiles"
    cp -r "$lab/../../plugins/nfspair/profile/NFS Pair" "$profile/profiles"
    sed '/^gui.column.format/d' "$profile/preferences" >>"$profile/profiles/NFS Pair/preferences"
    cp "$found" "$scratch/found.db"
    chmod a+r "$scratch/found.db"
    options=(-C "NFS Pair" -o "nfspair.discrepancies:$scratch/found.db")
    keys="Home Left End Right End Right End"
fi
mkdir -m 700 "$scratch/run"
chmod -R a+rwX "$scratch/home"
[ "$(id -u)" -ne 0 ] || chown -R 65534:65534 "$scratch/home" "$scratch/run"

Xvfb -displayfd 3 -screen 0 1280x860x24 3>"$scratch/display" >"$scratch/xvfb.log" 2>&1 &
pids+=($!)
wait_for 10 test -s "$scratch/display" || die "Xvfb does not start: $(cat "$scratch/xvfb.log")"
export DISPLAY=:$(cat "$scratch/display")

HOME=$scratch/home XDG_CONFIG_HOME=$scratch/home/.config XDG_RUNTIME_DIR=$scratch/run \
    QT_QPA_PLATFORM=xcb LC_ALL=C.UTF-8 TZ=UTC \
    "$build/bin/wireshark" -r "$scratch/$name" -Y "$filter" -g "$frame" \
    "${options[@]}" >"$scratch/log" 2>&1 &
pids+=($!)

window() {
    xdotool search --onlyvisible --name "^$name" | head -1
}
has_window() {
    [ -n "$(window)" ]
}
wait_for 60 has_window || die "no window: $(tail -5 "$scratch/log")"
sleep 4 # it reads the capture and filters

# Into the packet details: the frame closed, to the last protocol, and that one open.
main=$(window)
xdotool windowsize "$main" 1280 860 windowmove "$main" 0 0
sleep 2
xdotool windowfocus "$main"
xdotool mousemove 500 700 click 1
sleep 1
for key in $keys; do
    xdotool key "$key"
    sleep 0.7
done
xdotool mousemove 1270 850
sleep 1
mkdir -p "$(dirname "$out")"
import -window root -depth 8 -strip "png:$scratch/picture"
cp "$scratch/picture" "$out"
