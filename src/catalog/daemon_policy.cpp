// SPDX-License-Identifier: Apache-2.0
#include "catalog/daemon_policy.hpp"

#include "kinds/entry.hpp"

namespace rdmacfg::kinds {

model::SectionSpec daemon_section() {
  model::SectionSpec section{
      .name = "daemon", .repeated = false, .doc = "How rdma-configd enforces this document."};
  add_written(section.fields, model::specs<DaemonPolicy>());
  return section;
}

DaemonPolicy daemon_policy(std::span<const model::Section> sections) {
  for (const auto& section : sections) {
    if (section.path == "daemon") return model::from_attributes<DaemonPolicy>(section.attributes());
  }
  return {};
}

}  // namespace rdmacfg::kinds
