// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/iser_unit.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kWantedMark = "# session: ", kLeavingMark = "# logging out: ",
                           kRestingMark = "# logging out for now: ", kBootMark = "# in boot: ";
constexpr std::int64_t kHighestTag = 65535;  // of ports and of portal groups

std::optional<std::int64_t> tag_of(std::string_view text) {
  const auto number = base::parse_number(text);
  if (!number || *number > kHighestTag) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// As the kernel writes it. Nothing else becomes part of a command.
bool is_boot_id(std::string_view text) {
  constexpr std::size_t kUuid = 36;
  return text.size() == kUuid && text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

std::string arguments_of(const IserPortal& portal) {
  return fmt::format("-T {} -p {} -I {}", portal.target, portal.portal(), kIserInterface);
}

/// A record that is there keeps what others have put into it: secrets, timeouts. open-iscsi's own service is
/// not to log in by it, and a target that is away holds up neither a boot nor an apply for two minutes.
void add_wanted(const IserPortal& portal, std::string& out) {
  out += fmt::format(
      "{}{}\n"
      "ExecStart=-/bin/sh -c 'iscsiadm -m node \"$$@\" >/dev/null 2>&1 || "
      "{{ iscsiadm -m node \"$$@\" -o new && iscsiadm -m node \"$$@\" -o update -n node.startup -v manual "
      "-n node.session.initial_login_retry_max -v 3; }}' sh {}\n",
      kWantedMark, portal.text(), arguments_of(portal));
}

void add_leaving(const IserPortal& portal, std::string& out) {
  out += fmt::format(
      "{}{}\n"
      "ExecStart=-iscsiadm -m node {} --logout\n"
      "ExecStart=-iscsiadm -m node {} -o delete\n",
      kLeavingMark, portal.text(), arguments_of(portal), arguments_of(portal));
}

void add_resting(const IserPortal& portal, std::string& out) {
  out += fmt::format("{}{}\nExecStart=-iscsiadm -m node {} --logout\n", kRestingMark, portal.text(),
                     arguments_of(portal));
}

}  // namespace

void IserLogins::erase(const IserPortal& portal) {
  for (auto* list : {&wanted, &leaving, &resting}) list->erase(portal);
}

std::optional<IserPortal> IserPortal::parse(std::string_view text) {
  const auto blank = text.find(' '), comma = text.rfind(',');
  if (blank == std::string_view::npos || comma == std::string_view::npos || comma < blank)
    return std::nullopt;
  const auto portal = text.substr(blank + 1, comma - blank - 1);
  const auto colon = portal.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto spelled = portal.substr(0, colon);
  if (spelled.starts_with('[') && spelled.ends_with(']')) spelled = spelled.substr(1, spelled.size() - 2);
  auto target = model::IscsiName::parse(text.substr(0, blank));
  const auto address = model::IpAddress::parse(spelled);
  const auto port = tag_of(portal.substr(colon + 1)), group = tag_of(text.substr(comma + 1));
  if (!target || !address || !port || !group) return std::nullopt;
  IserPortal out{std::move(target->text), *address, *port, *group};
  return out.text() == text ? std::optional(std::move(out)) : std::nullopt;
}

std::string IserPortal::portal() const {
  const bool ipv6 = address.family == model::Family::kIpv6;
  return fmt::format("{}{}{}:{},{}", ipv6 ? "[" : "", address.text(), ipv6 ? "]" : "", port, group);
}

std::string IserPortal::text() const { return target + " " + portal(); }

bool is_our_iser_unit(std::string_view text) { return text.substr(0, text.find('\n')) == kOurFirstLine; }

IserLogins parse_iser_unit(std::string_view text) {
  IserLogins out;
  if (!is_our_iser_unit(text)) return out;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with(kBootMark) && is_boot_id(line.substr(kBootMark.size())))
      out.boot = line.substr(kBootMark.size());
    for (const auto& [mark, into] :
         {std::pair{kWantedMark, &out.wanted}, std::pair{kLeavingMark, &out.leaving},
          std::pair{kRestingMark, &out.resting}}) {
      if (!line.starts_with(mark)) continue;
      if (auto portal = IserPortal::parse(line.substr(mark.size()))) into->insert(std::move(*portal));
    }
  }
  for (const auto& portal : out.leaving) out.resting.erase(portal);
  for (const auto* list : {&out.leaving, &out.resting}) {
    for (const auto& portal : *list) out.wanted.erase(portal);
  }
  if (out.resting.empty()) out.boot.clear();
  return out;
}

std::string render_iser_unit(const IserLogins& logins) {
  if (logins.empty()) return {};
  auto out = fmt::format(
      "{}\n"
      "[Unit]\n"
      "Description=Log in to iSER targets\n"
      "Documentation=man:rdma-configd.toml(5) man:iscsiadm(8)\n"
      "Wants=network-online.target remote-fs-pre.target iscsid.socket\n"
      "After=network-online.target rdma-configd-online.target iscsid.socket iscsid.service\n"
      "Before=remote-fs-pre.target\n"
      "# It is started again for each session that is missing.\n"
      "StartLimitIntervalSec=0\n"
      "\n"
      "[Service]\n"
      "Type=oneshot\n"
      "TimeoutStartSec=80\n",
      kOurFirstLine);
  // By an update iscsiadm would ask for the module of TCP first.
  out += fmt::format(
      "ExecStart=-/bin/sh -c 'iscsiadm -m iface -I {0} 2>/dev/null | grep -q \"transport_name = iser\" || "
      "iscsiadm -m iface -I {0} -o new -n iface.transport_name -v iser'\n",
      kIserInterface);
  for (const auto& portal : logins.leaving) add_leaving(portal, out);
  for (const auto& portal : logins.resting) add_resting(portal, out);
  for (const auto& portal : logins.wanted) add_wanted(portal, out);
  if (!logins.resting.empty()) {  // a login by the interface is one by their records, too
    if (!is_boot_id(logins.boot)) return out;
    return out + fmt::format(
                     "{}{}\n"
                     "ExecStart=-/bin/sh -c 'grep -qsxF {} /proc/sys/kernel/random/boot_id || "
                     "iscsiadm -m node -I {} --login'\n",
                     kBootMark, logins.boot, logins.boot, kIserInterface);
  }
  return out + fmt::format("ExecStart=-iscsiadm -m {} -I {} {}\n", logins.wanted.empty() ? "iface" : "node",
                           kIserInterface, logins.wanted.empty() ? "-o delete" : "--login");
}

std::string render_iser_boot_drop_in() {
  return fmt::format("{}\n[Unit]\nWants=rdma-configd-online.target\nWants={}\n", kOurFirstLine, kIserUnit);
}

bool logs_in_at_boot(std::string_view record) {
  for (const auto raw : base::split(record, '\n')) {
    const auto line = base::trim(raw);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || base::trim(line.substr(0, equals)) != "node.startup") continue;
    const auto value = base::trim(line.substr(equals + 1));
    return value == "automatic" || value == "onboot";
  }
  return false;
}

}  // namespace rdmacfg::kinds
