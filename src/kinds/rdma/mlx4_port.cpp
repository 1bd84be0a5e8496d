// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/mlx4_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "kinds/rdma/mlx4_file.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Observed;
using model::PortTypes;
using model::Severity;

namespace {

constexpr std::string_view kMlx4PortKind = "mlx4_port";
constexpr auto kMlx4Competitors = std::to_array<std::string_view>({"openibd"});
constexpr auto kReturnTime = std::chrono::seconds(5);  // of the adapter; it takes a fraction of a second
constexpr auto kPoll = std::chrono::milliseconds(50);

/// "auto (ib)" is the type auto, which found InfiniBand.
PortTypes set_types(const system::Mlx4Device& device) {
  PortTypes out;
  for (const auto& type : device.types) out.list.push_back(type.substr(0, type.find(' ')));
  return out;
}

bool has_rdma_device(const std::string& pci, system::Host& host) {
  const auto devices = host.rdma.observe_devices();
  return devices &&
         std::any_of(devices->begin(), devices->end(), [&](const auto& device) { return device.pci == pci; });
}

std::optional<std::string> port_types_after(std::span<const Desired> desired,
                                            std::span<const Observed> /*observed*/) {
  Mlx4Lines lines;
  for (const auto& resource : desired) {
    if (resource.key.kind != kMlx4PortKind) continue;
    if (const auto line = model::from_attributes<Mlx4PortTypes>(resource.settings).at_boot)
      lines[resource.key.id] = *line;
  }
  return lines.empty() ? std::nullopt : std::optional(render_mlx4_lines(lines));
}

constexpr std::array kMlx4Files{OwnedFile{.path = kMlx4File,
                                          .what = "Port types of mlx4 adapters.",
                                          .extent = OwnedFile::Extent::kBlock,
                                          .marks = &kMlx4Marks,
                                          .text_after = port_types_after}};

class Mlx4PortKind final : public Kind {
 public:
  Mlx4PortKind()
      : Kind({.name = kMlx4PortKind,
              .fields = model::specs<Mlx4PortTypes>(),
              .traits = {.works_offline = true, .listed_when_foreign = false},
              .files = kMlx4Files,
              .lost_after_withdraw = "port types of mlx4 adapters where no libmlx4 reads /etc/rdma/mlx4.conf",
              .competitors = kMlx4Competitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kMlx4PortKind)) {
      const auto* pci = section->find("pci");
      if (pci == nullptr) continue;
      const auto id = model::text_of(pci->value);
      auto desired = desired_of(*section, fields(), {std::string(kMlx4PortKind), id}, "port types of " + id);
      const auto* ports = section->find("ports");
      if (ports == nullptr) {
        diagnostics.push_back(Diagnostic{Severity::kError,
                                         section->where,
                                         "[[mlx4_port]]: ports is missing",
                                         "write ports = [\"ib\", \"eth\"]",
                                         {},
                                         model::Topic::kMissingKey});
        continue;
      }
      const auto types = model::from_attributes<Mlx4PortTypes>(desired.settings).ports.value_or(PortTypes{});
      if (types.list.size() == 2 && types.list[0] == "eth" && types.list[1] != "eth") {
        diagnostics.push_back(Diagnostic{Severity::kError,
                                         ports->where,
                                         "[[mlx4_port]] ports: port 1 can be eth only where port 2 is eth",
                                         "write [\"eth\", \"eth\"], or exchange the two ports",
                                         {}});
      }
      desired.settings["at_boot"] = ports->value;
      desired.origins.emplace("at_boot", ports->where);
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    const auto file = Mlx4File::read(host.files);
    if (!file) return base::fail(file.error());
    std::map<std::string, Mlx4PortTypes> found;
    std::map<std::string, std::vector<std::string>> now;
    if (!file->damage) {  // else check() says so; our lines are not known
      for (const auto& line : file->lines) found[line.first].at_boot = file->in_force(line.first);
    }
    if (!world.offline()) {
      auto devices = host.mlx4_ports.observe_mlx4();
      if (!devices) return base::fail(devices.error());
      for (const auto& device : *devices) {
        found[device.pci].ports = set_types(device);
        now[device.pci] = device.types;
      }
    }
    std::vector<Observed> out;
    for (const auto& [pci, settings] : found) {
      Observed observed;
      observed.key = {std::string(kMlx4PortKind), pci};
      observed.label = "port types of " + pci;
      observed.settings = model::to_attributes(settings);
      if (const auto at = now.find(pci); at != now.end()) {
        Mlx4PortTypes facts;
        facts.now = at->second;
        observed.facts = model::to_attributes(facts);
      }
      observed.ours_by_nature = settings.at_boot.has_value();
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    const auto file = Mlx4File::read(world.host().files);
    if (file)
      report_damage(file->damage, kMlx4File, kMlx4PortKind, desired, our_lines(file->lines), diagnostics);
    const auto foreign = foreign_lines(world.host().files);
    const auto now = model::by_key(observed);
    for (auto& resource : desired) {
      if (resource.key.kind != kMlx4PortKind) continue;
      warn_foreign(resource, foreign, diagnostics);
      warn_of_ofed(resource, world.host().files, diagnostics);
      const auto at = now.find(resource.key);
      if (at == now.end() || !at->second->settings.contains("ports")) {
        resource.settings.erase("ports");
        if (!world.offline())
          resource.pending = fmt::format("no ConnectX-3 adapter at {} now", resource.key.id);
        continue;
      }
      const auto wanted = model::from_attributes<Mlx4PortTypes>(resource.settings).ports;
      const auto there = model::from_attributes<Mlx4PortTypes>(at->second->settings).ports;
      if (wanted && there && wanted->list.size() != there->list.size()) {
        diagnostics.push_back(Diagnostic{
            Severity::kError,
            resource.origins.at("ports"),
            fmt::format("[[mlx4_port]] ports: {} has {} port{}, not {}", resource.key.id, there->list.size(),
                        there->list.size() == 1 ? "" : "s", wanted->list.size()),
            "write one type for each",
            {}});
      } else if (wanted && there && *wanted != *there) {
        check_fixed(resource, *there, world, diagnostics);
      }
    }
    if (file)
      hold_damaged(file->damage, std::string(kMlx4File), kMlx4PortKind, our_lines(file->lines), desired);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    std::map<std::string, std::string> devices;  // the last of an adapter
    for (const auto& device : world.snapshot().devices)
      devices.insert_or_assign(device.pci, " " + device.name);
    for (auto* change : changes) {
      const auto wanted = model::from_attributes<Mlx4PortTypes>(change->after).ports;
      const auto before = model::from_attributes<Mlx4PortTypes>(change->before).ports;
      if (!wanted || wanted == before) continue;
      const auto at = devices.find(change->key.id);
      const auto device = at == devices.end() ? std::string() : at->second;
      change->interrupts.push_back(
          fmt::format("the whole RDMA device{} is removed and added again: all interfaces of both ports go "
                      "down and lose their addresses and P_Key interfaces",
                      device));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto file = Mlx4File::read(host.files);
    if (!file) return base::fail(file.error());
    const auto before = file->lines;
    for (const auto& change : changes) {
      if (const auto line = model::from_attributes<Mlx4PortTypes>(change.after).at_boot) {
        file->lines[change.key.id] = *line;
      } else {
        file->lines.erase(change.key.id);
      }
    }
    if (file->damage && file->lines != before) return base::fail(error_of(*file->damage, kMlx4File));
    if (file->lines.size() < before.size() && has_rdma_in_image(host)) {
      const auto remains = file->lines.empty() ? OptionsFile::kGoes : OptionsFile::kStays;
      if (auto done = note_dropped_options(host, kMlx4File, remains); !done) return done;
    }
    if (!file->damage) {
      const auto write = [&] { return file->write(host.files); };
      if (auto done = write_for_image(host, write); !done) return done;
    }
    if (host.offline) return {};
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<Mlx4PortTypes>(change.after).ports;
      if (!wanted) continue;
      if (auto done = reach(change.key.id, *wanted, host); !done) return done;
    }
    return {};
  }

  /// Giving the types back would interrupt more than it mends.
  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return field != "ports";
  }

