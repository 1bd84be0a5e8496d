// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kBegin =
    "# rdma-configd: what is between the two marks is lost when it is changed.";
constexpr std::string_view kEnd = "# rdma-configd: end";
constexpr std::string_view kPriority = "--priority ";

/// The 15 bits of the P_Key that a rule defines; nothing when the text does not begin one.
std::optional<std::uint16_t> partition_of(std::string_view rule) {
  const auto head = rule.substr(0, rule.find_first_of(",:"));
  const auto equals = head.find('=');
  if (equals == std::string_view::npos) {
    return base::trim(head) == "Default" ? std::optional<std::uint16_t>(0x7fff) : std::nullopt;
  }
  const auto number = base::parse_number(base::trim(head.substr(equals + 1)));
  if (!number || *number > 0xffff) return std::nullopt;
  return static_cast<std::uint16_t>(*number & 0x7fffU);
}

}  // namespace

std::string opensm_guid(model::Guid guid) { return fmt::format("{:#018x}", guid.number); }
std::string opensm_unit(model::Guid guid) { return fmt::format("opensm@{}.service", opensm_guid(guid)); }

OpensmLayout observe_opensm_layout(system::Files& files) {
  const auto there = [&](const char* path) {
    const auto text = files.read(path);
    return text && text->has_value();
  };
  if (there("/etc/default/opensm") || there("/usr/lib/systemd/system/opensm@.service") ||
      there("/lib/systemd/system/opensm@.service")) {
    return OpensmLayout::kDebian;
  }
  if (there("/etc/sysconfig/opensm") || there("/etc/rdma/opensm.conf")) return OpensmLayout::kRhel;
  return OpensmLayout::kNone;
}

std::string partitions_path(OpensmLayout layout) {
  return layout == OpensmLayout::kRhel ? "/etc/rdma/partitions.conf" : "/etc/opensm/partitions.conf";
}

std::vector<std::string> parse_ports(std::string_view text) {
  std::vector<std::string> ports{"ALL"};
  for (const auto whole : base::split(text, '\n')) {
    auto line = base::trim(whole);
    if (!line.starts_with("PORTS=")) continue;
    line.remove_prefix(6);
    ports.clear();
    std::string value(line);
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    for (const auto word : base::split(value, ' ')) {
      if (!word.empty()) ports.push_back(base::lower(word) == "all" ? "ALL" : std::string(word));
    }
    if (ports.empty()) ports.emplace_back("NONE");
  }
  return ports;
}

std::string with_ports(std::string_view text, const std::vector<std::string>& ports) {
  const bool one_word = ports.size() == 1 && (ports[0] == "ALL" || ports[0] == "NONE");
  const auto line = one_word ? "PORTS=" + ports[0] : fmt::format("PORTS=\"{}\"", base::join(ports, " "));
  auto lines = base::split(text, '\n');
  auto last = lines.rend();
  for (auto at = lines.rbegin(); at != lines.rend() && last == lines.rend(); ++at) {
    if (base::trim(*at).starts_with("PORTS=")) last = at;
  }
  std::vector<std::string> out(lines.begin(), lines.end());
  if (last != lines.rend()) {
    out[static_cast<std::size_t>(lines.rend() - last) - 1] = line;
    return base::join(out, "\n");
  }
  std::string rest(text);
  if (!rest.empty() && !rest.ends_with('\n')) rest += '\n';
  return rest + line + "\n";
}

std::string opensm_drop_in(model::Guid guid) {
  return fmt::format("/etc/systemd/system/{}.d/50-rdma-configd.conf", opensm_unit(guid));
}

std::string render_opensm_drop_in(std::int64_t priority) {
  return fmt::format(
      "# Written by rdma-configd; what is changed here is lost.\n[Service]\nExecStart=\n"
      "ExecStart=/usr/sbin/opensm --guid %I --log_file /var/log/opensm.%I.log {}{}\n",
      kPriority, priority);
}

std::optional<std::int64_t> parse_opensm_drop_in(std::string_view text) {
  const auto at = text.rfind(kPriority);
  if (at == std::string_view::npos) return std::nullopt;
  const auto rest = text.substr(at + kPriority.size());
  const auto number = base::parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!number || *number > 15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

bool Partitions::has(std::uint16_t partition) const {
  return rules.contains(partition) || std::any_of(foreign.begin(), foreign.end(), [&](const Foreign& one) {
           return one.partition == partition;
         });
}

Partitions parse_partitions(std::string_view text) {
  Partitions out;
  bool ours = false;
  bool inside = false;  // of a foreign rule that goes on over lines
  int number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    const auto line = text.substr(start, end - start);
    const auto whole = text.substr(start, std::min(end + 1, text.size()) - start);
    start = end + 1;
    ++number;
    if (line == kBegin) ours = true;
    if (ours) {
      if (const auto partition = partition_of(line); partition && !line.starts_with('#')) {
        out.rules.insert_or_assign(*partition, std::string(line));
      }
      if (line == kEnd) ours = false;
      continue;
    }
    out.others += whole;
    const auto code = base::trim(line.substr(0, line.find('#')));
    if (code.empty()) continue;
    if (!inside) {
      if (const auto partition = partition_of(code)) out.foreign.push_back({number, *partition});
    }
    inside = !code.ends_with(';');
  }
  return out;
}

std::string render_partitions(const Partitions& partitions) {
  if (partitions.rules.empty()) return partitions.others;
  std::string text = partitions.others;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += std::string(kBegin) + "\n";
  for (const auto& [partition, rule] : partitions.rules) text += rule + "\n";
  return text + std::string(kEnd) + "\n";
}

}  // namespace rdmacfg::kinds
