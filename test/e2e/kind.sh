#!/usr/bin/env bash
# The chart on a cluster of kind, for people who have docker, kind, kubectl and helm: builds the image, installs with --wait,
# applies examples/, decides through the Service, tests, upgrades, and goes. What test/kubernetes/chart/node.test.ts does on a
# node of its own; not run by CI, where there is no Docker.
#   bash test/e2e/kind.sh [NAME]     the cluster (default accord-e2e) is made, and deleted at the end
set -euo pipefail
cd "$(dirname "$0")/../.."
name=${1:-accord-e2e}
for program in docker kind kubectl helm; do
  command -v "$program" >/dev/null || { echo "kind.sh needs $program" >&2; exit 2; }
done
if kind get clusters | grep -qx "$name"; then
  echo "kind.sh: there is a cluster $name already; name another one" >&2
  exit 2
fi

kubeconfig=$(mktemp)
export KUBECONFIG=$kubeconfig
forward=
cleanup() {
  [ -z "$forward" ] || kill "$forward" 2>/dev/null || true
  kind delete cluster --name "$name"
  rm -f "$kubeconfig"
}
trap cleanup EXIT

step() { echo "=== $*"; }
release() { # install|upgrade ...
  helm "$@" accord charts/accord --namespace accord --wait --timeout 5m \
    --set image.repository=accord --set image.tag=e2e --set image.pullPolicy=Never \
    --set postgresql.enabled=true --set tests.tenant=carshare
}
ask() {
  curl -sf "http://127.0.0.1:$port/authz/carshare" -H 'content-type: application/json' \
    -H "authorization: Bearer $token" \
    -d '{"subject":{"id":"alice"},"action":"car:read","resource":{"id":"car-7"}}'
}

step "image"
docker build --tag accord:e2e .
step "cluster"
kind create cluster --name "$name" --wait 2m
kind load docker-image accord:e2e --name "$name"
step "install"
release install --create-namespace
step "examples"
kubectl create namespace carshare
kubectl apply -R -f examples/carshare
kubectl wait policies --all -n carshare --for=condition=Ready --timeout=2m
step "a decision through the Service"
token=$(kubectl -n accord exec deploy/accord-server -- accord token --tenant carshare --client e2e --scope authz:evaluate)
port=18080
kubectl -n accord port-forward svc/accord "$port:80" >/dev/null &
forward=$!
for _ in $(seq 50); do ask >/dev/null 2>&1 && break; sleep 0.2; done
[ "$(ask)" = '{"outcome":"allow"}' ] || { echo "the decision is not allow: $(ask)" >&2; exit 1; }
step "helm test"
helm test accord --namespace accord --timeout 2m
step "upgrade"
release upgrade --set server.podAnnotations.again=true
step "the leader is killed"
leader=$(kubectl -n accord get lease accord-operator -o 'jsonpath={.spec.holderIdentity}')
kubectl -n accord delete pod "${leader%%_*}" --grace-period=0 --force
for _ in $(seq 100); do
  now=$(kubectl -n accord get lease accord-operator -o 'jsonpath={.spec.holderIdentity}')
  [ -n "$now" ] && [ "$now" != "$leader" ] && break
  sleep 0.2
done
[ "$now" != "$leader" ] || { echo "nobody took over from $leader" >&2; exit 1; }
step "uninstall, then the resources"
helm uninstall accord --namespace accord --wait --timeout 2m
kubectl delete accord --all --all-namespaces --timeout=90s
[ -z "$(kubectl get accord --all-namespaces -o name)" ] || { echo "something is left" >&2; exit 1; }
echo "all of it works on kind"
