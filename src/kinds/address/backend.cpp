// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "formats/nm_unmanaged.hpp"
#include "kinds/address/port_backends.hpp"
#include "kinds/address/profiles/foreign_profiles.hpp"
#include "kinds/address/profiles/nm_release.hpp"
#include "kinds/entry.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Backend;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Guid;
using model::Observed;

namespace {

constexpr std::string_view kBackendKind = "backend";
constexpr std::string_view kIncomplete = "incomplete";  // a file beside the rules is not as they need it
constexpr std::string_view kBackendBefore =
    "backend ";  // in Change::carried, before what the rules said then

/// The interfaces that `rules` hand over, of which those of `ports` have changed.
NmRelease handed_over_by(const BackendRules& rules, const std::set<Guid>& ports,
                         const std::vector<system::Link>& links) {
  NmRelease handed_over;
  for (const auto& link : links) {
    if (!link.ipoib) continue;
    const bool told = ports.contains(link.ipoib->guid);
    const auto at = rules.find(link.ipoib->guid);
    // NetworkManager reads all of its file, so what it lets go may be more than what was changed.
    if (at != rules.end() && at->second != Backend::kNetworkManager) handed_over.released.push_back(link);
    if (at == rules.end() && told) handed_over.given_back.push_back(link);
    handed_over.takes_some |= told && at != rules.end() && at->second == Backend::kNetworkManager;
  }
  return handed_over;
}

Result<void> tell(const std::set<Guid>& ports, const BackendRules& rules, system::Host& host) {
  const auto links = host.links.observe_links();
  if (!links) return base::fail(links.error());
  std::vector<std::string> names;
  for (const auto& link : *links) {
    if (link.ipoib && ports.contains(link.ipoib->guid)) names.push_back(link.name);
  }
  if (auto done = host.udev.trigger(names); !done) return done;
  // The address that it takes down when it lets go must not be the next one.
  if (auto done = release_from_nm(handed_over_by(rules, ports, *links), host); !done) return done;
  const auto networkd = host.networkd.observe({});
  if (!networkd) return base::fail(networkd.error());
  return *networkd ? host.networkd.reload() : Result<void>{};
}

/// Whether the files beside the rules are as these need them.
struct BesideRules {
  bool networkd = false;
  bool network_manager = false;

  [[nodiscard]] bool whole() const { return networkd && network_manager; }
};

Result<BesideRules> files_beside(const BackendRules& rules, system::Files& files) {
  const auto networkd = keeps_networkd_off(files, rules);
  if (!networkd) return base::fail(networkd.error());
  const auto network_manager = keeps_nm_off(files, rules);
  if (!network_manager) return base::fail(network_manager.error());
  return BesideRules{*networkd, *network_manager};
}

/// Our file under the name that withdraw gives it (plain_name()): NetworkManager goes on reading that.
constexpr std::string_view kLeftForNetworkManager = "/etc/NetworkManager/conf.d/zz-rdma-admin-unmanaged.conf";

void warn_of_a_withdrawal(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  std::optional<std::string> left;
  for (const auto& resource : desired) {
    if (resource.key.kind != kBackendKind || resource.ignore ||
        model::text_at(resource.settings, "backend") != model::text_of(Backend::kNetworkManager))
      continue;
    if (!left) {
      const auto text = world.host().files.read(std::string(kLeftForNetworkManager));
      left = text && *text ? **text : std::string();
    }
    if (left->find(resource.key.id) == std::string::npos) continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         resource.where,
         fmt::format("{} keeps NetworkManager off this port; `rdma-configctl withdraw` left "
                     "the file",
                     kLeftForNetworkManager),
         "delete the file and run `nmcli general reload conf`",
         {}});
  }
}

