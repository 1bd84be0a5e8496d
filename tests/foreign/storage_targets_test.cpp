// SPDX-License-Identifier: Apache-2.0
// Targets that are exported for targetcli and nvmetcli, and imported again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foreign/stage.hpp"
#include "kinds/storage/lio/lio_settings.hpp"

namespace rdmacfg::foreign {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kMachine = "0123456789abcdef0123456789abcdef\n";

/// A host that has the ports and files of the documents here.
ExportHost whole_host() {
  ExportHost host;
  host.machine_id = kMachine;
  host.gid_prefixes = {{model::Guid{0x0002c903003178f2}, "fec0000000000001"}};
  host.file_size = [](const std::string& path) -> std::optional<std::uint64_t> {
    return path == "/srv/none.img" ? std::nullopt : std::optional<std::uint64_t>(33554432);
  };
  return host;
}

/// An entry and those below it, without their places.
using Told = std::vector<std::pair<std::string, model::Attributes>>;

void tell(const std::vector<model::Section>& sections, Told& out) {
  for (const auto& section : sections) {
    out.emplace_back(section.path, section.attributes());
    tell(section.children, out);
  }
}

Told told_of(const std::string& text) {
  Told out;
  tell(parsed(text).sections, out);
  return out;
}

struct StorageDocument {
  std::string name;
  std::string target, format;  ///< of export, and of import
  std::string text;
};

std::vector<StorageDocument> storage_documents() {
  const std::string iser = "[[lio_target]]\nwwn = \"iqn.2026-01.org.example:disks\"\n";
  const std::string srp = "[[lio_target]]\nwwn = \"00:02:c9:03:00:31:78:f2\"\n";
  const std::string node = "initiators = [\"iqn.2026-01.org.example:node1\"]\n";
  const std::string block = "[[lio_target.lun]]\nnumber = 0\ndevice = \"/dev/disk/by-id/nvme-a\"\n";
  const std::string file = "[[lio_target.lun]]\nnumber = 255\nfile = \"/srv/b.img\"\n";
  const std::string nqn = "[[nvme_target]]\nnqn = \"nqn.2014-08.org.example:disks\"\n";
  const std::string space = "[[nvme_target.namespace]]\nnsid = 1\ndevice = \"/dev/disk/by-id/nvme-a\"\n";
  return {
      {"one disk", "targetcli", "lio", iser + node + "addresses = [\"192.0.2.1\"]\n" + block},
      {"several portals on another port", "targetcli", "lio",
       iser + node + "addresses = [\"192.0.2.1\", \"2001:db8::1\", \"192.0.2.2\"]\nport = 3261\n" + block},
      {"any address", "targetcli", "lio", iser + node + "addresses = [\"0.0.0.0\"]\n" + block},
      {"a block device and a file", "targetcli", "lio",
       iser + node + "addresses = [\"192.0.2.1\"]\n" + block + file},
      {"no disk", "targetcli", "lio", iser + node + "addresses = [\"192.0.2.1\"]\n"},
      {"several initiators", "targetcli", "lio",
       iser +
           "initiators = [\"iqn.2026-01.org.example:node2\", \"eui.0123456789abcdef\", "
           "\"iqn.2026-01.org.example:node1\"]\naddresses = [\"192.0.2.1\"]\n" +
           block + file},
      {"any initiator", "targetcli", "lio",
       iser + "any_initiator = true\naddresses = [\"192.0.2.1\"]\n" + block},
      {"SRP, by GUIDs of ports", "targetcli", "lio",
       srp + "initiators = [\"00:02:c9:03:00:31:7a:02\", \"00:02:c9:03:00:31:7a:03\"]\n" + block + file},
      {"SRP, by identifiers", "targetcli", "lio",
       srp +
           "initiators = [\"0x00000000000000000002c90300317a02\", \"00:02:c9:03:00:31:7a:03\", "
           "\"0x0002c90300317a040002c90300317a04\"]\n" +
           block},
      {"iSER and SRP with one disk", "targetcli", "lio",
       iser + node + "addresses = [\"192.0.2.1\"]\n" + block + srp +
           "initiators = [\"00:02:c9:03:00:31:7a:02\"]\n" + block},
      {"a subsystem", "nvmetcli", "nvme",
       nqn + "hosts = [\"nqn.2014-08.org.example:node1\"]\naddresses = [\"192.0.2.1\"]\n" + space},
      {"several hosts, addresses and namespaces", "nvmetcli", "nvme",
       nqn +
           "hosts = [\"nqn.2014-08.org.example:node2\", \"nqn.2014-08.org.example:node1\"]\n"
           "addresses = [\"192.0.2.1\", \"2001:db8::1\"]\nport = 4421\n" +
           space + "[[nvme_target.namespace]]\nnsid = 1024\ndevice = \"/srv/b.img\"\n"},
      {"any host, on a port that two share", "nvmetcli", "nvme",
       nqn + "any_host = true\naddresses = [\"192.0.2.1\"]\n" + space +
           "[[nvme_target]]\nnqn = \"nqn.2014-08.org.example:more\"\nany_host = true\n"
           "addresses = [\"192.0.2.1\", \"192.0.2.2\"]\n" +
           space},
  };
}

TEST(StorageTargets, AreTheSameDocumentOnceTheyAreImportedAgain) {
  for (const auto& row : storage_documents()) {
    const auto text = "version = 1\n" + row.text;
    const auto source = parsed(text);
    ASSERT_FALSE(model::has_errors(core::validate(source).diagnostics))
        << row.name << '\n'
        << render_diagnostics(source, core::validate(source).diagnostics);
    const auto made = export_document(source.sections, *find_target(row.target), whole_host());
    EXPECT_THAT(made.notes, IsEmpty()) << row.name << ": " << made.notes.front().text;
    ASSERT_THAT(made.files, SizeIs(1)) << row.name;
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content[made.files.front().path] = made.files.front().text;
    Claims claims;
    claims.machine_id = kMachine;
    Request request;
    request.formats.push_back(find_format(row.format));
    gather(request, files, claims);
    const auto back = make_document(claims, complaints);
    ASSERT_TRUE(back.has_value()) << row.name;
    EXPECT_THAT(claims.missed, IsEmpty()) << row.name << '\n' << report_of(claims) << made.files.front().text;
    EXPECT_EQ(told_of(*back), told_of(text)) << row.name << '\n' << *back << made.files.front().text;
  }
}

Output exported_for_targetcli(const std::string& lun, const ExportHost& host) {
  const auto source = parsed(
      "version = 1\n[[lio_target]]\nwwn = \"00:02:c9:03:00:31:78:f2\"\n"
      "initiators = [\"00:02:c9:03:00:31:7a:02\"]\n[[lio_target.lun]]\nnumber = 0\n" +
      lun);
  return export_document(source.sections, *find_target("targetcli"), host);
}

TEST(StorageTargets, HaveWhatOnlyTheHostKnows) {
  auto host = whole_host();
  const auto made = exported_for_targetcli("file = \"/srv/b.img\"\n", host);
  ASSERT_THAT(made.files, SizeIs(1));
  const auto& text = made.files.front().text;
  EXPECT_THAT(made.notes, IsEmpty());
  EXPECT_THAT(text, HasSubstr("\"wwn\": \"ib.fec00000000000010002c903003178f2\""));
  EXPECT_THAT(text, HasSubstr("\"size\": 33554432"));
  EXPECT_THAT(text, HasSubstr("\"wwn\": \"" + kinds::lio_serial_of(kMachine, "/srv/b.img") + "\""));
  EXPECT_EQ(made.files.front().path, "/etc/target/saveconfig.json");
  host.debian = true;
  EXPECT_EQ(exported_for_targetcli("file = \"/srv/b.img\"\n", host).files.front().path,
            "/etc/rtslib-fb-target/saveconfig.json");
}

TEST(StorageTargets, NameWhatNobodyKnows) {
  const auto made = exported_for_targetcli("file = \"/srv/none.img\"\n", whole_host());
  ASSERT_THAT(made.notes, SizeIs(1));
  EXPECT_THAT(made.notes.front().text, HasSubstr("the size of /srv/none.img"));
  EXPECT_THAT(made.files.front().text, Not(HasSubstr("\"size\"")));
  const auto none = exported_for_targetcli("device = \"/dev/vg0/a\"\n", {});
  ASSERT_THAT(none.notes, SizeIs(2));
  EXPECT_THAT(none.notes[0].text, HasSubstr("the serial number of /dev/vg0/a"));
  EXPECT_THAT(none.notes[1].text, HasSubstr("fe80:: is assumed"));
}

/// A file without targets would have the tools remove all that is there.
TEST(StorageTargets, AreNoFileWithoutAny) {
  const auto source = parsed("version = 1\n[[module]]\nname = \"ib_srpt\"\n");
  for (const auto* target : {"targetcli", "nvmetcli"})
    EXPECT_THAT(export_document(source.sections, *find_target(target)).files, IsEmpty()) << target;
}

TEST(StorageTargets, AreRootsAlone) {
  EXPECT_TRUE(is_private({"/etc/target/saveconfig.json", ""}));
  EXPECT_TRUE(is_private({"/etc/nvmet/config.json", ""}));
  EXPECT_TRUE(is_private({"/etc/NetworkManager/system-connections/a.nmconnection", ""}));
  EXPECT_FALSE(is_private({"/etc/netplan/60-ipoib.yaml", ""}));
  EXPECT_FALSE(takes_comments({"/etc/target/saveconfig.json", ""}));
  EXPECT_TRUE(takes_comments({"/etc/netplan/60-ipoib.yaml", ""}));
}

/// On another host the disks would have other serial numbers, which is said.
TEST(StorageTargets, KeepTheSerialNumberOfThisHostAlone) {
  const auto made = exported_for_targetcli("device = \"/dev/vg0/a\"\n", whole_host());
  for (const auto& [machine, count] :
       std::map<std::string, std::size_t>{{kMachine, 0}, {"f00\n", 1}, {"", 1}}) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content[made.files.front().path] = made.files.front().text;
    Claims claims;
    claims.machine_id = machine;
    Request request;
    request.formats.push_back(find_format("lio"));
    gather(request, files, claims);
    ASSERT_THAT(claims.missed, SizeIs(count)) << machine;
    for (const auto& missed : claims.missed) EXPECT_THAT(missed.text, HasSubstr("serial number"));
  }
}

