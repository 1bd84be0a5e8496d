// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/qos_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/opensm/qos_policy_text.hpp"
#include "formats/opensm/qos_policy_words.hpp"

namespace rdmacfg::kinds {

namespace {

/// OSM_QOS_POLICY_MAX_LINE_LEN: OpenSM copies longer names and descriptions beyond the end of its buffer.
constexpr std::size_t kPolicyTextMost = 10 * 1024 - 1;
constexpr std::uint64_t kPolicyPortMost = 254;

const PolicyKey* key_of(std::string_view block, std::string_view name) {
  for (const auto& key : kPolicyKeys) {
    if (key.block == block && key.name == name) return &key;
  }
  for (const auto* key : {&kPolicyPkeyOfRule, &kPolicyPkeyOfLevel}) {
    if (key->block == block && key->name == name) return key;
  }
  return nullptr;
}

/// The lexer knows words of blocks also within other words.
std::string wrong_name(std::string_view text) {
  const auto bare = outside_quotes(text);
  for (const auto& block : kPolicyBlocks) {
    if (bare.find(block.name) != std::string::npos)
      return fmt::format("OpenSM reads {} in {} as a block; write the name in quotes", block.name, text);
  }
  return {};
}

/// "node1 HCA-1/P1": a node's description and its port.
std::string wrong_port_name(std::string_view text) {
  if (auto why = wrong_name(text); !why.empty()) return why;
  const auto name = policy_name(text);
  const auto slash = name.rfind('/');
  const bool named = slash != std::string::npos && slash > 0 && name.size() > slash + 2 &&
                     (name[slash + 1] == 'P' || name[slash + 1] == 'p');
  const auto port = named ? base::c_number(std::string_view(name).substr(slash + 2)) : std::nullopt;
  if (port && *port >= 1 && *port <= kPolicyPortMost) return {};
  return fmt::format("{} is not a node's description with its port, such as \"node1 HCA-1/P1\"", text);
}

/// strtoull() with base 0 reads the numbers.
std::string wrong_number(std::string_view text, std::uint64_t least, std::uint64_t most) {
  const auto number = base::c_number(text);
  if (!number) return fmt::format("\"{}\" is not a number", text);
  if (*number < least || *number > most)
    return fmt::format("{} is out of range; must be from {} to {}", text, least, most);
  return {};
}

/// "0x10-0x20" or one number. OpenSM turns a range round that ends before its beginning.
std::string wrong_range(std::string_view text, std::uint64_t least, std::uint64_t most) {
  const auto dash = text.find('-');
  const auto from = base::trim(text.substr(0, dash));
  if (auto why = wrong_number(from, least, most); !why.empty()) return why;
  if (dash == std::string_view::npos) return {};
  return wrong_number(base::trim(text.substr(dash + 1)), least, most);
}

std::string wrong_pair(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return fmt::format("\"{}\" is not a VL and its weight, such as 0:64", text);
  if (auto why = wrong_number(base::trim(text.substr(0, colon)), 0, 14); !why.empty()) return why;
  return wrong_number(base::trim(text.substr(colon + 1)), 0, 255);
}

std::string wrong_type(std::string_view text) {
  constexpr std::array<std::string_view, 5> kTypes{"ca", "router", "switch", "self", "all"};
  const bool known = std::find(kTypes.begin(), kTypes.end(), base::lower(text)) != kTypes.end();
  return known ? std::string()
               : fmt::format("\"{}\" is not a type of nodes: CA, ROUTER, SWITCH, SELF, ALL", text);
}

std::string wrong_element(const PolicyKey& key, std::string_view text) {
  switch (key.form) {
    case PolicyForm::kNumber:
    case PolicyForm::kNumbers:
      return wrong_number(text, key.least, key.most);
    case PolicyForm::kPairs:
      return wrong_pair(text);
    case PolicyForm::kRanges:
      return wrong_range(text, key.least, key.most);
    case PolicyForm::kPorts:
      return text == "*" ? std::string() : wrong_range(text, key.least, key.most);
    case PolicyForm::kTypes:
      return wrong_type(text);
    case PolicyForm::kName:
      // OpenSM leaves blanks out, in references to the name, too.
      if (outside_quotes(text).find(',') != std::string::npos) return fmt::format("\"{}\" has a comma", text);
      return wrong_name(text);
    case PolicyForm::kNames:
      return wrong_name(text);
    case PolicyForm::kPortNames:
      return wrong_port_name(text);
    case PolicyForm::kText:
      return {};
  }
  return {};
}

bool is_policy_list(PolicyForm form) {
  return form != PolicyForm::kText && form != PolicyForm::kName && form != PolicyForm::kNumber;
}

bool is_of_names(PolicyForm form) {
  return form == PolicyForm::kText || form == PolicyForm::kName || form == PolicyForm::kNames ||
         form == PolicyForm::kPortNames;
}

class Policy {
 public:
  CheckedLines take(std::span<const std::string> lines) {
    for (std::size_t at = 0; at < lines.size(); ++at) {
      if (lines[at].find('"') != std::string::npos) last_quote_ = at + 1;
    }
    std::string code;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      text_key_ = {};
      for (const auto part : policy_statements(policy_code(lines[at]))) {
        if (!code.empty() && (opens_block(part) || ends_block(part))) take_and_keep(code);
        if (code.empty()) number_ = at + 1;
        mind_text(part);
        code += part;
        if (!goes_on(code)) take_and_keep(code);
      }
    }
    if (!code.empty()) take_and_keep(code);
    for (const auto& block : open_)
      wrong_at(block.line, fmt::format("{} has no end", block.name),
               fmt::format("write end-{} below it", block.name));
    names();
    return std::move(out_);
  }

