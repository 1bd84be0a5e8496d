// SPDX-License-Identifier: Apache-2.0
// doctor --report: nothing in it says whose host it is, and replayed it behaves as that host.
#include "ctl/bundle/host_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "ctl/bundle/anonymiser.hpp"
#include "ctl/bundle/answers.hpp"
#include "ctl/bundle/limits.hpp"
#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string content_at(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Hexadecimal digits and letters alone, in lower case, so that no spelling hides anything.
std::string bare(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += static_cast<char>(std::tolower(c));
  }
  return out;
}

std::string anonymous(const std::string& text, const std::vector<std::string>& names = {}) {
  Anonymiser anonymiser(names);
  return anonymiser.text(text);
}

TEST(Anonymiser, EveryWayToSpellAGuidHasTheSameStandIn) {
  Anonymiser anonymiser({});
  const auto plain = anonymiser.text("00:02:c9:03:00:31:78:f2");
  EXPECT_NE(plain, "00:02:c9:03:00:31:78:f2");
  for (const char* spelled :
       {"0002:c903:0031:78f2", "0x0002c903003178f2", "0002C903003178F2", "00-02-C9-03-00-31-78-F2",
        "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2", "fe80::2:c903:31:78f2",
        "fe80:0000:0000:0000:0002:c903:0031:78f2", "ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\"",
        "rdma-configd-0002c903003178f2.nmconnection"}) {
    EXPECT_THAT(bare(anonymiser.text(spelled)), Not(HasSubstr("c903003178f2"))) << spelled;
    if (std::string(spelled).find("fe80::") == std::string::npos) {
      EXPECT_THAT(bare(anonymiser.text(spelled)), HasSubstr(bare(plain))) << spelled;
    }
  }
  EXPECT_EQ(anonymiser.text("00:00:00:00:00:00:00:00"), "00:00:00:00:00:00:00:00");
}

TEST(Anonymiser, AGidOfAMacAddressIsOfItsStandIn) {
  Anonymiser anonymiser({});
  const auto mac = anonymiser.text("00:02:c9:31:78:f2");
  const auto gid = bare(anonymiser.text("fe80:0000:0000:0000:0202:c9ff:fe31:78f2"));
  EXPECT_EQ(gid,
            "fe80000000000000"
            "02" +
                bare(mac).substr(2, 4) + "fffe" + bare(mac).substr(6));
}

TEST(Anonymiser, NetworksStayNetworks) {
  Anonymiser anonymiser({});
  const auto address = *model::IpPrefix::parse(anonymiser.text("10.3.4.17/22"));
  const auto network = *model::IpPrefix::parse(anonymiser.text("10.3.4.0/22"));
  const auto other = *model::IpPrefix::parse(anonymiser.text("10.3.8.0/22"));
  const auto gateway = *model::IpAddress::parse(anonymiser.text("10.3.7.254"));
  EXPECT_EQ(address.network(), network);
  EXPECT_TRUE(network.contains(gateway));
  EXPECT_FALSE(other.contains(gateway));
  EXPECT_FALSE(other.contains(address.address));
  const auto six = *model::IpPrefix::parse(anonymiser.text("2001:db8:7:1::/64"));
  EXPECT_TRUE(six.contains(*model::IpAddress::parse(anonymiser.text("2001:db8:7:1::53"))));
  EXPECT_EQ(anonymiser.text("255.255.252.0 127.0.0.1 0.0.0.0/0 ::1 ff02::1 224.0.0.1"),
            "255.255.252.0 127.0.0.1 0.0.0.0/0 ::1 ff02::1 224.0.0.1");
  // The same address, mapped into a GID.
  EXPECT_EQ(bare(anonymiser.text("0000:0000:0000:0000:0000:ffff:0a03:04fe")).substr(24, 2), "0a");
}

TEST(Anonymiser, WhatHardwareAndFilesNeedStays) {
  for (const char* text :
       {"mlx5_0/1", "mlx4_ib0.8002", "ibp16s0", "rocep0s17", "enp23s0f1np1", "0000:10:00.0", "0x8002",
        "16.35.2000", "MT4119", "MT_1090120019", "56 Gb/sec (4X FDR)", "6.1.0-18-amd64", "67108864",
        "ACTION==\"add\", SUBSYSTEM==\"net\", DRIVERS==\"?*\", ATTR{type}==\"32\"",
        "version = 1\n[[ipoib]]\nmode = \"connected\"\nmtu = 65520\n",
        "# Written by rdma-configd; changes here are overwritten.\n",
        "/etc/udev/rules.d/70-rdma-configd-ipoib.rules", "options mlx4_en pfctx=0x08 pfcrx=0x08"})
    EXPECT_EQ(anonymous(text), text);
}

