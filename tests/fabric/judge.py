#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Compares fabric.json with what the programs of infiniband-diags said of the same fabric (files in the folder of the
# first argument). Prints a line "ok …" or "FAIL …" for each program.
import json, re, sys
from pathlib import Path

folder = Path(sys.argv[1])
ours = json.loads((folder / 'fabric.json').read_text())
said = lambda name: (folder / name).read_text(errors='replace')
number = lambda guid: int(guid.replace(':', ''), 16)
nodes = {number(n['guid']): n for n in ours['nodes']}
ports = {(guid, p['port']): p for guid, n in nodes.items() for p in n['ports']}


def check(what, mine, theirs):
    if mine == theirs and theirs:
        print('ok   fabric agrees with %s (%d)' % (what, len(theirs)))
        return
    print('FAIL fabric and %s: only ours %s, only theirs %s'
          % (what, sorted(map(str, set(mine) - set(theirs)))[:5], sorted(map(str, set(theirs) - set(mine)))[:5]))


# Control characters look different in both.
plain = lambda name: re.sub('[^A-Za-z0-9]', '', name.replace('[31m', ''))
check('ibhosts', {(g, plain(n['description'])) for g, n in nodes.items() if n['type'] == 'host'},
      {(int(m[1], 16), plain(m[2].replace('[31m', ''))) for m in re.finditer(r'^Ca\t: (0x\w+) ports \d+ "(.*)"$', said('ibhosts'), re.M)})

links = {frozenset(((number(l['a']['node']), l['a']['port']), (number(l['b']['node']), l['b']['port']))) for l in ours['links']}
# Switch or Ca, then its ports; guids are in the quoted names.
theirs, here = set(), None
for line in said('ibnetdiscover').splitlines():
    head = re.match(r'^(?:Switch|Ca)\s+\d+ "[SH]-(\w+)"', line)
    if head:
        here = int(head[1], 16)
    link = re.match(r'^\[(\d+)\](?:\(\w+\))?\s+"[SH]-(\w+)"\[(\d+)\]', line)
    if link:
        theirs.add(frozenset(((here, int(link[1])), (int(link[2], 16), int(link[3])))))
check('ibnetdiscover', links, theirs)

speeds = {'2.5': 'SDR', '5.0': 'DDR', '10.0': 'QDR', '14.0625': 'FDR', '25.78125': 'EDR', '53.125': 'HDR', '106.25': 'NDR',
          '212.5': 'XDR'}
mine, theirs, here = set(), set(), None
for l in ours['links']:
    for end in (l['a'], l['b']):
        mine.add((number(end['node']), end['port'], l['width'], l['speed'], l['best_width'] if l['best_width'] != l['width'] else None))
for line in said('iblinkinfo').splitlines():
    row = re.match(r'^(0x\w+) "[^"]*"\s+\d+\s+(\d+)\[\s*\d*\s*\] ==\(\s*(\d+X)\s+([\d.]+) Gbps', line)
    if row:
        best = re.search(r'Could be (\d+X)', line)
        guid, port = int(row[1], 16), int(row[2])
        # The GUID of a host's line is that of its port.
        guid = next((g for (g, p), v in ports.items() if p == port and number(v['guid']) == guid), guid)
        theirs.add((guid, port, row[3], speeds[row[4]], best[1] if best else None))
check('iblinkinfo', mine, theirs)

row = re.search(r'sm guid (0x\w+), activity count \d+ priority (\d+) state \d+ SMINFO_(\w+)', said('sminfo'))
check('sminfo', {(number(m['port_guid']), m['priority'], m['state']) for m in ours['managers']},
      {(int(row[1], 16), int(row[2]), row[3].lower())})

mtus, rates = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}, {2: 2.5, 3: 10, 4: 30, 5: 5, 6: 20, 7: 40, 8: 60, 9: 80, 10: 120}
groups = re.findall(r'MGID\.+(\S+)\s+Mlid\.+(\w+)\s+Mtu\.+(\w+)\s+pkey\.+(\w+)\s+Rate\.+(\w+)', said('saquery-g'))
check('saquery', {(g['gid'], g['lid'], g['pkey'], g['mtu'], float(g['rate_gbps'])) for g in ours['groups']},
      {(gid, int(lid, 16), pkey.lower(), mtus[int(mtu, 16) & 63], float(rates[int(rate, 16) & 63])) for gid, lid, mtu, pkey, rate in groups})

check('smpquery pkeys', {(p['lid'], tuple(p['pkeys'])) for p in ports.values() if p['pkeys'] and 'lid %d\n' % p['lid'] in said('pkeys')},
      {(int(lid), tuple(k for k in re.findall('0x[0-9a-f]{4}', table) if k not in ('0x0000', '0x8000')))
       for lid, table in re.findall(r'^lid (\d+)\n((?: .*\n)+)', said('pkeys'), re.M)})

hops = [(number(h['node']), h['in'], h['out']) for h in ours['route']['hops']]
theirs = [int(g, 16) for g in re.findall(r'^(?:From ca|\[\d+\] -> (?:switch|ca) port) \{(0x\w+)\}', said('ibtracert'), re.M)]
# A host that is reached is called by its port.
mine = [number(ports[g, i]['guid']) if i and nodes[g]['type'] == 'host' else g for g, i, _ in hops]
check('ibtracert', mine, theirs)
