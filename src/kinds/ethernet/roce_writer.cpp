// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/roce_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "kinds/ethernet/roce.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using system::RdmaDevice;
using system::RoceDefaults;

namespace {

constexpr std::string_view kV1 = "IB/RoCE v1";
constexpr std::string_view kV2 = "RoCE v2";

bool agrees(const RoceWritten& known, const RoceDefaults& actual) {
  return (!known.gid_type || *known.gid_type == actual.gid_type) && (!known.tos || *known.tos == actual.tos);
}

class Writer {
 public:
  Writer(system::Host& host, const RdmaDevice& device, RoceRecords& records, std::string rdma_cm)
      : host_(host), device_(device), records_(records), rdma_cm_(std::move(rdma_cm)) {}

  Result<void> run(std::span<const Change* const> changes) {
    const auto before = records_;
    const auto had = has_roce_folder(host_, device_.name);
    if (!had) return base::fail(had.error());
    bool left = false;  // by a run that was killed
    for (const auto* change : changes) {
      auto& record = record_of(*change);
      left = left || record.folder == device_.name;
      const auto wanted = model::from_attributes<Roce>(change->after);
      if (wanted.mode) record.written.gid_type = gid_type_of(*wanted.mode);
      if (wanted.tos) record.written.tos = static_cast<int>(wanted.tos->number);
      record.folder = device_.name;
    }
    if (auto done = write_roce_records(host_.files, records_); !done) return done;
    auto made = host_.rdma_cm.make_folder(device_.name);
    // One that somebody else was quicker to make is not ours to remove.
    const bool theirs = *had || (made && !*made);
    Result<void> result;
    if (!made) result = base::fail(made.error());
    for (std::size_t i = 0; i < changes.size() && result; ++i) result = write(*changes[i]);
    for (const auto* change : changes) settle(*change, result.has_value(), before);
    // A folder that stays keeps rdma_cm from being unloaded.
    if (left || !theirs) {
      if (auto removed = remove_roce_folder(host_, device_.name); !removed) {
        for (const auto* change : changes) record_of(*change).folder = device_.name;
        if (result) result = removed;
      }
    }
    if (auto done = write_roce_records(host_.files, records_); !done && result) return done;
    return result;
  }

 private:
  std::string instance_of(const Change& change) const {
    return roce_instance(device_, number_at_end(change.key.id), rdma_cm_, host_.boot_id);
  }
  RoceRecord& record_of(const Change& change) { return records_[instance_of(change)]; }

  Result<void> write(const Change& change) {
    const int port = number_at_end(change.key.id);
    auto& record = record_of(change);
    const auto observed = host_.rdma_cm.observe_defaults(device_.name, port);
    if (!observed) return base::fail(observed.error());
    const auto& now = *observed;
    if (!now) {
      return base::fail(base::Code::kNotFound,
                        fmt::format("{} port {}: its RoCE defaults cannot be read", device_.name, port));
    }
    if (!record.found) {
      record.found = *now;
      if (auto done = write_roce_records(host_.files, records_); !done) return done;
    }
    const auto goal = goal_of(change, record);
    if (goal.gid_type != now->gid_type) {
      if (auto done = host_.rdma_cm.write_gid_type(device_.name, port, goal.gid_type); !done)
        return done.error().sys_errno == EINVAL ? not_offered(port, goal.gid_type, done.error()) : done;
    }
    if (goal.tos != now->tos) {
      if (auto done = host_.rdma_cm.write_tos(device_.name, port, goal.tos); !done) return done;
    }
    const auto read_back = host_.rdma_cm.observe_defaults(device_.name, port);
    if (!read_back) return base::fail(read_back.error());
    const auto& then = *read_back;
    if (then == goal) return {};
    return base::fail(
        base::Code::kRefused,
        fmt::format("{} port {}: reads {} ToS {} after {} ToS {} was written", device_.name, port,
                    then ? then->gid_type : "nothing", then ? then->tos : 0, goal.gid_type, goal.tos));
  }

