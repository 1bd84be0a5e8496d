// SPDX-License-Identifier: Apache-2.0
// A caller without privileges, from the bus to the host and back: the daemon with its real worker, which has
// namespaces of its own, a client of another user, and a polkit that lets it apply.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "unit/daemon/bus_client.hpp"
#include "unit/daemon/controller_fixture.hpp"
#include "unit/daemon/private_bus.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::daemon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
using PlainJson = nlohmann::json;
using Options = std::map<std::string, sdbus::Variant>;
using Documents = std::vector<sdbus::Struct<std::string, std::string>>;

constexpr unsigned kNobody = 65534;
constexpr const char* kLooking = "org.rdmaconfigd1.read";
constexpr int kSaid = 4;  ///< descriptor for what the worker says: stdout is the test program's

/// A host of the worker's own: kernel settings of a new network, folders that are empty and forgotten.
bool move_out() {
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) return false;
  bool done = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  for (const auto* folder : {"/run", "/var/lib", "/etc/sysctl.d"})
    done = ::mount("tmpfs", folder, "tmpfs", 0, "mode=0755") == 0 && done;
  return done;
}

/// Not a test: what ApiCallerTest starts as the daemon's worker.
TEST(ApiCallersWorker, DISABLED_Works) {
  ASSERT_TRUE(move_out());
  // The system's configuration: a file that everybody can write.
  const std::filesystem::path folder = "/run/rdma-configd/conf.d", file = folder / "50-theirs.toml";
  std::filesystem::create_directories(folder);
  std::ofstream(file) << "[[sysctl]]\nkey = \"net.core.somaxconn\"\nvalue = 4322\n";
  std::filesystem::permissions(file, std::filesystem::perms(0666));
  EXPECT_EQ(work(STDIN_FILENO, kSaid, 3), 0);
}

/// A user's client, in a thread of its own since it waits for answers.
class CallingClient {
 public:
  CallingClient() : manager_(connection_, "org.rdmaconfigd1", "/org/rdmaconfigd1") {
    const auto hears = [this](const std::string& member, system::dbus::MessageHandler handler) {
      matches_.push_back(connection_.match("type='signal',path='/org/rdmaconfigd1',member='" + member + "'",
                                           std::move(handler)));
    };
    // Not Event: the policy of the bus (conf/org.rdmaconfigd1.conf) keeps it for root.
    hears("Finished", [this](sdbus::Message& message) { message >> finished_; });
    hears("Progress", [this](sdbus::Message& message) {
      std::uint32_t job = 0;
      std::uint64_t done = 0, total = 0;
      std::string what;
      message >> job >> done >> total >> what;
      heard += what + "\n";
    });
    hears("PropertiesChanged", [this](sdbus::Message& message) {
      std::string interface;
      std::map<std::string, sdbus::Variant> values;
      message >> interface >> values;
      for (const auto& [name, value] : values) {
        if (value.containsValueOfType<std::string>()) heard += name + " " + value.get<std::string>() + "\n";
      }
    });
  }

  PlainJson diff(const std::string& text) {
    return PlainJson::parse(
        manager_.call<std::string>(BusClient::kManager, "Diff", 60s, documents(text), Options{}));
  }

  PlainJson apply(const std::string& text) { return apply(documents(text)); }
  PlainJson apply(const Documents& sent) {
    const auto job = manager_.call<std::uint32_t>(BusClient::kManager, "Apply", 60s, sent, Options{});
    const auto listen = [this] {
      while (connection_.process()) {
      }
    };
    (void)unit::wait_until([&] {
      listen();
      return finished_ == job;
    });
    auto result =
        PlainJson::parse(manager_.call<std::string>(BusClient::kManager, "Result", 60s, job, Options{}));
    // Its other signals came before that answer: the bus hands on messages in order.
    listen();
    return result;
  }

  std::string heard;

 private:
  static Documents documents(const std::string& text) {
    return {sdbus::Struct<std::string, std::string>{"mine.toml", "version = 1\n" + text}};
  }
  system::dbus::Connection connection_;
  std::uint32_t finished_ = 0;
  std::vector<system::dbus::Connection::Match> matches_;
  system::dbus::Peer manager_;
};

struct CallersBus {
  system::TempTree folder;
  PrivateBus bus{folder};
};

