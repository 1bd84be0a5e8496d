// SPDX-License-Identifier: Apache-2.0
#include "fakes/bus/packagekit.hpp"

#include <utility>

namespace rdmacfg::fakes::bus {

namespace {

constexpr const char* kTransactionInterface = "org.freedesktop.PackageKit.Transaction";
constexpr std::uint32_t kInfoInstalled = 1, kInfoAvailable = 2;  // PkInfoEnum
constexpr std::uint32_t kExitSuccess = 1, kExitFailed = 2;       // PkExitEnum

template <class... Args>
int tell(sd_bus_message* call, const char* signal, const char* types, Args... args) {
  return sd_bus_emit_signal(sd_bus_message_get_bus(call), sd_bus_message_get_path(call),
                            kTransactionInterface, signal, types, args...);
}

}  // namespace

PackageKit::PackageKit() {
  peer_.on("CreateTransaction", [this](auto* call) {
    ++transactions_;
    return sd_bus_reply_method_return(call, "o", transaction().c_str());
  });
  peer_.on("Get", reply("v", "s", "aptcc"));
  peer_.on("Resolve", [this](auto* call) { return resolve(call); });
  peer_.on("InstallPackages", [this](auto* call) { return install(call); });
  peer_.start();
}

int PackageKit::resolve(sd_bus_message* call) {
  std::uint64_t filter = 0;
  if (const int status = sd_bus_message_read(call, "t", &filter); status < 0) return status;
  const auto names = read_texts(call);
  if (const int status = sd_bus_reply_method_return(call, nullptr); status < 0) return status;
  for (const auto& name : names) {
    if (installed.contains(name)) {
      (void)tell(call, "Package", "uss", kInfoInstalled, id_of(name).c_str(), "A package");
    } else if (available.contains(name)) {
      (void)tell(call, "Package", "uss", kInfoAvailable, id_of(name).c_str(), "A package");
    }
  }
  return end(call, kExitSuccess);
}

int PackageKit::install(sd_bus_message* call) {
  std::uint64_t flags = 0;
  if (const int status = sd_bus_message_read(call, "t", &flags); status < 0) return status;
  const auto ids = read_texts(call);
  if (const int status = sd_bus_reply_method_return(call, nullptr); status < 0) return status;
  for (const auto& id : ids) log.push_back("InstallPackages " + id);
  if (!trouble.empty()) {
    (void)tell(call, "ErrorCode", "us", 4U, trouble.c_str());
    return end(call, kExitFailed);
  }
  if (finishes) {
    for (const auto& id : ids) installed.insert(id.substr(0, id.find(';')));
  }
  return end(call, kExitSuccess);
}

int PackageKit::end(sd_bus_message* call, std::uint32_t exit) {
  return finishes ? tell(call, "Finished", "uu", exit, 7U) : 1;
}

}  // namespace rdmacfg::fakes::bus
