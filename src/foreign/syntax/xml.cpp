// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/xml.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kText = "#text";

/// One element while it is read, and what is inside.
struct Open {
  std::string name;
  YamlNode node;
  std::map<std::string, std::size_t> places = {};  ///< of node.members, by key

  void add(const std::string& key, YamlNode child) {
    node.sort = YamlNode::Sort::kMapping;
    const YamlNode::Spot where{child.file, child.line};
    const auto [at, fresh] = places.try_emplace(key, node.members.size());
    if (fresh) {
      node.members.push_back({key, where, std::move(child)});
      return;
    }
    auto& member = node.members[at->second];
    if (member.value.sort != YamlNode::Sort::kSequence) {
      YamlNode list;
      list.sort = YamlNode::Sort::kSequence;
      list.file = member.value.file;
      list.line = member.value.line;
      list.items.push_back(std::move(member.value));
      member.value = std::move(list);
    }
    member.value.items.push_back(std::move(child));
    member.more.push_back(where);
  }
};

/// The line that is parsed. Newer releases of expat have a function with 64 bits for it, and deprecate the
/// other.
template <class Parser>
auto line_number(Parser parser, int /*preferred*/) -> decltype(XML_GetCurrentLineNumber64(parser)) {
  return XML_GetCurrentLineNumber64(parser);
}
template <class Parser>
auto line_number(Parser parser, long /*else*/) {
  return XML_GetCurrentLineNumber(parser);
}

class XmlBuilder {
 public:
  explicit XmlBuilder(const File& file)
      : file_(file.path), parser_(XML_ParserCreate("UTF-8"), &XML_ParserFree) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<XmlBuilder*>(self)->begin(name, attributes);
        },
        [](void* self, const XML_Char* /*name*/) { static_cast<XmlBuilder*>(self)->end(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int length) {
      static_cast<XmlBuilder*>(self)->text({text, static_cast<std::size_t>(length)});
    });
  }

  base::Result<YamlNode> build(std::string_view text) {
    // Several elements may stand at the top, so the file is put into one; a declaration cannot be in there.
    std::string whole(text);
    if (whole.starts_with("<?xml")) {
      const auto close = whole.find("?>");
      if (close != std::string::npos) {
        for (std::size_t at = 0; at < close + 2; ++at) {
          if (whole[at] != '\n') whole[at] = ' ';
        }
      }
    }
    feed("<file>", Chunk::kMoreFollows);
    feed(whole, Chunk::kMoreFollows);
    feed("</file>", Chunk::kLast);
    if (!why_.empty()) {
      // An element that is still open is missed at the end.
      const auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
      line = std::min(line, static_cast<int>(lines));
      return base::fail(base::Code::kInvalid, why_);
    }
    return std::move(root_);
  }

  int line = 0;  ///< of what was wrong

 private:
  enum class Chunk { kMoreFollows, kLast };

  void feed(std::string_view text, Chunk chunk) {
    if (!why_.empty()) return;
    const int last = chunk == Chunk::kLast ? 1 : 0;
    if (XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), last) == XML_STATUS_OK) return;
    if (why_.empty()) refuse(XML_ErrorString(XML_GetErrorCode(parser_.get())));
  }

  void refuse(std::string why) {
    why_ = std::move(why);
    line = now();
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  [[nodiscard]] int now() const { return static_cast<int>(line_number(parser_.get(), 0)); }

  YamlNode node_here() {
    YamlNode node;
    node.file = file_;
    node.line = now();
    node.plain = true;
    return node;
  }

  void begin(const XML_Char* name, const XML_Char** attributes) {
    if (!why_.empty()) return;
    if (open_.size() >= static_cast<std::size_t>(kYamlDepth)) return refuse("is nested too deeply");
    open_.push_back({name, node_here(), {}});
    for (; *attributes != nullptr; attributes += 2) {
      auto value = node_here();
      value.text = attributes[1];
      open_.back().add("@" + std::string(attributes[0]), std::move(value));
    }
    if (++count_ > kYamlNodes) refuse("has too many elements");
  }

  void text(std::string_view part) {
    if (!why_.empty() || open_.empty()) return;
    open_.back().node.text += part;
  }

  void end() {
    if (!why_.empty() || open_.empty()) return;
    auto done = std::move(open_.back());
    open_.pop_back();
    done.node.text = std::string(base::trim(done.node.text));
    if (!done.node.members.empty() && !done.node.text.empty()) {
      auto inside = done.node;
      inside.members.clear();
      inside.sort = YamlNode::Sort::kScalar;
      done.add(std::string(kText), std::move(inside));
    }
    if (open_.empty()) {
      root_ = std::move(done.node);
      root_.sort = YamlNode::Sort::kMapping;
    } else {
      open_.back().add(done.name, std::move(done.node));
    }
  }

  std::string_view file_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::vector<Open> open_;
  YamlNode root_;
  std::size_t count_ = 0;
  std::string why_;
};

}  // namespace

std::optional<YamlNode> parse_xml(const File& file, Claims& claims) {
  XmlBuilder builder(file);
  auto tree = builder.build(file.text);
  if (tree) return std::move(*tree);
  claims.miss({file.path, builder.line}, tree.error().message);
  return std::nullopt;
}

std::vector<const YamlNode*> elements(YamlKeys& keys, std::string_view name) {
  std::vector<const YamlNode*> out;
  const auto* node = keys.take(name);
  if (node == nullptr) return out;
  if (node->sort != YamlNode::Sort::kSequence) return {node};
  for (const auto& item : node->items) out.push_back(&item);
  return out;
}

}  // namespace rdmacfg::foreign
