// SPDX-License-Identifier: Apache-2.0
// Locked memory in limits.conf(5).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/keys.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::foreign {

namespace {

/// "infinity", "64G" and "soft:hard" of systemd.exec(5), in bytes; nothing where it makes no sense.
std::optional<model::LockLimit> limit_of(std::string_view text) {
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && text.substr(0, colon) != text.substr(colon + 1)) return std::nullopt;
  auto value = base::trim(text.substr(0, colon));
  if (value == "infinity") return model::LockLimit{};
  std::uint64_t factor = 1;
  constexpr std::string_view kUnits = "KMGTPE";
  if (const auto unit = value.empty() ? std::string_view::npos : kUnits.find(value.back());
      unit != std::string_view::npos) {
    factor = std::uint64_t{1} << (10U * (unit + 1));
    value.remove_suffix(1);
  }
  const auto number = base::parse_number(value);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52U;
  if (!number || *number > kMost / factor || *number * factor % 1024 != 0) return std::nullopt;
  return model::LockLimit{static_cast<std::int64_t>(*number * factor / 1024)};
}

model::Value value_of(const model::LockLimit& limit) {
  return limit.kib ? model::Value(*limit.kib) : model::Value(std::string("unlimited"));
}

/// LimitMEMLOCK of a unit, as the last of its drop-ins has it.
struct UnitLimit {
  Place where;
  std::string unit, text;
  model::LockLimit limit;
};

/// A drop-in; a later one for the same unit counts, unless its value makes no sense (systemd.syntax(7)).
void read_unit(const File& file, std::vector<UnitLimit>& found, Claims& claims) {
  auto unit = std::string_view(file.path);
  unit = unit.substr(0, unit.rfind('/'));
  unit = unit.substr(unit.rfind('/') + 1);
  unit.remove_suffix(unit.ends_with(".d") ? 2 : 0);
  Claims aside;  // the rest of the drop-in does not matter
  for (const auto& group : parse_groups(file, aside)) {
    for (const auto& item : group.items) {
      const Place where{file.path, item.line};
      if (item.key == "DefaultLimitMEMLOCK") {
        claims.miss(where,
                    "DefaultLimitMEMLOCK holds for every service; list those that need it in units of a "
                    "[[memlock]]");
      }
      if (item.key != "LimitMEMLOCK" || group.name != "Service" || item.value.empty()) continue;
      const auto limit = limit_of(item.value);
      if (!limit) {
        claims.miss(where, fmt::format("LimitMEMLOCK: {} is not a limit that the document has", item.value));
        continue;
      }
      const auto before = std::find_if(found.begin(), found.end(),
                                       [&](const UnitLimit& other) { return other.unit == unit; });
      if (before != found.end()) {
        claims.pass(before->where, "LimitMEMLOCK: a later line sets it again");
        found.erase(before);
      }
      found.push_back({where, std::string(unit), item.value, *limit});
    }
  }
}

/// Takes it up into the [[memlock]] with the same limit.
void take_unit(const UnitLimit& found, Claims& claims) {
  const auto entry = std::find_if(claims.entries.begin(), claims.entries.end(), [&](const Entry& memlock) {
    return memlock.path == "memlock" && model::value_of(memlock.values, "limit") == value_of(found.limit);
  });
  if (entry == claims.entries.end()) {
    claims.miss(found.where,
                fmt::format("LimitMEMLOCK={} of {}: no domain of limits.conf has that limit; write a "
                            "[[memlock]] with units = [\"{}\"]",
                            found.text, found.unit, found.unit));
    return;
  }
  claims.took(found.where);
  if (found.unit == "user@.service") {
    entry->values["sessions"] = true;
    return;
  }
  auto& units = entry->values.try_emplace("units", std::vector<std::string>{}).first->second;
  std::get<std::vector<std::string>>(units).push_back(found.unit);
}

/// The files in the order in which pam_limits(8) reads them: limits.conf comes before all of limits.d.
std::vector<const File*> in_order_of_pam(std::span<const File> files) {
  std::vector<const File*> out;
  out.reserve(files.size());
  for (const auto& file : files) out.push_back(&file);
  std::stable_partition(out.begin(), out.end(), [](const File* file) {
    return file->path.ends_with("/limits.conf") && file->path.find("/limits.d/") == std::string::npos;
  });
  return out;
}

bool is_systemd(const File& file) {
  return file.path.find("/systemd/") != std::string::npos || unit_of(file.path).ends_with(".service");
}

/// "DOMAIN -": pam_limits(8) then applies no line of its files to that user or group (limits.conf(5)); the
/// wildcard is neither.
bool is_exemption(std::span<const std::string_view> words) {
  return words.size() == 2 && words[1] == "-" && words[0] != "*";
}

Remark exemption(const Place& where, std::string_view domain) {
  return {where,
          fmt::format("{}: pam_limits applies no limit to it; the document does not support exemptions, "
                      "so keep this line",
                      domain)};
}

/// A limit as limits.conf(5) has it, in lower case: "-", "-1" and "infinity" are unlimited.
std::string in_words_of_document(std::string value) {
  const bool unlimited = value == "-" || value == "-1" || value == "infinity";
  return unlimited ? std::string("unlimited") : value;
}

}  // namespace

void parse_limits(std::span<const File> files, Claims& claims) {
  struct Pair {
    Place where;
    std::optional<std::string> soft, hard;
  };
  std::map<std::string, Pair> domains;
  std::vector<std::string> order;
  std::vector<Remark> exempt;
  for (const auto* file : in_order_of_pam(files)) {
    if (is_systemd(*file)) continue;
    int number = 0;
    for (const auto raw : base::split(file->text, '\n')) {
      ++number;
      const Place where{file->path, number};
      const auto words = words_of(raw.substr(0, raw.find('#')));
      const auto word = [&](std::size_t at) {  // pam_limits takes them in upper case, too
        return at < words.size() ? base::lower(words[at]) : std::string();
      };
      if (words.size() < 4) {
        if (word(1) == "memlock" || word(2) == "memlock")
          claims.miss(where, "is not \"DOMAIN TYPE memlock LIMIT\"");
        if (is_exemption(words)) exempt.push_back(exemption(where, words.front()));
        continue;
      }
      if (word(2) != "memlock") continue;
      const auto value = in_words_of_document(word(3));
      const bool type = word(1) == "soft" || word(1) == "hard" || word(1) == "-";
      if (!type || !model::LockLimit::parse(value)) {
        claims.miss(where, type ? fmt::format("{} is not a limit", words[3])
                                : fmt::format("{} is not soft, hard or -", words[1]));
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
  if (!order.empty()) claims.missed.insert(claims.missed.end(), exempt.begin(), exempt.end());
  for (const auto& domain : order) {
    const auto& pair = domains[domain];
    if (pair.soft != pair.hard) {
      claims.miss(
          pair.where,
          fmt::format("{}: the soft limit is {}, the hard one {}; the document supports one value for both",
                      domain, pair.soft.value_or("not set"), pair.hard.value_or("not set")));
      continue;
    }
    const auto limit = model::LockLimit::parse(*pair.soft);
    claims.entry("memlock", {{"domain", domain}}, pair.where).values["limit"] = value_of(*limit);
  }
  std::vector<UnitLimit> units;
  for (const auto& file : files) {
    if (is_systemd(file)) read_unit(file, units, claims);
  }
  for (const auto& unit : units) take_unit(unit, claims);
}

}  // namespace rdmacfg::foreign
