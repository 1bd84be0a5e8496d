// SPDX-License-Identifier: Apache-2.0
// [[opensm_file]]: the content of a file that an option of opensm.conf names.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

/// A file that OpenSM reads beside opensm.conf. [[opensm_option]] sets the option that names it.
struct OpensmFile {
  std::optional<std::string> option;
  std::optional<std::vector<std::string>> guids;
  std::optional<std::vector<std::string>> lines;

  static constexpr auto kFields = std::tuple{
      model::spelled(
          model::field("option", &OpensmFile::option, model::Role::kIdentity,
                       "The option of opensm.conf that names it: \"root_guid_file\".", "-"),
          R"({"enum":["root_guid_file","cn_guid_file","io_guid_file","guid_routing_order_file","ids_guid_file","hop_weights_file","port_search_ordering_file","port_prof_ignore_file","torus_config","prefix_routes_file","qos_policy_file","node_name_map_name","per_module_logging_file"]})"),
      model::field("guids", &OpensmFile::guids, model::Role::kSetting,
                   "The GUIDs of root_guid_file, cn_guid_file, io_guid_file and guid_routing_order_file."),
      model::field(
          "lines", &OpensmFile::lines, model::Role::kSetting,
          "The lines of all other files, in OpenSM's syntax: [\"torus 3 3 3\", \"xp_link 0x2000 0x2001\"].")};
};

model::SectionSpec opensm_file_section();

const Kind& opensm_file();

}  // namespace rdmacfg::kinds
