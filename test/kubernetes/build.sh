#!/usr/bin/env bash
# Builds the programs of the test clusters from Go modules, each part once, and keeps them outside the clone.
#
#   build.sh [PART...]   builds the parts that are missing; without arguments, what `npm run test:kubernetes` needs: core
#   build.sh --path      prints the folders of all parts, built or not, as for PATH
#
#   core        etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl
#   node        the same with kubelet and kube-proxy; it stands for core too
#   containerd, coredns, pause   what a real node runs besides
#   helm        installs the chart
#
# Needs Go, and for the first time the Go module proxy, 5 GB of disk for Go's caches and some minutes: core about 10, the
# others 2 to 5 each. The folder is $CI_CACHE_DIR/kubernetes, without CI_CACHE_DIR ~/.cache/accord/kubernetes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/versions.env"
cache=${CI_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/accord}/kubernetes
# The sources of ours belong to the version.
own=$(cd "$here/kube" && cat go.mod go.sum ./*.go pause/*.go | sha256sum | head -c 8)

folder() {
  case $1 in
  core | node) echo "$cache/$1-$KUBERNETES-$own" ;;
  pause) echo "$cache/pause-$own" ;;
  containerd) echo "$cache/containerd-$CONTAINERD" ;;
  coredns) echo "$cache/coredns-$COREDNS" ;;
  helm) echo "$cache/helm-$HELM" ;;
  *)
    echo "build.sh: there is no part $1; there are core, node, containerd, coredns, pause and helm" >&2
    return 2
    ;;
  esac
}

# kubectl and helm read the version that is linked in; without it they take the server for v0.0.0.
kube() { # OUT LINK...
  local out=$1 flags="-s -w" minor=${KUBERNETES#v1.} package
  shift
  for package in k8s.io/client-go/pkg/version k8s.io/component-base/version; do
    flags+=" -X $package.gitVersion=$KUBERNETES -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}"
  done
  (cd "$here/kube" && go build "${tags[@]}" -ldflags "$flags" -o "$out/kube" .)
  for link in etcd kubectl kube-apiserver kube-controller-manager kube-scheduler "$@"; do ln -s kube "$out/$link"; done
}

build() { # PART OUT
  local tags=() containerd=github.com/containerd/containerd/v2/cmd
  export GOBIN=$2
  case $1 in
  core) kube "$2" ;;
  node) tags=(-tags node) && kube "$2" kubelet kube-proxy ;;
  pause) (cd "$here/kube" && go build -ldflags "-s -w" -o "$2/pause" ./pause) ;;
  containerd)
    go install -tags "no_btrfs no_devmapper no_zfs no_aufs" -ldflags "-s -w" "$containerd/containerd@$CONTAINERD" \
      "$containerd/containerd-shim-runc-v2@$CONTAINERD" "$containerd/ctr@$CONTAINERD"
    ;;
  coredns) go install -ldflags "-s -w" "github.com/coredns/coredns@$COREDNS" ;;
  helm)
    go install -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$HELM" "helm.sh/helm/v4/cmd/helm@$HELM"
    ;;
  esac
}

if [ "${1:-}" = --path ]; then
  path=
  for part in node core containerd coredns pause helm; do path+=":$(folder "$part")"; done
  echo "${path#:}"
  exit
fi
[ $# -gt 0 ] || set -- core
for part in "$@"; do folder "$part" >/dev/null; done
export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false -mod=readonly"
# In the order given: node before core saves building core.
for part in "$@"; do
  to=$(folder "$part")
  if [ -d "$to" ] || { [ "$part" = core ] && [ -d "$(folder node)" ]; }; then
    echo "$part: there already"
    continue
  fi
  command -v go >/dev/null || {
    echo "build.sh: Go is needed to build $part (version $(sed -n 's/^go //p' "$here/kube/go.mod") or newer)" >&2
    exit 2
  }
  echo "$part: building into $to; the first time takes minutes…"
  started=$SECONDS
  mkdir -p "$cache"
  scratch=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  build "$part" "$scratch"
  chmod 755 "$scratch"
  # Whole or not at all; who finished first has it.
  mv -T "$scratch" "$to" 2>/dev/null || rm -rf "$scratch"
  echo "$part: built in $((SECONDS - started)) s"
done
