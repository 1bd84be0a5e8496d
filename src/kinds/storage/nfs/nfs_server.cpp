// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nfs/nfs_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "formats/storage/nfs_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kNfsServerKind = "nfs_server";
constexpr std::string_view kNfsServerId = "rdma";
constexpr std::string_view kNfsServerLabel = "NFS server over RDMA";
const std::string kNfsServerUnit = "nfs-server.service";
/// There is one nfsd, and the file outlives a reboot.
constexpr std::string_view kNfsServerInstance = "nfsd";

constexpr std::array kNfsServerFiles{OwnedFile{.path = kNfsServerFile,
                                               .what = "Port of NFS over RDMA, for rpc.nfsd.",
                                               .rendered = [](std::string_view text) {
                                                 const auto port = parse_nfs_server(text);
                                                 return port ? render_nfs_server(*port) : std::string();
                                               }}};

bool holds(const std::vector<int>& ports, std::int64_t port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

/// The port in our file.
std::optional<std::int64_t> port_in_file(system::Files& files) {
  const auto text = files.read(std::string(kNfsServerFile));
  return text && *text ? parse_nfs_server(**text) : std::nullopt;
}

class NfsServerKind final : public Kind, public NeedsWatching {
 public:
  NfsServerKind()
      : Kind({.name = kNfsServerKind,
              .fields = model::specs<NfsServer>(),
              .traits = {.works_offline = true, .listed_when_foreign = false, .interrupts_services = true},
              .files = kNfsServerFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kNfsServerKind)) {
      auto desired = desired_of(*section, fields(), {std::string(kNfsServerKind), std::string(kNfsServerId)},
                                std::string(kNfsServerLabel));
      warn_without_settings(*section, {}, desired, diagnostics);
      if (const auto* port = section->find("rdma_port")) {
        set_derived(desired, "listening", port->value, port->where);
        out.push_back(std::move(desired));
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    const auto text = host.files.read(std::string(kNfsServerFile));
    if (!text) return base::fail(text.error());
    NfsServer now;
    if (*text) {
      if (const auto port = parse_nfs_server(**text)) now.rdma_port = model::ServicePort{*port};
    }
    if (!world.offline()) {
      auto listening = observe_listener(host, now.rdma_port);
      if (!listening) return base::fail(listening.error());
      now.listening = *listening;
    }
    std::vector<Observed> out;
    if (!now.rdma_port && !now.listening) return out;
    Observed observed;
    observed.key = {std::string(kNfsServerKind), std::string(kNfsServerId)};
    observed.label = kNfsServerLabel;
    observed.instance = kNfsServerInstance;
    observed.settings = model::to_attributes(now);
    observed.ours_by_nature = now.rdma_port.has_value();
    out.push_back(std::move(observed));
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    for (auto& resource : desired) {
      if (resource.key.kind != kNfsServerKind) continue;
      warn_of_later_files(resource, world.host().files, diagnostics);
      if (world.offline()) {
        resource.settings.erase("listening");
        continue;
      }
      const auto unit = observe_unit(kNfsServerUnit, world.host());
      const auto ports = world.host().nfsd.observe_rdma_ports();
      const bool runs = ports && *ports;
      if (!runs) resource.settings.erase("listening");  // rpc.nfsd reads the file when it starts
      const auto wanted = model::from_attributes<NfsServer>(resource.settings).rdma_port;
      if (!runs && unit && *unit && (*unit)->active == "active" && wanted &&
          wanted->number != port_in_file(world.host().files)) {
        postpone(resource, kNfsServerUnit +
                               " is running, but its listeners are not visible here (the service has a "
                               "private /proc): run `rdma-configctl apply --local` as root");
      }
      if (!runs && unit && *unit && !(*unit)->there()) {
        postpone(resource, without_program(kNfsServerUnit, "nfs-kernel-server", world.host().files));
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      const auto now = model::from_attributes<NfsServer>(change->before);
      const auto wanted = model::from_attributes<NfsServer>(change->after);
      if (world.offline() || !now.listening || now.listening == wanted.listening) continue;
      if (!wanted.listening && is_asked_for(*now.listening, world.host().files)) continue;
      change->interrupts.push_back(
          kNfsServerUnit +
          " is restarted: its clients wait until its grace period is over, 90 seconds by default");
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<NfsServer>(change.after);
      const auto now = model::from_attributes<NfsServer>(change.before);
      const std::string path(kNfsServerFile);
      auto done = wanted.rdma_port ? host.files.write(path, render_nfs_server(wanted.rdma_port->number))
                                   : host.files.remove(path);
      if (!done) return done;
      if (host.offline) continue;
      if (done = reach_listener(now.listening, wanted, host); !done) return done;
    }
    return {};
  }

  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.units.insert(kNfsServerUnit);
  }

 private:
  /// The listener that is ours, or would have to be: not one that the files of others ask for.
  static Result<std::optional<std::int64_t>> observe_listener(
      system::Host& host, const std::optional<model::ServicePort>& configured) {
    const auto ports = host.nfsd.observe_rdma_ports();
    if (!ports) return base::fail(ports.error());
    if (!*ports || (*ports)->empty()) return std::optional<std::int64_t>{};
    if (configured && holds(**ports, configured->number)) return std::optional(configured->number);
    const auto others = read_foreign_nfs_conf(host.files);
    if (!others) return base::fail(others.error());
    const auto theirs = foreign_rdma_port(*others);
    for (const int port : **ports) {
      if (port != theirs) return std::optional<std::int64_t>(port);
    }
    return std::optional<std::int64_t>{};
  }

  /// By the files of others: a restart would bring it back.
  static bool is_asked_for(std::int64_t port, system::Files& files) {
    const auto others = read_foreign_nfs_conf(files);
    return others && foreign_rdma_port(*others) == port;
  }

  static void warn_of_later_files(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    const auto wanted = model::from_attributes<NfsServer>(resource.settings).rdma_port;
    const auto others = read_foreign_nfs_conf(files);
    if (!wanted || !others) return;
    for (const auto& other : *others) {
      const bool differs =
          other.says.rdma == false || (other.says.port && *other.says.port != wanted->number);
      if (!other.wins || !differs) continue;
      diagnostics.push_back(
          {Severity::kWarning,
           resource.origins.at("rdma_port"),
           fmt::format("[nfs_server] rdma_port: {}:{} sets another value", other.path, other.says.line),
           "rpc.nfsd reads that file after ours, so it wins: remove the line there",
           {}});
    }
  }

  /// A listener can be added to a running nfsd, but not taken away (fs/nfsd/nfsctl.c).
  static Result<void> reach_listener(std::optional<std::int64_t> now, const NfsServer& wanted,
                                     system::Host& host) {
    const auto port = wanted.listening;
    auto ports = host.nfsd.observe_rdma_ports();
    if (!ports) return base::fail(ports.error());
    const bool stays = !port && now && is_asked_for(*now, host.files);
    if (*ports && now && now != port && holds(**ports, *now) && !stays) {
      if (auto done = restart_server(host); !done) return done;
      ports = host.nfsd.observe_rdma_ports();
      if (!ports) return base::fail(ports.error());
      if (!*ports)
        return base::fail(base::Code::kIo,
                          fmt::format("{0}: is not running after its restart; `journalctl -u {0}` shows why",
                                      kNfsServerUnit));
      // To add it now would only hide that the next start goes without.
      if (*ports && wanted.rdma_port && wanted.rdma_port->number == port && !holds(**ports, *port)) {
        return base::fail(base::Code::kRefused,
                          fmt::format("{}: was restarted but does not serve RDMA on port {}; another file in "
                                      "/etc/nfs.conf.d may set another port",
                                      kNfsServerUnit, *port));
      }
    }
    if (!*ports && port) {
      if (auto done = start_failed_server(host); !done) return done;
      ports = host.nfsd.observe_rdma_ports();
      if (!ports) return base::fail(ports.error());
    }
    if (!*ports || !port || holds(**ports, *port)) return {};
    return host.nfsd.listen_rdma(static_cast<int>(*port));
  }

  /// It listened there, so it ran: a restart that is undone now has ended it.
  static Result<void> start_failed_server(system::Host& host) {
    const auto unit = observe_unit(kNfsServerUnit, host);
    if (!unit) return base::fail(unit.error());
    if (!*unit || (*unit)->active != "failed") return {};
    return host.units.act(system::UnitAction::kStart, kNfsServerUnit);
  }

  static Result<void> restart_server(system::Host& host) {
    const auto unit = observe_unit(kNfsServerUnit, host);
    if (!unit) return base::fail(unit.error());
    if (!*unit || (*unit)->active != "active") {
      return base::fail(
          base::Code::kUnsupported,
          "nfsd: not started by nfs-server.service, so its listener stays: restart nfsd yourself");
    }
    return host.units.act(system::UnitAction::kRestart, kNfsServerUnit);
  }
};

}  // namespace

model::SectionSpec nfs_server_section() {
  model::SectionSpec section{.name = kNfsServerKind,
                             .repeated = false,
                             .doc =
                                 "The kernel's NFS server over RDMA. Packages and exports remain the "
                                 "administrator's task: exports(5)."};
  add_written(section.fields, model::specs<NfsServer>());
  return section;
}

const Kind& nfs_server() {
  static const NfsServerKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
