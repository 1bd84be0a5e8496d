// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/lio_names.hpp"

#include <charconv>
#include <cstddef>
#include <set>

#include "base/text.hpp"
#include "kinds/storage/lio/lio_settings.hpp"

namespace rdmacfg::foreign {

std::optional<std::string> srp_digits_of(std::string_view written) {
  auto text = base::lower(base::trim(written));
  for (const std::string_view front : {"ib.", "0x"}) {
    if (text.starts_with(front)) text.erase(0, front.size());
  }
  if (text.size() != kinds::kSrpPortIdDigits ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  return text;
}

std::vector<std::string> with_srp_guids(const model::Guid& target,
                                        const std::vector<std::string>& initiators) {
  const std::set<std::string> all(initiators.begin(), initiators.end());
  std::set<std::string> told;
  std::vector<std::string> out;
  for (const auto& id : initiators) {
    if (!told.insert(id).second) continue;
    model::Guid guid;
    const auto* end = id.data() + id.size();
    if (id.size() >= kSrpGuidDigits) std::from_chars(end - kSrpGuidDigits, end, guid.number, 16);
    const auto ids = kinds::srp_port_ids(target, guid.text());
    const bool both = ids.size() == 2 && guid.number != 0 && all.contains(ids[0]) && all.contains(ids[1]);
    if (!both || (id != ids[0] && id != ids[1])) {
      out.push_back(id);
      continue;
    }
    told.insert(ids.begin(), ids.end());
    out.push_back(guid.text());
  }
  return out;
}

}  // namespace rdmacfg::foreign
