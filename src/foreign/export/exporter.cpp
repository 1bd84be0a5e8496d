// SPDX-License-Identifier: Apache-2.0
#include "foreign/export/exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "catalog/all.hpp"
#include "config/check.hpp"
#include "foreign/inet.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "formats/udev/udev_rdma_names.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;
using model::Section;
using model::State;

namespace {

/// The sections with the first of the cables alone: no target takes any, and a plan may have thousands.
std::vector<Section> with_one_cable(const std::vector<Section>& sections) {
  std::vector<Section> out;
  bool has_cable = false;
  for (const auto& section : sections) {
    const bool cable = section.path == "cable";
    if (!cable || !has_cable) out.push_back(section);
    has_cable = has_cable || cable;
  }
  return out;
}

class Reduction {
 public:
  Reduction(const FormatFeatures& features, std::vector<Remark>& notes)
      : features_(features), notes_(notes) {}

  /// Whether anything of it is left.
  bool port(ImportedHost::InterfaceTree& tree) {
    auto& port = tree.port;
    if (port.name.find('{') != std::string::npos) {
      note(port, fmt::format("the name {} is a template", port.name));
      port.name.clear();
      port.names = false;
    }
    if (!port.guid && features_.tool != "udev")
      note(port, port.name.empty() ? "which port is meant"
                                   : "which port is meant, except by the name of its interface");
    if (!features_.interfaces) {
      // Nothing but names is its business: one note for all the rest.
      if (says_more(tree))
        note(port, "all settings but the name, such as mode, MTU, addresses and P_Key interfaces");
      Interface name;
      name.where = port.where;
      name.guid = port.guid;
      name.name = port.name;
      name.names = port.names;
      port = std::move(name);
      tree.children.clear();
      return port.names && port.guid;
    }
    if (features_.needs_name ? port.name.empty() : port.name.empty() && !port.guid) {
      note(port, "an interface without a name; give the entry a name");
      return false;
    }
    if (port.state == State::kIgnore) {
      note(port, "state = \"ignore\"; it is left out");
      return false;
    }
    settings(port);
    std::erase_if(tree.children, [&](Interface& interface) { return !child(interface, tree.port); });
    if (features_.needs_method && !is_addressed(tree) && port.ipv4.empty()) {
      note(port, "leaving the addresses to other tools; none are configured");
      port.ipv4.method = InetMethod::kDisabled;
      drop_default_settings(tree);
    }
    return true;
  }

 private:
  void note(const Interface& interface, std::string_view what) {
    const auto who = !interface.name.empty() ? interface.name
                     : interface.pkey        ? fmt::format("P_Key {}", interface.pkey->text())
                     : interface.guid        ? interface.guid->text()
                                             : std::string("the entry");
    notes_.push_back({interface.where, fmt::format("{}: {}", who, what)});
  }

  /// Whether there is more to an interface than its name.
  static bool says_more(const ImportedHost::InterfaceTree& tree) {
    const auto& port = tree.port;
    return port.mode || port.mtu || port.umcast || port.state || !port.ipv4.empty() || !port.ipv6.empty() ||
           !tree.children.empty();
  }

  bool child(Interface& interface, const Interface& port) {
    if (!features_.pkeys) {
      note(interface, "P_Key interfaces");
      return false;
    }
    if (port.name.empty() && !features_.nameless_children) {
      note(interface, "a P_Key interface over a port whose interface has no name");
      return false;
    }
    if (!features_.child_names && !port.name.empty() && port.name.size() + 5 > model::kInterfaceNameMax) {
      note(interface, fmt::format("a P_Key interface over {}: its name would be too long", port.name));
      return false;
    }
    if (interface.state == State::kIgnore || (interface.state == State::kAbsent && !features_.absent)) {
      note(interface, fmt::format("state = \"{}\"; it is left out", model::text_of(*interface.state)));
      return false;
    }
    interface.parent = port.name;
    if (interface.names && !features_.child_names) {
      note(interface, fmt::format("another name than {}", child_name(port.name, *interface.pkey)));
      interface.names = false;
    }
    if (!interface.names)
      interface.name = port.name.empty() ? std::string() : child_name(port.name, *interface.pkey);
    settings(interface);
    return true;
  }

