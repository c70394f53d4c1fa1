#!/usr/bin/env bash
# What fencepost costs a server, and how fast it is, beside a bare SCAN loop and
# redis-cli, in one run on this machine: medians of interleaved rounds, ratios.
#
#   testdata/bench/bench.sh                    # a million keys; FENCEPOST_LONG=1: five million too
#   testdata/bench/bench.sh -only scan -keys 100000 -rounds 3
#   testdata/bench/bench.sh -strict            # exit 1 where a target is missed
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/fencepost" .
go build -o "$bin/bench" ./testdata/bench
"$bin/bench" -fencepost "$bin/fencepost" "$@"
if [ "${FENCEPOST_LONG:-}" = 1 ] && [ $# = 0 ]; then
    "$bin/bench" -fencepost "$bin/fencepost" -only scan -keys 5000000
fi
