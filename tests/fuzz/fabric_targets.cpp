// SPDX-License-Identifier: Apache-2.0
// Texts about fabrics that people keep, and bytes that a fabric sends: saved fabrics, cable files, the frames
// of the process that looks at a fabric, answers of the subnet administrator.
#include <span>
#include <string_view>

#include "config/document.hpp"
#include "ctl/fabric/fabric_json.hpp"
#include "fabric/cables.hpp"
#include "fabric/compare.hpp"
#include "fabric/draw.hpp"
#include "fakes/fabrics.hpp"
#include "system/linux/fabric/decode.hpp"
#include "system/linux/fabric/frames.hpp"
#include "target.hpp"

namespace rdmacfg::fuzz {
namespace {

std::string saved(const fabric::Fabric& all, std::vector<fabric::Difference> differences = {}) {
  nlohmann::ordered_json json;
  json["schema"] = "org.rdmaconfigd.fabric/1";
  ctl::add_fabric(json, {all, fabric::findings_of(all), std::move(differences)});
  return json.dump();
}

/// The first part is a saved fabric, the second one, if there is one, that of today.
void run_saved_fabric(std::string_view bytes) {
  const auto parts = parts_of(bytes);
  const auto before = ctl::parse_fabric(parts.front()), after = ctl::parse_fabric(parts.back());
  if (!before || !after) return;
  require(fabric::compare(*before, *before).empty(), "a fabric does not differ from itself");
  for (const auto& difference : fabric::compare(*before, *after))
    require(difference.before != difference.after, "a difference has two sides");
  const auto again = ctl::parse_fabric(saved(*after, fabric::compare(*before, *after)));
  require(again.has_value(), "a fabric that was read can be saved and read again");
  require(fabric::compare(*after, *again).empty(), "it is the same then");
  require(!fabric::draw_dot(*after).empty() && !fabric::draw_svg(*after).empty(), "a fabric can be drawn");
  (void)fabric::draw_tree(*after, {.utf8 = true, .wide = true});
}

void run_cables(std::string_view bytes) {
  static const auto kFabric = fakes::fat_tree(4);
  static const std::vector<model::SectionSpec> kGrammar{fabric::cable_section()};
  auto file = config::parse_texts({{.name = "cables.toml", .text = std::string(bytes)}}, "", kGrammar);
  if (model::has_errors(file.diagnostics)) return;
  fabric::check_cable_entries(file.sections, file.diagnostics);
  if (model::has_errors(file.diagnostics)) return;
  const auto cables = fabric::cables_of(file.sections);
  require(fabric::check_cables(kFabric, cables).size() <= 2 * cables.size(),
          "a cable is wrong in two ways at most");
}

void run_frames(std::string_view bytes) {
  auto rest = bytes;
  for (;;) {
    const auto left = rest.size();
    auto frame = system::detail::unpack(rest);
    if (!frame || !*frame) return;
    require(rest.size() < left, "a frame takes its bytes");
    const auto packed = system::detail::pack(std::move(**frame));
    std::string_view unread(packed);
    const auto again = system::detail::unpack(unread);
    require(again && *again && unread.empty(), "a frame can be sent again");
  }
}

void run_groups_answer(std::string_view bytes) {
  constexpr std::size_t kMost = 16;
  const std::span answer(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto groups = system::detail::groups_in(answer, kMost);
  if (!groups) return;
  require(groups->size() <= kMost, "groups are bounded");
  for (const auto& group : *groups)
    require(!group.gid.empty() && group.lid > 0, "a group has a GID and a LID");
}

std::string frames_of(const fabric::Fabric& all) {
  namespace sent = system::detail;
  std::string out = sent::pack(sent::StartFrame{all.from, all.from_port, all.prefix});
  for (const auto& node : all.nodes) out += sent::pack(sent::NodeFrame{node});
  return out + sent::pack(sent::PkeysFrame{{1, 1}, {0xffff}}) + sent::pack(sent::GroupsFrame{*all.groups}) +
         sent::pack(sent::EndFrame{});
}

}  // namespace

std::vector<Target> fabric_targets() {
  fabric::Fabric pair;
  for (const auto* name : {"a", "b"})
    pair.nodes.push_back(
        fakes::fabric_node(fabric::NodeType::kHost, static_cast<std::uint64_t>(name[0]), name, 1));
  auto plugged = pair;
  fakes::plug(plugged, "a", 1, "b", 1);
  std::string answer(56 + 56, '\0');
  answer[45] = 7;
  answer[56] = answer[57] = '\xff';
  answer[56 + 36] = '\xc0';
  return {
      {"fabric", run_saved_fabric, {saved(plugged), saved(pair) + std::string(kSeparator) + saved(plugged)}},
      {"cables",
       run_cables,
       {"version = 1\n[[cable]]\nfrom = \"leaf1/1\"\nto = \"node001/1\"\nwidth = \"4X\"\nspeed = \"HDR\"\n",
        "version = 1\n[[cable]]\nfrom = \"a (0x0002c903003178f0)/01\"\nto = \"b/1\"\n[[cable]]\nfrom = "
        "\"b/1\"\nto = "
        "\"00:02:c9:03:00:31:78:f0/1\"\n"}},
      {"fabric-frames", run_frames, {frames_of(fakes::fat_tree(2))}},
      {"fabric-groups", run_groups_answer, {answer}}};
}

}  // namespace rdmacfg::fuzz
