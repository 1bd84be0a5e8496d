// SPDX-License-Identifier: Apache-2.0
#include "catalog/withdraw_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::State;
using model::text_at;

namespace {

constexpr std::string_view kOurs = "rdma-configd";
constexpr std::string_view kLeftBy = "# Left by `rdma-configctl withdraw`:";  // of every release
constexpr std::string_view kLeft =
    "# Left by `rdma-configctl withdraw`: this file is yours now; no program changes it.";

bool begins_with_any(std::string_view line, std::span<const std::string_view> all) {
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view prefix) { return line.starts_with(prefix); });
}

std::string file_of(model::Guid guid) {
  auto id = guid.text();
  std::erase(id, ':');
  return fmt::format("/etc/rdma/rdma-admin-{}.sh", id);
}

/// udev tells of the interface before these files are there, of which create_child is the last but one
/// (ipoib_add_port in drivers/infiniband/ulp/ipoib/ipoib_main.c).
constexpr std::string_view kWait =
    "i=0\n"
    "until [ -e \"/sys/class/net/$port/create_child\" ] || [ $i = 50 ]; do\n"
    "\ti=$((i+1))\n"
    "\tsleep 0.1\n"
    "done\n";
constexpr int kPointToPoint = 31;  // from this length on IPv4 knows no broadcasts (RFC 3021)

bool handled(const Desired& desired) { return !desired.ignore && !desired.absent && !desired.pending; }

/// The lines for one interface, which `name` means in the script.
void set_up(std::string& out, std::string_view name, const PkeyLink& link) {
  if (link.mode)
    out += fmt::format("echo {} >\"/sys/class/net/{}/mode\"\n", model::text_of(*link.mode), name);
  if (link.umcast) out += fmt::format("echo {} >\"/sys/class/net/{}/umcast\"\n", *link.umcast ? 1 : 0, name);
  if (link.mtu) out += fmt::format("ip link set dev \"{}\" mtu {}\n", name, link.mtu->bytes);
  out += fmt::format("ip link set dev \"{}\" {}\n", name, link.state == State::kDown ? "down" : "up");
}

/// Made by sysfs, so that the mode can be written; a child that is there already is left as it was made. The
/// kernel gives a name of its own first, with 10 characters of the port's at most; before Linux 6.10 all of
/// the name was cut to 15, which may be the port's. Only a child that was made so has a file `parent`, with
/// the name of its port: udev runs the scripts of ports at the same time, whose children may be called alike.
void make_child(std::string& out, const model::Pkey& pkey, std::string_view name) {
  out += fmt::format(
      "if [ ! -e \"/sys/class/net/{0}\" ]; then\n"
      "\techo {1} >\"/sys/class/net/$port/create_child\"\n"
      "\tfirst=$(printf %.10s \"$port\").{2:04x}\n"
      "\t[ \"$(cat \"/sys/class/net/$first/parent\" 2>/dev/null)\" = \"$port\" ] ||\n"
      "\t\tfirst=$(printf %.15s \"$port.{2:04x}\")\n"
      "\t[ \"$first\" = \"{0}\" ] ||\n"
      "\t\t[ \"$(cat \"/sys/class/net/$first/parent\" 2>/dev/null)\" != \"$port\" ] ||\n"
      "\t\tip link set dev \"$first\" name \"{0}\"\n"
      "fi\n",
      name, pkey.text(), pkey.full());
}

/// Addresses and routes of an interface, which are resources of their own: "ID 192.0.2.1/24",
/// "ID 198.51.100.0/24 metric 150 table 254".
void address(std::string& out, std::string_view name, std::string_view id, std::span<const Desired> desired) {
  for (const std::string_view kind : {"address", "route"}) {
    for (const auto& resource : desired) {
      if (resource.key.kind != kind || !handled(resource)) continue;
      const auto space = resource.key.id.find(' ');
      if (resource.key.id.substr(0, space) != id || space == std::string::npos) continue;
      auto rest = resource.key.id.substr(space + 1);
      if (kind == "address") {
        const auto prefix = model::IpPrefix::parse(rest);
        const bool broadcast =
            prefix && prefix->address.family == model::Family::kIpv4 && prefix->length < kPointToPoint;
        out += fmt::format("ip address replace {}{} dev \"{}\"\n", rest, broadcast ? " brd +" : "", name);
        continue;
      }
      std::string_view family = rest.find(':') == std::string::npos ? "-4" : "-6";
      if (rest.starts_with("ipv6 ")) {
        family = "-6";
        rest.erase(0, 5);
      }
      const auto end = rest.find(' ');
      const auto via = text_at(resource.settings, "via");
      const bool on_link = model::IpAddress::parse(via).has_value() == false;
      out += fmt::format("ip {} route replace {}{} dev \"{}\"{}\n", family, rest.substr(0, end),
                         on_link ? "" : " via " + via, name,
                         end == std::string::npos ? std::string() : rest.substr(end));
    }
  }
}

