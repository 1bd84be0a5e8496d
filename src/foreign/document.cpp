// SPDX-License-Identifier: Apache-2.0
#include "foreign/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/guard.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::Value;

namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_bare(std::string_view path, std::string_view key) {
  return (path == "pfc" && key == "priorities") || (path == "nvme_connection" && key == "port");
}

class DocumentWriter {
 public:
  void version() { line("version = 1", {}); }

  void table(std::string_view path, const Place& from) { begin(path, fmt::format("[{}]", path), from); }

  /// A table of which there may be several.
  void entry(std::string_view path, const Place& from) { begin(path, fmt::format("[[{}]]", path), from); }

  void key(std::string_view name, const Value& value, const Place& from) {
    line(fmt::format("{} = {}", name, render_value(path_, name, value)), from);
  }

  /// A GUID that must be found out.
  void open_guid(std::string_view interface, const Place& from) {
    line(fmt::format("guid = \"\"  {}", comment(fmt::format("port GUID of {}", interface))), from);
  }

  /// Lines of another writer, as comments.
  void aside(DocumentWriter other) {
    for (auto& line : other.lines) {
      if (!line.text.empty() && !line.text.starts_with('#')) line.text.insert(0, "# ");
      lines.push_back(std::move(line));
    }
  }

  std::vector<Line> lines;

 private:
  /// Names and paths are other people's: a line end among them would begin a line of the document.
  static std::string comment(std::string_view text) { return "# " + config::harmless(text); }
  void line(const std::string& text, const Place& from) { lines.push_back({indent_ + text, from}); }

  void begin(std::string_view path, const std::string& header, const Place& from) {
    const bool top = path.starts_with("defaults.");
    const auto depth = top ? 0 : static_cast<std::size_t>(std::count(path.begin(), path.end(), '.'));
    indent_.clear();
    if (depth == 0) line("", from);
    if (depth == 0 && !from.file.empty()) line(comment(from.text()), from);
    indent_ = std::string(2 * depth, ' ');
    path_ = path;
    line(header, from);
  }

  std::string indent_;
  std::string path_;
};

template <class List>
Value list_value(const List& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const auto& element : list) out.push_back(element.text());
  return out;
}

void write_inet(DocumentWriter& writer, std::string_view parent, Family family, const Interface& interface) {
  const auto& inet = interface.inet(family);
  if (inet.empty()) return;
  const std::string name = family == Family::kIpv4 ? "ipv4" : "ipv6";
  const auto path = fmt::format("{}.{}", parent, name);
  const auto from = interface.place_of(name);
  const auto key = [&](const char* what, const Value& value) {
    writer.key(what, value, interface.place_of(fmt::format("{}.{}", name, what)));
  };
  writer.table(path, from);
  if (inet.method) key("method", std::string(model::text_of(*inet.method)));
  if (!inet.addresses.empty()) key("addresses", list_value(inet.addresses));
  if (inet.gateway) key("gateway", inet.gateway->text());
  if (!inet.dns.empty()) key("dns", list_value(inet.dns));
  if (!inet.search.empty()) key("search", inet.search);
  for (const auto& route : inet.routes) {
    writer.entry(path + ".routes", from);
    writer.key("to", route.to.text(), from);
    if (route.via) writer.key("via", route.via->text(), from);
    if (route.metric) writer.key("metric", std::int64_t{*route.metric}, from);
    if (route.table != 254) writer.key("table", std::int64_t{route.table}, from);
  }
}

void write_settings(DocumentWriter& writer, std::string_view path, const Interface& interface) {
  if (interface.names)
    writer.key("name", interface.name,
               interface.named_at.file.empty() ? interface.where : interface.named_at);
  if (interface.mode)
    writer.key("mode", std::string(model::text_of(*interface.mode)), interface.place_of("mode"));
  if (interface.mtu) writer.key("mtu", *interface.mtu, interface.place_of("mtu"));
  if (interface.umcast) writer.key("umcast", *interface.umcast, interface.place_of("umcast"));
  if (interface.state)
    writer.key("state", std::string(model::text_of(*interface.state)), interface.place_of("state"));
  write_inet(writer, path, Family::kIpv4, interface);
  write_inet(writer, path, Family::kIpv6, interface);
}

