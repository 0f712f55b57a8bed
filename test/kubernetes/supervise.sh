#!/usr/bin/env bash
# supervise.sh DIR [apart] - runs processes in the folder DIR: each line of standard input is a command. When the input ends,
# because it was closed or because the test run died, they all end and DIR is gone. With `apart` they have mounts, a
# network, cgroups and process ids of their own, in which nothing can hide and of which nothing stays. (supervised.ts)
set -um # each job is a process group, which can be ended whole
cd "$1" || exit 1

# Where this process stands in each hierarchy of cgroups.
standing() {
  local id controllers path mount
  while IFS=: read -r id controllers path; do
    mount=/sys/fs/cgroup/${controllers#name=}
    [ "$id" != 0 ] || [ ! -d /sys/fs/cgroup/unified ] || mount=/sys/fs/cgroup/unified
    if [ -d "$mount$path" ]; then realpath "$mount$path"; elif [ -d "$mount" ]; then realpath "$mount"; fi
  done </proc/self/cgroup
}

# What a killed process has started in a session of its own, such as a Postgres, may still write for a moment.
remove() {
  for _ in $(seq 100); do
    rm -rf "$1" 2>/dev/null && return
    sleep 0.05
  done
}

apart() {
  local before name=${1##*/} group setting inner
  before=$(standing)
  # A cgroup of this node's own, or two kubelets would end each other's Pods.
  for group in $before; do
    mkdir -p "$group/$name"
    for setting in cpuset.cpus cpuset.mems; do
      [ -e "$group/cgroup.subtree_control" ] || [ ! -e "$group/$setting" ] || cat "$group/$setting" >"$group/$name/$setting"
    done
    echo $$ >"$group/$name/cgroup.procs"
  done
  own=(--mount --net --cgroup --pid --fork --kill-child --mount-proc --propagation private)
  unshare "${own[@]}" bash "$0" "$1" inside <&0 &
  inner=$!
  while [ ! -e inside ] && kill -0 $inner 2>/dev/null; do sleep 0.02; done
  # We stay outside: a cgroup of version 2 with children may hold no process.
  for group in $before; do
    for pid in $$ $inner; do echo "$pid" >"$group/cgroup.procs"; done
  done
  wait $inner
  # The kernel empties a cgroup some time after its last process has ended.
  for group in $before; do
    for _ in $(seq 100); do
      find "$group/$name" -depth -type d -exec rmdir {} + 2>/dev/null
      [ -d "$group/$name" ] || break
      sleep 0.05
    done
  done
  cd / && remove "$1" # its mounts are gone with the namespaces
}

if [ "${2:-}" = apart ]; then
  apart "$1"
  exit
fi
[ "${2:-}" != inside ] || touch inside

finish() {
  trap - EXIT
  exec 2>/dev/null # the shell would tell of each process that was killed
  # The data is a test's: nothing to save. Process 1 ends what a container's shim has started, too.
  if [ $$ = 1 ]; then
    kill -KILL -1
  else
    for group in $(jobs -p); do kill -KILL -- "-$group"; done
  fi
  wait
  [ $$ = 1 ] || { cd / && remove "$1"; }
}
trap 'finish "$1"' EXIT
trap 'exit 143' TERM INT HUP

# run NAME COMMAND...: NAME.pid is there as long as the process is.
run() {
  local name=$1
  shift
  rm -f "$name.pid"
  (
    "$@" >>"$name.log" 2>&1 </dev/null &
    echo $! >"$name.pid"
    wait $! 2>/dev/null # the shell would tell of a signal
    echo "ended with code $?" >>"$name.log"
    rm -f "$name.pid"
  ) &
}
# On one line: the shell reads a script as it goes, and someone may edit it meanwhile.
while IFS= read -r line; do eval "$line"; done; exit
