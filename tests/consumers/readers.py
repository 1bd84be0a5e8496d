# SPDX-License-Identifier: Apache-2.0
"""The programs that our files are for, made to say what they read. Each function returns differences, one line each, or
None where the document says nothing to it."""
import ctypes
import ipaddress
import json
import os
import re
import resource
import shlex
import shutil
import subprocess

from documents import kib, network

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
TOOLS = os.environ.get("RDMACFG_FOREIGN_TOOLS", "/usr/local/lib/rdma-configd-test-tools")
HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **more):
    env = dict(os.environ, LC_ALL="C", **more.pop("env", {}))
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="surrogateescape", env=env, timeout=300, **more).stdout


def differences(what, wanted, read):
    if wanted == read:
        return []
    return [f"{what}: the document says {wanted!r}, it reads {read!r}"]


def kernel_words(line):
    """Parameters as the kernel takes them from a command line (next_arg() in lib/cmdline.c)."""
    out, word, quoted = [], "", False
    for c in line + " ":
        if c == '"':
            quoted = not quoted
        if c == " " and not quoted:
            if word:
                out.append(word)
            word = ""
        else:
            word += c
    found = {}
    for word in out:
        name, _, text = word.strip('"').partition("=")
        found[name] = text.strip('"')
    return found


def kmod(root, document):
    out = run(["modprobe", "-c", "-C", f"{root}/etc/modprobe.d"])
    read = {}
    for line in out.splitlines():
        if line.startswith("options zz_"):
            _, module, rest = line.split(" ", 2)
            read.setdefault(module, {}).update(kernel_words(rest))
    wanted = {name: dict(options) for name, options in document.modules.items()}
    return differences("modprobe.d", wanted, read)


def modules_load(root, document):
    path = f"{root}/etc/modules-load.d/rdma-configd.conf"
    read = set()
    if os.path.exists(path):
        out = run(NOBODY + ["/usr/lib/systemd/systemd-modules-load", path], env={"SYSTEMD_LOG_LEVEL": "debug"})
        read = set(re.findall(r"^Loading module: (.*)$", out, re.M))
    return differences("modules-load.d", set(document.modules), read)


def sysctl(root, document):
    path = f"{root}/etc/sysctl.d/zz-rdma-configd.conf"
    read = {}
    if os.path.exists(path):
        out = run(NOBODY + ["/usr/lib/systemd/systemd-sysctl", path], env={"SYSTEMD_LOG_LEVEL": "debug"})
        read = dict(re.findall(r"^Setting '/proc/sys/([^']*)' to '(.*)'$", out, re.M))
    # Blanks separate numbers, and several are as good as one.
    wanted = {key.replace(".", "/"): " ".join(str(setting).split()) for key, setting in document.sysctls.items()}
    return differences("sysctl.d", wanted, read)


def sysusers(root, document):
    path = f"{root}/etc/sysusers.d/rdma-configd.conf"
    read = set()
    if os.path.exists(path):
        out = run(["systemd-sysusers", f"--root={root}", "--dry-run", path])
        read = set(re.findall(r"(?:Creating|Would create) group '([^']*)'", out))
    wanted = {domain[1:] for domain in document.memlocks if domain.startswith("@")}
    return differences("sysusers.d", wanted, read)


