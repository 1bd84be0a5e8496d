# SPDX-License-Identifier: Apache-2.0
"""Random documents for hosts below another root: each kind of entry with ordinary values and odd ones."""
import ipaddress
import random

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def quoted(text):
    """As a basic string of TOML."""
    out = ""
    for c in text:
        out += "\\" + c if c in '"\\' else c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}"
    return f'"{out}"'


def value(what):
    if isinstance(what, bool):
        return "true" if what else "false"
    if isinstance(what, int):
        return str(what)
    if isinstance(what, (list, tuple)):
        return "[" + ", ".join(value(element) for element in what) + "]"
    return quoted(what)


def keys(entry):
    return "".join(f"{key} = {value(element)}\n" for key, element in entry.items() if element is not None and not isinstance(element, dict))


class Document:
    """Entries by section, and the text that says them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.modules, self.sysctls, self.memlocks, self.options, self.partitions = {}, {}, {}, {}, []
        self.ports, self.devices, self.mounts, self.nfs_port = [], [], [], None
        self.sessions, self.nvme, self.managers = [], [], {}
        self.fill()

    def word(self, least=1, most=8):
        return "".join(self.random.choice(LETTERS) for _ in range(self.random.randint(least, most)))

    def odd(self, characters):
        """Something that a careless writer or reader would trip over."""
        r = self.random
        return "".join(r.choice(characters) for _ in range(r.randint(1, 12)))

    def some(self, most=3):
        return range(self.random.randint(0, most))

    def fill(self):
        r = self.random
        for _ in self.some():
            name = "zz_" + self.word(3)
            options = {}
            for _ in range(r.randint(1, 4)):
                options[self.word(2)] = r.choice([str(r.randint(-9, 1 << 40)), hex(r.randint(0, 255)), "Y", self.odd("ab=,;:.$%&()*'`~!?<>|[]{}é-")])
            self.modules[name] = options
        for _ in self.some(4):
            self.sysctls["net.zz." + self.word(4)] = r.choice([r.randint(-1, 1 << 31), "4096 87380 6291456", self.odd("ab =,:.$%&()*'\"`\\~!?<>|[]{}é-") + "x", "cubic"])
        for _ in self.some(2):
            domain = r.choice(["@daemon", "daemon", "mail", "@zz" + self.word(3), "zz" + self.word(3)])
            limit = r.choice(["unlimited", r.randint(1, 1 << 30), r.randint(1, 8192), f"{r.randint(1, 7)} MiB", f"{r.randint(1, 64)} GiB"])
            units = [f"zz-{self.word(3)}{r.choice(['', '@x', '-y'])}.service" for _ in self.some(2)]
            self.memlocks.setdefault(domain, (limit, units))
        for _ in self.some(3):
            key, what = r.choice([
                ("max_wire_smps", r.randint(1, 64)), ("routing_engine", r.choice(["updn", "ftree", "updn,ftree", "minhop"])),
                ("sweep_interval", r.randint(0, 600)), ("babbling_port_policy", r.choice(["TRUE", "FALSE"])),
                ("log_max_size", r.randint(0, 4096)), ("subnet_timeout", r.randint(1, 31)), ("qos_policy_file", "/etc/opensm/" + self.word())])
            self.options[key] = what
        self.partition_entries()
        for number in self.some(2):
            self.port(number)
        for number in self.some(2):
            self.devices.append({"pci": f"0000:{number + 1:02x}:00.0", "name": "zz_" + self.word(3) + r.choice(["", "-1", ".2"])})

        if r.random() < 0.5:
            self.nfs_port = r.choice([20049, r.randint(1024, 65535)])
        for number in self.some(3):
            self.mounts.append({
                "path": f"/zz{number}" + "".join("/" + r.choice(["", "."]) + self.odd("ab.-_+@:=~%,") + "x" for _ in self.some(2)),
                "server": r.choice(["192.0.2.1", "2001:db8::1", "storage-1.example"]), "export": r.choice(["/", "/a%b/c", "/e:/x,y"]),
                "port": r.choice([None, 20050]), "options": r.choice([None, [], ["vers=4.2"], ["hard", "timeo=600", "sec=krb5p"]]),
                "mount": r.choice([None, True, False])})
        for number in self.some(3):
            names = f"iqn.2026-0{number + 1}.org.example:" + self.word() + r.choice(["", "-1", ":b.2"]), f"eui.0200456{number}a425678d"
            self.sessions.append({"target": r.choice(names), "address": r.choice(["192.0.2.9", "2001:db8::9"]), "port": r.choice([None, 3261])})
        for number in self.some(3):
            self.nvme.append({"address": r.choice(["192.0.2.", "2001:db8::"]) + str(20 + number), "port": r.choice([None, 4421])})
        for number in self.some(2):
            own = {"sweep_interval": r.randint(0, 600), "subnet_timeout": r.randint(1, 31), "routing_engine": r.choice(["updn", "ftree,updn"])}
            self.managers[f"0x0002c903003179f{number}"] = dict(r.sample(list(own.items()), r.randint(1, 3)))

    def partition_entries(self):
        r = self.random
        members = ["ALL", "SELF", "ALL_CAS", "ALL_SWITCHES", "0x0000000000100001", "0x0000000000100004", "0x0002c903003178f2"]
        for pkey in r.sample([0x7fff, 1, 2, 0x10, 0x123, 0x7ffe], r.randint(0, 4)):
            chosen = r.sample(members, r.randint(1, 4))
            # A port that several members mean has the same membership by all of them: OpenSM takes any otherwise.
            several = any(not member.startswith("0x") for member in chosen)
            alike = r.choice(["", "=full", "=limited"])
            self.partitions.append({
                "pkey": pkey | r.choice([0, 0x8000]), "name": None if pkey == 0x7fff else r.choice([None, "zz" + self.word()]),
                "ipoib": r.choice([None, True, False]), "mtu": r.choice([None, 4096, 5, 2048]), "sl": r.choice([None, 0, 3]),
                "defmember": r.choice([None, "full", "limited"]),
                "members": [member + (alike if several else r.choice(["", "=full", "=limited"])) for member in chosen],
                "rate": r.choice([None, None, 7]), "q_key": r.choice([None, 0xb1b]), "tclass": r.choice([None, 0, 9]),
                "flow_label": r.choice([None, 0xfffff]), "indx0": r.choice([None, None, True])})
            partition = self.partitions[-1]
            partition["groups"] = [{"mgid": r.choice(["ff12::", "ff15::", "ff1e::"]) + f"{number:x}", "mtu": r.choice([None, 512]), "rate": r.choice([None, 3]),
                              "sl": r.choice([None, 1]), "q_key": r.choice([None, 0xdeadbeef]), "scope": r.choice([None, [2, 14]])} for number in self.some(3)]
            if partition["ipoib"] is not False:
                partition["groups"] += [{"mgid": f"ff12:{sort}::{number + 0x700:x}", "flow_label": r.choice([None, 5])}
                                  for number, sort in enumerate(r.sample(["401b", "601b"], r.randint(0, 2)))]

    def family(self, four, number):
        r = self.random
        host = lambda: r.randint(2, 200)
        base = f"10.{number + 1}.{r.randint(0, 255)}." if four else f"2001:db8:{number + 1}:{r.randint(1, 0xffff):x}::"
        length = r.choice([24, 25]) if four else 64
        out = {"addresses": list(dict.fromkeys(f"{base}{host() % 120 + 1}/{length}" for _ in range(r.randint(1, 3))))}
        if r.random() < 0.5:
            out["gateway"] = base + "126"
        out["dns"] = list(dict.fromkeys(base + str(host() % 100 + 1) for _ in self.some(2)))
        out["search"] = list(dict.fromkeys(self.word() + ".example" for _ in self.some(3)))
        out["routes"] = []
        for at in self.some(2):
            to = f"172.16.{at * 16 + r.randint(0, 15)}.0/24" if four else f"2001:db8:f:{at * 16 + r.randint(0, 15):x}::/64"
            out["routes"].append({"to": to, "via": r.choice([base + "125", base + "124"]),
                                  "metric": r.choice([None, r.randint(1, 4000)]), "table": r.choice([None, None, r.randint(300, 4000)])})
        return out

    def port(self, number):
        r = self.random
        connected = r.random() < 0.5
        port = {"guid": f"00:02:c9:03:00:31:78:f{number}", "name": f"zz{self.word(2, 6)}{number}", "mode": "connected" if connected else "datagram",
               "mtu": r.choice([None, 65520 if connected else 2044, 4092]), "backend": r.choice(["networkmanager", "networkd"])}
        port["ipv4"] = self.family(True, number) if r.random() < 0.8 else None
        port["ipv6"] = self.family(False, number) if r.random() < 0.5 else None
        port["children"] = r.sample([0x8002, 0x8003, 0xfffe], r.randint(0, 2))
        self.ports.append(port)

    def text(self):
        out = "version = 1\n"
        for name, options in self.modules.items():
            out += f"[[module]]\nname = {quoted(name)}\n" + keys({"options": [f"{key}={setting}" for key, setting in options.items()]})
        for key, setting in self.sysctls.items():
            out += "[[sysctl]]\n" + keys({"key": key, "value": setting})
        for domain, (limit, units) in self.memlocks.items():
            out += "[[memlock]]\n" + keys({"domain": domain, "limit": limit, "units": units})
        for key, setting in self.options.items():
            out += "[[opensm_option]]\n" + keys({"key": key, "value": setting})
        for partition in self.partitions:
            out += "[[partition]]\n" + keys({key: what for key, what in partition.items() if key != "groups"})
            for group in partition["groups"]:
                out += "[[partition.group]]\n" + keys(group)
        for device in self.devices:
            out += "[[rdma_device]]\n" + keys(device)
        if self.nfs_port:
            out += f"[nfs_server]\nrdma_port = {self.nfs_port}\n"
        for mount in self.mounts:
            out += "[[nfs_mount]]\n" + keys(mount)
        for session in self.sessions:
            out += "[[iser_session]]\n" + keys(session)
        for connection in self.nvme:
            out += "[[nvme_connection]]\n" + keys(connection)
        for guid, own in self.managers.items():
            out += f"[[opensm]]\nguid = {quoted(':'.join(guid[at:at + 2] for at in range(2, 18, 2)))}\n"
            for key, setting in own.items():
                out += "[[opensm.option]]\n" + keys({"key": key, "value": setting})
        for port in self.ports:
            out += "[[ipoib]]\n" + keys({key: what for key, what in port.items() if key != "children"})
            for name in ("ipv4", "ipv6"):
                if port[name]:
                    out += f"[ipoib.{name}]\n" + keys({key: what for key, what in port[name].items() if key != "routes"})
                    for route in port[name]["routes"]:
                        out += f"[[ipoib.{name}.routes]]\n" + keys(route)
            for pkey in port["children"]:
                out += f"[[ipoib.pkey]]\npkey = {pkey}\n"
        return out


def kib(limit):
    """Of a limit as the document says it; None: unlimited."""
    if limit == "unlimited":
        return None
    if isinstance(limit, int):
        return limit
    number, unit = limit.split()
    return int(number) * {"MiB": 1 << 10, "GiB": 1 << 20}[unit]


def network(text):
    return str(ipaddress.ip_interface(text).network)
