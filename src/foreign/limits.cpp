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
      const auto word = [&](std::size_t at) {  // pam_limits takes them in upper case, too
        return at < words.size() ? base::lower(words[at]) : std::string();
      };
      if (words.size() < 4) {
        if (word(1) == "memlock" || word(2) == "memlock")
          claims.miss(where, "is not \"DOMAIN TYPE memlock LIMIT\"");
        continue;
      }
      if (word(2) != "memlock") continue;
      auto value = word(3);
      if (value == "-1" || value == "infinity") value = "unlimited";
      const bool type = word(1) == "soft" || word(1) == "hard" || word(1) == "-";
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
      if (word(1) != "hard") pair.soft = value;
      if (word(1) != "soft") pair.hard = value;
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
