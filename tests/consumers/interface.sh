#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In namespaces of its own: systemd-networkd with the files of ROOT and an interface that udev knows as that of the port
# GUID. Prints what it set, as JSON, behind what it said.
set -u
root=$1 guid=$2
mkdir -p /etc/systemd/network
mount --bind "$root/etc/systemd/network" /etc/systemd/network
mount -t tmpfs none /usr/lib/systemd/network
mount -t tmpfs none /run
mkdir -p /run/udev/data /run/systemd/netif/links; touch /run/udev/control
chown -R systemd-network /run/systemd/netif
ip link set lo up
ip link add port0 type veth peer name peer0 && ip link set peer0 up
mount -t sysfs sysfs /sys
index=$(cat /sys/class/net/port0/ifindex)
printf 'I:1\nE:RDMA_CONFIGD_PORT=%s\nE:RDMA_CONFIGD_OF_PORT=1\nG:systemd\nQ:systemd\nV:1\n' "$guid" >"/run/udev/data/n$index"
SYSTEMD_LOG_LEVEL=warning timeout 120 /usr/lib/systemd/systemd-networkd &
for ((n = 0; n < 1000; n++)); do
	grep -q '^ADMIN_STATE=configured' "/run/systemd/netif/links/$index" 2>/dev/null && break
	kill -0 %1 2>/dev/null || break
	sleep 0.1
done
state() { sed -n "s/^$1=//p" "/run/systemd/netif/links/$index"; }
export DNS DOMAINS; DNS=$(state DNS) DOMAINS=$(state DOMAINS)
export ADDRESSES ROUTES4 ROUTES6
ADDRESSES=$(ip -j addr show port0) ROUTES4=$(ip -4 -j route show table all dev port0) ROUTES6=$(ip -6 -j route show table all dev port0)
python3 - <<'END'
import json, os
env = os.environ
routes = []
for text in (env["ROUTES4"], env["ROUTES6"]):
    for route in json.loads(text or "[]"):
        if route.get("protocol") != "static":
            continue
        table = {"main": 254, "default": 253, "local": 255}.get(route.get("table", "main"), route.get("table", "main"))
        to = route["dst"]
        routes.append([to, route.get("gateway"), route.get("metric"), int(table)])
print(json.dumps({"addresses": [f"{a['local']}/{a['prefixlen']}" for a in json.loads(env["ADDRESSES"])[0]["addr_info"]],
                  "dns": env["DNS"].split(), "domains": env["DOMAINS"].split(), "routes": routes}))
END
kill %1
