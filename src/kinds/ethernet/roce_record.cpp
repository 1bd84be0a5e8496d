// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/roce_record.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "kinds/boot_record.hpp"

namespace rdmacfg::kinds {

using base::Result;
using system::RoceDefaults;

namespace {

constexpr std::size_t kColumns = 6;

std::string text_of(const std::optional<RoceDefaults>& defaults) {
  return defaults ? fmt::format("{}\t{}", defaults->gid_type, defaults->tos) : "-\t-";
}

std::string text_of(const RoceWritten& written) {
  return fmt::format("{}\t{}", written.gid_type.value_or("-"),
                     written.tos ? std::to_string(*written.tos) : "-");
}

std::optional<RoceDefaults> defaults_of(std::string_view type, std::string_view tos) {
  const auto number = base::parse_number(tos);
  if (!number || *number > 255) return std::nullopt;
  return RoceDefaults{std::string(type), static_cast<int>(*number)};
}

}  // namespace

std::string roce_instance(const system::RdmaDevice& device, int port, const std::string& rdma_cm,
                          const std::string& boot_id) {
  if (rdma_cm.empty()) return {};
  return fmt::format("{}/{}/{}/{}", boot_id, device.instance, rdma_cm, port);
}

RoceRecords parse_roce_records(std::string_view text) {
  RoceRecords records;
  for (const auto line : base::split(text, '\n')) {
    const auto columns = base::split(line, '\t');
    if (line.starts_with('#') || columns.size() != kColumns) continue;
    RoceRecord record;
    if (columns[1] != "-") record.written.gid_type = columns[1];
    if (const auto tos = base::parse_number(columns[2]); tos && *tos <= 255)
      record.written.tos = static_cast<int>(*tos);
    record.found = defaults_of(columns[3], columns[4]);
    if (columns[5] != "-") record.folder = columns[5];
    records[std::string(columns[0])] = std::move(record);
  }
  return records;
}

std::string render_roce_records(const RoceRecords& records) {
  std::string out = "# RoCE defaults: object, mode and ToS written, mode and ToS found, folder\n";
  for (const auto& [instance, record] : records) {
    out += fmt::format("{}\t{}\t{}\t{}\n", instance, text_of(record.written), text_of(record.found),
                       record.folder.empty() ? "-" : record.folder);
  }
  return out;
}

Result<RoceRecords> read_roce_records(system::Files& files) {
  auto text = read_boot_record(files, kRoceRecordFile);
  if (!text) return base::fail(text.error());
  return *text ? parse_roce_records(**text) : RoceRecords{};
}

Result<void> write_roce_records(system::Files& files, const RoceRecords& records) {
  return write_boot_record(files, kRoceRecordFile,
                           records.empty() ? std::nullopt : std::optional(render_roce_records(records)));
}

}  // namespace rdmacfg::kinds
