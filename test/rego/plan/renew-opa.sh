#!/bin/sh
# Asks OPA about the policies that are always drawn, and keeps its answers in opa-answers.jsonl. To be run after a change of what is
# drawn, or of OPA. Uses the repository's own Node 24 when it is installed, else the machine's. Needs Go.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
node=$(ls "$here"/../../../node_modules/node-*/bin/node 2>/dev/null | head -n 1)
command -v go >/dev/null || { echo "renew-opa.sh: Go is needed" >&2; exit 2; }
exec "${node:-node}" "$here/renew-opa.ts" "$@"
