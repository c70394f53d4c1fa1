#!/usr/bin/env bash
# Real lock libraries take real locks; the fencepost program lists and releases
# them. It needs Go's module proxy for go/, and node and npm with a registry for
# npm/. What cannot be had here is skipped, and said.
#
#   FENCEPOST_LIBRARIES=required   fail instead
set -euo pipefail
cd "$(dirname "$0")/go"

skip() {
    printf '\n!! SKIPPED: %s\n' "$1" >&2
    [ "${FENCEPOST_LIBRARIES:-}" != required ] || exit 1
}

if ! go mod download; then
    skip "the Go lock libraries cannot be fetched, so nothing of testdata/libraries was tested"
    exit 0
fi
for tool in node npm; do
    command -v "$tool" >/dev/null || skip "no $tool on PATH: none of the libraries for Node is tested"
done

export FENCEPOST_REDIS="${FENCEPOST_REDIS:-required}"
go vet ./...
# -v shows how fast each library's waiter got its lock, and every skip.
go test -count=1 -timeout 15m -v ./...
