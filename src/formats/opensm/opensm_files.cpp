// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/qos_policy.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kEnd = ".conf";
/// cl_nodenamemap.c reads lines into 256 bytes, osm_subnet.c into 1024.
constexpr std::size_t kNodeLineMost = 250;
constexpr std::uint64_t kPortMost = 254;

constexpr std::array<OpensmSideFile, 13> kSideFiles{{
    {.option = "root_guid_file",
     .name = "rdma-root-guids.conf",
     .what = "node GUIDs of the switches at the roots",
     .guids = true,
     .engines = "updn,dnup,ftree"},
    {.option = "cn_guid_file",
     .name = "rdma-compute-guids.conf",
     .what = "port GUIDs of compute nodes",
     .guids = true,
     .engines = "ftree,dfsssp,sssp"},
    {.option = "io_guid_file",
     .name = "rdma-io-guids.conf",
     .what = "port GUIDs of I/O nodes",
     .guids = true,
     .engines = "ftree,dfsssp,sssp"},
    {.option = "guid_routing_order_file",
     .name = "rdma-routing-order.conf",
     .what = "port GUIDs in the order of their routing",
     .guids = true},
    {.option = "ids_guid_file",
     .name = "rdma-node-ids.conf",
     .what = "\"GUID ID\" of switches",
     .engines = "updn,dnup"},
    {.option = "hop_weights_file",
     .name = "rdma-hop-weights.conf",
     .what = "\"GUID PORT WEIGHT\" of switches"},
    {.option = "port_search_ordering_file",
     .name = "rdma-port-order.conf",
     .what = "\"GUID PORT PORT …\" of switches"},
    {.option = "port_prof_ignore_file",
     .name = "rdma-ignored-ports.conf",
     .what = "\"GUID PORT\" of switch ports that balancing leaves out"},
    {.option = "torus_config",
     .name = "rdma-torus.conf",
     .what = "torus-2QoS.conf(5)",
     .engines = "torus-2QoS"},
    {.option = "prefix_routes_file",
     .name = "rdma-prefix-routes.conf",
     .what = "\"PREFIX GUID\" of subnets behind routers, * for any"},
    {.option = "qos_policy_file", .name = "rdma-qos-policy.conf", .what = "the QoS policy", .needs = "qos"},
    {.option = "node_name_map_name",
     .name = "rdma-node-names.conf",
     .what = "names of nodes in OpenSM's log: 0x… \"leaf 1\"",
     .at_start = true},
    {.option = "per_module_logging_file",
     .name = "rdma-log-levels.conf",
     .what = "log levels of OpenSM's source files: \"osm_sa.c=0x3\""},
}};

std::vector<std::string_view> words(std::string_view line) { return base::words_of(line, " \t"); }

/// OpenSM reads a number of any length; the document takes the forms with colons, too.
base::Result<std::string> guid_text(std::string_view text) {
  const auto number =
      text.starts_with("0x") || text.starts_with("0X") ? base::parse_number(text) : std::nullopt;
  if (number && *number != 0) return opensm_guid(model::Guid{*number});
  const auto guid = model::Guid::parse(text);
  if (!guid) return base::fail(guid.error());
  return opensm_guid(*guid);
}

class Lines {
 public:
  explicit Lines(const OpensmSideFile& file) : file_(file) {}

  CheckedLines take(std::span<const std::string> lines) {
    for (const auto& line : lines) {
      ++number_;
      const auto code = base::trim(without_comment(line));
      if (code.empty()) continue;
      auto canonical = file_.option == "torus_config"              ? torus(words(code))
                       : file_.option == "prefix_routes_file"      ? route(words(code))
                       : file_.option == "per_module_logging_file" ? level(code)
                                                                   : node(code);
      if (canonical.size() > kNodeLineMost && file_.option != "torus_config")
        wrong(fmt::format("the line has {} characters; OpenSM reads {}", canonical.size(), kNodeLineMost));
      out_.lines.push_back(std::move(canonical));
    }
    if (file_.option == "torus_config" && !torus_size_)
      out_.wrong.push_back({0, "there is no line \"torus X Y Z\" or \"mesh X Y Z\"", ""});
    return std::move(out_);
  }

 private:
  /// A name in quotes may have no '#' (cl_nodenamemap.c), so that one always begins a comment.
  static std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

  void wrong(std::string what, std::string hint = {}) {
    out_.wrong.push_back({number_, std::move(what), std::move(hint)});
  }

  void wrong_count(std::size_t found, std::size_t wanted) {
    wrong(fmt::format("the line has {} word{}; must have {}: {}", found, found == 1 ? "" : "s", wanted,
                      file_.what));
  }

  std::string guid(std::string_view text) {
    auto out = guid_text(text);
    if (out) return *out;
    wrong(out.error().message);
    return std::string(text);
  }