TEST(Anonymiser, NumbersBehindANameStay) {
  Anonymiser anonymiser({"node17.acme.example"});
  const auto name = anonymiser.text("node17");
  const auto pattern = anonymiser.text("node*");
  EXPECT_EQ(name, pattern.substr(0, pattern.size() - 1) + "17");
  EXPECT_EQ(anonymiser.text("acme_ib0.8002"), anonymiser.text("acme_ib0") + ".8002");
}

TEST(Anonymiser, ThePartitionOfAChildStays) {
  Anonymiser anonymiser({});
  for (const char* pkey : {".000a", ".800a", ".8abc", ".ABC1"})
    EXPECT_EQ(anonymiser.text("acme_ib0" + std::string(pkey)), anonymiser.text("acme_ib0") + pkey);
  for (const char* other : {"acme.cafe", "0002.c903.3178", "c903.31f8", ".31f8", "acme.31f80", "acme.31f"})
    EXPECT_THAT(anonymous(other),
                testing::AllOf(Not(HasSubstr("cafe")), Not(HasSubstr("c903")), Not(HasSubstr("31f"))))
        << other;
}

TEST(Anonymiser, NamesOfKnownWordsAreReplacedAsAWhole) {
  EXPECT_THAT(anonymous("on rdma-ib-7 here", {"rdma-ib-7"}), Not(HasSubstr("rdma")));
  EXPECT_THAT(anonymous("RDMA-IB-7.cluster", {"rdma-ib-7"}), Not(HasSubstr("RDMA")));
  EXPECT_EQ(anonymous("/etc/rdma/modules", {"rdma-ib-7"}), "/etc/rdma/modules");
}

TEST(Anonymiser, ASecondTextOfASecretKeepsItsShape) {
  EXPECT_EQ(anonymous("[wifi-security]\npsk=hunter22\nmtu=1500\n").find("hunter"), std::string::npos);
  EXPECT_THAT(anonymous("psk=12345\nmtu=1500\n"), testing::EndsWith("=removed\nmtu=1500\n"));
  EXPECT_THAT(anonymous("password = \"rdma ib\" # x\n"), HasSubstr("= \"removed\""));
  EXPECT_THAT(anonymous("{\"token\": \"on\", \"mtu\": 4}"), HasSubstr("\"removed\", \"mtu\": 4"));
  EXPECT_EQ(anonymous("pkey = 0x8002\np-key=5\n"), "pkey = 0x8002\np-key=5\n");
}

/// Everything that must not be in a report, and a file that it stands in.
const std::vector<std::string>& secrets() {
  static const std::vector<std::string> kSecrets{"hunter2secret",
                                                 "Tr0ub4dor&3",
                                                 "correcthorse",
                                                 "s3cr3tT0ken",
                                                 "20491837465",
                                                 "MIIEvQIBADANBgkqhkiG9w0",
                                                 "AAAAB3NzaC1yc2E",
                                                 "WGprivkeyXYZ0123456789abcdefghijklmnopqrstu=",
                                                 "acmecorp",
                                                 "gpunode17",
                                                 "jdoe",
                                                 "alice",
                                                 "192.0.2.77",
                                                 "198.51.100.9",
                                                 "203.0.113.254",
                                                 "2001:db8:abcd:1::77",
                                                 "fe80::202:c9ff:fe31:78aa",
                                                 "00:02:c9:03:00:31:78:f2",
                                                 "0x0002c903003178f3",
                                                 "52:54:00:12:34:56",
                                                 "52-54-00-12-34-56",
                                                 "525400123456",
                                                 "6f9619ff-8b86-d011-b42d-00c04fc964ff",
                                                 "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
                                                 "MT2147X12345",
                                                 "jdoe@acmecorp.example",
                                                 "0xc0000219",
                                                 "C0A80117",
                                                 "mueller-häuser"};
  return kSecrets;
}

