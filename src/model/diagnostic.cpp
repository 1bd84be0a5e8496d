// SPDX-License-Identifier: Apache-2.0
#include "model/diagnostic.hpp"

#include <algorithm>
#include <utility>

namespace rdmacfg::model {

std::string Subject::text() const {
  std::string out = "[[" + section + "]]";
  if (!key.empty()) out += " " + key;
  out += role == Role::kLabel ? ": " : " ";
  return out;
}

Diagnostic diagnose(Severity severity, const Location& where, Subject subject, std::string_view what,
                    std::string hint, std::vector<Diagnostic::Related> related) {
  auto message = subject.text();
  message += what;
  Diagnostic out{severity, where, std::move(message), std::move(hint), std::move(related)};
  out.subject = std::move(subject);
  return out;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

}  // namespace rdmacfg::model
