// SPDX-License-Identifier: Apache-2.0
// Locked memory in limits.conf(5).
#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "model/host_types.hpp"

namespace rdmacfg::foreign {

void parse_limits(std::span<const File> files, Claims& claims) {
  struct Pair {
    Place where;
    std::optional<std::string> soft, hard;
  };
  std::map<std::string, Pair> domains;
  std::vector<std::string> order;
  for (const auto& file : files) {
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const Place where{file.path, number};
      const auto words = words_of(raw.substr(0, raw.find('#')));
      if (words.size() < 4 || words[2] != "memlock") continue;
      auto value = std::string(words[3]);
      if (value == "-1" || value == "infinity") value = "unlimited";
      const bool type = words[1] == "soft" || words[1] == "hard" || words[1] == "-";
      if (!type || !model::LockLimit::parse(value)) {
        claims.miss(where, type ? fmt::format("{} is no limit", words[3])
                                : fmt::format("{} is none of soft, hard and -", words[1]));
        continue;
      }
      claims.took(where);
      const std::string domain(words.front());
      if (!domains.contains(domain)) order.push_back(domain);
      auto& pair = domains[domain];
      pair.where = where;
      if (words[1] != "hard") pair.soft = value;
      if (words[1] != "soft") pair.hard = value;
    }
  }
  for (const auto& domain : order) {
    const auto& pair = domains[domain];
    if (pair.soft != pair.hard) {
      claims.miss(pair.where,
                  fmt::format("{}: the soft limit is {}, the hard one {}; the document has one for both",
                              domain, pair.soft.value_or("not set"), pair.hard.value_or("not set")));
      continue;
    }
    const auto limit = model::LockLimit::parse(*pair.soft);
    claims.entry("memlock", {{"domain", domain}}, pair.where).values["limit"] =
        limit->kib ? model::Value(*limit->kib) : model::Value(std::string("unlimited"));
  }
}

}  // namespace rdmacfg::foreign
