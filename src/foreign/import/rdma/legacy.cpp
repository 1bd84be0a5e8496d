// SPDX-License-Identifier: Apache-2.0
// The files of OFED and RHEL for the whole host: openib.conf, rdma.conf (rdma-core's redhat/), mlx4.conf.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/rdma/interface_users.hpp"
#include "foreign/import/rdma/lustre.hpp"
#include "foreign/import/rdma/nfs_mounts.hpp"
#include "foreign/keys.hpp"
#include "formats/storage/iser_unit.hpp"
#include "formats/storage/nfs_conf.hpp"

namespace rdmacfg::foreign {

namespace {

struct Load {
  std::string_view key;
  std::string_view module;  ///< empty: the hardware's own driver, which comes by itself
};

constexpr std::array<Load, 21> kLoads{{{"IPOIB_LOAD", "ib_ipoib"},
                                       {"SRP_TARGET_LOAD", "ib_srpt"},
                                       {"ISER_TARGET_LOAD", "ib_isert"},
                                       {"CXGB4_LOAD", ""},
                                       {"BNXT_RE_LOAD", ""},
                                       {"SRP_LOAD", "ib_srp"},
                                       {"SRPT_LOAD", "ib_srpt"},
                                       {"ISER_LOAD", "ib_iser"},
                                       {"ISERT_LOAD", "ib_isert"},
                                       {"RDS_LOAD", "rds_rdma"},
                                       // Both have been one module since Linux 4.0.
                                       {"XPRTRDMA_LOAD", "rpcrdma"},
                                       {"SVCRDMA_LOAD", "rpcrdma"},
                                       {"RDMA_CM_LOAD", "rdma_cm"},
                                       {"RDMA_UCM_LOAD", "rdma_ucm"},
                                       {"UMAD_LOAD", "ib_umad"},
                                       {"UVERBS_LOAD", "ib_uverbs"},
                                       {"MLX4_LOAD", ""},
                                       {"MLX4_EN_LOAD", ""},
                                       {"MLX5_LOAD", ""},
                                       {"OCRDMA_LOAD", ""},
                                       {"HFI1_LOAD", ""}}};

void take_loads(Keys& keys, Claims& claims) {
  for (const auto& load : kLoads) {
    const auto item = keys.take(load.key);
    if (!item) continue;
    const auto yes = yes_or_no(item->value);
    if (!yes) {
      keys.wrong(*item, fmt::format("{} is neither yes nor no", item->value));
    } else if (*yes && !load.module.empty()) {
      claims.entry("module", {{"name", std::string(load.module)}}, keys.place(*item));
    }
  }
}

/// Switches of openib.conf for what Linux does not have any more, or never had: they load nothing.
constexpr auto kGone = std::to_array<std::string_view>(
    {"UCM_LOAD",       "SDP_LOAD",       "E_IPOIB_LOAD", "EIPOIB_LOAD", "SRPHA_ENABLE", "VNIC_LOAD",
     "QLGC_VNIC_LOAD", "MLX4_VNIC_LOAD", "MLX4_FC_LOAD", "CXGB3_LOAD",  "NES_LOAD",     "AMSO1100_LOAD",
     "IPATH_LOAD",     "EHCA_LOAD",      "DAPL_LOAD",    "CM_LOAD",     "MADEYE_LOAD",  "KDAPL_LOAD",
     "MLX5_FPGA_LOAD", "MTHCA_LOAD",     "QIB_LOAD"});

/// Switches that start something else than a module: nothing is lost while they are off.
struct UnimportedKey {
  std::string_view key;
  std::string_view why;
};
constexpr auto kUnimportedKeys = std::to_array<UnimportedKey>({
    {"SRP_DAEMON_ENABLE", "write [[service]] name = \"srp_daemon.service\""},
    {"RUN_SYSCTL", "the kernel settings of openibd's script are not read; write [[sysctl]]"},
    {"RUN_AFFINITY_TUNER", "the document does not support interrupt affinities"},
    {"RUN_MLNX_TUNE", "the document does not support tuning profiles"},
    {"RENICE_IB_MAD", "the document does not support priorities of kernel threads"},
    {"IPOIBHA_ENABLE", "the document does not support failover between interfaces"},
    {"OPENSMD_LOAD", "write [[opensm]]"},
    {"FORCE_MODE", "the document does not support such a switch"},
    {"FIXUP_MTRR_REGS", "the document does not support MTRR registers"},
    {"ARPTABLE_TUNING",
     "the script raises net.ipv4.neigh.default.gc_thresh1 to gc_thresh3 with the size of the "
     "fabric; write [[sysctl]] with the values that /proc/sys has now"},
    {"TECH_PREVIEW_LOAD", "the script decides which modules this loads; write [[module]]"},
    {"NFSoRDMA_LOAD", "write [nfs_server] with its rdma_port"},
});

void take_acts(Keys& keys) {
  for (const auto& act : kUnimportedKeys) {
    const auto item = keys.take(act.key);
    if (item && yes_or_no(item->value) != false)
      keys.wrong(*item, fmt::format("{}: {}", item->value, act.why));
  }
  keys.pass(kGone);
  // A switch that is off starts nothing, whatever it is for.
  for (const auto& key : keys.left()) {
    const bool off = yes_or_no(keys.peek(key)) == false;
    const bool is_switch = key.ends_with("_LOAD") || key.ends_with("_ENABLE") || key == "CX3_ETH_ONLY" ||
                           key == "SET_IPOIB_CHANNELS";
    if (off && is_switch) keys.pass({key});
  }
}

/// Files that the document has no words for, or that it does not read: they stay in force.
struct UnimportedFile {
  std::string_view name;
  std::string_view why;
};
constexpr auto kUnimportedFiles = std::to_array<UnimportedFile>({
    {"sriov-vfs", "the document does not support virtual functions; keep this file"},
    {"srp_daemon.conf", "`rdma-configctl import srp` reads its rules"},
    {"ibacm_opts.cfg", "the document does not support options of ibacm; keep this file"},
    {"ibacm_addr.cfg", "the document does not support addresses of ibacm; keep this file"},
});

/// Files of nfs.conf(5), which may have any name.
bool is_of_nfs(const File& file) { return file.path.find("/nfs.conf.d/") != std::string::npos; }

/// Whether it is one of kUnimportedFiles, which is said where it has a line that is not a comment.
bool is_kept(const File& file, Claims& claims) {
  if (is_of_nfs(file)) return false;
  const auto name = file.path.substr(file.path.rfind('/') + 1);
  const auto* at = std::find_if(kUnimportedFiles.begin(), kUnimportedFiles.end(),
                                [&](const UnimportedFile& unimported) { return unimported.name == name; });
  if (at == kUnimportedFiles.end()) return false;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.empty() || line.front() == '#') continue;
    claims.pass({file.path, number}, std::string(at->why));
    break;
  }
  return true;
}