std::string file_of_secrets() {
  std::string out =
      "[connection]\nid=acmecorp "
      "storage\npermissions=user:jdoe:;\n[802-1x]\nidentity=alice\npassword=correcthorse\n"
      "private-key-password=hunter2secret\n[wifi-security]\npsk=\"20491837465\"\nwep-key0=12345\n"
      "[ipv4]\naddress1=192.0.2.77/24,203.0.113.254\ndns=198.51.100.9;\n[ipv6]\naddress1=2001:db8:abcd:1::77/"
      "64\n"
      "# called by alice from gpunode17, password Tr0ub4dor&3\n"
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n12345/67\n-----END PRIVATE KEY-----\n"
      "ssh-rsa AAAAB3NzaC1yc2E jdoe@acmecorp.example\n"
      "PrivateKey = WGprivkeyXYZ0123456789abcdefghijklmnopqrstu=\n"
      "{\"auth\": {\"token\": \"s3cr3tT0ken\"}, \"serial\": \"MT2147X12345\"}\n";
  for (const auto& secret : secrets()) out += "# " + secret + "\nKERNEL==\"" + secret + "\", NAME=\"x\"\n";
  return out;
}

class HostReports : public testing::Test {
 protected:
  HostReports() {
    console.environment.host_name = "gpunode17.acmecorp.example";
    console.variables["SUDO_USER"] = "jdoe";
    auto& files = console.kernel.files.content;
    files["/etc/passwd"] = "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000:Alice:/home/alice:/bin/sh\n";
    files["/etc/NetworkManager/system-connections/acmecorp.nmconnection"] = file_of_secrets();
    files["/etc/udev/rules.d/70-acmecorp.rules"] = file_of_secrets();
    files["/etc/modprobe.d/acmecorp.conf"] = file_of_secrets();
    files["/etc/security/limits.d/acmecorp.conf"] = "@acmecorp hard memlock unlimited\n" + file_of_secrets();
    console.kernel.network_manager.start();
    console.kernel.set_up("ib0");
    console.kernel.carry("ib0", "addr4 192.0.2.77/24");
    console.kernel.carry("ib0", "route 198.51.100.0/24 via 192.0.2.9");
    console.document(
        std::string("version = 1\n# of gpunode17, by jdoe@acmecorp.example, password Tr0ub4dor&3\n"
                    "[[ipoib]]\nguid = \"") +
        kGuid1 +
        "\"\nname = \"acmecorp_ib0\"\nmode = \"connected\"\nmtu = 65520\n"
        "ipv4 = { addresses = [\"192.0.2.77/24\"] }\n"
        "[[memlock]]\ndomain = \"@acmecorp\"\nlimit = \"unlimited\"\n");
  }

  std::string report() {
    const auto path = console.folder() / "report.json";
    std::filesystem::remove(path);  // of an earlier report
    EXPECT_EQ(console.run({"doctor", "--report", path.string()}), 0) << console.err.str();
    return content_at(path);
  }
  [[nodiscard]] std::string path() const { return (console.folder() / "report.json").string(); }

  Console console;
};

TEST_F(HostReports, NothingThatIsAnybodysIsLeft) {
  const auto text = report();
  ASSERT_FALSE(text.empty());
  const auto all = bare(text);
  for (const auto& secret : secrets()) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
    EXPECT_THAT(all, Not(HasSubstr(bare(secret)))) << secret;
  }
  for (const char* part : {"c903003178f", "c0000219", "häuser"})
    EXPECT_THAT(all + text, Not(HasSubstr(part)));
}

