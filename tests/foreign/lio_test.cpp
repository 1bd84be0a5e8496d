// SPDX-License-Identifier: Apache-2.0
// Targets of saveconfig.json that the document would open further than they are stay out of it; secrets are
// repeated nowhere.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "foreign/stage.hpp"

namespace rdmacfg::foreign {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kSaved = "/etc/target/saveconfig.json";

Imported import_saved(const std::string& text) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content[kSaved] = text;
  return import_all(files, "lio");
}

/// A target with iSER, a block device and an initiator.
std::string saved_target(const std::string& group, const std::string& backstore = "",
                         const std::string& acl = "", const std::string& mapping = "") {
  return fmt::format(
      R"({{"storage_objects": [{{"dev": "/dev/vg0/a", "name": "a", "plugin": "block"{}}}], "targets": [{{)"
      R"("fabric": "iscsi", "wwn": "iqn.2026-01.org.example:disks", "tpgs": [{{{}, "tag": 1, )"
      R"("luns": [{{"index": 0, "storage_object": "/backstores/block/a"}}], )"
      R"("node_acls": [{{"node_wwn": "iqn.2026-01.org.example:h1"{}, )"
      R"("mapped_luns": [{{"index": 0, "tpg_lun": 0{}}}]}}], )"
      R"("portals": [{{"ip_address": "192.0.2.1", "iser": true, "port": 3260}}]}}]}}]}})",
      backstore, group, acl, mapping);
}

const std::string kOpenGroup = R"("attributes": {"authentication": 0})";

TEST(ImportLio, TakesATargetWhoseInitiatorsSeeAllOfIt) {
  const auto made = import_saved(saved_target(kOpenGroup));
  EXPECT_THAT(made.claims.missed, IsEmpty());
  EXPECT_THAT(made.claims.passed, IsEmpty());
  EXPECT_THAT(made.document, HasSubstr("initiators = [\"iqn.2026-01.org.example:h1\"]"));
  EXPECT_THAT(made.document, HasSubstr("device = \"/dev/vg0/a\""));
}

/// Targets, initiators and LUNs that the document would open to more initiators, or for writing.
TEST(ImportLio, OpensNothingFurther) {
  struct Row {
    std::string why, text;
    bool target;  ///< whether the target is left out, and not only the initiator or LUN
  };
  for (const auto& row : std::vector<Row>{
           {"requires CHAP, which the document cannot express",
            saved_target(R"("attributes": {"authentication": 1})"), true},
           // The kernel asks for CHAP unless it is told not to.
           {"requires CHAP, which the document cannot express", saved_target(R"("attributes": {})"), true},
           {"is disabled", saved_target(kOpenGroup + R"(, "enable": false)"), true},
           {"is disabled", saved_target(kOpenGroup + R"(, "enable": null)"), true},
           {"is read-only, which the document cannot express", saved_target(kOpenGroup, R"(, "readonly": 2)"),
            false},
           {"the document gives each initiator all LUNs, writable and with their own numbers",
            saved_target(kOpenGroup, "", "", R"(, "write_protect": 2)"), false},
           {"any initiator may read it but not write to it, which the document cannot express",
            saved_target(R"("attributes": {"authentication": 0, "generate_node_acls": 1})"), true},
           {"initiators may only read it, which the document cannot express",
            saved_target(R"("attributes": {"authentication": 0, "prod_mode_write_protect": 1})"), true},
           {"is read-only, which the document cannot express",
            saved_target(kOpenGroup, R"(, "readonly": true)"), false},
           {"must use CHAP, which the document cannot express",
            saved_target(kOpenGroup, "", R"(, "attributes": {"authentication": 1})"), false},
           {"the document gives each initiator all LUNs, writable and with their own numbers",
            saved_target(kOpenGroup, "", "", R"(, "write_protect": true)"), false}}) {
    const auto made = import_saved(row.text);
    EXPECT_THAT(report_of(made.claims), HasSubstr(row.why + "; left out")) << row.text;
    if (row.target) {
      EXPECT_EQ(made.document, "version = 1\n") << row.text;
    }
    const bool wide = made.document.find("\ninitiators = ") != std::string::npos &&
                      made.document.find("\n  device = ") != std::string::npos;
    EXPECT_FALSE(wide) << row.text << '\n' << made.document;
  }
}

