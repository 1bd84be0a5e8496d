// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/fabric_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/characters.hpp"
#include "base/unique_fd.hpp"
#include "fabric/limits.hpp"
#include "system/linux/fabric/explorer.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::Result;
using detail::Frame;
using fabric::Fabric;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunk = 65'536;
constexpr std::size_t kMostMissing = 64;

/// Ends with the object, whatever it is doing; when it has sent everything, it may leave by itself.
class Child {
 public:
  Child(pid_t pid, int in) : pid_(pid), in_(in) {}
  void let_leave() { leaving_ = true; }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (leaving_) {
      pollfd fd{in_, POLLIN, 0};
      (void)::poll(&fd, 1, kLeave);
    }
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

 private:
  static constexpr int kLeave = 1000;  // milliseconds
  pid_t pid_;
  int in_;
  bool leaving_ = false;
};

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) ::_exit(1);  // nobody waits any more
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

[[noreturn]] void be_child(const detail::Explore& explore, const FabricRequest& request, int out,
                           pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // The libraries tell stderr about every answer that does not come; the frames have the result.
  if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  explore(request, [&](Frame frame) { write_all(out, detail::pack(std::move(frame))); });
  // Libraries take their leave: umad2sim of its simulator, which holds a place for each client.
  std::exit(0);
}

/// Both processes enter it, and coverage counts both: of a branch behind fork(2) itself only one entry is
/// counted.
void part_reader(pid_t child, const detail::Explore& explore, const FabricRequest& request, int out,
                 pid_t parent) {
  if (child == 0) be_child(explore, request, out, parent);
}

/// Puts frames together.
class Assembly {
 public:
  explicit Assembly(const FabricProgress& progress) : progress_(progress) {}

  void operator()(detail::StartFrame& frame) {
    fabric_.from = base::harmless(frame.port);
    fabric_.from_port = frame.guid;
    fabric_.prefix = base::harmless(frame.prefix);
  }
  void operator()(detail::NodeFrame& frame) {
    if (fabric_.nodes.size() >= fabric::limits::kFabricNodes) return;
    if (!places_.emplace(frame.node.guid, fabric_.nodes.size()).second)
      return miss(fmt::format("another node with the GUID {}", model::Guid{frame.node.guid}.text()));
    frame.node.description = base::harmless(frame.node.description);
    fabric_.nodes.push_back(std::move(frame.node));
  }
  void operator()(detail::NodesDoneFrame&) { nodes_done_ = true; }
  void operator()(detail::PkeysFrame& frame) {
    const auto at = places_.find(frame.port.node);
    if (at == places_.end()) return;
    for (auto& port : fabric_.nodes[at->second].ports) {
      if (port.number == frame.port.port) port.pkeys = std::move(frame.pkeys);
    }
  }
  void operator()(detail::ManagerFrame& frame) {
    if (fabric_.managers.size() < fabric::limits::kFabricNodes) fabric_.managers.push_back(frame.manager);
  }
  void operator()(detail::GroupsFrame& frame) {
    for (auto& group : frame.groups) group.gid = base::harmless(group.gid);
    fabric_.groups = std::move(frame.groups);
  }
  void operator()(detail::RouteFrame& frame) { fabric_.route = std::move(frame.route); }
  void operator()(detail::TargetsFrame& frame) {
    if (frame.targets.size() > fabric::limits::kFabricTargets) {
      frame.targets.resize(fabric::limits::kFabricTargets);
      miss(fmt::format("the SRP targets beyond the first {}", fabric::limits::kFabricTargets));
    }
    for (auto& target : frame.targets) target.controller = base::harmless(target.controller);
    fabric_.targets = std::move(frame.targets);
  }
  void operator()(detail::MissingFrame& frame) { miss(frame.text); }
  void operator()(detail::ProgressFrame& frame) {
    under_way_ = base::harmless(frame.what);
    if (progress_) progress_(frame.done, frame.total, under_way_);
  }
  void operator()(detail::FailureFrame& frame) {
    if (frame.error.code < Code::kInvalid || frame.error.code > Code::kTimeout) frame.error.code = Code::kIo;
    frame.error.message = base::harmless(frame.error.message);
    failure_ = std::move(frame.error);
  }
  void operator()(detail::EndFrame&) { whole_ = true; }
  void operator()(detail::CountersFrame& frame) {
    const auto at = places_.find(frame.port.node);
    if (at == places_.end()) return;
    for (auto& port : fabric_.nodes[at->second].ports) {
      if (port.number == frame.port.port) port.counters = frame.counters;
    }
  }
  void operator()(detail::NotClearedFrame& frame) {
    if (not_cleared_.size() < fabric::limits::kFabricNodes) not_cleared_.push_back(frame.port);
  }

  [[nodiscard]] bool over() const { return whole_ || failure_; }

