// SPDX-License-Identifier: Apache-2.0
// Feeds bytes to the whole way from texts to rendered diagnostics, and holds what comes out against what must
// be true of it. A text that is accepted as TOML also has to mean the same to toml11.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <toml.hpp>

#include "catalog/all.hpp"
#include "config/guard.hpp"
#include "config/toml/tree.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "sample_grammar.hpp"
#include "store/report_json.hpp"
#include "target.hpp"

namespace rdmacfg::config {
namespace {

using fuzz::require;

std::vector<Text> split(std::string_view bytes) {
  std::vector<Text> texts;
  for (auto& part : fuzz::parts_of(bytes))
    texts.push_back({"file" + std::to_string(texts.size()), std::move(part)});
  return texts;
}

/// The text of a string, which toml11 4 returns as it is, and release 3 in a struct.
std::string_view text_of(const auto& string) {
  if constexpr (requires { string.str; }) {
    return string.str;
  } else {
    return string;
  }
}

bool same(const Node& ours, const toml::value& theirs) {
  switch (ours.sort) {
    case Node::Sort::kForeign:
      return !theirs.is_table() && !theirs.is_array() && !theirs.is_string() && !theirs.is_integer();
    case Node::Sort::kScalar:
      if (const auto* flag = std::get_if<bool>(&ours.scalar))
        return theirs.is_boolean() && theirs.as_boolean() == *flag;
      if (const auto* number = std::get_if<std::int64_t>(&ours.scalar)) {
        return theirs.is_integer() && theirs.as_integer() == *number;
      }
      return theirs.is_string() && text_of(theirs.as_string()) == std::get<std::string>(ours.scalar);
    case Node::Sort::kList: {
      if (!theirs.is_array() || theirs.as_array().size() != ours.items.size()) return false;
      return std::equal(ours.items.begin(), ours.items.end(), theirs.as_array().begin(), same);
    }
    case Node::Sort::kTable:
      if (!theirs.is_table() || theirs.as_table().size() != ours.members.size()) return false;
      return std::all_of(ours.members.begin(), ours.members.end(), [&](const auto& member) {
        const auto at = theirs.as_table().find(member.first);
        return at != theirs.as_table().end() && same(member.second, at->second);
      });
  }
  return false;
}

void compare_with_toml11(const Text& text) {
  const Limits limits;
  if (check_text(text, limits)) return;
  const auto tree = parse_tree(text, limits);
  if (!tree.errors.empty() || !tree.faults.empty())
    return;  // faults: substitutes are in place of values and keys
  std::istringstream stream(text.text);
  try {
    require(same(tree.root, toml::parse(stream, "")), "toml11 reads the same");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    require(false, "toml11 accepts what we accept");
  }
}

void check_place(const Document& document, const model::Location& where) {
  if (where.line == 0) return;
  const auto file = std::find_if(document.files.begin(), document.files.end(),
                                 [&](const Text& text) { return text.name == where.file; });
  require(file != document.files.end(), "a place is in a file of the document");
  const auto lines = 1 + std::count(file->text.begin(), file->text.end(), '\n');
  require(where.line >= 1 && where.line <= lines && where.column >= 1 && where.length >= 1,
          "a place is in its file");
}

void check_sections(const Document& document, const std::vector<model::Section>& sections) {
  for (const auto& section : sections) {
    check_place(document, section.where);
    for (const auto& [key, entry] : section.entries) check_place(document, entry.where);
    check_sections(document, section.children);
  }
}

void check_rendering(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    require(length > 0, "what is rendered is UTF-8");
    require(length > 1 || text[0] >= ' ' || text[0] == '\n' || text[0] == '\t',
            "no control character is rendered");
    text.remove_prefix(length);
  }
}

void check(const std::vector<Text>& texts, const std::vector<model::SectionSpec>& grammar) {
  const auto document = parse_texts(texts, "gpu007.example.org", grammar);
  check_sections(document, document.sections);
  for (const auto& diagnostic : document.diagnostics) {
    check_place(document, diagnostic.where);
    for (const auto& related : diagnostic.related) check_place(document, related.where);
  }
  check_rendering(render_diagnostics(document, document.diagnostics));
}

void run_config(std::string_view bytes) {
  static const auto kSample = sample_grammar();
  const auto texts = split(bytes);
  for (const auto& text : texts) compare_with_toml11(text);
  check(texts, kSample);
  check(texts, kinds::grammar());
}

/// A host with a bit of everything.
constexpr const char* kHost = R"({
  "devices": [
    {"name": "mlx4_0", "pci": "0000:10:00.0", "driver": "mlx4_core", "ports": [
      {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"], "interface": {"name": "ib0", "up": true,
       "children": [{"pkey": "0x8002", "name": "ib0.8002"}]}},
      {"guid": "00:02:c9:03:00:31:78:f3", "interface": {"name": "ib1"}}]},
    {"name": "mlx5_0", "pci": "0000:20:00.0", "driver": "mlx5_core", "ports": [
      {"guid": "00:02:c9:03:00:31:79:00", "link_layer": "Ethernet", "netdev": "eth0", "gid_types": ["IB/RoCE v1", "RoCE v2"]}]}],
  "links": [{"name": "eth0", "kind": "", "up": true}],
  "groups": ["rdma"],
  "files": {"/etc/opensm/opensm.conf": "max_wire_smps 4\n", "/etc/opensm/partitions.conf": "Default=0x7fff : ALL=full;\n",
            "/etc/default/opensm": "PORTS=ALL\n", "/etc/modprobe.d/site.conf": "options mlx4_core num_vfs=1\n"},
  "sysctl": {"net/ipv4/neigh/default/gc_thresh1": "128"},
  "units": {"rdma-ndd.service": {"running": true}, "opensm.service": {"enabled": true}, "opensm@.service": {"installable": false}},
  "modules": {"mlx4_core": {"loaded": true, "parameters": {"num_vfs": "0"}}, "mlx4_en": {"parameters": {"pfctx": "0", "pfcrx": "0"}}},
  "dcb": {"eth0": {"pfc": 0, "pfc_capability": 8, "dcbx": 9}},
  "mlx4_ports": {"0000:10:00.0": ["ib", "ib"]}
})";

constexpr std::size_t kReportOfHost = 256U << 10U;  ///< bytes that a report has whatever the document says
constexpr std::size_t kReportPerByte = 160;         ///< of the document

/// The whole way to a report, and back from its JSON.
void run_document(std::string_view bytes) {
  const auto document = parse_texts(split(bytes), "gpu007.example.org", kinds::grammar());
  const auto kernel = fakes::FakeKernel::parse(kHost);
  auto host = kernel->host();
  const auto before = kernel->dump();
  for (const auto& report : {core::validate(document), core::diff(document, host)}) {
    const auto json =
        core::report_json(report).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    require(json.size() <= kReportOfHost + kReportPerByte * bytes.size(),
            "a report is not much larger than its document");
    require(core::report_from(json).has_value(), "a report can be read from its JSON");
    check_rendering(render_diagnostics(document, report.diagnostics));
  }
  require(kernel->dump() == before, "diff changes nothing");
}

}  // namespace
}  // namespace rdmacfg::config

namespace rdmacfg::fuzz {

std::vector<Target> document_targets() {
  return {{"config", config::run_config}, {"document", config::run_document}};
}

}  // namespace rdmacfg::fuzz
