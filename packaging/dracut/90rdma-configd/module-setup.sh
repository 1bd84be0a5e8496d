#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dracut.modules(7): drivers and interfaces that come before the root file system get the options and names of the
# document, too.

# Not the names of RDMA devices: one that has its name already when the real udevd handles its "add" event would be renamed
# again by rdma-core's 60-rdma-persistent-naming.rules. They are given behind the root switch.

# Only where rdma-configd has written something, and not in the image of a crash kernel, which has little memory for the queues
# that options ask for (kdumpctl of RHEL and Fedora sets IN_KDUMP, mkdumprd of SUSE calls dracut --add kdump).
check() {
	local file
	[[ -z ${IN_KDUMP-} && " ${add_dracutmodules-} " != *" kdump "* ]] || return 255
	for file in "${dracutsysrootdir-}"/etc/{udev/rules.d/70-rdma-configd-*.rules,modprobe.d/rdma-configd*.conf}; do
		[[ -f $file ]] && return 0
	done
	return 255
}

depends() {
	echo udev-rules
}

install() {
	local file
	for file in "${dracutsysrootdir-}"/etc/{udev/rules.d/70-rdma-configd-*.rules,modprobe.d/rdma-configd*.conf}; do
		[[ -f $file ]] && inst_simple "${file#"${dracutsysrootdir-}"}"
	done
	return 0
}
