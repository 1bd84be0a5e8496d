// SPDX-License-Identifier: Apache-2.0
// Opening verbs devices for others, and handing them over: ibv_open_device(3), unix(7) (SCM_RIGHTS).
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <thread>

#include "system/linux/verbs/verbs_library.hpp"
#include "system/verbs_events.hpp"

namespace rdmacfg::system {

namespace {

using base::UniqueFd;

constexpr const char* kClass = "/sys/class/infiniband_verbs";
constexpr std::size_t kDescriptors = 2;
constexpr int kOpenTries = 5;
constexpr std::chrono::milliseconds kBetween{50};

using References = std::map<std::string, long>;

/// How many have a reference to each of the modules that RDMA drivers can be: all that use ib_core, but for
/// uverbs, which is referenced by whoever opens. Nothing where ib_core is not a module: then drivers need not
/// be modules either, and cannot be told.
std::optional<References> driver_references() {
  // modules_show() in kernel/module/procfs.c: name, size, references, "users," of it.
  std::ifstream file("/proc/modules");
  References all;
  std::string users;
  bool modular = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, size, used_by;
    long references = 0;
    if (!(fields >> name >> size >> references >> used_by)) continue;
    all.emplace(name, references);
    if (name != "ib_core") continue;
    modular = true;
    users = "," + used_by;
  }
  if (!modular) return std::nullopt;
  std::erase_if(all, [&](const auto& driver) {
    return driver.first == "ib_uverbs" || users.find("," + driver.first + ",") == std::string::npos;
  });
  return all;
}

/// Whether one of them has more references in `after` than in `before`, and does not have them in `later`.
bool any_rose(const References& before, const References& after, const References& later) {
  return std::any_of(after.begin(), after.end(), [&](const auto& driver) {
    const auto was = before.find(driver.first), then = later.find(driver.first);
    return was != before.end() && driver.second > was->second &&
           (then == later.end() || then->second < driver.second);
  });
}

/// Others open and close devices too, and these may be theirs. Ours goes when we close.
detail::OpenContext open_if_free(ibv_device* device) {
  detail::OpenContext none(nullptr, detail::VerbsLibrary::get().close_device);
  for (int i = 0; i < kOpenTries; ++i) {
    const auto before = driver_references();
    if (!before) return none;
    auto context = detail::open(device);
    if (!context) return none;
    const auto after = driver_references();
    if (after && !any_rose(*before, *after, {})) return context;
    context.reset();
    const auto later = driver_references();
    if (after && later && any_rose(*before, *after, *later)) return none;
    std::this_thread::sleep_for(kBetween);
  }
  return none;
}

UniqueFd copy_of(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

}  // namespace

std::set<VerbsNode> verbs_nodes() {
  std::set<VerbsNode> nodes;
  std::error_code error;
  for (std::filesystem::directory_iterator at(kClass, error), end; !error && at != end; at.increment(error)) {
    struct stat status {};
    // The entries are links; abi_version, a file, is among them.
    if (::stat(at->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    nodes.insert({at->path().filename().string(), status.st_ino});
  }
  return nodes;
}

void open_verbs(const std::set<VerbsNode>& nodes, const std::function<void(OpenVerbs)>& opened) {
  const detail::VerbsDevices devices;
  for (const auto& node : nodes) {
    OpenVerbs verbs;
    verbs.node = node;
    for (ibv_device* device : devices.list()) {
      if (node.name != static_cast<const char*>(device->dev_name)) continue;
      verbs.device = static_cast<const char*>(device->name);
      const auto context = open_if_free(device);
      // Between the listing and the opening another one may have taken its name.
      if (!context || !verbs_nodes().contains(node)) break;
      // They keep it open when libibverbs closes its own: the kernel's context goes with the last of them.
      verbs.command = copy_of(context->cmd_fd);
      verbs.events = copy_of(context->async_fd);
      if (!verbs.command || !verbs.events) {
        verbs.command.reset();
        verbs.events.reset();
      }
      break;
    }
    opened(std::move(verbs));
  }
}

bool send_verbs(int socket, const OpenVerbs& open) {
  std::string text = open.node.name + " " + std::to_string(open.node.serial) + " " + open.device;
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (open.command) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(kDescriptors * sizeof(int));
    const std::array<int, kDescriptors> fds{open.command.get(), open.events.get()};
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  }
  for (;;) {
    const auto count = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (count >= 0 || errno != EINTR) return count >= 0;
  }
}

std::optional<OpenVerbs> receive_verbs(int socket, bool& at_end) {
  std::array<char, 512> text{};
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  at_end = count == 0 || (count < 0 && errno != EAGAIN);
  if (count <= 0) return std::nullopt;
  OpenVerbs open;
  std::istringstream words(std::string(text.data(), static_cast<std::size_t>(count)));
  words >> open.node.name >> open.node.serial >> open.device;
  const auto* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return open;
  // Of a process that may have no more descriptors it is one.
  const auto count_of = std::min((header->cmsg_len - CMSG_LEN(0)) / sizeof(int), kDescriptors);
  std::array<int, kDescriptors> fds{-1, -1};
  std::memcpy(fds.data(), CMSG_DATA(header), count_of * sizeof(int));
  open.command = UniqueFd(fds[0]);
  open.events = UniqueFd(fds[1]);
  return open;
}

}  // namespace rdmacfg::system