/// Our profile is activated by us, but not by NetworkManager at its next start.
void warn_of_unmanaged(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  for (const auto& resource : desired) {
    const auto guid = resource.key.kind == kBackendKind ? Guid::parse(resource.key.id) : Guid::parse("");
    if (!guid || resource.ignore ||
        model::text_at(resource.settings, "backend") != model::text_of(Backend::kNetworkManager))
      continue;
    const auto* link = world.parent(*guid);
    const auto found = nm_leaves_alone(world.host().files, *guid, link == nullptr ? "" : link->name);
    if (!found) continue;
    diagnostics.push_back(
        {model::Severity::kWarning,
         resource.where,
         fmt::format("{}:{} makes NetworkManager ignore this port", found->file, found->line),
         "exclude the port there (except:type:infiniband), or NetworkManager does not activate its "
         "profile at boot",
         {}});
  }
}

/// The backend that the rules said while a file beside them was missing.
std::optional<Backend> backend_before(const Change& change) {
  for (const auto& text : change.carried) {
    if (!text.starts_with(kBackendBefore)) continue;
    const auto backend = model::Codec<Backend>::parse(model::Value(text.substr(kBackendBefore.size())));
    if (backend) return *backend;
  }
  return std::nullopt;
}

/// As an administrator calls the port.
std::string label_of(const std::string& id, const World& world) {
  const auto guid = Guid::parse(id);
  const auto* link = guid ? world.parent(*guid) : nullptr;
  return link == nullptr ? id : link->name;
}

constexpr std::array kBackendFiles{
    OwnedFile{.path = kBackendRules,
              .what = "Keeps NetworkManager off ports that it does not configure.",
              .rendered =
                  [](std::string_view text) {
                    const auto rules = parse_backend_lines(text);
                    return rules.empty() ? std::string() : render_backend_rules(rules);
                  },
              .after_write = OwnedFile::AfterWrite::kTellBackends},
    OwnedFile{.path = kKeepOffNetworkd,
              .what = "Keeps systemd-networkd off ports that it does not configure.",
              .after_write = OwnedFile::AfterWrite::kTellBackends},
    OwnedFile{.path = kOlderKeepOffNetworkd,
              .what = "Older name of 09-rdma-configd-unmanaged.network; the next apply removes the file.",
              .after_write = OwnedFile::AfterWrite::kTellBackends,
              .ours = begins_as_ours},
    OwnedFile{.path = kKeepOffNetworkManager,
              .what = "Makes a running NetworkManager release ports that it does not configure.",
              .after_write = OwnedFile::AfterWrite::kTellBackends}};