def pam_limits(root, document):
    """The limit of a login of daemon: that of the user, else of the group."""
    path = f"{root}/etc/security/limits.d/zz-rdma-configd.conf"
    limit = document.memlocks.get("daemon", document.memlocks.get("@daemon"))
    if not os.path.exists(path):
        return differences("limits.d", {}, document.memlocks)
    folder = f"{root}/pam.d"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/consumers", "w") as file:
        file.write(f"auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_limits.so conf={path}\n")
    before = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    bytes_ = None
    if limit is not None:
        bytes_ = resource.RLIM_INFINITY if kib(limit[0]) is None else kib(limit[0]) * 1024
        if exceeds(bytes_, before[1]) and not may_raise_limits():
            return None  # as in a container: PAM sets what it may, and the document's is not to be seen
    inside, outside = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(outside, json.dumps(login(folder)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(outside)
    with os.fdopen(inside) as file:
        text = file.read()
    os.waitpid(child, 0)
    read = json.loads(text) if text else "nothing: the session could not be opened"
    wanted = list(before) if bytes_ is None else [bytes_, bytes_]
    return differences("limits.d: memlock of daemon", wanted, read)


def exceeds(bytes_, most):
    return most != resource.RLIM_INFINITY and (bytes_ == resource.RLIM_INFINITY or bytes_ > most)


def may_raise_limits():
    cap_sys_resource = 24
    with open("/proc/self/status") as file:
        return int(re.search(r"^CapEff:\s*(\w+)$", file.read(), re.M).group(1), 16) >> cap_sys_resource & 1 == 1


def login(folder):
    libpam = ctypes.CDLL("libpam.so.0")
    conversation = (ctypes.c_void_p * 2)(None, None)
    handle = ctypes.c_void_p()
    if libpam.pam_start_confdir(b"consumers", b"daemon", conversation, folder.encode(), ctypes.byref(handle)) != 0:
        return "no PAM"
    if libpam.pam_open_session(handle, 0) != 0:
        return "no session"
    return list(resource.getrlimit(resource.RLIMIT_MEMLOCK))


def lines_of_systemd(root, folder):
    """Has systemd read the units of a folder for consumers.target: its lines, each with the unit."""
    os.chmod(root, 0o755)
    out = run(NOBODY + ["/usr/lib/systemd/systemd", "--test", "--system", "--unit=consumers.target"],
              env={"SYSTEMD_UNIT_PATH": folder, "SYSTEMD_LOG_LEVEL": "warning", "HOME": "/"})
    unit = None
    for line in out.splitlines():
        if line.startswith("\t-> Unit "):
            unit = line[len("\t-> Unit "):].rstrip(":")
        yield unit, line


def drop_ins(root, document):
    wanted = {}
    for limit, units in document.memlocks.values():
        for unit in units:
            wanted[unit] = kib(limit)
    if not wanted:
        return None
    folder = f"{root}/units"
    shutil.copytree(f"{root}/etc/systemd/system", folder, dirs_exist_ok=True)
    for target in ("sysinit", "basic", "shutdown"):
        with open(f"{folder}/{target}.target", "w") as file:
            file.write(f"[Unit]\nDescription={target}\n")
    for unit in wanted:
        stem = re.sub(r"@.*\.", "@.", unit)
        with open(f"{folder}/{stem}", "w") as file:
            file.write("[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/true\n")
    with open(f"{folder}/consumers.target", "w") as file:
        file.write("[Unit]\nDefaultDependencies=no\nWants=" + " ".join(wanted) + "\n")
    read = {}
    for unit, line in lines_of_systemd(root, folder):
        found = re.match(r"\t\tLimitMEMLOCK: (\d+)$", line)
        if found and unit in wanted:
            bytes_ = int(found.group(1))
            read[unit] = None if bytes_ == (1 << 64) - 1 else bytes_ // 1024
    return differences("drop-ins: LimitMEMLOCK in KiB", wanted, read)


def nfs_conf(root, document):
    with open(f"{root}/etc/nfs.conf", "w") as file:  # without it nfsconf reads nothing
        file.write("[nfsd]\nrdma=\n")
    read = [run([f"{TOOLS}/usr/sbin/nfsconf", "--file", f"{root}/etc/nfs.conf", "--get", "nfsd", key]).strip() for key in ("rdma", "rdma-port")]
    wanted = ["y", str(document.nfs_port)] if document.nfs_port else ["", ""]
    return differences("nfs.conf", wanted, read)


def mounts(root, document):
    """Mounts as systemd reads them, and those that remote-fs.target starts at boot."""
    if not document.mounts:
        return None
    folder, wanted = f"{root}/mounts", {}
    shutil.copytree(f"{root}/etc/systemd/system", folder, dirs_exist_ok=True)
    for target in ("sysinit", "basic", "shutdown", "umount", "remote-fs", "remote-fs-pre", "network", "network-online", "local-fs", "rdma-configd-online"):
        with open(f"{folder}/{target}.target", "w") as file:
            file.write(f"[Unit]\nDescription={target}\nDefaultDependencies=no\n")
    for mount in document.mounts:
        name = run(["systemd-escape", "--path", "--suffix=mount", "--", mount["path"]]).strip()
        server = f"[{mount['server']}]" if ":" in mount["server"] else mount["server"]
        proto = "rdma6" if ":" in mount["server"] else "rdma"
        options = ["_netdev", f"proto={proto}", f"port={mount['port'] or 20049}"] + (mount["options"] or [])
        wanted[name] = [mount["path"], f"{server}:{mount['export']}", "nfs", ",".join(options), mount["mount"] is not False]
    names = " ".join(wanted)
    with open(f"{folder}/consumers.target", "w") as file:
        file.write(f"[Unit]\nDefaultDependencies=no\nWants=remote-fs.target {names}\n")
    os.chmod(root, 0o755)
    out = run(NOBODY + ["/usr/lib/systemd/systemd", "--test", "--system", "--unit=consumers.target"],
              env={"SYSTEMD_UNIT_PATH": folder, "SYSTEMD_LOG_LEVEL": "warning", "HOME": "/"})
    read, unit, at_boot = {}, None, set()
    for line in out.splitlines():
        if line.startswith("\t-> Unit "):
            unit = line[len("\t-> Unit "):].rstrip(":")
        found = re.match(r"\t\t?(Where|What|File System Type|Options|Wants): (.*)$", line)
        if found and unit in wanted and found.group(1) != "Wants":
            read.setdefault(unit, []).append(found.group(2))
        if found and unit == "remote-fs.target" and found.group(1) == "Wants":
            at_boot.add(found.group(2).split(" ")[0])
    read = {unit: what + [unit in at_boot] for unit, what in read.items()}
    plain = [f"{folder}/{name}" for name in wanted if ":" not in name and "\\" not in name]  # it takes such names for NAME:ALIAS
    said = run(["systemd-analyze", "verify", "--man=no"] + plain, env={"SYSTEMD_UNIT_PATH": folder}) if plain else ""
    return differences("mount units", wanted, read) + [f"systemd-analyze: {line}" for line in said.splitlines()]


def storage_units(root, document):
    """The calls of iscsiadm by the service of iSER sessions, and the drop-ins for the boot as systemd reads them."""
    if not document.sessions and not document.nvme:
        return None
    folder, stubs = f"{root}/storage", f"{root}/stubs"
    shutil.copytree(f"{root}/etc/systemd/system", folder, dirs_exist_ok=True)
    for target in ("sysinit", "basic", "shutdown", "remote-fs", "remote-fs-pre", "network-online", "rdma-configd-online"):
        with open(f"{folder}/{target}.target", "w") as file:
            file.write(f"[Unit]\nDescription={target}\nDefaultDependencies=no\n")
    with open(f"{folder}/nvmf-autoconnect.service", "w") as file:  # as nvme-cli 2.3 has it
        file.write("[Unit]\nConditionPathExists=|/etc/nvme/config.json\nConditionPathExists=|/etc/nvme/discovery.conf\nAfter=network-online.target\n"
                   "DefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=/bin/true\n")
    with open(f"{folder}/consumers.target", "w") as file:
        file.write("[Unit]\nDefaultDependencies=no\nWants=remote-fs.target nvmf-autoconnect.service\n")
    read = {}
    for unit, line in lines_of_systemd(root, folder):
        found = re.match(r"\t+(Wants|After|ConditionPathExists|Command Line): (.*)$", line)
        if found:
            read.setdefault((unit, found.group(1)), []).append(found.group(2) if found.group(1) == "Command Line" else found.group(2).split(" ")[0])
    at_boot = set(read.get(("remote-fs.target", "Wants"), []))
    wanted = {"rdma-configd-online.target"} | ({"iser-sessions.service"} if document.sessions else set())
    result = differences("remote-fs.target wants", wanted, at_boot & (wanted | {"iser-sessions.service"}))
    if document.nvme:
        result += differences("conditions of nvmf-autoconnect.service", ["/etc/nvme/discovery.conf"], read.get(("nvmf-autoconnect.service", "ConditionPathExists")))
        result += differences("it waits for interfaces", True, "rdma-configd-online.target" in read.get(("nvmf-autoconnect.service", "After"), []))
    os.makedirs(stubs)
    with open(f"{stubs}/iscsiadm", "w") as file:  # it knows no record and no interface
        file.write(f'#!/bin/sh\nprintf "%s\\t" "$@" >>{stubs}/log; echo >>{stubs}/log\ncase " $* " in *" -o "* | *" --login "*) exit 0;; esac\nexit 21\n')
    os.chmod(f"{stubs}/iscsiadm", 0o755)
    for command in read.get(("iser-sessions.service", "Command Line"), []):
        words = shlex.split(command.replace("\\$", "$").replace("$$", "$"))
        run(words, env={"PATH": f"{stubs}:/usr/bin:/bin"})
    made, logins = set(), 0
    for line in open(f"{stubs}/log") if os.path.exists(f"{stubs}/log") else []:
        words = line.rstrip("\n").rstrip("\t").split("\t")
        if "new" in words and "-T" in words:
            made.add((words[words.index("-T") + 1], words[words.index("-p") + 1]))
        logins += "--login" in words
    portal = lambda session: (f"[{session['address']}]" if ":" in session["address"] else session["address"]) + f":{session['port'] or 3260},1"
    result += differences("records of iscsiadm", {(session["target"], portal(session)) for session in document.sessions}, made)
    return result + differences("logins of iscsiadm", 1 if document.sessions else 0, logins)


def opensm_conf(root, name, options):
    """The options of a file as OpenSM reads them."""
    out = f"{root}/{name}.out"
    run(["opensm", "-F", f"{root}/etc/opensm/{name}", "--create-config", out])
    read = {}
    with open(out) as file:
        for line in file:
            words = line.rstrip("\n").split(" ", 1)
            if words[0] in options:
                read[words[0]] = words[1]
    return differences(name, {key: str(setting) for key, setting in options.items()}, read)


def opensm_options(root, document):
    return opensm_conf(root, "opensm.conf", document.options)


def opensm_own_options(root, document):
    """Of subnet managers with a file of their own, which has the options of all, too."""
    if not document.managers:
        return None
    return [line for guid, own in document.managers.items() for line in opensm_conf(root, f"opensm-{guid}.conf", {**document.options, **own})]


def partitions(root, document):
    """The P_Key tables that OpenSM gives to the ports of a simulated fabric of two hosts."""
    out = run(["unshare", "-mnp", "--fork", "bash", f"{HERE}/fabric.sh", root])
    read = {}
    for guid, keys in re.findall(r"^port 0x([0-9a-f]+):(.*)$", out, re.M):
        read[int(guid, 16)] = {int(key, 16) for key in keys.split()} - {0}
    ports = {0x100001: True, 0x100004: False}  # the first is where OpenSM runs
    if set(read) != set(ports):
        return [f"partitions.conf: the fabric did not come up: {out[-400:]}"]
    complaints = re.findall(r"^log: (.*)$", out, re.M)
    wanted = {guid: set() for guid in ports}
    for partition in document.partitions:
        for guid, is_self in ports.items():
            best = None
            for member in partition["members"]:
                who, _, membership = member.partition("=")
                if who in ("ALL", "ALL_CAS") or (who == "SELF" and is_self) or (who.startswith("0x") and int(who, 16) == guid):
                    full = (membership or partition["defmember"] or "limited") == "full"
                    best = full if best is None else best or full
            if best is not None:
                wanted[guid].add(partition["pkey"] & 0x7fff | (0x8000 if best else 0))
    if not document.partitions:
        wanted = {guid: {0xffff} for guid in ports}  # OpenSM's own default
    for guid in ports:
        if not any(key & 0x7fff == 0x7fff for key in wanted[guid]):
            read[guid] -= {0x7fff, 0xffff}  # OpenSM makes every port a limited member, and itself a full one
    return differences("partitions.conf", wanted, read) + complaints


def settings_of(family):
    out = {"addresses": [], "gateway": None, "dns": [], "search": [], "routes": []}
    if family:
        out.update({key: setting for key, setting in family.items() if setting})
    return out


def canonical(address):
    return str(ipaddress.ip_interface(address)) if "/" in address else str(ipaddress.ip_address(address))


def network_manager(root, document):
    import gi
    gi.require_version("NM", "1.0")
    from gi.repository import GLib, NM
    out = []
    folder = f"{root}/etc/NetworkManager/system-connections"
    profiles = {}
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        keyfile = GLib.KeyFile()
        keyfile.load_from_file(f"{folder}/{name}", GLib.KeyFileFlags.NONE)
        warnings = []

        def handler(_keyfile, _connection, _kind, handled, *_rest):
            if isinstance(handled, NM.KeyfileHandlerData):
                found = handled.warn_get()
                warnings.append(found[0] if isinstance(found, (tuple, list)) else str(found))
            return True

        try:
            profile = NM.keyfile_read(keyfile, folder, NM.KeyfileHandlerFlags.NONE, handler, None)
            profile.verify()
        except GLib.Error as error:
            out.append(f"{name}: NetworkManager refuses it: {error.message}")
            continue
        out += [f"{name}: NetworkManager warns: {warning}" for warning in warnings]
        profiles[profile.get_id()] = profile
    wanted = {}
    for port in document.ports:
        if port["backend"] != "networkmanager":
            continue
        wanted[port["name"]] = (port, None)
        for pkey in port["children"]:
            wanted[f"{port['name']}.{pkey:04x}"] = (port, pkey)
    out += differences("profiles", set(wanted), set(profiles))
    for name in set(wanted) & set(profiles):
        port, pkey = wanted[name]
        profile = profiles[name]
        infiniband = profile.get_setting_infiniband()
        if pkey is None:
            mac = infiniband.get_mac_address()
            out += differences(f"{name} port", port["guid"], mac[-23:].lower())
            out += differences(f"{name} mode", port["mode"], infiniband.get_transport_mode())
            out += differences(f"{name} mtu", port["mtu"] or 0, infiniband.get_mtu())
            for family in ("ipv4", "ipv6"):
                setting = profile.get_setting_ip4_config() if family == "ipv4" else profile.get_setting_ip6_config()
                out += family_differences(f"{name} {family}", settings_of(port[family]), setting)
        else:
            out += differences(f"{name} P_Key", pkey, infiniband.get_p_key())
            out += differences(f"{name} parent", port["name"], infiniband.get_parent())
    return out


def family_differences(what, wanted, setting):
    count = lambda n, get: [get(at) for at in range(n)]
    addresses = [f"{address.get_address()}/{address.get_prefix()}" for address in count(setting.get_num_addresses(), setting.get_address)]
    routes = []
    for route in count(setting.get_num_routes(), setting.get_route):
        table = route.get_attribute("table")
        metric = route.get_metric()
        routes.append((f"{route.get_dest()}/{route.get_prefix()}", route.get_next_hop(), None if metric == -1 else metric,
                       table.get_uint32() if table else None))
    out = differences(what + " addresses", [canonical(address) for address in wanted["addresses"]], addresses)
    out += differences(what + " gateway", wanted["gateway"] and canonical(wanted["gateway"]), setting.get_gateway())
    out += differences(what + " dns", [canonical(address) for address in wanted["dns"]], count(setting.get_num_dns(), setting.get_dns))
    out += differences(what + " search", list(wanted["search"]), count(setting.get_num_dns_searches(), setting.get_dns_search))
    out += differences(what + " routes", [(network(route["to"]), canonical(route["via"]), route["metric"], route["table"]) for route in wanted["routes"]], routes)
    return out


def udev(root, document):
    """The result of an add event of each port's interface, and of another port's."""
    out = []
    for port in document.ports + [{"guid": "00:02:c9:03:00:31:79:00", "name": None}]:
        text = run(["unshare", "-mn", "bash", f"{HERE}/event.sh", root, port["guid"]])
        read = list(dict.fromkeys(re.findall(r"NAME '([^']*)'", text)))
        out += differences(f"udev: names of {port['guid']}", [port["name"]] if port["name"] else [], read)
        backend = re.findall(r"^RDMA_CONFIGD_BACKEND=(.*)$", text, re.M)
        out += differences(f"udev: backend of {port['guid']}", [port["backend"]] if port["name"] else [], backend)
        out += [f"udev: {line}" for line in text.splitlines() if re.search(r"rdma-configd.*:\d+ .*(Invalid|Unknown|Failed|ignor)", line)]
    return out


def networkd(root, document):
    """The settings by systemd-networkd on an interface that has udev's properties of the port."""
    if not any(port["backend"] == "networkd" for port in document.ports):
        return None
    out = []
    for port in document.ports:
        if port["backend"] != "networkd":
            continue
        name = port["guid"]
        read = run(["unshare", "-mnp", "--fork", "bash", f"{HERE}/interface.sh", root, port["guid"]])
        try:
            found = json.loads(read[read.index("{"):])
        except ValueError:
            return [f"{name}: systemd-networkd said: {read[-400:]}"]
        four, six = settings_of(port["ipv4"]), settings_of(port["ipv6"])
        addresses = {canonical(address) for address in four["addresses"] + six["addresses"]}
        out += differences(f"networkd {name} addresses", addresses,
                           {address for address in found["addresses"] if not address.startswith("fe80:")})
        out += differences(f"networkd {name} dns", {canonical(address) for address in four["dns"] + six["dns"]}, set(found["dns"]))
        out += differences(f"networkd {name} search", set(four["search"] + six["search"]), set(found["domains"]))
        wanted = set()
        for family in (four, six):
            if family["gateway"]:
                wanted.add(("default", canonical(family["gateway"]), 150, 254))
            for route in family["routes"]:
                wanted.add((network(route["to"]), canonical(route["via"]), route["metric"] or 150, route["table"] or 254))
        out += differences(f"networkd {name} routes", wanted, {tuple(route) for route in found["routes"]})
        out += [f"networkd: {line}" for line in read.splitlines() if "09-rdma-configd" in line and not line.startswith("{")]
    return out


# Each with the number of documents of which it gets one: some take seconds.
ALL = [(kmod, 1), (modules_load, 1), (sysctl, 1), (sysusers, 1), (pam_limits, 1), (network_manager, 1), (opensm_options, 2), (opensm_own_options, 2),
       (drop_ins, 2), (nfs_conf, 1), (mounts, 2), (storage_units, 2), (udev, 5), (networkd, 5), (partitions, 20)]
