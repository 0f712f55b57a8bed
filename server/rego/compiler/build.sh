#!/bin/sh
# Builds the Rego compiler into server/rego/compiler.wasm.br, or (--check) fails when a fresh build is not what is committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# The repository's own Node 24 when it is installed, else the machine's.
node=$(ls "$here"/../../../node_modules/node-*/bin/node 2>/dev/null | head -n 1)
node=${node:-node}
command -v go >/dev/null || { echo "build.sh: Go is needed (version in $here/../compiler.json)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
GOOS=wasip1 GOARCH=wasm GOFLAGS=-mod=readonly CGO_ENABLED=0 GOEXPERIMENT= GOWASM= \
  go build -trimpath -buildvcs=false -buildmode=c-shared -ldflags="-s -w -buildid=" -o "$work/compiler.wasm" .
opa=$(go list -m -f '{{.Version}}' github.com/open-policy-agent/opa)
"$node" pack.ts "$work/compiler.wasm" "$opa" "$(go env GOVERSION)" "$@"
