#!/bin/sh
# Runs OPA's conformance cases with the repository's own Node 24 when it is installed, else the machine's. Needs Go.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
node=$(ls "$here"/../../node_modules/node-*/bin/node 2>/dev/null | head -n 1)
command -v go >/dev/null || { echo "run.sh: Go is needed" >&2; exit 2; }
exec "${node:-node}" "$here/run.ts" "$@"