TEST_F(HostReports, TheFileIsForItsOwnerAndIsNotWrittenOver) {
  (void)report();
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  const auto before = content_at(path());
  EXPECT_EQ(console.run({"doctor", "--report", path()}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("File exists"));
  EXPECT_EQ(content_at(path()), before);
}

TEST_F(HostReports, ItIsTheSameAgainAndChangesNothing) {
  const auto before = console.kernel.dump();
  const auto first = report();
  fs::remove(path());
  EXPECT_EQ(report(), first);
  EXPECT_EQ(console.kernel.dump(), before);
}

TEST_F(HostReports, ALongFileIsCutAtALine) {
  std::string long_file;
  while (long_file.size() < limits::kHostReportFileBytes + 1000)
    long_file += "options mlx4_core debug_level=1\n";
  console.kernel.files.content["/etc/modprobe.d/mlx4.conf"] = long_file;
  const auto parsed = parse_host_report(report());
  ASSERT_TRUE(parsed) << parsed.error().message;
  std::string kept;
  for (const char* question : {"file", "file.linked"}) {
    const auto files = parsed->observed.value(question, nlohmann::json::object());
    if (files.contains("/etc/modprobe.d/mlx4.conf")) kept = files.at("/etc/modprobe.d/mlx4.conf");
  }
  EXPECT_LE(kept.size(), limits::kHostReportFileBytes);
  EXPECT_THAT(kept, testing::EndsWith("debug_level=1\n"));
}

TEST_F(HostReports, AFileUpToTheLimitIsWhole) {
  const std::string line = "options mlx4_core debug_level=1\n";
  std::string most;
  while (most.size() + line.size() <= limits::kHostReportFileBytes) most += line;
  most.insert(0, limits::kHostReportFileBytes - most.size(), '\n');
  const auto kept_of = [&](const std::string& text) {
    console.kernel.files.content["/etc/modprobe.d/mlx4.conf"] = text;
    fs::remove(path());
    const auto parsed = parse_host_report(report());
    std::string kept;
    for (const char* question : {"file", "file.linked"}) {
      const auto files =
          parsed ? parsed->observed.value(question, nlohmann::json::object()) : nlohmann::json::object();
      if (files.contains("/etc/modprobe.d/mlx4.conf")) kept = files.at("/etc/modprobe.d/mlx4.conf");
    }
    return kept;
  };
  EXPECT_EQ(kept_of(most), most);
  EXPECT_EQ(kept_of(most + "#"), most) << "cut at the last line";
}

TEST_F(HostReports, ItListsSoManyPathsOfSysfs) {
  std::size_t put = 0;
  const auto listed_with_one_more = [&] {
    console.kernel.files.content["/sys/class/infiniband/mlx4_0/attribute" + std::to_string(put++)] = "0\n";
    const auto parsed = parse_host_report(report());
    EXPECT_TRUE(parsed);
    return parsed ? parsed->listing.size() : 0;
  };
  const auto first = listed_with_one_more();
  ASSERT_LT(first, limits::kHostReportPaths - 1);
  while (first + put < limits::kHostReportPaths)
    console.kernel.files.content["/sys/class/infiniband/mlx4_0/attribute" + std::to_string(put++)] = "0\n";
  EXPECT_EQ(listed_with_one_more(), limits::kHostReportPaths) << "all that there are";
  EXPECT_EQ(listed_with_one_more(), limits::kHostReportPaths) << "and one fewer";
}

TEST_F(HostReports, OneThatIsTooLongIsNotRead) {
  auto text = report();
  ASSERT_LT(text.size(), limits::kHostReportReadBytes);
  text.resize(limits::kHostReportReadBytes, '\n');
  const auto write = [&] { std::ofstream(path(), std::ios::binary | std::ios::trunc) << text; };
  write();
  EXPECT_TRUE(read_host_report(path()));
  text += '\n';
  write();
  const auto too_long = read_host_report(path());
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("longer than 16 MiB"));
}

