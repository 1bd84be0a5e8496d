// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/discovery_conf.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kLineBegin = "--transport=rdma --traddr=";

constexpr std::string_view kServiceOption = " --trsvcid=";

/// A line of ours without its mark and its port.
std::string without_port(std::string_view line) {
  if (line.starts_with(kGoingMark)) line.remove_prefix(kGoingMark.size());
  const auto at = line.find(kServiceOption);
  if (at == std::string_view::npos) return std::string(line);
  const auto end = std::min(line.find(' ', at + kServiceOption.size()), line.size());
  return std::string(line.substr(0, at)) + std::string(line.substr(end));
}

/// Whether a line is for another port of the same connection as those so far.
bool is_another_port(std::string_view line, std::string_view lines) {
  const auto known = base::split(lines, '\n');
  return without_port(line) == without_port(known.front()) &&
         std::find(known.begin(), known.end(), line) == known.end();
}

}  // namespace

DiscoveryConf parse_discovery_conf(std::string_view text) {
  DiscoveryConf out;
  auto marked = parse_marked(text, kOpensmMarks);
  out.others = std::move(marked.others);
  out.damage = std::move(marked.damage);
  for (const auto& line : marked.lines) {
    const bool going = line.ours && line.text.starts_with(kGoingMark);
    if (line.text.empty() || (line.text.starts_with('#') && !going)) continue;
    const auto command = std::string_view(line.text).substr(going ? kGoingMark.size() : 0);
    auto address = traddr_of(command);
    if (!line.ours) {
      if (!address.empty()) out.others_lead.try_emplace(std::move(address), line.number);
      continue;
    }
    const bool as_written = command.starts_with(kLineBegin) && model::IpAddress::parse(address);
    auto& at = out.ours[as_written ? address : std::string(line.text)];
    if (!at.empty() && as_written && is_another_port(line.text, at)) {
      at += "\n" + std::string(line.text);
      continue;
    }
    // Of two others for one address the last is its line.
    if (!at.empty()) {
      for (const auto former : base::split(std::string_view(at), '\n'))
        out.ours[std::string(former)] = former;
    }
    at = line.text;
  }
  return out;
}

std::string render_discovery_conf(const DiscoveryConf& conf) {
  if (conf.ours.empty()) return conf.others;
  auto text = begin_marked(conf.others, kOpensmMarks);
  for (const auto& [address, line] : conf.ours) text += line + "\n";
  return text + std::string(kOpensmMarks.end) + "\n";
}

std::string traddr_of(std::string_view line) {
  // nvme-cli divides a line at each blank and each '='; of several addresses the last one counts.
  std::string out;
  bool next = false;
  for (std::size_t start = 0; start <= line.size();) {
    const auto end = std::min(line.find_first_of(" =", start), line.size());
    const auto word = line.substr(start, end - start);
    start = end + 1;
    if (next) {
      const auto parsed = model::IpAddress::parse(word);
      out = parsed ? parsed->text() : std::string(word);
      next = false;
      continue;
    }
    next = word == "--traddr" || word == "-a";
    if (word.starts_with("-a")) {  // "-a192.0.2.1", as getopt(3) takes it, too
      if (const auto parsed = model::IpAddress::parse(word.substr(2))) out = parsed->text();
    }
  }
  return out;
}

std::set<std::string> services_of_lines(std::string_view lines) {
  std::set<std::string> out;
  for (const auto line : base::split(lines, '\n')) {
    const auto at = line.find(kServiceOption);
    if (at == std::string_view::npos) continue;
    const auto service = line.substr(at + kServiceOption.size());
    out.emplace(service.substr(0, service.find(' ')));
  }
  return out;
}

std::string render_autoconnect_drop_in() {
  return fmt::format(
      "{}\n"
      "[Unit]\n"
      "Wants=network-online.target\n"
      "After=network-online.target rdma-configd-online.target\n"
      "# nvme-cli 2.3 does not start it when both of its files are there.\n"
      "ConditionPathExists=\n"
      "ConditionPathExists={}\n"
      "# It is started again for each connection that is missing.\n"
      "StartLimitIntervalSec=0\n",
      kOurFirstLine, kDiscoveryFile);
}

std::string render_nvme_boot_drop_in() {
  return fmt::format("{}\n[Unit]\nWants=rdma-configd-online.target\n", kOurFirstLine);
}

}  // namespace rdmacfg::kinds