/// A server with 64 disks and 20 initiators has as much.
TEST(ImportLio, ReadsMoreThanOtherTreesHave) {
  std::string disks;
  for (int i = 0; i < 3000; ++i)
    disks += fmt::format(R"({{"dev": "/dev/vg0/d{0}", "name": "d{0}", "plugin": "block"}}, )", i);
  auto text = saved_target(kOpenGroup);
  constexpr std::string_view kDisks = R"("storage_objects": [)";
  text.insert(text.find(kDisks) + kDisks.size(), disks);
  const auto made = import_saved(text);
  EXPECT_THAT(made.claims.missed, IsEmpty());
  EXPECT_THAT(made.document, HasSubstr("device = \"/dev/vg0/a\""));
  // Bounded all the same.
  std::string endless = "{\"targets\": [";
  for (int i = 0; i < 40000; ++i) endless += "0,";
  EXPECT_THAT(report_of(import_saved(endless + "0]}").claims), HasSubstr("more than 40000 values"));
}

/// [[lio_target]] without initiators is an error.
TEST(ImportLio, LeavesOutATargetWithoutInitiators) {
  auto text = saved_target(kOpenGroup);
  constexpr std::string_view kLists = R"("node_acls": [)";
  const auto from = text.find(kLists) + kLists.size();
  text.erase(from, text.find(R"(], "portals")", from) - from);
  for (const auto& saved : {text, saved_target(kOpenGroup, "", "", R"(, "write_protect": true)")}) {
    const auto made = import_saved(saved);
    EXPECT_THAT(report_of(made.claims), HasSubstr("initiators: no initiator may log in")) << saved;
    EXPECT_THAT(made.document, HasSubstr("\n# [[lio_target]]\n")) << saved;
    EXPECT_THAT(made.document, Not(HasSubstr("\n[[lio_target]]"))) << saved;
  }
}

/// targetcli never saves such a file, and the document takes no number twice.
TEST(ImportLio, TakesTheFirstOfTwoLunsWithOneNumber) {
  auto text = saved_target(kOpenGroup);
  constexpr std::string_view kLuns = R"("luns": [)";
  text.insert(text.find(kLuns) + kLuns.size(), R"({"index": 0, "storage_object": "/backstores/block/a"}, )");
  const auto made = import_saved(text);
  EXPECT_THAT(report_of(made.claims), HasSubstr("LUN 0: the target has that number twice; left out"));
  const std::string line = "\n  number = 0\n";
  const auto first = made.document.find(line);
  ASSERT_NE(first, std::string::npos) << made.document;
  EXPECT_EQ(made.document.find(line, first + 1), std::string::npos) << made.document;
}

TEST(ImportLio, RepeatsNoSecret) {
  const std::string chap =
      R"(, "chap_userid": "name1hidden", "chap_password": "word2hidden", "chap_mutual_userid": "name3hidden", )"
      R"("chap_mutual_password": "word4hidden")";
  auto text = saved_target(kOpenGroup + chap, "", chap);
  constexpr std::string_view kFirst = "{";
  text.insert(kFirst.size(), R"("fabric_modules": [{"name": "iscsi", "discovery_enable_auth": true, )"
                             R"("discovery_userid": "name5hidden", "discovery_password": "word6hidden", )"
                             R"("discovery_mutual_password": "word7hidden"}], )");
  const auto made = import_saved(text);
  EXPECT_THAT(report_of(made.claims), HasSubstr("name and secret of CHAP"));
  EXPECT_THAT(report_of(made.claims), HasSubstr("CHAP for iSCSI discovery"));
  EXPECT_THAT(report_of(made.claims) + made.document, Not(HasSubstr("hidden")));
  // Where the file is cut, too.
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto cut = import_saved(text.substr(0, size));
    EXPECT_THAT(report_of(cut.claims) + cut.document, Not(HasSubstr("hidden"))) << size;
  }
}

}  // namespace
}  // namespace rdmacfg::foreign
