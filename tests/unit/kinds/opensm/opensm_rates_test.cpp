// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_rates.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

class OpensmRates : public testing::Test {
 protected:
  /// A program as the linker makes it: texts that end with a 0.
  void install(const std::string& version) {
    files_.content["/usr/sbin/opensm"] = std::string("ELF\0OpenSM %s\0OpenSM ", 21) + version + '\0' + "more";
  }
  static model::Desired partition(const std::string& rule) {
    model::Desired out;
    out.key = {"partition", "0x8001"};
    out.settings["rule"] = rule;
    out.origins["rate"] = model::Location{"config.toml", 4, 8, 1};
    return out;
  }
  static model::Desired policy(const std::vector<std::string>& lines) {
    model::Desired out;
    out.key = {"opensm_file", "qos_policy_file"};
    out.settings["lines"] = lines;
    out.origins["lines"] = model::Location{"config.toml", 9, 9, 1};
    return out;
  }
  /// "LINE MESSAGE"; empty: nothing is said.
  std::string said(const model::Desired& desired) {
    model::Diagnostics diagnostics;
    check_rates(std::vector{desired}, desired.key.kind, files_, diagnostics);
    if (diagnostics.empty()) return {};
    EXPECT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics.front().severity, model::Severity::kWarning);
    return std::to_string(diagnostics.front().where.line) + " " + diagnostics.front().message;
  }

  fakes::Faults faults_;
  fakes::MemoryFiles files_{faults_};
};

/// IB_MAX_RATE is 22 in OpenSM 3.3.23, and 24 in 3.3.24.
TEST_F(OpensmRates, ThoseOfLaterReleasesAreNamed) {
  install("3.3.23");
  EXPECT_EQ(said(partition("a=0x8001, ipoib, rate=22, sl=1 : ALL;")), "");
  EXPECT_EQ(said(partition("a=0x8001, ipoib, rate=23, sl=1 : ALL;")),
            "4 [[partition]] rate: the installed OpenSM 3.3.23 does not support rate 23 and does not create "
            "the group");
  EXPECT_EQ(said(partition("a=0x8001, rate=3 :\nmgid=ff12::1, rate=24\nALL;")),
            "4 [[partition]] rate: the installed OpenSM 3.3.23 does not support rate 24 and does not create "
            "the group");
  EXPECT_EQ(said(policy({"qos-levels", "  rate-limit: 22", "  rate-limit : 0x17 # 800"})),
            "9 [[opensm_file]] lines: the installed OpenSM 3.3.23 does not support rate 23 and ignores the "
            "whole policy");
  EXPECT_EQ(said(policy({"# rate-limit: 23", "rate-limit"})), "");
}

TEST_F(OpensmRates, AreKnownToLaterProgramsAndToThoseThatTellNoVersion) {
  const auto wanted = partition("a=0x8001, rate=23 : ALL;");
  EXPECT_EQ(said(wanted), "") << "none is installed";
  for (const auto* version : {"3.3.24", "3.4.0", "5.17.0", "", "3.3"}) {
    install(version);
    EXPECT_EQ(said(wanted), "") << version;
  }
  install("3.2.99");
  EXPECT_NE(said(wanted), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
