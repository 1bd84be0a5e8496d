// SPDX-License-Identifier: Apache-2.0
// Sources: PackageKit's introspection files (org.freedesktop.PackageKit.xml, …PackageKit.Transaction.xml) and
// the order of its enumerations (pk-enum.h).
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "system/linux/dbus/system_bus.hpp"
#include "system/linux/linux_host.hpp"
#include "system/packages.hpp"

namespace rdmacfg::system {
namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using detail::BusError;
using detail::BusMessage;
using Clock = std::chrono::steady_clock;

constexpr const char* kPackageKit = "org.freedesktop.PackageKit";
constexpr const char* kPackageKitPath = "/org/freedesktop/PackageKit";
constexpr const char* kTransaction = "org.freedesktop.PackageKit.Transaction";
constexpr const char* kBusItself = "org.freedesktop.DBus";

// Bits of PkFilterEnum, PkTransactionFlagEnum and values of PkExitEnum, PkInfoEnum.
constexpr std::uint64_t kNewest = 1U << 16U, kArchitecture = 1U << 18U, kOnlyTrusted = 1U << 1U;
constexpr std::uint32_t kSuccess = 1, kInstalled = 1;

/// One transaction, as its signals tell. Those that another client sends to us are passed over.
struct Transaction {
  std::string by;                            ///< PackageKit's own name on the bus
  std::map<std::string, std::string> found;  ///< identifiers of packages that can be installed, by name
  std::map<std::string, std::string> there;  ///< of installed ones
  std::string trouble;
  std::uint32_t exit = 0;
  bool ended = false;

  static int on_package(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
    auto& self = *static_cast<Transaction*>(user);
    if (detail::sender_of(message) != self.by) return 0;
    std::uint32_t info = 0;
    const char *id = nullptr, *summary = nullptr;
    if (sd_bus_message_read(message, "uss", &info, &id, &summary) < 0) return 0;
    const std::string text(id);
    const auto name = text.substr(0, text.find(';'));
    (info == kInstalled ? self.there : self.found).emplace(name, text);
    return 0;
  }
  static int on_error(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
    auto& self = *static_cast<Transaction*>(user);
    if (detail::sender_of(message) != self.by) return 0;
    std::uint32_t code = 0;
    const char* details = nullptr;
    if (sd_bus_message_read(message, "us", &code, &details) >= 0) self.trouble = base::trim(details);
    return 0;
  }
  static int on_finished(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
    auto& self = *static_cast<Transaction*>(user);
    if (detail::sender_of(message) != self.by) return 0;
    std::uint32_t runtime = 0;
    if (sd_bus_message_read(message, "uu", &self.exit, &runtime) >= 0) self.ended = true;
    return 0;
  }
  /// PackageKit itself went away: nothing tells of the transaction any more.
  static int on_owner(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
    auto& self = *static_cast<Transaction*>(user);
    if (detail::sender_of(message) != kBusItself) return 0;
    const char *name = nullptr, *before = nullptr, *now = nullptr;
    if (sd_bus_message_read(message, "sss", &name, &before, &now) < 0 || *now != '\0' || self.ended) return 0;
    self.trouble = "it exited before the transaction ended";
    self.ended = true;
    return 0;
  }
};

constexpr const char* kOwnerMatch =
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.freedesktop.PackageKit'";

class PackageKit final : public Packages {
 public:
  explicit PackageKit(const BusLimits& limits) : install_(limits.install), bus_(limits) {}

