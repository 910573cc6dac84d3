#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/pipeline/copy_races.sh [SEEDS]
#
# The synchronizer of the shadow while clients change the reference: more seeds than the unit test.
# ctest: long timeout=3600
set -eu

exec "$BUILD/bin/tests/test_copy_random" "${1:-10000}" 1000000
