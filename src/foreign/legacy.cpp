// SPDX-License-Identifier: Apache-2.0
// What OFED and RHEL had for the whole host: openib.conf, rdma.conf (rdma-core's redhat/), mlx4.conf.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

struct Load {
  std::string_view key;
  std::string_view module;  ///< empty: the hardware's own driver, which comes by itself
};

constexpr std::array<Load, 24> kLoads{{{"IPOIB_LOAD", "ib_ipoib"},
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
                                       {"MTHCA_LOAD", ""},
                                       {"QIB_LOAD", ""},
                                       {"IPATH_LOAD", ""},
                                       {"EHCA_LOAD", ""},
                                       {"CXGB3_LOAD", ""},
                                       {"CXGB4_LOAD", ""},
                                       {"NES_LOAD", ""},
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

}  // namespace

void parse_openib(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    Keys keys(file.path, parse_assignments(file, claims), claims);
    take_loads(keys, claims);
    const auto mtu = keys.number("IPOIB_MTU", model::kMtuConnectedMax);
    if (const auto mode = keys.take("SET_IPOIB_CM"); mode && base::lower(mode->value) != "auto") {
      const auto connected = yes_or_no(mode->value);
      if (!connected) {
        keys.wrong(*mode, fmt::format("{} is none of yes, no and auto", mode->value));
      } else {
        auto& defaults = claims.entry("defaults.ipoib", {}, keys.place(*mode));
        defaults.values["mode"] = std::string(*connected ? "connected" : "datagram");
        // The script sets that MTU together with connected mode only.
        if (*connected && mtu) defaults.values["mtu"] = *mtu;
      }
    }
    keys.pass({"ONBOOT", "NODE_DESC", "NODE_DESC_TIME_BEFORE_UPDATE", "RENICE_IB_MAD", "RUN_SYSCTL",
               "RUN_AFFINITY_TUNER", "RUN_MLNX_TUNE", "BUILD_ID", "IPOIBHA_ENABLE", "PRIMARY_IPOIB_DEV",
               "SECONDARY_IPOIB_DEV"});
    keys.finish();
  }
}

void parse_rdma_conf(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    Keys keys(file.path, parse_assignments(file, claims), claims);
    // The script loads IPoIB with RDS, and RDS itself.
    if (yes_or_no(keys.peek("RDS_LOAD")) == true) {
      claims.entry("module", {{"name", std::string("ib_ipoib")}}, {file.path, 0});
      claims.entry("module", {{"name", std::string("rds")}}, {file.path, 0});
    }
    take_loads(keys, claims);
    keys.pass({"TECH_PREVIEW_LOAD", "FIXUP_MTRR_REGS", "ARPTABLE_TUNING"});
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
        claims.pass(entry.where, fmt::format("{}: a later line says it again", pci->text));
      entry.where = where;
      entry.values["ports"] = ports;
    }
  }
}

}  // namespace rdmacfg::foreign