  bool has(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  bool can_install() override {
    // Reading a property has the bus start it where it can.
    return bus_
        .call({kPackageKit, kPackageKitPath, "org.freedesktop.DBus.Properties", "Get"}, "asking PackageKit",
              nullptr, "ss", kPackageKit, "BackendName")
        .has_value();
  }

  Result<void> install(std::span<const std::string> names) override {
    const auto what = fmt::format("installing {}", base::join({names.begin(), names.end()}, ", "));
    const auto end = Clock::now() + install_;
    std::vector<std::string> wanted(names.begin(), names.end());
    auto resolved = run("Resolve", kNewest | kArchitecture, wanted, what, end);
    if (!resolved) return fail(resolved.error());
    std::vector<std::string> ids;
    for (const auto& name : wanted) {
      if (resolved->there.contains(name)) continue;
      const auto at = resolved->found.find(name);
      if (at == resolved->found.end())
        return fail(Code::kNotFound, fmt::format("{}: no repository of this host has {}", what, name));
      ids.push_back(at->second);
    }
    if (ids.empty()) return {};
    auto done = run("InstallPackages", kOnlyTrusted, ids, what, end);
    if (!done) return fail(done.error());
    return {};
  }

 private:
  /// Begins a transaction with one method of it, and waits until that has ended.
  Result<Transaction> run(const char* method, std::uint64_t flags, std::vector<std::string>& names,
                          const std::string& what, Clock::time_point end) {
    auto opened = bus_.bus();
    if (!opened) return fail(opened.error());
    BusError error;
    sd_bus_message* raw = nullptr;
    int status = sd_bus_call_method(*opened, kPackageKit, kPackageKitPath, kPackageKit, "CreateTransaction",
                                    &error.error, &raw, "");
    const BusMessage reply(raw, sd_bus_message_unref);
    if (status < 0 && error.says_nobody()) return fail(Code::kUnsupported, what + ": no PackageKit answers");
    if (status < 0) return fail(error.error_of(status, what));
    const char* path = nullptr;
    if (status = sd_bus_message_read(reply.get(), "o", &path); status < 0) return fail_errno(-status, what);
    Transaction transaction;
    transaction.by = detail::sender_of(reply.get());
    std::vector<Slot> slots;
    const std::pair<const char*, sd_bus_message_handler_t> signals[]{{"Package", Transaction::on_package},
                                                                     {"ErrorCode", Transaction::on_error},
                                                                     {"Finished", Transaction::on_finished}};
    for (const auto& [signal, handler] : signals) {
      sd_bus_slot* slot = nullptr;
      status =
          sd_bus_match_signal(*opened, &slot, kPackageKit, path, kTransaction, signal, handler, &transaction);
      if (status < 0) return fail_errno(-status, what);
      slots.emplace_back(slot, sd_bus_slot_unref);
    }
    sd_bus_slot* owner = nullptr;
    if (status = sd_bus_add_match(*opened, &owner, kOwnerMatch, Transaction::on_owner, &transaction);
        status < 0)
      return fail_errno(-status, what);
    slots.emplace_back(owner, sd_bus_slot_unref);
    if (auto begun = begin(*opened, {path, method}, flags, names, what); !begun) return fail(begun.error());
    if (auto waited = wait(*opened, transaction, what, end); !waited) return fail(waited.error());
    if (transaction.exit != kSuccess) {
      return fail(Code::kIo, fmt::format("{}: PackageKit: {}", what,
                                         transaction.trouble.empty() ? "it failed" : transaction.trouble));
    }
    return transaction;
  }

  static Result<void> begin(sd_bus* bus, std::pair<const char*, const char*> method, std::uint64_t flags,
                            std::vector<std::string>& names, const std::string& what) {
    sd_bus_message* raw = nullptr;
    int status =
        sd_bus_message_new_method_call(bus, &raw, kPackageKit, method.first, kTransaction, method.second);
    const BusMessage call(raw, sd_bus_message_unref);
    if (status < 0) return fail_errno(-status, what);
    std::vector<char*> list;
    for (auto& name : names) list.push_back(name.data());
    list.push_back(nullptr);
    status = sd_bus_message_append(call.get(), "t", flags);
    if (status >= 0) status = sd_bus_message_append_strv(call.get(), list.data());
    if (status < 0) return fail_errno(-status, what);
    BusError error;
    sd_bus_message* raw_reply = nullptr;
    status = sd_bus_call(bus, call.get(), 0, &error.error, &raw_reply);
    const BusMessage reply(raw_reply, sd_bus_message_unref);
    if (status < 0) return fail(error.error_of(status, what));
    return {};
  }

  static Result<void> wait(sd_bus* bus, const Transaction& transaction, const std::string& what,
                           Clock::time_point end) {
    for (;;) {
      const int status = sd_bus_process(bus, nullptr);
      if (status < 0) return fail_errno(-status, what);
      if (transaction.ended) return {};
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
      if (left.count() <= 0) return fail(Code::kTimeout, what + ": PackageKit has not finished in time");
      if (status > 0) continue;
      if (const int waited = sd_bus_wait(bus, static_cast<std::uint64_t>(left.count()));
          waited < 0 && waited != -EINTR)
        return fail_errno(-waited, what);
    }
  }

  using Slot = std::unique_ptr<sd_bus_slot, sd_bus_slot* (*)(sd_bus_slot*)>;
  std::chrono::milliseconds install_;
  detail::SystemBus bus_;
};

}  // namespace

std::unique_ptr<Packages> make_linux_packages(const BusLimits& limits) {
  return std::make_unique<PackageKit>(limits);
}

}  // namespace rdmacfg::system