  /// "Invalid argument" of the kernel means that the port has no GID of that type.
  Result<void> not_offered(int port, const std::string& gid_type, base::Error error) const {
    std::set<std::string> offered;
    if (const auto table = host_.rdma.observe_gids(device_.name, port)) {
      for (const auto& gid : *table) offered.insert(gid.type);
    }
    const std::vector<std::string> names(offered.begin(), offered.end());
    error.message = fmt::format("{} port {}: has no GID of {}; the port offers {}", device_.name, port,
                                gid_type, names.empty() ? "none" : base::join(names, ", "));
    return base::fail(std::move(error));
  }

  /// Anything that is not wanted goes back to what was found.
  static RoceDefaults goal_of(const Change& change, const RoceRecord& record) {
    const auto wanted = model::from_attributes<Roce>(change.after);
    return {wanted.mode ? std::string(gid_type_of(*wanted.mode)) : record.found->gid_type,
            wanted.tos ? static_cast<int>(wanted.tos->number) : record.found->tos};
  }

  /// Makes the record say what is so.
  void settle(const Change& change, bool done, const RoceRecords& before) {
    const auto instance = instance_of(change);
    auto& record = records_[instance];
    record.folder.clear();
    const auto wanted = model::from_attributes<Roce>(change.after);
    if (done) {
      if (!wanted.mode) record.written.gid_type.reset();
      if (!wanted.tos) record.written.tos.reset();
      if (!wanted.mode && !wanted.tos) records_.erase(instance);
      return;
    }
    const auto observed = host_.rdma_cm.observe_defaults(device_.name, number_at_end(change.key.id));
    const auto actual = observed ? *observed : std::nullopt;
    const auto old = before.find(instance);
    if (!actual) {
      // The folder could not be made, so nothing was written; or the device has gone, and all this with it.
      if (old == before.end() || old->second.folder.empty()) restore(instance, before);
    } else if (old != before.end() && agrees(old->second.written, *actual)) {
      record.written = old->second.written;
    } else if (old == before.end() && record.found == actual) {
      records_.erase(instance);
    } else {
      record.written = {actual->gid_type, actual->tos};
    }
  }

  void restore(const std::string& instance, const RoceRecords& before) {
    if (const auto old = before.find(instance); old != before.end()) {
      records_[instance] = old->second;
    } else {
      records_.erase(instance);
    }
  }

  system::Host& host_;
  const RdmaDevice& device_;
  RoceRecords& records_;
  std::string rdma_cm_;
};

}  // namespace

std::string_view gid_type_of(model::RoceMode mode) { return mode == model::RoceMode::kV1 ? kV1 : kV2; }

std::optional<model::RoceMode> mode_of(std::string_view gid_type) {
  if (gid_type == kV1) return model::RoceMode::kV1;
  if (gid_type == kV2) return model::RoceMode::kV2;
  return std::nullopt;
}

int number_at_end(std::string_view id) {
  return base::parse_as<int>(id.substr(id.rfind('/') + 1)).value_or(0);
}

Result<bool> has_roce_folder(system::Host& host, const std::string& device) {
  const auto folders = host.rdma_cm.observe_folders();
  if (!folders) return base::fail(folders.error());
  return std::find(folders->begin(), folders->end(), device) != folders->end();
}

Result<void> remove_roce_folder(system::Host& host, const std::string& device) {
  constexpr int kTries = 2;
  Result<void> removed;
  for (int i = 0; i < kTries; ++i) {
    removed = host.rdma_cm.remove_folder(device);
    const auto stayed = has_roce_folder(host, device);
    if (stayed && !*stayed) return {};
    if (!stayed && removed) return base::fail(stayed.error());
  }
  if (removed) return base::fail(base::Code::kBusy, device + ": its folder in configfs cannot be removed");
  return removed;
}

Result<void> write_roce_defaults(system::Host& host, const RdmaDevice& device,
                                 std::span<const Change* const> changes, RoceRecords& records,
                                 std::string rdma_cm) {
  return Writer(host, device, records, std::move(rdma_cm)).run(changes);
}

}  // namespace rdmacfg::kinds
