// SPDX-License-Identifier: Apache-2.0
// Changes by others under a profile of NetworkManager, or a file of systemd-networkd, are repaired, and
// told by what it was; undone, it is as it was found.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>

#include "contract/commit_host.hpp"
#include "daemon/journal_report.hpp"
#include "formats/udev/udev_backend.hpp"

namespace rdmacfg::contract {
namespace {

using testing::ElementsAre;

constexpr const char* kMachine =
    R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
           "interface": {"name": "ib0", "up": true}}]}]})";
constexpr const char* kDocument =
    "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkmanager\"\n"
    "mode = \"connected\"\nmtu = 65520\nipv4 = { addresses = [\"192.0.2.1/24\", \"192.0.2.2/24\"] }\n";

class NmDrift : public testing::Test {
 protected:
  NmDrift() : host_(FakeKernel::parse(kMachine)) {
    EXPECT_TRUE(applied(host_.commit(kDocument)));
    good_ = host_.dump();
  }

  fakes::Interface& link() { return *host_.kernel().machine.find("ib0"); }

  /// The repair of the present differences, in the journal's words.
  std::vector<std::string> repaired() {
    const auto report = host_.hold();
    EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
    EXPECT_EQ(difference(host_.dump(), good_), "");
    std::vector<std::string> out;
    for (const auto& change : report.plan.changes)
      out.push_back(daemon::done_by(change, daemon::Creation::kAgain));
    return out;
  }

  Host host_;
  std::string good_;
};

TEST_F(NmDrift, IsToldByWhatItWas) {
  link().mtu = 1500;
  EXPECT_THAT(repaired(), ElementsAre("mtu 1500 → 65520"));
  std::erase(link().items, "addr4 192.0.2.2/24");
  EXPECT_THAT(repaired(), ElementsAre("missing 192.0.2.2/24 → -"));
  ASSERT_EQ(host_.kernel().machine.set_mode("ib0", model::IpoibMode::kDatagram), 0);
  EXPECT_THAT(repaired(), ElementsAre("mode datagram → connected, mtu 4092 → 65520"));
  host_.kernel().machine.set(system::SetLink{.index = link().index, .up = false});
  EXPECT_THAT(repaired(), ElementsAre("active no → yes"))
      << "which a profile that is up does not do by itself";
  ASSERT_TRUE(
      host_.kernel().network_manager.deactivate(host_.kernel().network_manager.active.begin()->first));
  EXPECT_THAT(repaired(), ElementsAre("active no → yes"));
}

TEST_F(NmDrift, IsLeftAloneWhileTheProfileComesUp) {
  auto& manager = host_.kernel().network_manager;
  manager.in_transition.insert(manager.active.begin()->first);
  std::erase(link().items, "addr4 192.0.2.2/24");
  const int before = manager.activations;
  const auto report = host_.hold();
  EXPECT_EQ(manager.activations, before) << text_of(report);
  std::vector<std::string> reasons;
  for (const auto& resource : report.resources) {
    if (!resource.reason.empty()) reasons.push_back(resource.reason);
  }
  EXPECT_THAT(reasons, ElementsAre("NetworkManager has not finished bringing the profile up or down"));
  manager.in_transition.clear();
  EXPECT_THAT(repaired(), ElementsAre("missing 192.0.2.2/24 → -"));
}

TEST_F(NmDrift, AnotherProfileIsActivatedWhileTheFormerOneComesUp) {
  auto& manager = host_.kernel().network_manager;
  manager.in_transition.insert(manager.active.begin()->first);
  const int before = manager.activations;
  const auto report = host_.commit(
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkmanager\"\n"
      "mode = \"connected\"\nmtu = 65520\nipv4 = { addresses = [\"192.0.2.7/24\"] }\n");
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(manager.activations, before + 1);
  EXPECT_EQ(host_.hold().exit, Exit::kOk);
}

TEST_F(NmDrift, ItIsNoDriftThatTheProfileChanges) {
  const auto report = host_.commit(std::string(kDocument) + "dns = [\"192.0.2.53\"]\n");
  EXPECT_EQ(report.exit, Exit::kError);
  const auto other = host_.commit(
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkmanager\"\n"
      "mode = \"connected\"\nmtu = 9000\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n");
  ASSERT_EQ(other.plan.changes.size(), 1U) << text_of(other);
  EXPECT_THAT(other.plan.changes.front().fields, ElementsAre("ipv4", "mtu"));
}