  void settings(Interface& interface) {
    if (interface.umcast && !features_.umcast) {
      note(interface, "umcast");
      interface.umcast.reset();
    }
    if (!interface.mode && features_.needs_mode && interface.state != State::kAbsent) {
      note(interface, "leaving the mode unchanged; datagram is used");
      interface.mode = model::IpoibMode::kDatagram;
    }
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      auto& inet = interface.inet(family);
      if (!features_.servers && (!inet.dns.empty() || !inet.search.empty())) {
        note(interface, fmt::format("{} name servers and domains of one interface", model::text_of(family)));
        inet.dns.clear();
        inet.search.clear();
      }
      if (!features_.local_ipv4 && family == Family::kIpv4 && inet.method == InetMethod::kLinkLocal) {
        note(interface, "link-local addresses of IPv4");
        inet.method.reset();
      }
    }
    if (features_.search_by_family) return;
    const auto four = interface.ipv4.search, six = interface.ipv6.search;
    place_search(interface);
    if (four != interface.ipv4.search || six != interface.ipv6.search)
      note(interface, "search domains are set for one family, but apply to the whole interface");
  }

  const FormatFeatures& features_;
  std::vector<Remark>& notes_;
};

/// A backend that is another tool than the target.
void note_backend(const Section& section, const Target& target, std::vector<Remark>& notes) {
  const auto* entry = section.find("backend");
  const auto backend = entry == nullptr ? std::string("auto") : model::text_of(entry->value);
  const auto& name = target.name;
  const auto* meant = name == "commands"                        ? "direct"
                      : name == "networkd" || name == "netplan" ? "networkd"
                                                                : "networkmanager";
  if (backend == "auto" || backend == meant) return;
  notes.push_back(
      {{entry->where.file, entry->where.line},
       fmt::format("backend = \"{}\": {} configures the interface then", backend, target.features.tool)});
}

/// Keys of [[ipoib]] that are about rdma-configd's own behaviour.
void note_policies(const Section& section, std::vector<Remark>& notes) {
  for (const auto* key : {"on_unsupported", "prune"}) {
    const auto* entry = section.find(key);
    if (entry == nullptr ||
        (std::string_view(key) == "on_unsupported" && model::text_of(entry->value) == "fail"))
      continue;
    if (const auto* flag = std::get_if<bool>(&entry->value); flag != nullptr && !*flag) continue;
    notes.push_back(
        {{entry->where.file, entry->where.line}, fmt::format("{}: concerns only rdma-configd", key)});
  }
}

/// The rules that give names: every tool that knows interfaces by name relies on them.
void render_netdev_rules(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  kinds::Rules rules;
  for (const auto& tree : trees) {
    if (tree.port.guid && tree.port.names) rules.emplace(*tree.port.guid, tree.port.name);
  }
  if (rules.empty()) return;
  const auto rendered = kinds::render_rules(rules);
  auto text = first_line("udev");
  for (std::size_t at = 0; at < rendered.size();) {
    const auto end = rendered.find('\n', at);
    const auto line = std::string_view(rendered).substr(at, end - at);
    if (!line.starts_with('#')) text += std::string(line) + '\n';
    at = end == std::string::npos ? rendered.size() : end + 1;
  }
  out.files.push_back({"/etc/udev/rules.d/70-persistent-ipoib.rules", std::move(text)});
}