  /// strtoul() with base 0 reads them.
  void number(std::string_view text, std::string_view what, std::uint64_t least, std::uint64_t most) {
    const auto value = base::c_number(text);
    if (!value || *value < least || *value > most)
      wrong(fmt::format("\"{}\" is not {} from {} to {}", text, what, least, most));
  }

  /// Lines that begin with a GUID.
  std::string node(std::string_view code) {
    const auto all = words(code);
    const auto first = guid(all.front());
    if (file_.option == "node_name_map_name") {
      const auto name = base::trim(code.substr(all.front().size()));
      const bool quoted = name.size() > 2 && name.front() == '"' && name.find('"', 1) == name.size() - 1;
      if (!quoted)
        wrong(fmt::format("{} must be followed by a quoted name", first), "0x0002c903000c1234 \"leaf 1\"");
      return fmt::format("{} {}", first, name);
    }
    if (file_.option == "port_search_ordering_file") {
      if (all.size() < 2) wrong(fmt::format("{} must be followed by ports", first));
      std::set<std::uint64_t> known;
      for (std::size_t i = 1; i < all.size(); ++i) {
        number(all[i], "a port", 1, kPortMost);
        const auto port = base::c_number(all[i]);
        if (port && !known.insert(*port).second) wrong(fmt::format("port {} is listed twice", all[i]));
      }
    } else {
      const std::size_t count = file_.option == "hop_weights_file" ? 3 : 2;
      if (all.size() != count) {
        wrong_count(all.size(), count);
      } else if (file_.option == "ids_guid_file") {
        number(all[1], "a number", 0, ~0ULL);
      } else {
        number(all[1], "a port", 1, kPortMost);
        if (count == 3) number(all[2], "a weight", 1, 255);
      }
    }
    return joined(first, all, 1);
  }

  static std::string joined(std::string out, std::span<const std::string_view> all, std::size_t from) {
    for (std::size_t i = from; i < all.size(); ++i) out += fmt::format(" {}", all[i]);
    return out;
  }

  /// osm_subnet.c reads hexadecimal digits, with 0x or without.
  std::string route(const std::vector<std::string_view>& all) {
    if (all.size() != 2) {
      wrong_count(all.size(), 2);
      return joined(std::string(all.front()), all, 1);
    }
    std::string out;
    for (const auto word : all) {
      if (!out.empty()) out += ' ';
      const auto number = word == "*" ? std::nullopt : base::parse_number(word);
      if (word == "*") {
        out += word;
      } else if (number && *number != 0 && (word.starts_with("0x") || word.starts_with("0X"))) {
        out += fmt::format("{:#018x}", *number);
      } else if (out.empty()) {
        wrong(fmt::format("\"{}\" is not a prefix", word), "64 bits like 0xfec0000000000001, or *");
        out += word;
      } else {
        out += guid(word);
      }
    }
    return out;
  }

  /// "osm_sa.c=0x3": a file of OpenSM's source, and bits (osm_log.h).
  std::string level(std::string_view code) {
    const auto end = code.find_first_of(" \t=,");
    const auto name = code.substr(0, end);
    const auto at = end == std::string_view::npos ? end : code.find_first_not_of(" \t=,", end);
    if (at == std::string_view::npos || !name.ends_with(".c")) {
      wrong(fmt::format("\"{}\" is not a source file and a level", code), "\"osm_sa.c=0x3\"");
      return std::string(code);
    }
    number(code.substr(at), "a level", 0, 255);
    return fmt::format("{}={}", name, code.substr(at));
  }

  std::string torus(const std::vector<std::string_view>& all) {
    const auto key = all.front();
    const auto count = [&](std::size_t wanted, std::string_view what) {
      if (all.size() == wanted + 1) return true;
      wrong(fmt::format("{} is followed by {} word{}; must have {}: {}", key, all.size() - 1,
                        all.size() == 2 ? "" : "s", wanted, what));
      return false;
    };
    if (key == "torus" || key == "mesh") {
      if (torus_size_) wrong(fmt::format("{} is a second size of the fabric", key));
      torus_size_.emplace();
      if (count(3, "the number of switches in each dimension")) sizes(all);
      return joined(std::string(key), all, 1);
    }
    if (!torus_size_) wrong(fmt::format("{} precedes the line \"torus X Y Z\" or \"mesh X Y Z\"", key));
    if (key.size() == 7 && key.ends_with("_link") && in("xyz", key[0]) && in("pm", key[1])) {
      if (!count(2, "node GUIDs of two switches")) return joined(std::string(key), all, 1);
      const auto from = guid(all[1]);
      if (!seed_.empty() && seed_ != from)
        wrong(fmt::format("{} begins at {}, other links of this seed at {}", key, from, seed_),
              "the links of a seed share their first switch; next_seed begins another");
      seed_ = from;
      return fmt::format("{} {} {}", key, from, guid(all[2]));
    }
    if (key.size() == 10 && key.ends_with("_dateline") && in("xyz", key[0])) {
      if (count(1, "a position")) dateline(key, all[1]);
    } else if (key == "next_seed") {
      seed_.clear();
      (void)count(0, "nothing");
    } else if (key == "portgroup_max_ports" || key == "max_changes") {
      if (count(1, "a number")) number(all[1], "a number", 1, 0xffff);
    } else if (key == "port_order") {
      for (std::size_t i = 1; i < all.size(); ++i) number(all[i], "a port", 0, kPortMost);
    } else {
      wrong(fmt::format("\"{}\" is not a keyword of torus-2QoS.conf", key),
            "torus, mesh, xp_link and its like, x_dateline and its like, next_seed, portgroup_max_ports, "
            "port_order");
    }
    return joined(std::string(key), all, 1);
  }