struct FailedCommits {
  std::size_t all = 0, undone = 0;
};

/// Commits `other` on a host that has `document` and was changed by `disturb`, until every call has failed
/// once: after a commit that fails, `kept` is as it was found.
FailedCommits fail_every_call(
    const std::string& machine, const std::string& document, const std::string& other,
    const std::function<void(Host&)>& disturb,
    const std::function<std::string(Host&)>& kept = [](Host& host) { return host.dump(); }) {
  FailedCommits failed;
  for (;; ++failed.all) {
    SCOPED_TRACE(failed.all + 1);
    Host host(FakeKernel::parse(machine));
    if (const auto before = host.commit(document); !applied(before)) {
      ADD_FAILURE() << text_of(before);
      return failed;
    }
    disturb(host);
    const auto found = kept(host);
    host.kernel().faults.clear();
    host.kernel().faults.fail_at(failed.all + 1, EPERM);
    const auto report = host.commit(other);
    if (applied(report)) return failed;
    EXPECT_TRUE(report.exit == Exit::kUndone || report.exit == Exit::kError) << text_of(report);
    EXPECT_EQ(difference(kept(host), found), "") << text_of(report);
    failed.undone += report.exit == Exit::kUndone ? 1U : 0U;
  }
}

TEST_F(NmDrift, ARepairThatFailsLeavesItAsItWasFound) {
  const auto failed = fail_every_call(
      kMachine, kDocument, std::string(kDocument) + "[[ipoib.pkey]]\npkey = 0x8002\n", [](Host& host) {
        auto& link = *host.kernel().machine.find("ib0");
        link.mtu = 1500;
        std::erase(link.items, "addr4 192.0.2.1/24");
      });
  EXPECT_GT(failed.all, 2U);
}

constexpr const char* kKeyfile =
    "/etc/NetworkManager/system-connections/rdma-configd-0002c903003178f2.nmconnection";

/// Takes `line` out of a file, or adds it where it is not there.
void edit(Host& host, const char* path, const std::string& line) {
  auto& text = host.kernel().files.content[path];
  ASSERT_FALSE(text.empty()) << path;
  const auto at = text.find(line);
  if (at == std::string::npos) {
    text += line;
  } else {
    text.erase(at, line.size());
  }
}

/// The repair of an edited file, on the way to `other`, fails at every call once: then the file is as it was
/// found.
void expect_text_back(const char* machine, const std::string& document, const std::string& other,
                      const char* path, const std::string& line) {
  const auto failed = fail_every_call(machine, document, other, [&](Host& host) { edit(host, path, line); });
  EXPECT_GT(failed.undone, 0U);
}

/// An apply that mends the file waits for confirmation, and is rolled back.
void expect_rolled_back(const char* machine, const std::string& document, const std::string& other,
                        const char* path, const std::string& line) {
  Host host(FakeKernel::parse(machine));
  ASSERT_TRUE(applied(host.commit(document)));
  edit(host, path, line);
  const auto before = host.dump();
  const auto report = host.commit(other, kWithin);
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_NE(difference(host.dump(), before), "") << "the file is as rdma-configd writes it";
  const auto back = host.roll_back();
  EXPECT_EQ(back.exit, Exit::kOk) << text_of(back);
  EXPECT_EQ(difference(host.dump(), before), "") << text_of(back);
}

TEST(NmEditedProfile, IsAsSomebodyLeftItOnceTheRepairIsUndone) {
  for (const auto* line : {"type=infiniband\n", "transport-mode=connected\n"}) {
    SCOPED_TRACE(line);
    expect_text_back(kMachine, kDocument, std::string(kDocument) + "[[ipoib.pkey]]\npkey = 0x8002\n",
                     kKeyfile, line);
    expect_rolled_back(kMachine, kDocument, kDocument, kKeyfile, line);
  }
}

TEST(NmEditedProfile, KeepsKeysThatNoSettingShowsWhenAnApplyIsUndone) {
  const std::string other =
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkmanager\"\n"
      "mode = \"connected\"\nmtu = 65520\nipv4 = { addresses = [\"192.0.2.7/24\"] }\n";
  expect_text_back(kMachine, kDocument, other + "[[ipoib.pkey]]\npkey = 0x8002\n", kKeyfile,
                   "\n[user]\nsite.owner=storage\n");
  expect_rolled_back(kMachine, kDocument, other, kKeyfile, "\n[user]\nsite.owner=storage\n");
  // ISO 8859-1, which no JSON holds.
  expect_rolled_back(kMachine, kDocument, other, kKeyfile, "\n[user]\nsite.owner=caf\xe9\n");
}