class ApiCallerTest : protected CallersBus, public ControllerFixture {
 protected:
  ApiCallerTest() : ControllerFixture(bus.address()) {}
  void SetUp() override {
    if (!bus.there()) GTEST_SKIP() << "no message bus here";
    if (::getuid() != 0) GTEST_SKIP() << "takes other users";
    const auto pid = ::fork();
    if (pid == 0) ::_exit(move_out() ? 0 : 1);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) GTEST_SKIP() << "takes namespaces";
  }

  /// Lets a client of the user talk to the daemon until it has said all.
  void as(unsigned uid, const std::string& allowed, const std::function<void(CallingClient&)>& talk) {
    // The daemon's own jobs are the script's, and a client's are the real worker's.
    play(fmt::format(
        R"sh(case $job in *'"texts":[['*|*'"uid":65534'*)
  printf '%s\n' "$job" | env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX {} --gtest_filter=ApiCallersWorker.* --gtest_also_run_disabled_tests 4>&1 >/dev/null
  exit;; esac)sh",
        std::filesystem::read_symlink("/proc/self/exe").native()));
    controller.start();
    const FakePolkit polkit(allowed);
    std::atomic<bool> over{false};
    std::string wrong;
    std::optional<std::thread> thread;
    when(is_on_the_bus, [&] {
      thread.emplace([&] {
        // The credentials of this thread alone: the bus takes those of whoever connects.
        try {
          if (::syscall(SYS_setresuid, uid, uid, uid) != 0) throw std::runtime_error("setresuid");
          CallingClient client;
          talk(client);
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        over = true;
      });
      when([&] { return over.load(); }, [this] { controller.stop(); });
    });
    EXPECT_EQ(run(), 0);
    if (thread) thread->join();
    EXPECT_EQ(wrong, "");
  }
};

constexpr const char* kKey = "[[sysctl]]\nkey = \"net.ipv4.tcp_fastopen_key\"\nvalue = \"1-2-3-4\"\n";
constexpr const char* kNow = "00000000-00000000-00000000-00000000";  ///< of a new network

TEST_F(ApiCallerTest, RootIsShownWhatOnlyRootMayRead) {
  PlainJson report;
  as(0, kLooking, [&](CallingClient& client) { report = client.diff(kKey); });
  EXPECT_EQ(report.value("exit", -1), 2) << report.dump();
  EXPECT_THAT(report.dump(), HasSubstr(kNow));
}

TEST_F(ApiCallerTest, OthersAreNot) {
  PlainJson report;
  as(kNobody, kLooking, [&](CallingClient& client) { report = client.diff(kKey); });
  EXPECT_THAT(report.dump(), AllOf(HasSubstr("tcp_fastopen_key"), Not(HasSubstr(kNow))));
}

TEST_F(ApiCallerTest, OthersMaySetWhatIsHarmlessAndNothingElse) {
  PlainJson refused, allowed;
  std::string heard;
  as(kNobody, "org.rdmaconfigd1.apply", [&](CallingClient& client) {
    refused = client.apply("[[sysctl]]\nkey = \"kernel.core_pattern\"\nvalue = \"|/tmp/mine\"\n");
    allowed = client.apply("[[sysctl]]\nkey = \"net.core.somaxconn\"\nvalue = 4321\n");
    heard = client.heard;
  });
  EXPECT_EQ(refused.value("exit", -1), 1);
  EXPECT_THAT(refused.dump(), HasSubstr("core_pattern"));
  EXPECT_TRUE(refused.value("changes", PlainJson::array()).empty()) << refused.dump();
  EXPECT_EQ(allowed.value("exit", -1), 0) << allowed.dump();
  EXPECT_THAT(allowed.dump(), HasSubstr("4321"));
  EXPECT_THAT(heard, AllOf(HasSubstr("somaxconn"), Not(HasSubstr("4321")))) << "signals reach everybody";
}

TEST_F(ApiCallerTest, OthersHaveNoFileAppliedThatOthersWrite) {
  PlainJson report;
  as(kNobody, "org.rdmaconfigd1.apply", [&](CallingClient& client) { report = client.apply(Documents{}); });
  EXPECT_EQ(report.value("exit", -1), 1) << report.dump();
  EXPECT_TRUE(report.value("changes", PlainJson::array()).empty()) << report.dump();
}

}  // namespace
}  // namespace rdmacfg::daemon