/// Both identifiers of a port are what its GUID means; one of them alone admits less.
TEST(StorageTargets, OfSrpNameAPortByItsGuidForBothIdentifiersOnly) {
  const auto saved = [](const std::string& acls) {
    return "{\"targets\": [{\"fabric\": \"srpt\", \"tpgs\": [{\"node_acls\": [" + acls +
           "], \"tag\": 1}], \"wwn\": \"ib.fe800000000000000002c903003178f2\"}]}\n";
  };
  const std::string zeros = "{\"node_wwn\": \"ib.00000000000000000002c90300317a02\"}",
                    port = "{\"node_wwn\": \"ib.0002c903003178f20002c90300317a02\"}",
                    other = "{\"node_wwn\": \"ib.0002c903003178f30002c90300317a02\"}";
  const std::vector<std::pair<std::string, std::string>> cases{
      {zeros + ", " + port, R"(["00:02:c9:03:00:31:7a:02"])"},
      {port + ", " + zeros, R"(["00:02:c9:03:00:31:7a:02"])"},
      {zeros, R"(["0x00000000000000000002c90300317a02"])"},
      {port, R"(["0x0002c903003178f20002c90300317a02"])"},
      {other + ", " + zeros,
       R"(["0x0002c903003178f30002c90300317a02", "0x00000000000000000002c90300317a02"])"}};
  for (const auto& [acls, initiators] : cases) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content["/etc/target/saveconfig.json"] = saved(acls);
    EXPECT_THAT(import_all(files, "lio").document, HasSubstr("initiators = " + initiators + "\n")) << acls;
  }
}

}  // namespace
}  // namespace rdmacfg::foreign