constexpr const char* kNetworkdHost =
    R"({"networkd": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
           "interface": {"name": "ib0", "up": true}}]}]})";
constexpr const char* kNetworkDocument =
    "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkd\"\n"
    "ipv4 = { addresses = [\"192.0.2.1/24\", \"192.0.2.2/24\"], gateway = \"192.0.2.254\" }\n";

TEST(NetworkdDrift, IsToldByWhatIsMissing) {
  Host host(FakeKernel::parse(kNetworkdHost));
  ASSERT_TRUE(applied(host.commit(kNetworkDocument)));
  const auto good = host.dump();
  for (const auto& [item, words] : std::vector<std::pair<const char*, const char*>>{
           {"addr4 192.0.2.2/24", "missing 192.0.2.2/24 → -"},
           {"route default via 192.0.2.254 metric 150", "missing default via 192.0.2.254 metric 150 → -"}}) {
    ASSERT_EQ(std::erase(host.kernel().machine.find("ib0")->items, item), 1U) << good;
    const auto report = host.hold();
    EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
    ASSERT_EQ(report.plan.changes.size(), 1U);
    EXPECT_EQ(daemon::done_by(report.plan.changes.front(), daemon::Creation::kAgain), words);
    EXPECT_EQ(difference(host.dump(), good), "");
  }
}

TEST(NetworkdDrift, ARepairThatFailsLeavesItAsItWasFound) {
  const auto failed = fail_every_call(
      kNetworkdHost, kNetworkDocument, std::string(kNetworkDocument) + "[[ipoib.pkey]]\npkey = 0x8002\n",
      [](Host& host) { std::erase(host.kernel().machine.find("ib0")->items, "addr4 192.0.2.2/24"); });
  EXPECT_GT(failed.all, 2U);
}

constexpr const char* kKeepsOff = "/etc/NetworkManager/conf.d/zz-rdma-configd-unmanaged.conf";
constexpr const char* kPlayedGuid = "00:02:c9:03:00:31:78:f2";

/// A NetworkManager that runs, knows the interface already, and reads files of its configuration.
class NmRelease : public testing::Test {
 protected:
  static std::string machine(const std::string& items) {
    return R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true, "items": [)" +
           items + R"(]}}]}], "files": {"/etc/NetworkManager/conf.d/site.conf": "[main]\n"}})";
  }
  static std::string with_backend(const std::string& backend) {
    return "version = 1\n[[ipoib]]\nguid = \"" + std::string(kPlayedGuid) + "\"\nbackend = \"" + backend +
           "\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n";
  }
  static bool manages(Host& host) {
    const auto state = host.kernel().network_manager.observe();
    return state && *state &&
           std::any_of((*state)->devices.begin(), (*state)->devices.end(),
                       [](const auto& device) { return device.interface == "ib0" && device.managed; });
  }
  static fakes::Interface& ib0(Host& host) { return *host.kernel().machine.find("ib0"); }
  static std::size_t readings(Host& host) {
    const auto& log = host.kernel().faults.log();
    return static_cast<std::size_t>(
        std::count(log.begin(), log.end(), "NetworkManager: read the configuration"));
  }
};

TEST_F(NmRelease, LetsGoAtOnceAndTheInterfaceStaysUp) {
  Host host(FakeKernel::parse(machine("")));
  ASSERT_TRUE(manages(host));
  host.kernel().faults.clear();
  const auto report = host.commit(with_backend("direct"));
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_FALSE(manages(host));
  EXPECT_EQ(readings(host), 1U);
  EXPECT_TRUE(ib0(host).up) << "NetworkManager takes it down as it lets go";
  EXPECT_THAT(ib0(host).items, testing::Contains("addr4 192.0.2.1/24"));
  host.kernel().faults.clear();
  EXPECT_TRUE(applied(host.commit(with_backend("direct"))));
  EXPECT_EQ(readings(host), 0U) << "a second apply has nothing to tell";
}

