#!/usr/bin/env bash
# Writes go.mod and go.sum for the Kubernetes version in ../versions.env. k8s.io/kubernetes cannot be built as a module by
# itself: it takes its libraries from folders of its own repository (replace => ./staging/…). So this takes the release's
# own go.mod, with each such library replaced by its published version (v1.X.Y is published as v0.X.Y).
set -euo pipefail
cd "$(dirname "$0")"
source ../versions.env
release=$(cd / && go mod download -json "k8s.io/kubernetes@$KUBERNETES" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
sed -E -e '1,/^module /{/^\/\//d}' -e 's#^module .*#// Written by generate.sh.\n\nmodule accord/test/kubernetes/kube#' \
  -e "s#=> \./staging/src/(.*)#=> \1 v0.${KUBERNETES#v1.}#" "$release/go.mod" >go.mod
cat "$release/go.sum" >go.sum
go mod edit -require="k8s.io/kubernetes@$KUBERNETES"
go mod tidy