 private:
  /// With SR-IOV the driver fixes the types when it is loaded, for the physical function as well
  /// (mlx4_init_port_info() in drivers/net/ethernet/mellanox/mlx4/main.c).
  static void check_fixed(const Desired& desired, const PortTypes& there, World& world,
                          Diagnostics& diagnostics) {
    const auto devices = world.host().mlx4_ports.observe_mlx4();
    if (!devices) return;  // observe() has failed for it
    const bool fixed = std::any_of(devices->begin(), devices->end(), [&](const auto& device) {
      return device.pci == desired.key.id && device.fixed;
    });
    if (!fixed) return;
    diagnostics.push_back(Diagnostic{
        Severity::kError,
        desired.origins.at("ports"),
        fmt::format(
            "[[mlx4_port]] ports: {} has SR-IOV enabled, and its driver then accepts only the port types {}",
            desired.key.id, base::join(there.list, ", ")),
        "load mlx4_core without num_vfs, or with port_type_array: a [[module]] entry sets options; for a "
        "virtual function, set them on the host",
        {}});
  }

  /// Numbers of the lines of others, by PCI address; ours come last, and so have the last word.
  static std::map<std::string, std::vector<int>> foreign_lines(system::Files& files) {
    std::map<std::string, std::vector<int>> out;
    const auto text = files.read(std::string(kMlx4File));
    if (!text || !*text) return out;
    const auto marked = parse_marked(**text, kMlx4Marks);
    for (const auto& [line, number, ours] : marked.lines) {
      if (const auto found = ours ? std::nullopt : parse_mlx4_line(line)) out[found->first].push_back(number);
    }
    return out;
  }