TEST_F(HostReports, TheReplayedHostIsJudgedAsTheRealOne) {
  const int real = console.run({"diff", "--json"});
  const auto real_diff = nlohmann::json::parse(console.out.str());
  const auto text = report();
  const auto parsed = parse_host_report(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  for (const auto& [command, agrees] : parsed->agrees.items()) EXPECT_TRUE(agrees.get<bool>()) << command;
  const auto kernel_before = console.kernel.dump();
  Console other;
  ASSERT_EQ(other.run({"diff", "--json", "--host", path()}), real) << other.out.str();
  EXPECT_EQ(nlohmann::json::parse(other.out.str()).at("summary"), real_diff.at("summary"));
  EXPECT_EQ(other.run({"show", "--host", path()}), 0) << other.err.str();
  EXPECT_THAT(other.out.str(), HasSubstr("mlx4_0"));
  EXPECT_EQ(other.run({"validate", "--host", path()}), 0) << other.err.str();
  EXPECT_NE(other.run({"doctor", "--host", path()}), 1) << other.err.str();
  EXPECT_EQ(console.kernel.dump(), kernel_before);
}

TEST_F(HostReports, TheLimitsOfADeviceAreInIt) {
  console.kernel.device_limits = {{"max_qp", 392632}, {"max_cq", 65408}, {"atomic_cap", 1}};
  (void)report();
  Console other;
  ASSERT_EQ(other.run({"show", "--json", "--host", path()}), 0) << other.err.str();
  const auto shown = nlohmann::ordered_json::parse(other.out.str());
  EXPECT_EQ(shown.at("devices").front().at("limits").dump(),
            R"({"max_qp":392632,"max_cq":65408,"atomic_cap":1})")
      << "by their names, in the order of ibv_query_device(3)";
}

TEST_F(HostReports, AnotherDocumentCanBeTriedOnIt) {
  (void)report();
  Console other;
  other.document("version = 1\n");
  EXPECT_EQ(other.run({"diff", "--host", path()}), 0) << other.err.str();
}

TEST_F(HostReports, NothingButLookingIsDoneToIt) {
  (void)report();
  Console other;
  for (const char* command : {"apply", "rollback", "withdraw", "verify", "import", "edit", "history"}) {
    EXPECT_EQ(other.run({command, "--host", path()}), 1) << command;
    EXPECT_THAT(other.err.str(), HasSubstr("--host is for show, diff, doctor and validate"));
  }
  EXPECT_EQ(other.run({"doctor", "--host", path(), "--report", path() + "2"}), 1);
  EXPECT_EQ(other.run({"diff", "3", "--host", path()}), 1);
}

TEST(HostReport, ItIsBoundedAndSaysWhatHadNoPlace) {
  HostReport large;
  large.observed = {{"links", {{"", "small"}}}};
  for (int i = 0; i < 100; ++i)
    large.observed["file"]["/etc/" + std::to_string(i)] = std::string(limits::kHostReportFileBytes, 'a');
  const auto text = render_host_report(large);
  EXPECT_LE(text.size(), limits::kHostReportBytes);
  const auto parsed = parse_host_report(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->observed.at("links"), large.observed.at("links"));
  EXPECT_EQ(parsed->observed.at("file").size() + parsed->left_out.size(), 100U);
  EXPECT_THAT(parsed->left_out.front(), HasSubstr("file /etc/"));
}

// Names of hardware and lines of files may have anything in them; `cat` of the report must not act on it.
TEST(HostReport, NothingInItActsOnATerminal) {
  const std::string evil = "a\x7f\xc2\x9b\xe2\x80\xae\x1b[2Jz";
  HostReport report;
  report.host_name = evil;
  report.document.push_back({.name = "x", .text = evil});
  report.observed["file"][evil] = evil;
  report.listing = {"/sys/" + evil};
  const auto text = render_host_report(report);
  for (const char* part : {"\x7f", "\xc2\x9b", "\xe2\x80\xae", "\x1b"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
  EXPECT_THAT(text, HasSubstr(R"(a\u007f\u009b\u202e\u001b[2Jz)"));
  const auto read = parse_host_report(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->host_name, evil);
  EXPECT_EQ(read->observed, report.observed);
  EXPECT_EQ(read->listing, report.listing);
}

TEST(HostReport, WhatIsNoReportIsRefused) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"schema": "org.rdmaconfigd.host/2"})",
                           R"({"schema": "org.rdmaconfigd.host/1"})", R"({"schema": 1})",
                           R"({"schema": "org.rdmaconfigd.host/1", "document": 1, "observed": {}})",
                           R"({"schema": "org.rdmaconfigd.host/1", "document": [], "observed": {"dcb": 1}})",
                           R"({"schema": "org.rdmaconfigd.host/1", "document": [], "observed": [[]]})"})
    EXPECT_FALSE(parse_host_report(text)) << text;
}

TEST(HostReport, OneThatIsCutOffSaysWhatToDo) {
  const auto cut = parse_host_report("{\"schema\": ");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("damaged (no JSON from byte "));
  EXPECT_THAT(cut.error().message, HasSubstr("write it again: rdma-configctl doctor --report FILE"));
}

