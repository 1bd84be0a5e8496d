// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/api_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/characters.hpp"

namespace rdmacfg::daemon {

namespace {

constexpr std::size_t kLongestName = 64;

/// Ends with a whole character: neither the bus nor a job takes half a one.
std::string shortened(const std::string& text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const auto next =
        length + std::max<std::size_t>(base::utf8_length(std::string_view(text).substr(length)), 1);
    if (next > kLongestName) break;
    length = next;
  }
  return text.substr(0, length);
}

void check_size(const ApiOptions::Sent& sent) {
  const auto too_large = [] { return api_error("LimitsExceeded", "the options are too large"); };
  // Of these types a value has at most 8 bytes; a container may be as large as the bus lets a message be.
  constexpr std::string_view kSmall = "ybnqiuxtd";
  if (sent.size() > ApiOptions::kMost) throw too_large();
  for (const auto& [name, value] : sent) {
    if (name.size() > ApiOptions::kLongest) throw too_large();
    const std::string type = value.peekValueType();
    if (type.size() == 1 && kSmall.find(type.front()) != std::string_view::npos) continue;
    if (type != "s" || value.get<std::string>().size() > ApiOptions::kLongest) throw too_large();
  }
}

template <class T>
void take(const ApiOptions::Sent& sent, const char* name, T& out, std::optional<sdbus::Error>& wrong) {
  const auto at = sent.find(name);
  if (at == sent.end()) return;
  if (at->second.containsValueOfType<T>()) {
    out = at->second.get<T>();
  } else if (!wrong) {
    wrong = api_error("InvalidArgs", fmt::format("option {} has the wrong type", name));
  }
}

}  // namespace

sdbus::Error api_error(const char* name, const std::string& message) {
  return system::dbus::make_error(std::string("org.rdmaconfigd1.Error.") + name, message);
}

ApiOptions ApiOptions::read(const Sent& sent, const std::set<std::string>& known) {
  check_size(sent);
  ApiOptions out;
  for (const auto& [name, value] : sent) {
    if (name != "interactive" && !known.contains(name) && !out.wrong)
      out.wrong = api_error("InvalidArgs", fmt::format("unknown option {}", shortened(name)));
  }
  take(sent, "interactive", out.interactive, out.wrong);
  take(sent, "retry", out.retry, out.wrong);
  take(sent, "allow_removal", out.allow_removal, out.wrong);
  take(sent, "public", out.public_texts, out.wrong);
  take(sent, "confirm", out.confirm, out.wrong);
  take(sent, "active", out.active, out.wrong);
  take(sent, "expect", out.expect, out.wrong);
  take(sent, "who", out.who, out.wrong);
  out.who = shortened(out.who);
  if (out.confirm > kConfirmMax && !out.wrong)
    out.wrong = api_error("InvalidArgs", "confirm must be at most 86400 seconds");
  return out;
}

}  // namespace rdmacfg::daemon
