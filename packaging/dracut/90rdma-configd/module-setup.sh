#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dracut.modules(7): drivers and interfaces that come before the root file system get the options and names of the
# document, too.

# Only where rdma-configd has written something.
check() {
	local file
	for file in "${dracutsysrootdir-}"/etc/{udev/rules.d/{59,70}-rdma-configd-*.rules,modprobe.d/rdma-configd*.conf}; do
		[[ -f $file ]] && return 0
	done
	return 255
}

depends() {
	echo udev-rules
}

install() {
	local file
	for file in "${dracutsysrootdir-}"/etc/{udev/rules.d/{59,70}-rdma-configd-*.rules,modprobe.d/rdma-configd*.conf}; do
		[[ -f $file ]] && inst_simple "${file#"${dracutsysrootdir-}"}"
	done
	if [[ -f ${dracutsysrootdir-}/etc/udev/rules.d/59-rdma-configd-rdma-device.rules ]]; then
		inst_multiple -o /usr/lib/udev/rdma_rename
	fi
	return 0
}
