// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/settled_file.hpp"

#include <nlohmann/json.hpp>

#include "store/json_file.hpp"

namespace rdmacfg::daemon {

using Json = nlohmann::ordered_json;

std::optional<SettledFile::Content> SettledFile::load() {
  const auto text = files_.read(path_);
  if (!text || !*text) return std::nullopt;
  try {
    const auto json = core::parse_record(**text);
    if (json.at("boot_id").get<std::string>() != boot_id_) return std::nullopt;
    Content content;
    content.generation = core::number_in<std::uint64_t>(json.at("generation"));
    for (const auto& entry : json.at("resources")) {
      content.resources[{entry.at(0).get<std::string>(), entry.at(1).get<std::string>()}] =
          entry.at(2).get<std::string>();
    }
    return content;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

base::Result<void> SettledFile::save(const Content& content) {
  Json resources = Json::array();
  for (const auto& [key, instance] : content.resources) resources.push_back({key.kind, key.id, instance});
  const Json json{
      {"boot_id", boot_id_}, {"generation", content.generation}, {"resources", std::move(resources)}};
  return files_.write(path_, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

base::Result<void> SettledFile::clear() {
  const auto there = files_.read(path_);
  return there && !*there ? base::Result<void>{} : files_.remove(path_);
}

}  // namespace rdmacfg::daemon