SetupFile script_of(model::Guid guid, const Desired& port, std::span<const Desired> desired) {
  SetupFile out{file_of(guid), {}, {}};
  const auto name = port.label;
  out.content = fmt::format(
      "#!/bin/sh\n{}\n"
      "# Sets up the IPoIB interface of port {} when it appears; {} calls it with the name.\n"
      "port=$1\n",
      kLeft, guid.text(), kSetupRules);
  out.content += kWait;
  const auto wanted = model::from_attributes<Ipoib>(port.settings);
  PkeyLink link;
  link.mode = wanted.mode;
  link.mtu = wanted.mtu;
  link.umcast = wanted.umcast;
  link.state = wanted.state;
  set_up(out.content, "$port", link);
  address(out.content, "$port", guid.text(), desired);
  int children = 0;
  for (const auto& resource : desired) {
    const auto id =
        resource.key.kind == "pkey" && handled(resource) ? detail::pkey_id(resource.key) : std::nullopt;
    const auto child = model::from_attributes<PkeyLink>(resource.settings);
    if (!id || id->guid != guid) continue;
    ++children;
    // Without a name of the document it is called as the kernel would, after whatever its port's is called.
    if (!child.name) out.content += fmt::format("child=$(printf %.15s \"$port.{:04x}\")\n", id->pkey.full());
    const auto child_name = child.name ? child.name->text : std::string("$child");
    make_child(out.content, id->pkey, child_name);
    set_up(out.content, child_name, child);
    address(out.content, child_name, resource.key.id, desired);
  }
  const bool addressed = std::any_of(desired.begin(), desired.end(), [&](const Desired& resource) {
    return resource.key.kind == "address" && resource.key.id.starts_with(guid.text());
  });
  out.what = fmt::format("mode and MTU{}{} of {}", children == 0 ? "" : ", P_Key interfaces",
                         addressed ? ", addresses and routes" : "", name);
  return out;
}

}  // namespace

std::optional<std::string> plain_name(std::string_view file_name) {
  for (const auto& [ours, plain] :
       {std::pair{"rdma-configd", "rdma-admin"}, {"rdma_configd", "rdma_admin"}}) {
    const auto at = file_name.find(ours);
    if (at == std::string_view::npos) continue;
    return fmt::format("{}{}{}", file_name.substr(0, at), plain, file_name.substr(at + kOurs.size()));
  }
  return std::nullopt;
}

std::optional<std::string> plain_text(std::string_view text) {
  const auto end = text.find('\n');
  const auto first = text.substr(0, end);
  if (!first.starts_with('#') || first.find(kOurs) == std::string_view::npos) return std::nullopt;
  return fmt::format("{}{}", kLeft, end == std::string_view::npos ? "\n" : text.substr(end));
}

bool was_left(std::string_view text) {
  return text.starts_with(kLeftBy) || text.starts_with(fmt::format("#!/bin/sh\n{}", kLeftBy));
}

std::optional<std::string> without_marks(std::string_view text, const OwnedFile& file) {
  const auto& marks = *file.marks;
  std::string out;
  bool found = false, inside = false;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    const auto line = text.substr(start, end - start);
    const auto whole = text.substr(start, std::min(end + 1, text.size()) - start);
    start = end + 1;
    if (line.starts_with(marks.begin) ||
        (!marks.former_begin.empty() && line.starts_with(marks.former_begin))) {
      found = inside = true;
    } else if (inside && line.starts_with(marks.end)) {
      inside = false;
    } else if (!inside || !begins_with_any(line, file.notes)) {
      out += whole;
    }
  }
  if (!found) return std::nullopt;
  return out;
}

std::vector<SetupFile> render_setup(std::span<const Desired> desired, const BackendRules& backends) {
  std::vector<SetupFile> out;
  std::string rules = fmt::format("{}\n# Sets up the IPoIB interface of a port when it appears.\n", kLeft);
  for (const auto& resource : desired) {
    const auto guid = model::Guid::parse(resource.key.id);
    if (resource.key.kind != "ipoib" || !handled(resource) || !guid) continue;
    const auto at = backends.find(*guid);
    if (at != backends.end() && at->second == model::Backend::kNetworkManager) continue;
    out.push_back(script_of(*guid, resource, desired));
    rules += fmt::format(
        "ACTION==\"add\", SUBSYSTEM==\"net\", DRIVERS==\"?*\", ATTR{{type}}==\"32\", "
        "ATTR{{address}}==\"?*{}\", RUN+=\"/bin/sh {} $name\"\n",
        guid->text(), out.back().path);
  }
  if (!out.empty()) out.push_back({std::string(kSetupRules), rules, "calls these scripts"});
  return out;
}

std::vector<std::string> not_handed_over(std::span<const Desired> desired) {
  std::vector<std::string> out;
  for (const auto* kind : all_kinds()) {
    if (kind->lost_after_withdraw().empty()) continue;
    std::vector<std::string> labels;
    for (const auto& resource : desired) {
      if (resource.key.kind == kind->name() && handled(resource) && !resource.settings.empty())
        labels.push_back(resource.label);
    }
    if (!labels.empty())
      out.push_back(fmt::format("{}: {}", kind->lost_after_withdraw(), base::join(labels, ", ")));
  }
  std::vector<std::string> absent;
  for (const auto& resource : desired) {
    if ((resource.key.kind == "ipoib" || resource.key.kind == "pkey") && resource.pending)
      absent.push_back(resource.label);
  }
  if (!absent.empty())
    out.push_back(fmt::format("interfaces that do not exist now: {}", base::join(absent, ", ")));
  return out;
}

}  // namespace rdmacfg::kinds