  /// The ports that did not answer, when all were asked. `ended`: why no more comes.
  Result<std::vector<fabric::End>> finish_clearing(const base::Error& ended) {
    if (failure_) return fail(std::move(*failure_));
    if (!whole_) return fail(under_way_.empty() ? ended : ended.in(under_way_));
    return std::move(not_cleared_);
  }

  /// The fabric, or the reason why there is none. `ended`: why no more comes.
  Result<Fabric> finish(const base::Error& ended) {
    if (failure_) return fail(std::move(*failure_));
    if (!whole_ && !nodes_done_) return fail(under_way_.empty() ? ended : ended.in(under_way_));
    if (!whole_) miss(fmt::format("what follows {}: {}", under_way_, ended.message));
    std::sort(fabric_.nodes.begin(), fabric_.nodes.end(), [](const fabric::Node& a, const fabric::Node& b) {
      return std::tie(a.type, a.description, a.guid) < std::tie(b.type, b.description, b.guid);
    });
    std::sort(fabric_.managers.begin(), fabric_.managers.end(),
              [](const fabric::Manager& a, const fabric::Manager& b) {
                return std::tie(b.state, b.priority, a.port_guid) <
                       std::tie(a.state, a.priority, b.port_guid);
              });
    return std::move(fabric_);
  }

 private:
  void miss(const std::string& text) {
    if (fabric_.missing.size() < kMostMissing) fabric_.missing.push_back(base::harmless(text));
  }

  const FabricProgress& progress_;
  Fabric fabric_;
  std::map<std::uint64_t, std::size_t> places_;
  std::vector<fabric::End> not_cleared_;
  std::string under_way_;
  std::optional<base::Error> failure_;
  bool nodes_done_ = false, whole_ = false;
};

class LinuxFabricReader : public FabricReader {
 public:
  explicit LinuxFabricReader(detail::Explore explore) : explore_(std::move(explore)) {}

  Result<Fabric> read(const FabricRequest& request, const FabricProgress& progress) override {
    Assembly assembly(progress);
    return assembly.finish(run(explore_, request, assembly));
  }

  Result<std::vector<fabric::End>> clear_counters(const FabricRequest& request,
                                                  const std::vector<CounterPlace>& places) override {
    const auto clear = [&places](const FabricRequest& of, const std::function<void(Frame)>& send) {
      detail::clear_counters_at(of, places, send);
    };
    const FabricProgress silent;
    Assembly assembly(silent);
    return assembly.finish_clearing(run(clear, request, assembly));
  }

 private:
  /// Has `explore` run in a child, and hands its frames to `assembly`. @return why no more come
  static base::Error run(const detail::Explore& explore, const FabricRequest& request, Assembly& assembly) {
    constexpr std::string_view kWhat = "exploring the fabric";
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::errno_error(errno, kWhat);
    base::UniqueFd in(ends[0]), out(ends[1]);
    const auto parent = ::getpid();
    const auto pid = ::fork();
    if (pid < 0) return base::errno_error(errno, kWhat);
    part_reader(pid, explore, request, out.get(), parent);
    Child child(pid, in.get());
    out.reset();
    auto ended = receive(in.get(), Clock::now() + request.timeout, assembly);
    if (assembly.over()) child.let_leave();
    return ended;
  }

  /// Hands frames to `assembly` until it has all. @return why it ended before
  static base::Error receive(int in, Clock::time_point deadline, Assembly& assembly) {
    const base::Error died{Code::kIo, "its process ended early", 0};
    std::string bytes;
    std::size_t total = 0;
    std::array<char, kChunk> chunk{};
    while (!assembly.over()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return {Code::kTimeout, "no answer within the time of --timeout", ETIMEDOUT};
      pollfd fd{in, POLLIN, 0};
      if (const int ready = ::poll(&fd, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
          ready <= 0)
        continue;
      const auto count = ::read(in, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return died;
      total += static_cast<std::size_t>(count);
      if (total > fabric::limits::kFabricBytes)
        return {Code::kIo,
                fmt::format("the fabric's description exceeds {} bytes", fabric::limits::kFabricBytes), 0};
      bytes.append(chunk.data(), static_cast<std::size_t>(count));
      std::string_view rest(bytes);
      for (;;) {
        auto frame = detail::unpack(rest);
        if (!frame) return frame.error();
        if (!*frame) break;
        std::visit(assembly, **frame);
      }
      bytes.erase(0, bytes.size() - rest.size());
    }
    return died;
  }

  detail::Explore explore_;
};

}  // namespace

std::unique_ptr<FabricReader> make_linux_fabric_reader() {
  return detail::make_fabric_reader(detail::explore);
}

std::unique_ptr<FabricReader> detail::make_fabric_reader(Explore explore) {
  return std::make_unique<LinuxFabricReader>(std::move(explore));
}

}  // namespace rdmacfg::system