 private:
  struct Open {
    std::string_view name;
    std::size_t line = 0;
    std::set<std::string, std::less<>> keys{};
    bool is_empty = true;
  };
  struct Use {
    std::size_t line = 0;
    std::string name;
  };

  void wrong_at(std::size_t line, std::string what, std::string hint = {}) {
    out_.wrong.push_back({line, std::move(what), std::move(hint)});
  }
  void wrong(std::string what, std::string hint = {}) { wrong_at(number_, std::move(what), std::move(hint)); }

  static const PolicyBlock* block_of(std::string_view name) {
    const auto at = std::find_if(kPolicyBlocks.begin(), kPolicyBlocks.end(),
                                 [&](const PolicyBlock& block) { return block.name == name; });
    return at == kPolicyBlocks.end() ? nullptr : &*at;
  }
  static bool opens_block(std::string_view code) { return block_of(code) != nullptr; }
  static bool ends_block(std::string_view code) { return code.starts_with(kPolicyEnd); }

  [[nodiscard]] std::string_view inside() const {
    return open_.empty() ? std::string_view() : open_.back().name;
  }

  /// Whether a list goes on in the next line, which OpenSM's grammar takes.
  [[nodiscard]] bool goes_on(std::string_view code) const {
    if (!code.ends_with(',')) return false;
    const auto* known = key_of(inside(), base::trim(code.substr(0, code.find(':'))));
    return known != nullptr && is_policy_list(known->form);
  }

  /// Behind a name OpenSM's lexer reads numbers as text up to the end of the line (in_single_string).
  void mind_text(std::string_view statement) {
    if (opens_block(statement) || ends_block(statement)) return;
    const auto name = base::trim(statement.substr(0, statement.find_first_of(":,")));
    const auto* known = key_of(inside(), name);
    const bool text = known != nullptr && is_of_names(known->form);
    const bool number =
        inside() == "qos-ulps" || (known != nullptr && !text && known->form != PolicyForm::kTypes);
    if (number && !text_key_.empty())
      wrong(fmt::format("after {} on one line, OpenSM reads the numbers of {} as text", text_key_, name),
            "put each on a separate line");
    if (text) text_key_ = name;
  }

  /// @param code  empty afterwards
  void take_and_keep(std::string& code) {
    take(code);
    const auto depth = open_.size() - (ends_block(code) || !opens_block(code) ? 0 : 1);
    out_.lines.push_back(std::string(2 * std::min<std::size_t>(depth, 4), ' ') + code);
    code.clear();
  }