/// Of the backend's changes in a plan.
std::string said_of_release(const Report& report) {
  std::string out;
  for (const auto& change : report.plan.changes) {
    if (change.key.kind != "backend") continue;
    for (const auto* sentences : {&change.interrupts, &change.interrupts_later}) {
      for (const auto& sentence : *sentences) out += sentence + "\n";
    }
  }
  return out;
}

TEST_F(NmRelease, ThePlanSaysThatTheLinkGoesDown) {
  struct Row {
    const char* was;
    const char* now;
    const char* said;
  };
  for (const auto& [was, now, said] :
       {Row{"", "",
            "NetworkManager releases ib0: link down for a moment, and its configuration is restored\n"},
        Row{R"("up": true)", R"("up": false)", ""}, Row{R"("network_manager": {"fails": []}, )", "", ""},
        Row{R"(, "files": {"/etc/NetworkManager/conf.d/site.conf": "[main]\n"})", "", ""}}) {
    SCOPED_TRACE(was);
    auto text = machine("");
    if (*was != '\0') text.replace(text.find(was), std::string_view(was).size(), now);
    Host host(FakeKernel::parse(text));
    const auto report = host.commit(with_backend("direct"));
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(said_of_release(report), said);
  }
}

// The decision is pinned for good, so a systemd that does not answer must not make it.
TEST_F(NmRelease, ADecisionIsNotPinnedWhileSystemdDoesNotAnswer) {
  Host host(FakeKernel::parse(machine("")));
  auto& kernel = host.kernel();
  kernel.units.add("NetworkManager.service", {.enabled = true, .running = true});
  kernel.units.observe_error = ETIMEDOUT;
  EXPECT_FALSE(applied(host.commit(with_backend("auto"))));
  EXPECT_FALSE(kernel.files.content.contains(std::string(kinds::kBackendRules)));
  {
    auto ports = kernel.host();
    const auto world = kinds::World::observe(ports);
    ASSERT_TRUE(world);
    (void)world->manager();
    EXPECT_TRUE(world->manager_error());
  }
  kernel.units.observe_error = 0;
  const auto report = host.commit(with_backend("auto"));
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_THAT(kernel.files.content.at(std::string(kinds::kBackendRules)),
              testing::HasSubstr("networkmanager"));
}

// Without the link the program that would bring it up again stops, too.
TEST_F(NmRelease, TheWayToTheHostsOwnFileSystemsIsSpared) {
  Host host(FakeKernel::parse(machine(R"("addr4 192.0.2.7/24", "route 192.0.2.0/24")")));
  auto& content = host.kernel().files.content;
  const std::string nfs = "22 1 0:21 / / rw,relatime - nfs4 192.0.2.9:/hosts/a rw,vers=4.2,addr=192.0.2.9\n";
  content["/proc/1/mountinfo"] = nfs;
  host.kernel().faults.clear();
  const auto report = host.commit(with_backend("direct"));
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(readings(host), 0U);
  EXPECT_TRUE(manages(host));
  EXPECT_THAT(
      said_of_release(report),
      testing::AllOf(testing::HasSubstr("NetworkManager keeps it for now, as this host reaches its own "
                                        "file systems over ib0"),
                     testing::HasSubstr("nmcli general reload")));
  for (const auto& change : report.plan.changes) {
    if (change.key.kind == "backend") {
      EXPECT_THAT(change.interrupts, testing::IsEmpty()) << "nothing happens";
    }
  }
  EXPECT_THAT(ib0(host).items, testing::Contains("addr4 192.0.2.7/24"));
  EXPECT_TRUE(ib0(host).up);
}

TEST_F(NmRelease, GoesBackToAProfile) {
  Host host(FakeKernel::parse(machine("")));
  for (const auto* backend : {"direct", "networkmanager", "direct", "networkd", "networkmanager"}) {
    SCOPED_TRACE(backend);
    const auto report = host.commit(with_backend(backend));
    ASSERT_TRUE(applied(report)) << text_of(report);
    const bool theirs = std::string(backend) == "networkmanager";
    EXPECT_EQ(manages(host), theirs);
    EXPECT_EQ(host.kernel().files.content.contains(kKeepsOff), !theirs);
  }
}

