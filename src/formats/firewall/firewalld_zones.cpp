// SPDX-License-Identifier: Apache-2.0
#include "formats/firewall/firewalld_zones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kXml = ".xml";
constexpr std::array<std::string_view, 2> kFirewalldFolders{"/etc/firewalld", "/usr/lib/firewalld"};
constexpr int kIncludedServices = 8;  // deeper than any that firewalld ships

/// One tag of an XML file: "<port protocol="udp" port="4791"/>" without its brackets.
struct XmlTag {
  std::string_view name;  ///< "port"; "/rule" of an end tag
  std::string_view text;  ///< all of it

  /// The value of an attribute; empty without it.
  [[nodiscard]] std::string_view attribute(std::string_view key) const {
    for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
      const auto behind = text.substr(at + key.size());
      const bool begins = at > 0 && std::string_view(" \t\r\n").find(text[at - 1]) != std::string_view::npos;
      if (!begins || behind.size() < 2 || behind[0] != '=' || (behind[1] != '"' && behind[1] != '\''))
        continue;
      const auto value = behind.substr(2);
      return value.substr(0, value.find(behind[1]));
    }
    return {};
  }
};

/// The tags of a file, without comments. They point into `text`.
std::vector<XmlTag> xml_tags(std::string_view text) {
  constexpr std::string_view kComment = "<!--", kCommentEnd = "-->";
  std::vector<XmlTag> out;
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const auto rest = text.substr(at);
    if (rest.starts_with(kComment)) {
      at = std::min(text.find(kCommentEnd, at), text.size() - 1);
      continue;
    }
    const auto tag = rest.substr(1, rest.find('>') - 1);
    const auto name = tag.substr(0, tag.find_first_of(" \t\r\n/>", 1));
    out.push_back({name, tag});
  }
  return out;
}

/// A file of the administrator, or else that of the distribution: "zones", "public".
base::Result<std::optional<std::string>> firewalld_file(system::Files& files, std::string_view what,
                                                        std::string_view name) {
  for (const auto folder : kFirewalldFolders) {
    auto text = files.read(fmt::format("{}/{}/{}{}", folder, what, name, kXml));
    if (!text || *text) return text;
  }
  return std::optional<std::string>();
}

/// Whether a service of that name has the port. `true` also where its file cannot be found: a rule that is
/// not understood may accept.
bool service_has(system::Files& files, std::string_view name, const FirewallPort& port, int depth) {
  const auto text = firewalld_file(files, "services", name);
  if (!text || !*text || depth == 0) return true;
  const auto tags = xml_tags(**text);
  return std::any_of(tags.begin(), tags.end(), [&](const XmlTag& tag) {
    if (tag.name == "port")
      return tag.attribute("protocol") == port.protocol && port.in(tag.attribute("port"));
    if (tag.name == "protocol") return tag.attribute("value") == port.protocol;
    return tag.name == "include" && service_has(files, tag.attribute("service"), port, depth - 1);
  });
}

/// Whether a zone or a policy may accept packets to the port. A rich rule for the port counts as acceptance,
/// whatever its action: the administrator has decided there.
bool may_accept(system::Files& files, std::string_view text, const FirewallPort& port) {
  bool narrow = false, accepts = false;  // of the rich rule that the tag is in
  for (const auto& tag : xml_tags(text)) {
    if (tag.name == "zone" || tag.name == "policy") {
      if (tag.attribute("target") == "ACCEPT") return true;
    } else if (tag.name == "rule") {
      narrow = accepts = false;
    } else if (tag.name == "/rule") {
      if (accepts && !narrow) return true;
      narrow = accepts = false;
    } else if (tag.name == "accept") {
      accepts = true;
    } else if (tag.name == "port") {
      if (tag.attribute("protocol") == port.protocol && port.in(tag.attribute("port"))) return true;
      narrow = true;
    } else if (tag.name == "service") {
      if (service_has(files, tag.attribute("name"), port, kIncludedServices)) return true;
      narrow = true;
    } else if (tag.name == "protocol") {
      if (tag.attribute("value") == port.protocol) return true;
      narrow = true;
    } else if (tag.name != "source" && tag.name != "destination" && tag.name != "log") {
      narrow = true;  // icmp-type, source-port, forward-port, masquerade
    }
  }
  return false;
}

/// Whether a zone is for packets from some addresses, whatever their interface.
bool is_for_sources(std::string_view text) {
  bool in_rule = false;
  for (const auto& tag : xml_tags(text)) {
    if (tag.name == "rule") in_rule = true;
    if (tag.name == "/rule") in_rule = false;
    if (tag.name == "source" && !in_rule) return true;
  }
  return false;
}

