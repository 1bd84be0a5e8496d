// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_paths.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;

class OpensmPaths : public testing::Test {
 protected:
  void wants(const std::string& id, const std::string& value, int line) {
    auto& resource = desired_.emplace_back();
    resource.key = {"opensm_option", id};
    resource.settings["value"] = value;
    resource.origins["value"] = model::Location{"config.toml", line, 9, 1};
  }
  model::Diagnostics check() {
    model::Diagnostics out;
    check_written_paths(desired_, files_, out);
    return out;
  }

  std::vector<model::Desired> desired_;
  fakes::Faults faults_;
  fakes::MemoryFiles files_{faults_};
};

TEST_F(OpensmPaths, TheFirstFolderThatIsMissingIsNamed) {
  files_.content["/var/log/messages"] = "";
  EXPECT_EQ(first_missing(files_, "/var/log"), "");
  EXPECT_EQ(first_missing(files_, "/var//./log/"), "");
  EXPECT_EQ(first_missing(files_, "/var/log/opensm/dumps"), "/var/log/opensm");
  EXPECT_EQ(first_missing(files_, "/srv"), "/srv");
  EXPECT_EQ(first_missing(files_, ""), "") << "the root itself";
  EXPECT_EQ(first_missing(files_, "/var/../srv"), "") << "behind a link that leads elsewhere";
  EXPECT_EQ(first_missing(files_, "/var/log/messages/x"), "") << "the folder cannot be read";
  for (const auto* path : {"/home/admin", "/home", "/root/logs", "/run/user/0", "/dev/shm"})
    EXPECT_EQ(first_missing(files_, path), "") << path << ", which the daemon does not see";
}

TEST_F(OpensmPaths, ALogWaitsForItsFolder) {
  files_.content["/var/log/messages"] = "";
  wants("log_file", "/var/log/opensm.log", 4);
  wants("dump_files_dir", "\"/var/log\"", 7);
  EXPECT_TRUE(check().empty());
  EXPECT_EQ(desired_.at(0).pending, std::nullopt);
  desired_.clear();
  wants("log_file", "/var/log/opensm/opensm.log", 4);
  wants("qos_policy_file", "/srv/policy", 10);
  EXPECT_TRUE(check().empty());
  EXPECT_EQ(desired_.at(0).pending,
            "the folder /var/log/opensm does not exist, and OpenSM exits when it cannot open its log");
  EXPECT_EQ(desired_.at(1).pending, std::nullopt);
}

TEST_F(OpensmPaths, AMissingFolderOfDumpsIsReportedOnce) {
  wants("00:02:c9:03:00:31:78:f2/dump_files_dir", "/srv/dumps", 4);
  wants("00:02:c9:03:00:31:78:f3/dump_files_dir", "/opt/dumps", 9);
  wants("dump_files_dir", "/srv/dumps", 4);
  const auto found = check();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, model::Severity::kWarning);
  EXPECT_EQ(found[0].where.line, 4);
  EXPECT_EQ(found[0].message,
            "[[opensm_option]] value: the folder /srv does not exist, and OpenSM writes no dumps");
  EXPECT_EQ(found[1].where.line, 9);
  EXPECT_EQ(found[1].message,
            "[[opensm.option]] value: the folder /opt does not exist, and OpenSM writes no dumps");
}

/// getopt_long() of OpenSM's main.c comes after osm_subn_parse_conf_file().
TEST_F(OpensmPaths, TheLogOfTheCommandLineCounts) {
  files_.content["/lib/systemd/system/opensm@.service"] =
      "[Service]\nExecStart=/usr/sbin/opensm --guid %I --log_file /var/log/opensm.%I.log\n";
  wants("log_file", "/srv/opensm.log", 4);
  const auto found = check();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, model::Severity::kWarning);
  EXPECT_THAT(found[0].message, HasSubstr("log_file has no effect"));
  EXPECT_EQ(desired_.at(0).pending, std::nullopt);
  files_.content["/etc/systemd/system/opensm@.service"] = "[Service]\nExecStart=/usr/sbin/opensm --guid %I\n";
  EXPECT_TRUE(check().empty());
  EXPECT_THAT(desired_.at(0).pending.value_or(""), HasSubstr("/srv does not exist"))
      << "the administrator's unit counts";
}

TEST_F(OpensmPaths, AnotherFileOfOptionsOnTheCommandLineIsNamed) {
  struct Row {
    const char* unit;
    const char* drop_in;
    bool named;
  };
  const char* const plain =
      "[Service]\nExecStart=/usr/sbin/opensm --guid %I --log_file /var/log/opensm.%I.log\n";
  const char* const other = "[Service]\nExecStart=\nExecStart=/usr/sbin/opensm -g %I -F /etc/site.conf\n";
  for (const auto& row :
       {Row{plain, "", false}, Row{plain, other, true}, Row{other, "", true}, Row{other, plain, false},
        Row{plain, "[Service]\nExecStart=\nExecStart=/usr/sbin/opensm --config /etc/site.conf\n", true},
        Row{plain, "[Service]\nNice=-5\n", false}}) {
    SCOPED_TRACE(std::string(row.unit) + row.drop_in);
    files_.content["/usr/lib/systemd/system/opensm@.service"] = row.unit;
    files_.content["/run/systemd/system/opensm@.service.d/site.conf"] = row.drop_in;
    for (const auto& [id, named] : {std::pair{"00:02:c9:03:00:31:78:f2/sweep_interval", false},
                                    std::pair{"sweep_interval", row.named}}) {
      desired_.clear();
      wants(id, "10", 4);
      model::Diagnostics out;
      warn_of_other_conf(desired_, files_, out);
      EXPECT_EQ(out.size(), named ? 1U : 0U) << id;
    }
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