  void take(std::string_view code) {
    if (std::count(code.begin(), code.end(), '"') % 2 != 0 && number_ < last_quote_)
      return wrong("the quote is not closed on this line; OpenSM reads on to the next quote");
    const bool is_end =
        !open_.empty() && ends_block(code) && code.substr(kPolicyEnd.size()) == open_.back().name;
    if (!open_.empty() && !is_end) open_.back().is_empty = false;
    if (const auto* block = block_of(code)) {
      if (block->parent != inside()) {
        wrong(fmt::format("{} does not belong here", code),
              block->parent.empty() ? "it must be outside all blocks"
                                    : fmt::format("it is a part of {}", block->parent));
      }
      open_.push_back({block->name, number_});
    } else if (ends_block(code)) {
      if (is_end) {
        complete(open_.back());
        open_.pop_back();
      } else {
        wrong(fmt::format("{} ends a block that is not open here", code),
              open_.empty() ? "" : fmt::format("the open block is {}", inside()));
      }
    } else if (inside() == "qos-ulps") {
      protocol(code);
    } else {
      key(code);
    }
  }

  void key(std::string_view code) {
    const auto colon = code.find(':');
    const auto name = base::trim(code.substr(0, colon));
    if (colon == std::string_view::npos)
      return wrong(fmt::format("\"{}\" begins no block and has no colon", code));
    const auto* known = key_of(inside(), name);
    if (known == nullptr) {
      return wrong(inside().empty() ? fmt::format("\"{}\" is outside all blocks", name)
                                    : fmt::format("{} has no key \"{}\"", inside(), name));
    }
    const auto value = base::trim(code.substr(colon + 1));
    if (value.empty()) return wrong(fmt::format("{} has no value", name));
    const bool once = known->form == PolicyForm::kName || known->form == PolicyForm::kNumber ||
                      known->form == PolicyForm::kText || known->form == PolicyForm::kNumbers;
    if (!open_.back().keys.emplace(name).second && once)
      wrong(fmt::format("{} is repeated in this {}", name, inside()));
    elements(*known, value);
  }

  void elements(const PolicyKey& known, std::string_view value) {
    const auto list =
        is_policy_list(known.form) ? policy_elements(value) : std::vector<std::string_view>{value};
    for (const auto raw : list) {
      const auto text = base::trim(raw);
      if (is_of_names(known.form) && text.size() > kPolicyTextMost)
        return wrong(
            fmt::format("{} has {} characters; OpenSM reads {}", known.name, text.size(), kPolicyTextMost));
      auto why = text.empty() ? std::string("an element is empty") : wrong_element(known, text);
      if (known.form == PolicyForm::kPorts && text == "*" && list.size() > 1) why = "* stands alone";
      if (!why.empty()) return wrong(fmt::format("{}: {}", known.name, why));
      remember(known, text);
      if (known.form == PolicyForm::kPortNames &&
          outside_quotes(text).find_first_of(" \t") != std::string::npos) {
        out_.wrong.push_back(
            {number_,
             fmt::format("{}: OpenSM leaves the blanks of {} out, and finds no such node", known.name, text),
             "write the name in quotes", true});
      }
    }
    if (known.form == PolicyForm::kNumbers && list.size() != 16)
      wrong(fmt::format("{} has {} values; must have 16: the VL of each SL", known.name, list.size()));
  }

  void remember(const PolicyKey& known, std::string_view text) {
    auto name = policy_name(text);
    if (known.block == "port-group" && known.name == "name") groups_.insert(base::lower(name));
    if (known.block == "qos-level" && known.name == "name") levels_.insert(base::lower(name));
    if (known.name == "qos-level-name") used_levels_.push_back({number_, name});
    const bool of_group =
        known.block == "qos-match-rule" && (known.name == "source" || known.name == "destination");
    if (of_group) used_groups_.push_back({number_, std::move(name)});
  }