TEST_F(NmRelease, AddressesOfOthersStay) {
  const std::string theirs = R"("addr4 192.0.2.7/24", "addr6 2001:db8:9::1/64", "route 10.7.0.0/16 table 7")";
  Host host(FakeKernel::parse(machine(theirs)));
  const auto before = ib0(host).items;
  ASSERT_TRUE(applied(host.commit(with_backend("direct"))));
  for (const auto& item : before) EXPECT_THAT(ib0(host).items, testing::Contains(item));
  ASSERT_TRUE(applied(host.commit("version = 1\n")));
  EXPECT_TRUE(manages(host));
  EXPECT_FALSE(host.kernel().files.content.contains(kKeepsOff));
  EXPECT_THAT(ib0(host).items, testing::UnorderedElementsAreArray(before));
}

TEST_F(NmRelease, AnInterfaceThatGetsNothingBackKeepsNoOtherFromIt) {
  Host host(FakeKernel::parse(
      R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true, "items": ["addr4 192.0.2.7/24"]}},
          {"guid": "00:02:c9:03:00:31:78:f3", "interface": {"name": "ib1", "up": true, "items": ["addr4 192.0.2.8/24"]}}
          ]}], "files": {"/etc/NetworkManager/conf.d/site.conf": "[main]\n"}})"));
  std::string document = "version = 1\n";
  for (const auto* guid : {"00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"})
    document += "[[ipoib]]\nguid = \"" + std::string(guid) + "\"\nbackend = \"direct\"\n";
  ASSERT_TRUE(applied(host.commit(document)));
  host.kernel().faults.refuse("ib0: restore", EPERM);
  ASSERT_TRUE(applied(host.commit("version = 1\n")));
  EXPECT_THAT(ib0(host).items, testing::IsEmpty());
  EXPECT_THAT(host.kernel().machine.find("ib1")->items, testing::Contains("addr4 192.0.2.8/24"));
}

TEST_F(NmRelease, AddressesAreThereAlthoughTheAnswerDidNotCome) {
  Host host(FakeKernel::parse(machine(R"("addr4 192.0.2.7/24")")));
  ASSERT_TRUE(applied(host.commit(with_backend("direct"))));
  host.kernel().faults.clear();
  // NetworkManager takes the port back, and its answer is late.
  std::size_t telling = 0;
  {
    Host trial(FakeKernel::parse(machine(R"("addr4 192.0.2.7/24")")));
    ASSERT_TRUE(applied(trial.commit(with_backend("direct"))));
    trial.kernel().faults.clear();
    ASSERT_TRUE(applied(trial.commit("version = 1\n")));
    const auto& log = trial.kernel().faults.log();
    const auto at = std::find(log.begin(), log.end(), "NetworkManager: read the configuration");
    ASSERT_NE(at, log.end());
    telling = static_cast<std::size_t>(at - log.begin()) + 1;
  }
  host.kernel().faults.fail_after_effect_at(telling, ETIMEDOUT);
  const auto report = host.commit("version = 1\n");
  EXPECT_FALSE(applied(report)) << text_of(report);
  EXPECT_THAT(ib0(host).items, testing::Contains("addr4 192.0.2.7/24"));
}

TEST_F(NmRelease, AFileThatAWithdrawalHasLeftIsNamed) {
  constexpr const char* kLeft = "/etc/NetworkManager/conf.d/zz-rdma-admin-unmanaged.conf";
  Host host(FakeKernel::parse(machine("")));
  ASSERT_TRUE(applied(host.commit(with_backend("direct"))));
  auto& content = host.kernel().files.content;
  content[kLeft] = content.at(kKeepsOff);
  EXPECT_THAT(text_of(host.commit(with_backend("direct"))), testing::Not(testing::HasSubstr(kLeft)));
  const auto refused = host.commit(with_backend("networkmanager"));
  EXPECT_FALSE(applied(refused)) << "NetworkManager refuses profiles of a port that it is to keep off";
  EXPECT_THAT(text_of(refused), testing::HasSubstr(kLeft));
  content.erase(kLeft);
  ASSERT_TRUE(host.kernel().network_manager.reread()) << "as by nmcli general reload";
  const auto report = host.commit(with_backend("networkmanager"));
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_THAT(text_of(report), testing::Not(testing::HasSubstr(kLeft)));
}

TEST_F(NmRelease, WhatIsNotConfirmedGoesBackToNetworkManager) {
  Host host(FakeKernel::parse(machine("")));
  ASSERT_TRUE(applied(host.commit("version = 1\n")));
  const auto before = host.dump();
  ASSERT_TRUE(applied(host.commit(with_backend("direct"), kWithin)));
  EXPECT_FALSE(manages(host));
  host.pass(kWithin);
  const auto back = host.expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_TRUE(manages(host));
  EXPECT_EQ(difference(host.dump(), before), "");
}