void write_tree(DocumentWriter& writer, const ImportedHost::InterfaceTree& tree) {
  writer.entry("ipoib", tree.port.where);
  if (tree.port.guid) {
    writer.key("guid", tree.port.guid->text(), tree.port.where);
  } else {
    writer.open_guid(tree.port.name, tree.port.where);
  }
  write_settings(writer, "ipoib", tree.port);
  for (const auto& child : tree.children) {
    writer.entry("ipoib.pkey", child.where);
    writer.key("pkey", child.pkey->text(), child.where);
    write_settings(writer, "ipoib.pkey", child);
  }
}

/// Entries without a setting of their own are dropped, except a port with a P_Key interface.
bool says_nothing(const ImportedHost::InterfaceTree& tree) {
  const auto& port = tree.port;
  return !port.names && !port.mode && !port.mtu && !port.umcast && !port.state && port.ipv4.empty() &&
         port.ipv6.empty() && tree.children.empty();
}

/// Whether a document has the section once at most: [srp_initiator].
bool is_single(std::string_view path) {
  const auto& all = kinds::grammar();
  return std::any_of(all.begin(), all.end(),
                     [&](const model::SectionSpec& spec) { return spec.name == path && !spec.repeated; });
}

/// Identifying keys come first, as a person would write them.
void write_entry(DocumentWriter& writer, const Entry& entry) {
  is_single(entry.path) ? writer.table(entry.path, entry.where) : writer.entry(entry.path, entry.where);
  for (const bool first : {true, false}) {
    for (const auto& [key, value] : entry.values) {
      const bool identity = key == "name" || key == "guid" || key == "pkey" || key == "pci" ||
                            key == "driver" || key == "domain" || key == "node_guid" || key == "interface" ||
                            key == "mgid" || key == "address" || key == "nqn" || key == "nsid" ||
                            key == "wwn" || key == "number";
      if (identity == first) writer.key(key, value, entry.where);
    }
  }
  for (const auto& child : entry.children) write_entry(writer, child);
}

/// Writes each P_Key interface into the entry of its port: the administrator fills in one GUID, not several.
void write_portless(DocumentWriter& writer, const std::vector<Interface>& portless) {
  std::vector<ImportedHost::InterfaceTree> trees;
  std::map<std::string, std::size_t> places;  // in trees, by name of the port's interface
  for (const auto& interface : portless) {
    const auto& port = interface.pkey ? interface.parent : interface.name;
    const auto [at, fresh] = places.try_emplace(port, trees.size());
    const bool joins = interface.pkey && !fresh && !port.empty();
    auto& tree = joins ? trees[at->second] : trees.emplace_back();
    if (interface.pkey) {
      tree.children.push_back(interface);
      if (joins) continue;
      tree.port.where = interface.where;
      tree.port.name = interface.parent;
    } else {
      tree.port = interface;
      tree.port.names = false;
    }
  }
  DocumentWriter aside;
  for (const auto& tree : trees) write_tree(aside, tree);
  writer.aside(std::move(aside));
}

/// Whether a key of the section that begins at `header` was left out before, which says why one is missing.
bool is_told(const std::vector<Line>& lines, std::size_t header, model::Topic topic) {
  const auto is_out = [&](std::size_t at) {
    return at < lines.size() && std::string_view(lines[at].text).starts_with("# ");
  };
  if (topic == model::Topic::kNoIdentity) return is_out(header + 1);
  if (topic != model::Topic::kMissingKey) return false;
  for (auto at = header + 1; at < lines.size() && !lines[at].text.empty(); ++at) {
    if (is_out(at)) return true;
  }
  return false;
}

}  // namespace

std::string render_value(std::string_view path, std::string_view key, const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return key == "pkey" ? *text : in_quotes(*text);
  std::vector<std::string> parts;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const auto& element : *list) parts.push_back(is_bare(path, key) ? element : in_quotes(element));
  }
  return "[" + base::join(parts, ", ") + "]";
}

