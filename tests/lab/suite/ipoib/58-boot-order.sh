# A boot with the interface present: it has its name before NetworkManager acts on it, though no rule gives it yet.
# nightly: CI has time for the core and the daemon
# lab: --full --mem 2048
# tree: full
# boots: 2
if [ $BOOT = 1 ]; then
	conf <<-X
		version = 1
		[[ipoib]]
		guid = "00:02:c9:03:00:a0:b0:01"
		name = "fab0"
	X
	# The administrator's own configuration for the name, not the document.
	cat >/etc/NetworkManager/system-connections/foreign.nmconnection <<-X
		[connection]
		id=foreign
		uuid=5f0a3b62-7a1c-4a0e-9f5b-1d2e3f405162
		type=infiniband
		interface-name=fab0
		[infiniband]
		transport-mode=datagram
		[ipv4]
		method=manual
		address1=192.0.2.1/24
		[ipv6]
		method=disabled
	X
	chmod 600 /etc/NetworkManager/system-connections/foreign.nmconnection
	# The driver is loaded where the kernel's coldplug would load that of hardware.
	cat >/etc/systemd/system/lab-hardware.service <<-X
		[Unit]
		DefaultDependencies=no
		After=local-fs.target systemd-udevd.service systemd-modules-load.service
		Before=rdma-configd.service sysinit.target
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/lab/lab-load ib:mlx4_0:1
		[Install]
		WantedBy=sysinit.target
	X
	ok "enabled for the next boot" systemctl enable -q lab-hardware rdma-configd NetworkManager
	ok "no rule gives the name" test ! -e /etc/udev/rules.d/70-rdma-configd-ipoib.rules
else
	# UNIT TEXT: when the journal has it first, in µs since the start of the kernel
	when() { journalctl -b -u "$1" -o json --no-pager | jq -r --arg text "$2" 'select(.MESSAGE | strings | contains($text)) | .__MONOTONIC_TIMESTAMP' | head -1; }
	stamp() { systemctl show -p "$2" --value "$1"; }
	ok "NetworkManager activates the foreign profile" lab-wait 120 'nmcli -t -f NAME,DEVICE connection show --active | grep -qx foreign:fab0'
	ok "the address is on the interface" lab-wait 60 'ip -4 -o addr show dev fab0 | grep -qF 192.0.2.1/24'
	lab-wait 30 "journalctl -b -u NetworkManager -o cat --no-pager | grep -q \"starting connection 'foreign'\""
	has "the daemon has given the name, no rule" "$(journalctl -b -u rdma-configd -o cat --no-pager)" "fab0"
	configured=$(when rdma-configd "the present hardware is configured") acted=$(when NetworkManager "Activation: starting connection 'foreign'")
	ok "configured ($configured µs) before it is activated ($acted µs)" test "${configured:-0}" -gt 0 -a "${configured:-0}" -lt "${acted:-0}"
	ready=$(stamp rdma-configd ActiveEnterTimestampMonotonic) started=$(stamp NetworkManager ExecMainStartTimestampMonotonic)
	ok "ready ($ready µs) before NetworkManager is started ($started µs)" test "${ready:-0}" -gt 0 -a "${ready:-0}" -le "${started:-0}"
	is "NetworkManager saw it under no other name" "$(journalctl -b -u NetworkManager -o cat --no-pager | grep -oE '(manager|device) \(ib[^)]*\)' | sort -u)" ""
	lab-wait 60 'rdma-configctl diff'; exits "diff" 0 ctl diff
fi