  void protocol(std::string_view code) {
    // One with a wrong SL, too: that is one mistake.
    if (base::lower(code.substr(0, code.find_first_of(" \t,:"))) == "default") has_default_rule_ = true;
    const auto colon = code.rfind(':');
    if (colon == std::string_view::npos) return wrong("a rule of qos-ulps ends with \": SL\"");
    if (auto why = wrong_number(base::trim(code.substr(colon + 1)), 0, 15); !why.empty())
      return wrong("SL: " + why);
    const auto head = base::trim(code.substr(0, colon));
    const auto comma = head.find(',');
    const auto name = base::lower(base::trim(head.substr(0, comma)));
    const auto rest =
        comma == std::string_view::npos ? std::string_view() : base::trim(head.substr(comma + 1));
    const auto selector = rest.substr(0, rest.find_first_of(" \t"));
    for (const auto& known : kPolicyProtocols) {
      if (known.name != name || known.selector != selector) continue;
      if (selector.empty() && comma != std::string_view::npos) break;
      if (selector.empty()) return;
      for (const auto range : base::split(rest.substr(selector.size()), ',')) {
        if (auto why = wrong_range(base::trim(range), 0, known.most); !why.empty())
          return wrong(fmt::format("{}: {}", selector, why));
        if (name == "ipoib") need_partitions(base::trim(range));
      }
      return;
    }
    wrong(fmt::format("\"{}\" is not a rule of qos-ulps", head),
          "a rule begins with default, sdp, rds, iser, srp, ipoib or any, as opensm(8) describes");
  }

  /// @param range  one that is right
  void need_partitions(std::string_view range) {
    const auto dash = range.find('-');
    const auto from = base::c_number(base::trim(range.substr(0, dash)));
    const auto to =
        dash == std::string_view::npos ? from : base::c_number(base::trim(range.substr(dash + 1)));
    const auto [least, most] = std::minmax({*from, *to});
    out_.pkeys.push_back({number_, static_cast<std::uint16_t>(least), static_cast<std::uint16_t>(most)});
  }

  void complete(const Open& block) {
    const auto has = [&](std::string_view name) { return block.keys.contains(name); };
    const auto need = [&](std::string_view name) {
      if (!has(name)) wrong_at(block.line, fmt::format("{} has no {}", block.name, name));
    };
    if (block.name == "port-group" || block.name == "qos-level") need("name");
    if (block.name == "qos-level") need("sl");
    if (block.name == "qos-match-rule") need("qos-level-name");
    if (block.name == "sl2vl-scope") need("sl2vl-table");
    if (block.is_empty && (block.name == "qos-ulps" || block.name == "port-groups"))
      wrong_at(block.line, fmt::format("{} is empty", block.name),
               "leave the block out; OpenSM accepts no empty block");
    const bool somewhere = has("group") || has("across") || has("across-to") || has("across-from");
    if ((block.name == "vlarb-scope" || block.name == "sl2vl-scope") && !somewhere)
      wrong_at(block.line, fmt::format("{} names no ports", block.name), "add group: or across:");
  }

  void names() {
    if (!levels_.contains("default") && !has_default_rule_) {
      wrong_at(0, "there is no default level",
               "add a qos-level with name: DEFAULT, or \"default : 0\" in qos-ulps; OpenSM ignores the file "
               "otherwise");
    }
    for (const auto& level : used_levels_) {
      if (!levels_.contains(base::lower(level.name)))
        wrong_at(level.line, fmt::format("no qos-level is named {}", level.name));
    }
    for (const auto& group : used_groups_) {
      if (!groups_.contains(base::lower(group.name)))
        wrong_at(group.line, fmt::format("no port-group is named {}", group.name));
    }
  }

  std::vector<Open> open_;
  std::size_t number_ = 0;                 ///< of the line, of a list its first one
  std::size_t last_quote_ = 0;             ///< the last line with a quote
  std::string_view text_key_;              ///< the key of names that the line has already
  std::set<std::string> groups_, levels_;  ///< in lower case: OpenSM compares without regard to case
  bool has_default_rule_ = false;          ///< of qos-ulps; a qos-match-rule cannot name that
  std::vector<Use> used_groups_, used_levels_;
  CheckedLines out_;
};

}  // namespace

CheckedLines check_qos_policy(std::span<const std::string> lines) { return Policy().take(lines); }

}  // namespace rdmacfg::kinds