/// The rules that give RDMA devices their names.
void render_device_rules(const std::vector<Section>& sections, Output& out) {
  std::string text;
  for (const auto& section : sections) {
    if (section.path != "rdma_device") continue;
    const auto written = section.attributes();
    const auto name = model::text_at(written, "name");
    const auto pci = model::text_at(written, "pci"), guid = model::text_at(written, "node_guid");
    if (name.empty() || (pci.empty() && guid.empty())) {
      out.notes.push_back(
          {{section.where.file, section.where.line}, "[[rdma_device]] with device: give pci or node_guid"});
      continue;
    }
    // The attribute is written in four groups (drivers/infiniband/core/sysfs.c).
    const auto number = guid.empty() ? model::Guid{} : *model::Guid::parse(guid);
    const auto match = pci.empty() ? fmt::format("ATTR{{node_guid}}==\"{:04x}:{:04x}:{:04x}:{:04x}\"",
                                                 number.number >> 48U, number.number >> 32U & 0xffffU,
                                                 number.number >> 16U & 0xffffU, number.number & 0xffffU)
                                   : fmt::format("KERNELS==\"{}\"", pci);
    text += fmt::format(
        "ACTION==\"add\", SUBSYSTEM==\"infiniband\", {}, PROGRAM=\"rdma_rename %k NAME_FIXED {}\"\n", match,
        name);
  }
  if (!text.empty())
    out.files.push_back({"/etc/udev/rules.d/60-rdma-persistent-naming.rules", first_line("udev") + text});
}

/// Of a tool for one section the others are none of its business: each is noted once.
Output export_section(const std::vector<Section>& document, const Target& target, const ExportHost& host) {
  Output out;
  std::vector<const Section*> own;
  std::set<std::string, std::less<>> told;
  for (const auto& section : document) {
    if (section.path == target.section) {
      own.push_back(&section);
    } else if (told.insert(section.path).second) {
      out.notes.push_back({{section.where.file, section.where.line},
                           fmt::format("{} does not support {}", target.features.tool, label_of(section))});
    }
  }
  target.render_section(own, host, out);
  std::stable_sort(out.notes.begin(), out.notes.end(),
                   [](const Remark& a, const Remark& b) { return a.where < b.where; });
  return out;
}

void render_nothing(const std::vector<ImportedHost::InterfaceTree>& /*homes*/, Output& /*out*/) {}

}  // namespace

std::string first_line(std::string_view target) {
  return fmt::format(
      "# Written by rdma-configctl export {}; names and other files that it needs are written with it.\n",
      target);
}

std::vector<ImportedHost::InterfaceTree> reduce_to_features(std::vector<ImportedHost::InterfaceTree> trees,
                                                            const FormatFeatures& features,
                                                            std::vector<Remark>& notes) {
  Reduction reduction(features, notes);
  std::erase_if(trees, [&](ImportedHost::InterfaceTree& tree) { return !reduction.port(tree); });
  return trees;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets{
      {"nm",
       "keyfiles of NetworkManager",
       {.tool = "NetworkManager",
        .needs_name = false,
        .needs_mode = true,
        .needs_method = true,
        .nameless_children = true,
        .search_by_family = true},
       render_nm},
      {"networkd",
       "files of systemd-networkd",
       // sd-ipv4ll speaks ARP of Ethernet only, and netplan writes for systemd-networkd.
       {.tool = "systemd-networkd", .umcast = true, .child_names = true, .local_ipv4 = false},
       render_networkd},
      {"netplan",
       "YAML of netplan",
       {.tool = "netplan", .pkeys = false, .local_ipv4 = false},
       render_netplan},
      {"nmstate",
       "YAML of nmstate",
       {.tool = "nmstate", .needs_mode = true, .absent = true, .servers = false, .local_ipv4 = false},
       render_nmstate},
      {"ifcfg", "ifcfg files of RHEL and Fedora", {.tool = "ifcfg", .needs_name = false}, render_ifcfg},
      {"udev", "udev rules: the names", {.tool = "udev", .interfaces = false}, render_nothing},
      {"targetcli",
       "saveconfig.json of targetcli: iSER and SRP targets",
       {.tool = "targetcli", .interfaces = false},
       nullptr,
       "lio_target",
       render_targetcli},
      {"nvmetcli",
       "config.json of nvmetcli: NVMe targets",
       {.tool = "nvmetcli", .interfaces = false},
       nullptr,
       "nvme_target",
       render_nvmetcli},
      {"commands",
       "a commented shell script",
       {.tool = "the script", .umcast = true, .child_names = true, .absent = true, .search_by_family = true},
       nullptr},
  };
  return kTargets;
}

const Target* find_target(std::string_view name) {
  const auto at = std::find_if(targets().begin(), targets().end(),
                               [&](const Target& target) { return target.name == name; });
  return at == targets().end() ? nullptr : &*at;
}