TEST_F(NmRelease, AFileThatIsLostIsWrittenAndToldAgain) {
  Host host(FakeKernel::parse(machine("")));
  ASSERT_TRUE(applied(host.commit(with_backend("direct"))));
  const auto good = host.dump();
  host.kernel().files.content.erase(kKeepsOff);
  ASSERT_TRUE(host.kernel().network_manager.reread()) << "as by nmcli general reload";
  EXPECT_TRUE(manages(host));
  const auto report = host.hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_FALSE(manages(host));
  EXPECT_EQ(difference(host.dump(), good), "");
}

TEST_F(NmRelease, APinSurvivesWhenTheRepairOfALostFileIsUndone) {
  const auto failed = fail_every_call(
      machine(""), with_backend("direct"),
      with_backend("direct") + "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n",
      [](Host& host) { host.kernel().files.content.erase(kKeepsOff); },
      [](Host& host) { return host.kernel().files.content[std::string(kinds::kBackendRules)]; });
  EXPECT_GT(failed.undone, 0U);
}

TEST_F(NmRelease, ChildrenInUseStayUp) {
  const std::string played =
      R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0",
      "ports": [{"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
        "interface": {"name": "ib0", "up": true, "children": [
          {"name": "ib0.8002", "pkey": "0x8002", "up": true, "items": ["addr4 192.0.2.9/24"]}]}}]}],
      "files": {"/etc/NetworkManager/conf.d/site.conf": "[main]\n"}})";
  Host host(FakeKernel::parse(played));
  host.kernel().faults.clear();
  const auto report = host.commit("version = 1\n[[ipoib]]\nguid = \"" + std::string(kPlayedGuid) +
                                  "\"\nbackend = \"direct\"\n");
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(readings(host), 0U) << "NetworkManager would take ib0 down, and the kernel ib0.8002 with it";
  EXPECT_TRUE(host.kernel().files.content.contains(kKeepsOff));
  EXPECT_TRUE(ib0(host).up);
  host.kernel().network_manager.start();
  EXPECT_FALSE(manages(host));
}

TEST_F(NmRelease, APortInABondStaysInIt) {
  const std::string played =
      R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0",
      "ports": [{"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}],
      "links": [{"name": "bond0", "kind": "bond", "up": true, "over": ["ib0"]}],
      "files": {"/etc/NetworkManager/conf.d/site.conf": "[main]\n"}})";
  Host host(FakeKernel::parse(played));
  host.kernel().faults.clear();
  const auto report = host.commit("version = 1\n[[ipoib]]\nguid = \"" + std::string(kPlayedGuid) +
                                  "\"\nbackend = \"direct\"\n");
  ASSERT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(readings(host), 0U) << "NetworkManager would take ib0 out of the bond";
  EXPECT_TRUE(host.kernel().files.content.contains(kKeepsOff));
}

TEST_F(NmRelease, WithoutNetworkManagerTheFileIsForItsNextStart) {
  Host host(FakeKernel::parse(machine("")));
  host.kernel().network_manager.running = false;
  host.kernel().faults.clear();
  ASSERT_TRUE(applied(host.commit(with_backend("direct"))));
  EXPECT_EQ(readings(host), 0U);
  EXPECT_TRUE(host.kernel().files.content.contains(kKeepsOff));
  host.kernel().network_manager.start();
  EXPECT_FALSE(manages(host));
}

/// The reasons of a report's resources.
std::vector<std::string> reasons_of(const Report& report) {
  std::vector<std::string> out;
  for (const auto& resource : report.resources) {
    if (!resource.reason.empty()) out.push_back(resource.reason);
  }
  return out;
}

