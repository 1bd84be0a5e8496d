// SPDX-License-Identifier: Apache-2.0
// Feeds bytes to the parsers of other tools' files, one target for each format. The result must be a
// valid document, and every remark must be about a line that is there.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "foreign/import/importer.hpp"
#include "target.hpp"

namespace rdmacfg::foreign {
namespace {

using fuzz::require;

class Texts final : public system::Files {
 public:
  std::map<std::string, std::string> content;

  base::Result<std::optional<std::string>> read(const std::string& path) override {
    const auto at = content.find(path);
    return at == content.end() ? std::optional<std::string>() : at->second;
  }
  base::Result<std::vector<std::string>> list(const std::string& folder) override {
    std::vector<std::string> out;
    for (const auto& [path, text] : content) {
      const auto slash = path.rfind('/');
      if (path.substr(0, slash) == folder) out.push_back(path.substr(slash + 1));
    }
    return out;
  }
  base::Result<void> write(const std::string&, std::string_view) override { std::abort(); }
  base::Result<void> write_private(const std::string&, std::string_view) override { std::abort(); }
  base::Result<void> rename(const std::string&, const std::string&) override { std::abort(); }
  base::Result<void> remove(const std::string&) override { std::abort(); }
};

/// A path that the place takes; numbered, so that no file hides another.
std::string path_at(const Where& where, int number) {
  std::string name(where.pattern);
  const auto star = name.find('*');
  if (star != std::string::npos) name.replace(star, 1, "ib" + std::to_string(number));
  return std::string(where.folder) + "/" + name;
}

model::Diagnostics check(const std::string& text) {
  const auto limits = config::all_errors();
  return core::validate(config::parse_texts({{"fuzz", text}}, "", kinds::grammar(), limits), limits)
      .diagnostics;
}

void run(const Format& format, std::string_view bytes) {
  Texts files;
  const auto parts = fuzz::parts_of(bytes);
  constexpr std::size_t kMost = 9;
  for (std::size_t number = 0; number < std::min(parts.size(), kMost); ++number)
    files.content[path_at(format.places[number % format.places.size()], static_cast<int>(number))] =
        parts[number];
  Claims claims;
  claims.known = {{"ib0", model::Guid{0x0002c903003178f2}}, {"ib1", model::Guid{0x0002c903003178f3}}};
  gather({{&format}, {}}, files, claims);
  const auto text = make_document(claims, check);
  require(text.has_value(), "there is a document");
  require(!model::has_errors(check(*text)), "it is valid");
  for (const auto* remarks : {&claims.missed, &claims.passed}) {
    for (const auto& remark : *remarks) {
      const auto file = files.content.find(remark.where.file);
      if (file == files.content.end()) continue;
      // YAML ends lines with U+0085, U+2028 and U+2029, too.
      auto lines = 1 + std::count(file->second.begin(), file->second.end(), '\n');
      for (const std::string_view other : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
        for (std::size_t at = 0; (at = file->second.find(other, at)) != std::string::npos; ++at) ++lines;
      }
      require(remark.where.line >= 0 && remark.where.line <= lines, "a remark is about a line of its file");
    }
  }
}

}  // namespace
}  // namespace rdmacfg::foreign

namespace rdmacfg::fuzz {

std::vector<Target> import_targets() {
  std::vector<Target> out;
  for (const auto& format : foreign::formats()) {
    out.push_back({"import-" + std::string(format.name),
                   [&format](std::string_view bytes) { foreign::run(format, bytes); }});
  }
  return out;
}

}  // namespace rdmacfg::fuzz
