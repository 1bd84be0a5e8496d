#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# A fabric for ibsim, and partitions for OpenSM: leaves with hosts, each leaf with a link to each spine.
#   net.py LEAVES HOSTS_PER_LEAF SPINES [--half LEAF.HOST] >net      a host with half the width of the others
#   net.py --partitions LEAVES HOSTS_PER_LEAF [--wrong LEAF.HOST] >partitions.conf
import sys

words = sys.argv[1:]
fault = None
for option in ('--half', '--wrong'):
    if option in words:
        at = words.index(option)
        fault = tuple(int(n) for n in words[at + 1].split('.'))
        del words[at:at + 2]
if words[0] == '--partitions':
    leaves, hosts = int(words[1]), int(words[2])
    # ibsim gives a host and its two ports three GUIDs in a row.
    port = lambda leaf, host: '%#x=full' % (0x100000 + 3 * ((leaf - 1) * hosts + host - 1) + 1)
    storage = [port(leaf, host) for leaf in range(1, leaves + 1) for host in range(1, hosts + 1) if (leaf, host) != fault]
    print('Default=0x7fff, ipoib : ALL=full;')
    print('Storage=0x0002, ipoib : %s;' % ', '.join(storage))
    if fault:
        print('Wrong=0x0009 : %s;' % port(*fault))
    sys.exit()
leaves, hosts, spines = (int(w) for w in words[:3])
# 4X and 8X enabled, SDR to QDR.
print('width=6\nspeed=7\n')
for leaf in range(1, leaves + 1):
    for host in range(1, hosts + 1):
        half = ' w=2' if (leaf, host) == fault else ''
        # One calls itself something that a terminal would obey.
        name = 'evil\x1b[31mhost' if (leaf, host) == (leaves, hosts) else 'node%03d' % ((leaf - 1) * hosts + host)
        print('Hca 2 "H%d.%d"   # "%s"\n[1] "leaf%d"[%d]%s\n' % (leaf, host, name, leaf, host, half))
for leaf in range(1, leaves + 1):
    print('Switch %d "leaf%d"   # "leaf%d"' % (hosts + spines, leaf, leaf))
    for host in range(1, hosts + 1):
        print('[%d] "H%d.%d"[1]' % (host, leaf, host))
    for spine in range(1, spines + 1):
        print('[%d] "spine%d"[%d]' % (hosts + spine, spine, leaf))
    print()
for spine in range(1, spines + 1):
    print('Switch %d "spine%d"   # "spine%d"' % (leaves, spine, spine))
    for leaf in range(1, leaves + 1):
        print('[%d] "leaf%d"[%d]' % (leaf, leaf, hosts + spine))
    print()
# A host without a link.
print('Hca 2 "Hdown"   # "down"\n')
