#!/usr/bin/env bash
# node.sh ADDRESS - makes the namespaces that supervise.sh opened into a machine that a kubelet can run on: its own
# mounts, cgroups and network, in which ADDRESS is the machine's. Root's work, on nothing but those namespaces.
set -euo pipefail
address=$1

mount --make-rshared /
# Of what the machine has mounted, the same again: a mount made here begins at this namespace's own cgroup.
controllers=$(cd /sys/fs/cgroup && for each in *; do mountpoint -q "$each" && echo "$each"; done || true)
mount -t sysfs sysfs /sys
if [ -z "$controllers" ]; then # cgroup v2
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
else
  mount -t tmpfs -o mode=755 cgroups /sys/fs/cgroup
  for controller in $controllers; do
    mkdir "/sys/fs/cgroup/$controller"
    case $controller in
    unified) mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified ;;
    systemd) mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd ;;
    *) mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller" ;;
    esac || rmdir "/sys/fs/cgroup/$controller"
  done
fi

ip link set lo up
# An end of a pair that leads nowhere: a node must have an address that is not loopback, and a default route.
ip link add node0 type veth peer name node0-peer
ip link set node0-peer up
ip address add "$address/24" dev node0
ip link set node0 up
ip route add default dev node0
for setting in net/ipv4/ip_forward net/ipv4/conf/all/route_localnet net/bridge/bridge-nf-call-iptables; do
  [ ! -e "/proc/sys/$setting" ] || echo 1 >"/proc/sys/$setting"
done