/// Whether a policy is for packets from the zone to this host.
bool is_for_host(std::string_view text, std::string_view zone) {
  bool from_zone = false, to_host = false;
  for (const auto& tag : xml_tags(text)) {
    const auto name = tag.attribute("name");
    if (tag.name == "ingress-zone") from_zone = from_zone || name == zone || name == "ANY";
    if (tag.name == "egress-zone") to_host = to_host || name == "HOST";
  }
  return from_zone && to_host;
}

/// Whether a zone for sources, a policy, or the administrator's own rules of iptables may accept them.
bool others_may_accept(system::Files& files, std::string_view zone, const FirewallPort& port) {
  for (const auto folder : kFirewalldFolders) {
    for (const std::string_view subfolder : {"zones", "policies"}) {
      const auto names = files.list(fmt::format("{}/{}", folder, subfolder));
      if (!names) return true;
      for (const auto& name : *names) {
        if (!name.ends_with(kXml)) continue;
        const auto text =
            firewalld_file(files, subfolder, std::string_view(name).substr(0, name.size() - kXml.size()));
        if (!text || !*text) return true;
        const bool counts = subfolder == "zones" ? is_for_sources(**text) : is_for_host(**text, zone);
        if (counts && may_accept(files, **text, port)) return true;
      }
    }
  }
  const auto direct = files.read("/etc/firewalld/direct.xml");
  if (!direct) return true;
  const auto tags = *direct ? xml_tags(**direct) : std::vector<XmlTag>();
  return std::any_of(tags.begin(), tags.end(),
                     [](const XmlTag& tag) { return tag.name == "rule" || tag.name == "passthrough"; });
}

/// The zone that a profile of NetworkManager gives the interface ([connection] zone=), which no file of
/// firewalld has.
std::optional<std::string> zone_of_profile(system::Files& files, std::string_view interface) {
  constexpr std::string_view kFolder = "/etc/NetworkManager/system-connections";
  constexpr std::string_view kName = "interface-name=", kZone = "zone=";
  const auto names = files.list(std::string(kFolder));
  if (!names) return std::nullopt;
  for (const auto& name : *names) {
    const auto text = files.read(fmt::format("{}/{}", kFolder, name));
    if (!text || !*text) continue;
    std::string_view of, zone;
    for (const auto line : base::split(std::string_view(**text), '\n')) {
      if (line.starts_with(kName)) of = base::trim(line.substr(kName.size()));
      if (line.starts_with(kZone)) zone = base::trim(line.substr(kZone.size()));
    }
    if (of == interface && !zone.empty()) return std::string(zone);
  }
  return std::nullopt;
}

std::string default_zone(system::Files& files) {
  constexpr std::string_view kKey = "DefaultZone=";
  const auto text = files.read_linked("/etc/firewalld/firewalld.conf");
  if (text && *text) {
    for (const auto line : base::split(std::string_view(**text), '\n')) {
      if (line.starts_with(kKey)) return std::string(base::trim(line.substr(kKey.size())));
    }
  }
  return "public";  // FALLBACK_ZONE of firewalld's config/__init__.py
}

}  // namespace

std::optional<std::string> firewalld_zone(system::Files& files, std::string_view interface) {
  constexpr std::string_view kFolder = "/etc/firewalld/zones";
  const auto names = files.list(std::string(kFolder));
  if (!names) return std::nullopt;
  for (const auto& name : *names) {
    if (!name.ends_with(kXml)) continue;
    const auto text = files.read(fmt::format("{}/{}", kFolder, name));
    if (!text || !*text) continue;
    const auto tags = xml_tags(**text);
    if (std::any_of(tags.begin(), tags.end(), [&](const XmlTag& tag) {
          return tag.name == "interface" && tag.attribute("name") == interface;
        }))
      return name.substr(0, name.size() - kXml.size());
  }
  return std::nullopt;
}

std::optional<std::string> firewalld_refuses(system::Files& files, std::string_view interface,
                                             const FirewallPort& port) {
  auto zone = firewalld_zone(files, interface);
  if (!zone) zone = zone_of_profile(files, interface);
  if (!zone) zone = default_zone(files);
  const auto text = firewalld_file(files, "zones", *zone);
  if (!text || !*text || may_accept(files, **text, port) || others_may_accept(files, *zone, port))
    return std::nullopt;
  return zone;
}

}  // namespace rdmacfg::kinds
