// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_connection_parse.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/nvme/nvme_connection.hpp"
#include "kinds/storage/target_entry.hpp"

namespace rdmacfg::kinds {

using model::Diagnostics;

namespace {

constexpr std::int64_t kNvmeDiscoveryPort = 4420;  // get_default_trsvcid() of nvme-cli: RDMA has no other

/// Options of a connection in their order, with the ranges of nvmf_parse_options()
/// (drivers/nvme/host/fabrics.c).
struct ConnectOption {
  std::string_view key, option;
  std::int64_t least, most;
};
constexpr std::array kConnectOptions{
    ConnectOption{"nr_io_queues", "--nr-io-queues", 1, 65535},
    ConnectOption{"queue_size", "--queue-size", 16, 1024},
    ConnectOption{"keep_alive_tmo", "--keep-alive-tmo", 1, 65535},
    ConnectOption{"reconnect_delay", "--reconnect-delay", 1, 65535},
    ConnectOption{"ctrl_loss_tmo", "--ctrl-loss-tmo", -1, std::numeric_limits<std::int32_t>::max()}};

void check_host_address(const model::Section& section, const model::Entry& entry, std::string_view key,
                        Diagnostics& diagnostics) {
  const auto text = model::text_of(entry.value);
  const auto address = model::IpAddress::parse(text);
  if (!address) return;
  const bool scoped = address->family == model::Family::kIpv6 && address->link_local();
  if (!address->multicast() && !address->unspecified() && !scoped) return;
  report_entry_error(section, entry.where, key, fmt::format("\"{}\" is not an address of a host", text),
                     scoped ? "a link-local address is ambiguous without an interface" : "", diagnostics);
}

/// rdma_resolve_addr() refuses a source of the other family (drivers/infiniband/core/cma.c).
void check_same_family(const model::Section& section, std::string_view target, const model::Entry& host,
                       Diagnostics& diagnostics) {
  const auto to = model::IpAddress::parse(target);
  const auto from = model::IpAddress::parse(model::text_of(host.value));
  if (!to || !from || to->family == from->family) return;
  report_entry_error(section, host.where, "host_address",
                     fmt::format("{} is an {} address, and the target has an {} address", from->text(),
                                 model::text_of(from->family), model::text_of(to->family)),
                     "write an address of this host in the target's network, or leave it out", diagnostics);
}

void check_subsystems(const model::Section& section, Diagnostics& diagnostics) {
  const auto* named = section.find("subsystems");
  const auto* list = named == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&named->value);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (const auto nqn = model::Nqn::parse((*list)[i]); !nqn)
      report_entry_error(section, named->place_of(i), "subsystems", nqn.error().message, "", diagnostics);
  }
}

}  // namespace

std::string nvme_line_of(const model::Section& section, const std::string& address,
                         Diagnostics& diagnostics) {
  const auto entry = model::from_attributes<NvmeConnection>(section.attributes());
  if (const auto* own = section.find("address")) check_host_address(section, *own, "address", diagnostics);
  check_subsystems(section, diagnostics);
  std::string options;
  if (const auto* host = section.find("host_address")) {
    check_host_address(section, *host, "host_address", diagnostics);
    check_same_family(section, address, *host, diagnostics);
    options += " --host-traddr=" + model::text_of(host->value);
  }
  for (const auto& [key, option, least, most] : kConnectOptions) {
    const auto* given = section.find(key);
    if (given == nullptr) continue;
    const auto* number = std::get_if<std::int64_t>(&given->value);
    if (number == nullptr) continue;  // reported already, by the grammar
    if (const auto why = why_out_of_range(*number, least, most); !why.empty()) {
      report_entry_error(section, given->where, key, why, "", diagnostics);
      continue;
    }
    options += fmt::format(" {}={}", option, *number);
  }
  std::vector<std::string> lines;
  for (const auto port : entry.port ? entry.port->numbers : std::vector<std::int64_t>{kNvmeDiscoveryPort}) {
    lines.push_back(fmt::format("--transport=rdma --traddr={} --trsvcid={}{}", address, port, options));
  }
  return base::join(lines, "\n");
}

}  // namespace rdmacfg::kinds