void spread_default_mtu(ImportedHost& imported, std::vector<Entry>& entries) {
  const auto defaults = std::find_if(entries.begin(), entries.end(),
                                     [](const Entry& entry) { return entry.path == "defaults.ipoib"; });
  if (defaults == entries.end()) return;
  const auto* mtu = std::get_if<std::int64_t>(&model::value_of(defaults->values, "mtu"));
  const auto misfit = [](const ImportedHost::InterfaceTree& tree) {
    return tree.port.mode == model::IpoibMode::kDatagram && !tree.port.mtu;
  };
  if (mtu == nullptr || std::none_of(imported.trees.begin(), imported.trees.end(), misfit)) return;
  for (auto& tree : imported.trees) {
    const bool fits = tree.port.mode != model::IpoibMode::kDatagram && !tree.port.mtu;
    if (fits && !says_nothing(tree)) tree.port.mtu = *mtu;
  }
  defaults->values.erase("mtu");
}

std::vector<Line> render_document(const ImportedHost& imported, const std::vector<Entry>& entries) {
  DocumentWriter writer;
  writer.version();
  for (const auto& entry : entries) {
    if (entry.path != "defaults.ipoib") continue;
    writer.table("defaults.ipoib", entry.where);
    for (const auto& [key, value] : entry.values) writer.key(key, value, entry.where);
  }
  for (const auto& tree : imported.trees) {
    if (!says_nothing(tree)) write_tree(writer, tree);
  }
  write_portless(writer, imported.portless);
  for (const auto& entry : entries) {
    if (entry.path != "defaults.ipoib") write_entry(writer, entry);
  }
  return std::move(writer.lines);
}

base::Result<std::string> prune(std::vector<Line> lines,
                                const std::function<model::Diagnostics(const std::string& text)>& check,
                                Claims& claims) {
  const auto text_of = [&] {
    std::string out;
    for (const auto& line : lines) out += line.text + '\n';
    return out;
  };
  const auto header_of = [](std::string_view line) -> std::string {
    const auto text = base::trim(line);
    if (!text.starts_with('[')) return {};
    const auto from = text.find_first_not_of('['), to = text.find(']');
    return std::string(text.substr(from, to - from));
  };
  // Leaves out one line, or the section that a line begins; nothing to do for a line that is out already.
  const auto leave_out = [&](const model::Diagnostic& wrong) {
    auto first = static_cast<std::size_t>(std::max(wrong.where.line, 1)) - 1;
    if (wrong.where.line < 1 || first >= lines.size() || lines[first].text.starts_with('#')) return false;
    auto message = wrong.message;
    // Without its members a partition would be open to all.
    if (lines[first].text.starts_with("members = ")) {
      while (first > 0 && header_of(lines[first].text).empty()) --first;
      message += "; the partition is left out";
    }
    const auto header = header_of(lines[first].text);
    if (!is_told(lines, first, wrong.topic)) claims.miss(lines[first].from, std::move(message));
    auto last = first + 1;
    while (!header.empty() && last < lines.size()) {
      const auto next = header_of(lines[last].text);
      if (!next.empty() && !next.starts_with(header + ".")) break;
      ++last;
    }
    for (auto line = first; line < last; ++line) {
      if (!lines[line].text.empty() && !lines[line].text.starts_with('#')) lines[line].text.insert(0, "# ");
    }
    return true;
  };
  constexpr std::size_t kCareful = 16;  // rounds of one error each, since one may be the cause of others
  for (std::size_t round = 0; round <= lines.size(); ++round) {
    const auto diagnostics = check(text_of());
    if (!model::has_errors(diagnostics)) return text_of();
    bool changed = false;
    for (const auto& diagnostic : diagnostics) {
      if (diagnostic.severity != model::Severity::kError || (changed && round < kCareful)) continue;
      changed = leave_out(diagnostic) || changed;
    }
    if (!changed) {
      const auto at = std::find_if(
          diagnostics.begin(), diagnostics.end(),
          [](const model::Diagnostic& diagnostic) { return diagnostic.severity == model::Severity::kError; });
      return base::fail(base::Code::kInvalid, at->message);
    }
  }
  return base::fail(base::Code::kInvalid, "the document cannot be made valid");
}

}  // namespace rdmacfg::foreign
