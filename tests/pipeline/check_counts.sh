#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ./check counts neither a test that could not run as one that passed, nor forgets to say why.
# "skipped" ends after "in_part", which has a higher number: the order is that of the numbers.
set -eu
. "$(dirname "$0")/store_lib.sh"

cat >"$scratch/CTestTestfile.cmake" <<'TESTS'
add_test(good "/bin/sh" "-c" "exit 0")
add_test(skipped "/bin/sh" "-c" "sleep 1; echo 'NOT RUN: no such program'; exit 77")
add_test(in_part "/bin/sh" "-c" "echo 'NOT RUN: on Ganesha: not installed'")
add_test(bad "/bin/sh" "-c" "echo 'NOT RUN: of no use'; exit 1")
set_tests_properties(good skipped in_part bad PROPERTIES SKIP_RETURN_CODE 77)
TESTS

cat >"$scratch/run" <<RUN
cd "$SRC"
. scripts/setup.sh
passed=0 failed=0 leave_out='' logs=$scratch/logs
not_run=() failures=()
mkdir "\$logs"
$(sed -n '/^fail() {/,/^}/p; /^tests_not_run() {/,/^}/p; /^run_tests() {/,/^}/p' "$SRC/check")
run_tests tests "$scratch" -E "\$1"
echo "\$passed passed, \$failed failed"
printf '%s\n' "\${not_run[@]}"
RUN

says() { # TESTS-LEFT-OUT TEXT: besides the output of tests that failed, which is indented
    rm -rf "$scratch/logs" "$scratch/Testing"
    is "without $1" "$(bash -u "$scratch/run" "$1" | grep -v '^ ')" "$2"
}

says '^bad$' 'ok      tests: 2 tests
2 passed, 0 failed
skipped: no such program
in_part: on Ganesha: not installed'
says '^(good|in_part)$' "FAILED  tests: 1 of 2 tests ($scratch/logs/tests.log)
0 passed, 1 failed
skipped: no such program
bad: of no use"

finish
