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
           {"any initiator may read it, and none may write, which the document cannot express",
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
