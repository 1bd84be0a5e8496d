// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/document_json.hpp"

#include <utility>

#include "system/linux/sandbox.hpp"

namespace rdmacfg::daemon {

base::Result<config::Document> parse_confined(std::vector<config::Text> texts, const std::string& host_name) {
  return core::parse_confined(std::move(texts), host_name, system::run_parser_confined);
}

}  // namespace rdmacfg::daemon