// An Ethernet port has no GUID of its own.
TEST(HostReport, APortWithoutAGuidIsReadBack) {
  const auto port = nlohmann::json(system::RdmaPort()).get<system::RdmaPort>();
  EXPECT_EQ(port.guid, model::Guid{});
}

TEST(HostReport, AnAnswerThatCannotBeReadIsNamed) {
  Console console;
  const auto path = console.folder() / "damaged.json";
  std::ofstream(path) << R"({"schema": "org.rdmaconfigd.host/1", "document": [],
    "observed": {"links": {"": [{"index": "x"}]}, "rdma": {"": []}}})";
  console.run({"show", "--host", path.string()});
  EXPECT_THAT(console.err.str(), HasSubstr("cannot read its part about links"));
}

TEST(HostReport, ANumberThatIsNotWholeOrTooLargeIsNoAnswer) {
  for (const char* index : {"184467440737095516150", "1.5", "-1e300"}) {
    Console console;
    const auto path = console.folder() / "damaged.json";
    std::ofstream(path) << R"({"schema": "org.rdmaconfigd.host/1", "document": [],
      "observed": {"links": {"": [{"name": "ib0", "index": )"
                        << index << R"(}]}, "rdma": {"": []}}})";
    console.run({"show", "--host", path.string()});
    EXPECT_THAT(console.err.str(), HasSubstr("cannot read its part about links")) << index;
  }
}

// Reports of users, and what came of them: tests/data/report/<case>/{host.json,expected.txt}.
class Reports : public testing::TestWithParam<fs::path> {};

TEST_P(Reports, AreAsExpected) {
  Console console;
  std::string got;
  for (const char* command : {"show", "diff", "doctor"}) {
    const auto host = (GetParam() / "host.json").string();
    const int status = console.run(std::string(command) == "diff"
                                       ? std::vector<std::string>{"diff", "--explain", "--host", host}
                                       : std::vector<std::string>{command, "--host", host});
    got += std::string("=== ") + command + ": exit " + std::to_string(status) + "\n" + console.out.str() +
           console.err.str();
  }
  const auto expected = GetParam() / "expected.txt";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << got;
    return;
  }
  EXPECT_EQ(content_at(expected), got);
}

std::vector<fs::path> report_cases() {
  std::vector<fs::path> out;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(fs::path(TEST_DATA) / "report", missing)) {
    if (fs::exists(entry.path() / "host.json")) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(Cases, Reports, testing::ValuesIn(report_cases()), [](const auto& instance) {
  auto name = instance.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

// Every host of the golden cases, after its document was applied: judged the same when it is replayed.
TEST(HostReport, GoldenHostsAreJudgedTheSameWhenReplayed) {
  const std::set<std::string> always{"two-of-one-partition-by-networkmanager-later", "switchdev"};
  const std::set<std::string> by_name{"name-too-long", "create-connected-names-crossed", "template",
                                      "template-too-long"};
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(TEST_DATA)) {
    if (entry.path().filename() != "before.json" || !fs::exists(entry.path().parent_path() / "config.toml"))
      continue;
    // One of fifty, the same each time: all of them take minutes.
    if (std::hash<std::string>{}(entry.path().parent_path().filename().string()) % 50 != 0 &&
        !always.contains(entry.path().parent_path().filename().string()) &&
        std::getenv("ALL_REPORTS") == nullptr)
      continue;
    // About the length of a name, or a GUID in it: stand-ins have neither (docs/HARDWARE.md).
    if (by_name.contains(entry.path().parent_path().filename().string())) continue;
    SCOPED_TRACE(entry.path().string());
    const auto kernel = fakes::FakeKernel::parse(content_at(entry.path()));
    Console console;
    console.environment.host = [&](const fs::path&) {
      return std::make_shared<system::Host>(kernel->host());
    };
    console.document(content_at(entry.path().parent_path() / "config.toml"));
    ASSERT_EQ(console.run({"doctor", "--report", "-"}), 0) << console.err.str();
    const auto parsed = parse_host_report(console.out.str());
    ASSERT_TRUE(parsed) << parsed.error().message;
    for (const auto& [command, agrees] : parsed->agrees.items()) EXPECT_TRUE(agrees.get<bool>()) << command;
    ++seen;
  }
  EXPECT_GT(seen, 3U);
}

}  // namespace
}  // namespace rdmacfg::ctl
