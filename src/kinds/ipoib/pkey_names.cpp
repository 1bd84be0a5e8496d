// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/pkey_names.hpp"

#include <fmt/format.h>

namespace rdmacfg::kinds {

using model::Diagnostic;
using model::Severity;

void PkeyNames::claim(const std::string& name, const model::Location& where, std::string_view section) {
  const auto [first, fresh] = names_.try_emplace(name, Claim{where, section});
  if (fresh) return;
  auto& d = diagnostics_.emplace_back(
      Diagnostic{Severity::kError,
                 where,
                 fmt::format("{} name: \"{}\" is the name of another entry too", section, name),
                 "every interface needs a different name",
                 {}});
  d.related.push_back({first->second.where, "first used here"});
}

void PkeyNames::needs(const std::string& first, const std::string& name, const model::Location& where) {
  if (first != name) firsts_.emplace_back(first, where);
}

void PkeyNames::check_first_names() {
  for (const auto& [first, where] : firsts_) {
    const auto at = names_.find(first);
    if (at == names_.end()) continue;
    auto& d = diagnostics_.emplace_back(Diagnostic{
        Severity::kError,
        at->second.where,
        fmt::format("{} name: the kernel calls a new connected interface \"{}\" before it gets its own name",
                    at->second.section, first),
        "use another name: the two would collide",
        {}});
    d.related.push_back({where, "the entry of that interface"});
  }
}

}  // namespace rdmacfg::kinds