/// The server of NFS (nfs.conf(5)). Newer nfs-utils come with rdma=y, on hosts without a server, too.
void tell_server(const File& file, Claims& claims) {
  std::string_view section;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto line = base::trim(raw.substr(0, raw.find_first_of("#;")));
    if (line.starts_with('[')) section = base::trim(line.substr(1, line.find(']') - 1));
    const auto equals = line.find('=');
    if (section != "nfsd" || equals == std::string_view::npos || base::trim(line.substr(0, equals)) != "rdma")
      continue;
    const auto value = base::lower(base::trim(line.substr(equals + 1)));
    if (!value.empty() && value != "n" && yes_or_no(value) != false)
      claims.pass({file.path, number},
                  "if this host serves NFS over RDMA, write [nfs_server]; until then keep this line");
  }
}

/// Records of open-iscsi for a target, a portal and an interface, which it keeps in these folders.
bool is_of_iscsi(const File& file) { return file.path.find("/iscsi/nodes/") != std::string::npos; }

/// Sessions over iSER. Records of TCP and of our own sessions do not matter.
void tell_session(const File& file, Claims& claims) {
  if (file.path.ends_with(fmt::format("/{}", kinds::kIserInterface))) return;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto equals = raw.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = base::trim(raw.substr(0, equals));
    const bool transport = key == "iface.transport_name" || key == "node.transport_name";
    if (!transport || base::trim(raw.substr(equals + 1)) != "iser") continue;
    return claims.pass({file.path, number}, "write [[iser_session]]; until then keep this record");
  }
}