class BackendKind final : public Kind, public HeldByPort {
 public:
  BackendKind()
      : Kind({.name = kBackendKind,
              .fields = model::specs<PortBackend>(),
              .traits = {.works_offline = true, .listed_when_foreign = false, .spares_root = true},
              .files = kBackendFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const Backends backends(bound);
    for (const auto& port : bound.ports) {
      if (!has_backend(*port.section)) continue;
      Desired desired;
      desired.key = {std::string(kBackendKind), port.id};
      desired.label = port.label;
      const auto* entry = port.section->find("backend");
      desired.where = entry == nullptr ? port.section->where : entry->where;
      desired.origins["backend"] = desired.where;
      const auto* state = port.section->find("state");
      desired.ignore = state != nullptr && model::text_of(state->value) == "ignore";
      // The rules match a GUID, so they can be there before the device is.
      if (!port.guid) desired.pending = port.pending;
      if (port.guid && !desired.ignore)
        desired.settings["backend"] = std::string(model::text_of(backends.of(port)));
      if (const auto* error = backends.why_unknown(port); error != nullptr && !desired.ignore)
        diagnostics.push_back(
            {model::Severity::kError,
             desired.where,
             fmt::format("cannot determine which program configures this port: {}", error->message),
             "apply again when systemd answers, or set `backend` for the port",
             {}});
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    const auto rules = read_backend_rules(world.host().files);
    if (!rules) return base::fail(rules.error());
    const auto beside = files_beside(*rules, world.host().files);
    if (!beside) return base::fail(beside.error());
    std::vector<Observed> out;
    if (!beside->whole() && rules->empty()) {
      // A resource is not gone while half of it is there.
      const auto ids = world.tracked(kBackendKind);
      for (const auto& id : ids) out.push_back(left_behind(id, label_of(id, world)));
      if (ids.empty() && !beside->networkd) {
        const auto older = has_older_keep_off(world.host().files);
        if (!older) return base::fail(older.error());
        out.push_back(
            left_behind("networkd", std::string(*older ? kOlderKeepOffNetworkd : kKeepOffNetworkd)));
      }
      if (ids.empty() && !beside->network_manager)
        out.push_back(left_behind("networkmanager", std::string(kKeepOffNetworkManager)));
    }
    for (const auto& [guid, backend] : *rules) {
      Observed observed;
      observed.key = {std::string(kBackendKind), guid.text()};
      observed.label = label_of(guid.text(), world);
      // With a part missing it is as if nothing were decided: writing it again brings back all.
      observed.settings["backend"] = std::string(beside->whole() ? model::text_of(backend) : kIncomplete);
      observed.ours_by_nature = true;
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    warn_of_other_configurations(desired, world, diagnostics);
    warn_of_a_withdrawal(desired, world, diagnostics);
    warn_of_unmanaged(desired, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    std::set<Guid> ports;
    for (const auto* change : changes) {
      const auto guid = Guid::parse(change->key.id);
      if (guid && is_first_release(*change)) ports.insert(*guid);
    }
    auto carried = carried_before_release(ports, world);
    if (!carried) return base::fail(carried.error());
    const auto rules = read_backend_rules(world.host().files);
    if (!rules) return base::fail(rules.error());
    for (auto* change : changes) {
      if (const auto guid = Guid::parse(change->key.id)) {
        change->carried = std::move((*carried)[*guid]);
        const auto at = rules->find(*guid);
        if (is_incomplete(*change) && at != rules->end())
          change->carried.insert(change->carried.begin(),
                                 fmt::format("{}{}", kBackendBefore, model::text_of(at->second)));
      }
      // Writing files again moves nothing.
      if (change->operation != model::Operation::kUpdate || is_incomplete(*change)) continue;
      change->interrupts.push_back(
          fmt::format("the interfaces move from {} to {}: their addresses are removed and added again",
                      model::text_of(model::value_of(change->before, "backend")),
                      model::text_of(model::value_of(change->after, "backend"))));
    }
    if (!ports.empty()) explain_release(changes, *rules, world);
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto rules = read_backend_rules(host.files);
    if (!rules) return base::fail(rules.error());
    const auto before = *rules;
    const auto beside = files_beside(before, host.files);
    if (!beside) return base::fail(beside.error());
    std::set<Guid> touched;
    bool undoes_repair = false;
    for (const auto& change : changes) {
      const auto guid = Guid::parse(change.key.id);
      if (!guid) continue;
      touched.insert(*guid);
      if (model::text_at(change.after, "backend") == kIncomplete) {
        // The pin goes back to what it was; a missing file is not taken away again.
        undoes_repair = true;
        if (const auto then = backend_before(change)) rules->insert_or_assign(*guid, *then);
      } else if (const auto wanted = model::from_attributes<PortBackend>(change.after).backend) {
        rules->insert_or_assign(*guid, *wanted);
      } else {
        rules->erase(*guid);
      }
    }
    if (auto done = write_backend_rules(host.files, *rules); !done) return done;
    if (host.offline || (*rules == before && beside->whole() && !undoes_repair)) return {};
    if (auto done = host.udev.reload_rules(); !done) return done;
    return tell(touched, *rules, host);
  }

  /// udev's database is what the others read: after a kill in the middle it may not follow the file yet.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    std::set<Guid> touched;
    for (const auto& change : changes) {
      if (const auto guid = Guid::parse(change.key.id)) touched.insert(*guid);
    }
    if (auto done = host.udev.reload_rules(); !done) return done;
    const auto rules = read_backend_rules(host.files);
    if (!rules) return base::fail(rules.error());
    if (auto done = tell(touched, *rules, host); !done) return done;
    std::vector<std::string> carried;
    for (const auto& change : changes) {
      for (const auto& text : change.carried)
        if (!text.starts_with(kBackendBefore)) carried.push_back(text);
    }
    return put_back_released(carried, host);
  }

  /// Undoing a repair leaves the files whole.
  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& /*differing*/, World& /*world*/) const override {
    if (model::text_at(desired.settings, "backend") != kIncomplete) return {};
    return {Verdict::Sort::kLimited, "the files stay as they are written", {"backend"}, {}};
  }

 private:
  /// Says what NetworkManager does to ports that it is to let go for the first time, with the rules of now.
  static void explain_release(std::span<Change*> changes, BackendRules rules, const World& world) {
    if (world.offline() || !nm_reads_snippets(world.host().files)) return;
    std::set<Guid> touched;
    for (const auto* change : changes) {
      const auto guid = Guid::parse(change->key.id);
      if (!guid) continue;
      touched.insert(*guid);
      const auto wanted = model::from_attributes<PortBackend>(change->after).backend;
      if (wanted) {
        rules.insert_or_assign(*guid, *wanted);
      } else {
        rules.erase(*guid);
      }
    }
    const auto outlook = outlook_of(handed_over_by(rules, touched, world.snapshot().links), world.host());
    if (!outlook) return;  // the apply fails then, if it has to
    for (auto* change : changes) {
      const auto guid = Guid::parse(change->key.id);
      if (!guid || !is_first_release(*change) || !outlook->held.contains(*guid)) continue;
      if (!outlook->deferred.empty()) {
        change->interrupts_later.push_back(
            fmt::format("NetworkManager keeps it for now, as {}; it releases the port, which takes the link "
                        "down, at its next start or when it reloads its configuration (nmcli general reload)",
                        outlook->deferred));
        continue;
      }
      if (const auto at = outlook->idle.find(*guid); at != outlook->idle.end())
        change->interrupts.push_back(fmt::format(
            "NetworkManager releases {}: link down for a moment, and its configuration is restored",
            base::join(at->second, ", ")));
      if (const auto at = outlook->configured.find(*guid); at != outlook->configured.end())
        change->interrupts.push_back(
            fmt::format("NetworkManager releases {}: unless another program configured it, link down for a "
                        "moment, and its configuration is restored",
                        base::join(at->second, ", ")));
    }
  }

  /// Whether NetworkManager may hold the port until then, and nothing on it is ours yet.
  static bool is_first_release(const Change& change) {
    const auto wanted = model::from_attributes<PortBackend>(change.after).backend;
    return wanted && *wanted != Backend::kNetworkManager &&
           (change.operation == model::Operation::kCreate || is_incomplete(change));
  }
  static bool is_incomplete(const Change& change) {
    return model::text_at(change.before, "backend") == kIncomplete;
  }

  /// A file beside the rules, without any rule that needs it.
  static Observed left_behind(const std::string& id, std::string label) {
    Observed out;
    out.key = {std::string(kBackendKind), id};
    out.label = std::move(label);
    out.settings["backend"] = "none";
    out.ours_by_nature = true;
    return out;
  }
};

}  // namespace

Result<void> tell_backends(system::Host& host) {
  if (auto done = host.udev.reload_rules(); !done) return done;
  const auto rules = read_backend_rules(host.files);
  if (!rules) return base::fail(rules.error());
  std::set<Guid> ports;
  for (const auto& [guid, backend] : *rules) ports.insert(guid);
  return tell(ports, *rules, host);
}

void take_from_network_manager(std::string_view kind, std::vector<Desired>& desired,
                               const std::vector<Observed>& observed) {
  std::set<std::string> theirs, to_be_theirs;
  for (const auto& resource : observed) {
    if (resource.key.kind == kind && resource.settings.contains(kManagedBy)) theirs.insert(resource.key.id);
  }
  if (theirs.empty()) return;
  for (const auto& resource : desired) {
    if (resource.key.kind == "nm_profile") to_be_theirs.insert(resource.key.id);
  }
  for (auto& resource : desired) {
    if (resource.key.kind != kind || resource.ignore || resource.absent || resource.pending ||
        to_be_theirs.contains(resource.key.id) || !theirs.contains(resource.key.id))
      continue;
    resource.settings[std::string(kManagedBy)] = {};
    resource.needs.push_back(
        {std::string(kBackendKind), resource.key.id.substr(0, resource.key.id.find('/'))});
  }
}

const Kind& backend() {
  static const BackendKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