std::string label_of(const Section& section) {
  const auto& all = kinds::grammar();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const model::SectionSpec& spec) { return spec.name == section.path; });
  return config::label_of(section.path, at == all.end() || at->repeated);
}

bool is_private(const File& file) {
  return file.path.ends_with(".nmconnection") || file.path.ends_with(".json");
}

bool takes_comments(const File& file) { return !file.path.ends_with(".json"); }

Output export_document(const std::vector<Section>& document, const Target& target, const ExportHost& host) {
  if (target.render_section != nullptr) return export_section(document, target, host);
  const auto sections = with_one_cable(document);
  Output out;
  const auto trees = reduce_to_features(interface_trees_of(sections), target.features, out.notes);
  const bool commands = target.render == nullptr;
  for (const auto& section : sections) {
    const Place where{section.where.file, section.where.line};
    if (section.path == "ipoib") {
      if (!target.features.interfaces) continue;
      note_backend(section, target, out.notes);
      note_policies(section, out.notes);
      for (const auto& child : section.children) note_policies(child, out.notes);
    } else if (!commands && !(section.path == "rdma_device" && target.name == "udev")) {
      out.notes.push_back(
          {where, fmt::format("{} does not support {}", target.features.tool, label_of(section))});
    }
  }
  if (!commands) {
    render_netdev_rules(trees, out);
    if (target.name == "udev") render_device_rules(sections, out);
    target.render(trees, out);
  } else {
    out.files.push_back({"", render_commands(trees, sections, out.notes)});
  }
  if (out.notes.empty()) return out;
  std::stable_sort(out.notes.begin(), out.notes.end(),
                   [](const Remark& a, const Remark& b) { return a.where < b.where; });
  std::string comment;
  for (const auto& note : out.notes) comment += fmt::format("# not expressed: {}\n", note.text);
  if (out.files.empty()) return out;
  auto& text = out.files.back().text;
  const auto script = text.starts_with("#!") ? text.find('\n') + 1 : 0;
  text.insert(script, comment);
  return out;
}

bool leaves_addresses(const ImportedHost::InterfaceTree& tree) {
  const auto silent = [](const Interface& interface) {
    return interface.ipv4.empty() && interface.ipv6.empty();
  };
  return silent(tree.port) && std::all_of(tree.children.begin(), tree.children.end(), silent);
}

void render_mode_rules(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  // The event comes before the attributes do (ipoib_add_port in drivers/infiniband/ulp/ipoib/ipoib_main.c).
  constexpr std::string_view kWait =
      R"(PROGRAM="/bin/sh -c 'i=0; until [ -e /sys%p/umcast -o $$i = 50 ]; do i=$$((i+1)); sleep 0.1; done'")";
  std::string text;
  for (const auto& tree : trees) {
    const auto& port = tree.port;
    if (!port.mode && !port.umcast) continue;
    std::vector<std::string> matches;
    if (port.guid) {
      matches.push_back(fmt::format("ATTR{{address}}==\"?*{}\"", port.guid->text()));
    } else {
      // NAME is what an earlier rule has given; without such the interface keeps the kernel's name.
      matches.push_back(fmt::format("NAME==\"{}\"", port.name));
      matches.push_back(fmt::format("NAME==\"\", KERNEL==\"{}\"", port.name));
    }
    for (const auto& match : matches) {
      text += R"(ACTION=="add", SUBSYSTEM=="net", DRIVERS=="?*", ATTR{type}=="32", )";
      // The kernel compares with the line feed (drivers/infiniband/ulp/ipoib/ipoib_main.c).
      text += fmt::format("{}, {}", match, kWait);
      if (port.mode) text += fmt::format(", ATTR{{mode}}=e\"{}\\n\"", model::text_of(*port.mode));
      if (port.umcast) text += fmt::format(", ATTR{{umcast}}=\"{}\"", *port.umcast ? 1 : 0);
      text += '\n';
    }
  }
  if (!text.empty())
    out.files.push_back({"/etc/udev/rules.d/71-ipoib-mode.rules", first_line("udev") + text});
}

}  // namespace rdmacfg::foreign