TEST(NetworkdDrift, IsLeftAloneWhileSystemdNetworkdIsAtWork) {
  for (const auto* state : {"pending", "initialized", "configuring"}) {
    SCOPED_TRACE(state);
    Host host(FakeKernel::parse(kNetworkdHost));
    ASSERT_TRUE(applied(host.commit(kNetworkDocument)));
    const auto good = host.dump();
    auto& networkd = host.kernel().networkd;
    networkd.states["ib0"] = state;
    std::erase(host.kernel().machine.find("ib0")->items, "addr4 192.0.2.2/24");
    const int before = networkd.reconfigurations;
    const auto left = host.hold();
    EXPECT_EQ(left.exit, Exit::kPartly) << text_of(left);
    EXPECT_TRUE(left.plan.changes.empty()) << text_of(left);
    EXPECT_EQ(networkd.reconfigurations, before);
    EXPECT_THAT(
        reasons_of(left),
        ElementsAre(fmt::format("systemd-networkd has not finished with the interface (it is {})", state)));
    networkd.states.clear();
    const auto mended = host.hold();
    EXPECT_EQ(mended.exit, Exit::kOk) << text_of(mended);
    EXPECT_EQ(difference(host.dump(), good), "");
  }
}

TEST(NetworkdDrift, IsMendedWhileSystemdNetworkdWaitsForDhcp) {
  const std::string document =
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkd\"\n"
      "ipv4 = { method = \"auto\" }\nipv6 = { addresses = [\"2001:db8::1/64\"] }\n";
  Host host(FakeKernel::parse(kNetworkdHost));
  const auto first = host.commit(document);
  ASSERT_TRUE(applied(first)) << text_of(first);
  const auto good = host.dump();
  host.kernel().networkd.states["ib0"] = "configuring";
  ASSERT_EQ(std::erase(host.kernel().machine.find("ib0")->items, "addr6 2001:db8::1/64"), 1U) << good;
  const auto report = host.hold();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_THAT(host.kernel().machine.find("ib0")->items, testing::Contains("addr6 2001:db8::1/64"));
}

TEST(NetworkdDrift, IsMendedWhereSystemdNetworkdWaitsForAnAddressThatAnotherHostHas) {
  const std::string document =
      std::string(kNetworkDocument) + "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n";
  Host host(FakeKernel::parse(kNetworkdHost));
  const auto first = host.commit(document);
  ASSERT_TRUE(applied(first)) << text_of(first);
  host.kernel().inet.duplicates.insert("2001:db8::1");
  host.kernel().networkd.states["ib0"] = "configuring";
  ASSERT_EQ(std::erase(host.kernel().machine.find("ib0")->items, "addr4 192.0.2.2/24"), 1U);
  const auto report = host.hold();
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  EXPECT_THAT(host.kernel().machine.find("ib0")->items, testing::Contains("addr4 192.0.2.2/24"));
  EXPECT_THAT(reasons_of(report), ElementsAre(testing::HasSubstr("another host has 2001:db8::1/64")));
}

TEST(NetworkdDrift, IsNoMatterOfWaitingWhereAFileOfOthersIsUsed) {
  Host host(FakeKernel::parse(kNetworkdHost));
  ASSERT_TRUE(applied(host.commit(kNetworkDocument)));
  host.kernel().files.content["/etc/systemd/network/05-site.network"] = "[Match]\nName=ib0\n";
  host.kernel().networkd.start();
  host.kernel().networkd.states["ib0"] = "configuring";
  const auto report = host.hold();
  EXPECT_NE(report.exit, Exit::kOk) << text_of(report);
  EXPECT_THAT(reasons_of(report), testing::Not(testing::Contains(testing::HasSubstr("has not finished"))));
}

TEST(NetworkdDrift, AnotherFileIsAppliedWhileSystemdNetworkdIsAtWork) {
  Host host(FakeKernel::parse(kNetworkdHost));
  ASSERT_TRUE(applied(host.commit(kNetworkDocument)));
  host.kernel().networkd.states["ib0"] = "configuring";
  const auto report = host.commit(
      "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkd\"\n"
      "ipv4 = { addresses = [\"192.0.2.7/24\"] }\n");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
}

TEST(NetworkdEditedFile, IsAsSomebodyLeftItOnceTheRepairIsUndone) {
  constexpr const char* kFile = "/etc/systemd/network/09-rdma-configd-0002c903003178f2.network";
  for (const auto* line : {"\n[Link]\nMTUBytes=9000\n", "KeepConfiguration=static\n"}) {
    SCOPED_TRACE(line);
    expect_text_back(kNetworkdHost, kNetworkDocument,
                     std::string(kNetworkDocument) + "[[ipoib.pkey]]\npkey = 0x8002\n", kFile, line);
    expect_rolled_back(kNetworkdHost, kNetworkDocument, kNetworkDocument, kFile, line);
  }
}

}  // namespace
}  // namespace rdmacfg::contract
