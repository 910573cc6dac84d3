# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scripts for figures of the Tee share: servers that live long enough, and plots."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("BUILD", str(HERE.parents[1] / "build"))
sys.path.insert(0, str(HERE.parent / "gen"))
from live_client import Ftnfsd  # noqa: E402
from tee_ring import Relay  # noqa: E402
from tee_traffic import Shadow  # noqa: E402

LIFE = "--for", "1800s"
EXPORT = "--export", "/a(no_root_squash)"
TOOLS = pathlib.Path(os.environ["BUILD"]) / "bin" / "tests"


def server(*options):
    return Ftnfsd(*EXPORT, *LIFE, *options)


def relay(port, *options):
    return Relay(port, *LIFE, *options)


def shadow(folder, reference, sut, *options, log="log"):
    return Shadow(folder, reference, sut, *LIFE, *options, log=log)


def draw(to, title, subtitle, x, panels):
    """|x|: "UNIT SCALE TITLE".  |panels|: [(axis like |x|, [(kind, style, label, [(x, y)])])]"""
    lines = ["title " + title, "subtitle " + subtitle, "x " + x]
    for axis, series in panels:
        lines.append("panel " + axis)
        for kind, style, label, points in series:
            lines.append("%s %d %s" % (kind, style, label))
            lines += ["%.6g %.6g" % p for p in points]
    svg = subprocess.run([TOOLS / "draw_plot"], input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    pathlib.Path(to).write_text(svg)
