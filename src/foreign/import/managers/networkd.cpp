// SPDX-License-Identifier: Apache-2.0
// systemd-networkd's files (systemd.netdev(5), systemd.network(5)).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "catalog/withdraw_files.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/networkd_network.hpp"
#include "formats/managed_block.hpp"

namespace rdmacfg::foreign {

namespace {

void parse_netdev(const File& file, const DropIns& drop_ins, Claims& claims,
                  std::vector<Interface>& children) {
  const Unit unit(file, drop_ins, claims);
  auto keys = unit.section("NetDev");
  if (keys.peek("Kind") != "ipoib") {
    claims.pass({file.path, 0}, "is not for InfiniBand");
    return;
  }
  Interface out;
  out.where = {file.path, 0};
  out.name = keys.text("Name").value_or("");
  out.names = true;
  out.mtu = keys.number("MTUBytes", model::kMtuConnectedMax);
  keys.pass({"Kind", "Description", "MACAddress"});
  keys.finish();
  ipoib_section(unit, out);
  unit.refuse_others({"NetDev", "IPoIB"});
  if (!out.pkey) {
    claims.miss(out.where, "without PartitionKey the kernel refuses a second interface of the port");
  } else {
    children.push_back(std::move(out));
  }
}

/// .netdev and .network files together.
class Reading {
 public:
  Reading(std::span<const File> files, Claims& claims) : files_(files), drop_ins_(files), claims_(claims) {}

  void read_all() {
    for (const auto& file : files_) {
      if (file.path.ends_with(".netdev")) parse_netdev(file, drop_ins_, claims_, children_);
    }
    for (const auto& child : children_) infiniband_.insert(child.name);
    for (const auto& file : files_) {
      if (file.path.ends_with(".network")) network(file);
    }
    for (auto& child : children_) {
      if (!made_.contains(child.name))
        claims_.miss(child.where,
                     fmt::format("no .network file has IPoIB={}: no program creates it", child.name));
      else
        claims_.interfaces.push_back(std::move(child));
    }
  }

 private:
  void network(const File& file) {
    if (kinds::begins_as_ours(file.text)) return claims_.pass({file.path, 0}, "was written by rdma-configd");
    if (kinds::was_left(file.text)) return claims_.pass({file.path, 0}, std::string(kLeftByWithdraw));
    Claims aside;  // remarks about a file that is not ours do not matter
    Network probe(file, drop_ins_, aside);
    probe.look();
    const bool named = !probe.is_of_another_type() &&
                       std::any_of(probe.names.begin(), probe.names.end(), [&](const std::string& name) {
                         return infiniband_.contains(name) || claims_.knows(name);
                       });
    if (!probe.is_infiniband() && !named) return claims_.pass({file.path, 0}, "is not for InfiniBand");
    const bool pattern = std::any_of(probe.names.begin(), probe.names.end(),
                                     [](const std::string& name) { return is_pattern(name); });
    // A name beside an address narrows it down; of several of both nobody knows which belong together.
    const bool together = probe.ports.size() == 1 && probe.names.size() == 1;
    if (pattern || (probe.names.empty() && probe.ports.empty())) {
      if (probe.fits_by_name_alone()) patterns_.push_back({file.path, probe.names});
      return claims_.miss({file.path, 0}, "[Match] does not name its interfaces");
    }
    parents(probe);
    for (const auto& name : probe.names) {
      interface(file, name, together ? std::optional(probe.ports.front()) : std::nullopt);
    }
    if (!probe.names.empty()) return;
    for (const auto& guid : probe.ports) interface(file, "", guid);
  }

  /// Tells the P_Key interfaces that the file makes what they are made over.
  void parents(const Network& probe) {
    for (auto& child : children_) {
      if (std::find(probe.children.begin(), probe.children.end(), child.name) == probe.children.end())
        continue;
      made_.insert(child.name);
      if (!probe.names.empty()) child.parent = probe.names.front();
      if (probe.names.empty() || probe.ports.size() == 1) child.guid = probe.ports.front();
    }
  }

  void interface(const File& file, const std::string& name, const std::optional<model::Guid>& guid) {
    if (const auto who = name.empty() ? guid->text() : name; !taken_.insert(who).second)
      return claims_.pass({file.path, 0}, fmt::format("an earlier file is for {}", who));
    // The first file that fits holds, and that one was not understood.
    const auto earlier = std::find_if(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
      return !name.empty() && pattern.fits(name);
    });
    if (earlier != patterns_.end())
      return claims_.pass({file.path, 0},
                          fmt::format("{}, an earlier file, is for {}, too", earlier->file, name));
    Network network(file, drop_ins_, claims_);
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](const Interface& interface) { return interface.name == name; });
    if (child != children_.end()) return network.parse(*child);
    Interface out;
    out.where = {file.path, 0};
    out.name = name;
    out.guid = guid;
    network.parse(out);
    claims_.interfaces.push_back(std::move(out));
  }

  std::span<const File> files_;
  DropIns drop_ins_;
  Claims& claims_;
  std::vector<Interface> children_;
  /// A file whose [Match] fits several names.
  struct Pattern {
    std::string file;
    std::vector<std::string> names;

    [[nodiscard]] bool fits(std::string_view name) const {
      constexpr std::size_t kLongest = 64;
      bool any = names.empty();
      for (const auto& pattern : names) {
        if (pattern.size() > kLongest) continue;
        const bool never = pattern.starts_with('!');
        if (!base::matches_glob(std::string_view(pattern).substr(never ? 1 : 0), name)) continue;
        if (never) return false;
        any = true;
      }
      return any;
    }
  };
  std::vector<Pattern> patterns_;
  std::set<std::string> infiniband_;  ///< names of P_Key interfaces that files make
  std::set<std::string> taken_, made_;
};

}  // namespace

void parse_networkd(std::span<const File> files, Claims& claims) { Reading(files, claims).read_all(); }

}  // namespace rdmacfg::foreign