  static bool in(std::string_view letters, char c) { return letters.find(c) != std::string_view::npos; }

  void sizes(const std::vector<std::string_view>& all) {
    for (std::size_t i = 1; i <= 3; ++i) {
      auto text = all[i];
      if (in("mMtT", text.back())) text.remove_suffix(1);
      number(text, "a number of switches", 1, 1024);
      (*torus_size_)[i - 1] = base::c_number(text).value_or(1);
    }
  }

  void dateline(std::string_view key, std::string_view text) {
    const auto size =
        static_cast<std::int64_t>(torus_size_ ? (*torus_size_)[static_cast<std::size_t>(key[0] - 'x')] : 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value <= -size || value >= size)
      wrong(fmt::format("{} {}: must be from {} to {}", key, text, 1 - size, size - 1));
  }

  const OpensmSideFile& file_;
  std::size_t number_ = 0;
  std::optional<std::array<std::uint64_t, 3>> torus_size_;
  std::string seed_;  ///< first switch of the links so far
  CheckedLines out_;
};

CheckedLines check_guids(std::span<const std::string> lines) {
  CheckedLines out;
  std::set<std::string> known;
  for (const auto& line : lines) {
    auto guid = guid_text(base::trim(line));
    if (!guid) {
      out.wrong.push_back({out.lines.size() + 1, guid.error().message, ""});
    } else if (!known.insert(*guid).second) {
      out.wrong.push_back({out.lines.size() + 1, fmt::format("{} is listed twice", *guid), ""});
    }
    out.lines.push_back(guid ? *guid : line);
  }
  return out;
}

}  // namespace

std::span<const OpensmSideFile> opensm_side_files() { return kSideFiles; }

const OpensmSideFile* opensm_side_file(std::string_view option) {
  const auto at = std::find_if(kSideFiles.begin(), kSideFiles.end(),
                               [&](const OpensmSideFile& file) { return file.option == option; });
  return at == kSideFiles.end() ? nullptr : &*at;
}

std::string opensm_side_name(const OpensmSideFile& file, std::optional<model::Guid> port) {
  if (!port) return std::string(file.name);
  return fmt::format("{}-{}{}", file.name.substr(0, file.name.size() - kEnd.size()), opensm_guid(*port),
                     kEnd);
}

std::optional<OwnSideFile> own_side_file(std::string_view name) {
  const auto at = name.rfind("-0x");
  if (at == std::string_view::npos || !name.ends_with(kEnd)) return std::nullopt;
  const auto number = base::parse_number(name.substr(at + 1, name.size() - kEnd.size() - at - 1));
  if (!number) return std::nullopt;
  for (const auto& file : kSideFiles) {
    if (opensm_side_name(file, model::Guid{*number}) == name) return OwnSideFile{&file, model::Guid{*number}};
  }
  return std::nullopt;
}

CheckedLines check_opensm_lines(const OpensmSideFile& file, std::span<const std::string> lines) {
  if (file.guids) return check_guids(lines);
  return file.option == "qos_policy_file" ? check_qos_policy(lines) : Lines(file).take(lines);
}

std::string render_opensm_file(std::span<const std::string> lines) {
  if (lines.empty()) return {};
  return fmt::format("{}\n{}\n", kOurFirstLine, base::join(lines, "\n"));
}

bool is_our_opensm_file(std::string_view text) { return text.starts_with(kOurFirstLine); }

bool may_replace_opensm_file(std::string_view text) {
  return text.substr(0, text.find('\n')).find("rdma-config") != std::string_view::npos;
}

std::vector<std::string> parse_opensm_file(std::string_view text) {
  std::vector<std::string> out;
  for (const auto line : base::split(text, '\n')) {
    const auto code = base::trim(line.substr(0, line.find('#')));
    if (!code.empty()) out.emplace_back(line.substr(0, line.find_last_not_of(" \t") + 1));
  }
  return out;
}

}  // namespace rdmacfg::kinds