/// Whether it is a file of storage, of which only what is over RDMA is said.
bool is_of_storage(const File& file, Claims& claims) {
  const auto name = file.path.substr(file.path.rfind('/') + 1);
  if (is_of_iscsi(file)) {
    tell_session(file, claims);
  } else if (name == "nfs.conf" || is_of_nfs(file)) {
    tell_server(file, claims);
  } else if (name == "fstab") {
    tell_fstab(file, claims);
  } else if (name.ends_with(".mount")) {
    tell_mount_unit(file, claims);
  } else if (name.starts_with("auto.")) {
    tell_automounts(file, claims);
  } else if (name == "lnet.conf") {
    tell_lnet_conf(file, claims);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void parse_openib(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    Keys keys(file.path, parse_assignments(file), claims);
    take_loads(keys, claims);
    const auto mtu = keys.number("IPOIB_MTU", model::kMtuConnectedMax);
    if (const auto mode = keys.take("SET_IPOIB_CM"); mode && base::lower(mode->value) != "auto") {
      const auto connected = yes_or_no(mode->value);
      if (!connected) {
        keys.wrong(*mode, fmt::format("{} is not yes, no or auto", mode->value));
      } else {
        auto& defaults = claims.entry("defaults.ipoib", {}, keys.place(*mode));
        defaults.values["mode"] = std::string(*connected ? "connected" : "datagram");
        // The script sets that MTU together with connected mode only.
        if (*connected && mtu) defaults.values["mtu"] = *mtu;
      }
    }
    take_acts(keys);
    // The time at which openibd starts, and the node's description: rdma-ndd does that today.
    keys.pass({"ONBOOT", "UNLOAD_ON_SHUTDOWN", "NODE_DESC", "NODE_DESC_TIME_BEFORE_UPDATE",
               "NODE_DESC_UPDATE_TIMEOUT", "BUILD_ID", "PRIMARY_IPOIB_DEV", "SECONDARY_IPOIB_DEV",
               "POST_START_DELAY", "ALLOW_STOP", "SRP_DAEMON_*"});
    keys.finish();
  }
}

void parse_rdma_conf(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    if (file.path == kinds::kNfsServerFile) continue;
    if (tell_interface_users(file, files, claims) || is_of_storage(file, claims) || is_kept(file, claims))
      continue;
    Keys keys(file.path, parse_assignments(file), claims);
    // The script loads IPoIB with RDS, and RDS itself.
    if (yes_or_no(keys.peek("RDS_LOAD")) == true) {
      claims.entry("module", {{"name", std::string("ib_ipoib")}}, keys.where("RDS_LOAD"));
      claims.entry("module", {{"name", std::string("rds")}}, keys.where("RDS_LOAD"));
    }
    take_loads(keys, claims);
    // The port of a server that is not started, or that is named with its switch, is nothing more to say.
    if (keys.has("NFSoRDMA_LOAD")) keys.pass({"NFSoRDMA_PORT"});
    take_acts(keys);
    keys.finish();
  }
}

void parse_mlx4_conf(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const Place where{file.path, number};
      const auto words = words_of(raw.substr(0, raw.find('#')));
      if (words.empty()) continue;
      const auto pci = model::PciAddress::parse(words.front());
      if (!pci || words.size() < 2 || words.size() > 3) {
        claims.miss(where, "is not \"PCI-ADDRESS TYPE [TYPE]\"");
        continue;
      }
      std::vector<std::string> ports;
      bool known = true;
      for (std::size_t at = 1; at < words.size(); ++at) {
        ports.push_back(base::lower(words[at]));
        known = known && (ports.back() == "ib" || ports.back() == "eth" || ports.back() == "auto");
      }
      if (!known) {
        claims.miss(where, "a port type is ib, eth or auto");
        continue;
      }
      claims.took(where);
      auto& entry = claims.entry("mlx4_port", {{"pci", pci->text}}, where);
      if (entry.values.contains("ports"))
        claims.pass(entry.where, fmt::format("{}: overridden by a later line", pci->text));
      entry.where = where;
      entry.values["ports"] = ports;
    }
  }
}

}  // namespace rdmacfg::foreign