  static void warn_foreign(const Desired& desired, const std::map<std::string, std::vector<int>>& foreign,
                           Diagnostics& diagnostics) {
    const auto at = foreign.find(desired.key.id);
    if (at == foreign.end()) return;
    for (const auto number : at->second) {
      diagnostics.push_back(Diagnostic{
          Severity::kWarning,
          desired.origins.at("ports"),
          fmt::format("[[mlx4_port]] ports: {}:{} has a line for {} too", kMlx4File, number, desired.key.id),
          "remove it there; our line follows it",
          {}});
    }
  }

  /// MLNX_OFED's openibd sets the types of its own file (connectx_port_config).
  static void warn_of_ofed(const Desired& desired, system::Files& files, Diagnostics& diagnostics) {
    constexpr std::string_view kOfedFile = "/etc/infiniband/connectx.conf";
    const auto wanted = model::from_attributes<Mlx4PortTypes>(desired.settings).ports;
    const auto text = files.read_linked(std::string(kOfedFile));
    if (!wanted || !text || !*text) return;
    int number = 0;
    for (const auto line : base::split(**text, '\n')) {
      ++number;
      const auto found = parse_mlx4_line(line);
      if (!found || found->first != desired.key.id || found->second == *wanted) continue;
      diagnostics.push_back(Diagnostic{Severity::kWarning,
                                       desired.origins.at("ports"),
                                       fmt::format("[[mlx4_port]] ports: {}:{} makes openibd set {}",
                                                   kOfedFile, number, base::join(found->second.list, ", ")),
                                       "openibd does so at each start: write the same types there",
                                       {}});
    }
  }

  static Result<void> reach(const std::string& pci, const PortTypes& wanted, system::Host& host) {
    const auto devices = host.mlx4_ports.observe_mlx4();
    if (!devices) return base::fail(devices.error());
    const auto at =
        std::find_if(devices->begin(), devices->end(), [&](const auto& d) { return d.pci == pci; });
    if (at == devices->end())
      return base::fail(base::Code::kNotFound, fmt::format("{}: no ConnectX-3 adapter is there", pci));
    const auto now = set_types(*at);
    // An Ethernet port 1 beside an InfiniBand port 2 is refused, also on the way.
    std::vector<std::size_t> order{0, 1};
    if (wanted.list.front() == "eth") std::reverse(order.begin(), order.end());
    std::erase_if(order, [&](auto i) {
      return i >= wanted.list.size() || i >= now.list.size() || wanted.list[i] == now.list[i];
    });
    const bool same = order.size() == 2 && wanted.list.front() == wanted.list.back();
    std::vector<std::size_t> refused;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto i = order[k];
      const bool had_device = has_rdma_device(pci, host);
      auto done = host.mlx4_ports.set_type(pci, static_cast<int>(i) + 1, wanted.list[i]);
      // Boards without DPDP have one type for both ports: the first is refused, kept in mind, and taken with
      // the second (__set_port_type() in drivers/net/ethernet/mellanox/mlx4/main.c).
      if (!done && done.error().sys_errno == EOPNOTSUPP) {
        refused.push_back(i);
        if (same && k == 0) continue;
        forget(pci, now, refused, host);
        return base::fail(base::Error{
            done.error().code,
            done.error().message + ": the adapter rejects it; old boards have one type for both ports",
            done.error().sys_errno});
      }
      if (!done) return done;
      if (had_device) await_return(pci, host);
    }
    return {};
  }

  /// A type that was refused would hold with the next one that is written: the port gets its own again.
  static void forget(const std::string& pci, const PortTypes& now, const std::vector<std::size_t>& refused,
                     system::Host& host) {
    for (const auto i : refused) (void)host.mlx4_ports.set_type(pci, static_cast<int>(i) + 1, now.list[i]);
  }

  static void await_return(const std::string& pci, system::Host& host) {
    const auto end = std::chrono::steady_clock::now() + kReturnTime;
    while (!has_rdma_device(pci, host) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kPoll);
  }
};

}  // namespace

model::SectionSpec mlx4_port_section() {
  model::SectionSpec section{
      .name = kMlx4PortKind, .doc = "Port types of a ConnectX-3 adapter.", .identities = {{"pci"}}};
  add_written(section.fields, model::specs<Mlx4PortTypes>());
  return section;
}

const Kind& mlx4_port() {
  static const Mlx4PortKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
