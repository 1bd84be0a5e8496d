// SPDX-License-Identifier: Apache-2.0
// However many targets or connections a document has, the host is looked at as often: each look reads all of
// them.
#include <functional>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

struct ManyEntries {
  std::string name;
  std::function<std::string(int)> part, entry;  ///< of the host's JSON, and of the document
  std::function<std::string(const std::string& parts)> host;
  std::function<int&(FakeKernel&)> looks;
};

std::vector<ManyEntries> many_entries() {
  const auto nothing = [](int) { return std::string(); };
  return {
      {"lio_target", nothing,
       [](int i) {
         return fmt::format(
             "[[lio_target]]\nwwn = \"iqn.2026-01.org.example:n{0}\"\naddresses = [\"192.0.2.1\"]\n"
             "any_initiator = true\n[[lio_target.lun]]\nnumber = 0\ndevice = \"/dev/d{0}\"\n",
             i);
       },
       [](const std::string&) { return std::string(R"({"files": {"/etc/machine-id": "0123\n"}})"); },
       [](FakeKernel& kernel) -> int& { return kernel.lio.looks; }},
      {"nvme_target", nothing,
       [](int i) {
         return fmt::format(
             "[[nvme_target]]\nnqn = \"nqn.x:n{0}\"\naddresses = [\"192.0.2.1\"]\nany_host = true\n"
             "[[nvme_target.namespace]]\nnsid = 1\ndevice = \"/dev/d{0}\"\n",
             i);
       },
       [](const std::string&) { return std::string("{}"); },
       [](FakeKernel& kernel) -> int& { return kernel.nvme_target.looks; }},
      {"nvme_connection", [](int i) { return fmt::format(R"("192.0.2.{0}": ["nqn.x:n{0}"])", i); },
       [](int i) { return fmt::format("[[nvme_connection]]\naddress = \"192.0.2.{}\"\n", i); },
       [](const std::string& parts) {
         return R"({"units": {"remote-fs.target": {"enabled": true}, "nvmf-autoconnect.service": {"oneshot": true}},
                    "nvme_host": {"targets": {)" +
                parts + "}}}";
       },
       [](FakeKernel& kernel) -> int& { return kernel.nvme_host.looks; }},
      {"iser_session",
       [](int i) { return fmt::format(R"("iqn.2026-01.org.example:n{} 192.0.2.1:3260,1")", i); },
       [](int i) {
         return fmt::format(
             "[[iser_session]]\ntarget = \"iqn.2026-01.org.example:n{}\"\naddress = \"192.0.2.1\"\n", i);
       },
       [](const std::string& parts) {
         return R"({"files": {"/usr/sbin/iscsiadm": ""}, "units": {"remote-fs.target": {"enabled": true}},
                    "iscsi": {"targets": [)" +
                parts + "]}}";
       },
       [](FakeKernel& kernel) -> int& { return kernel.iscsi.looks; }},
  };
}

/// Looks of an apply that makes so many, of one that finds them made, and of one that drops them.
std::vector<int> looks_of(const ManyEntries& kind, int count) {
  std::string parts, text;
  for (int i = 1; i <= count; ++i) {
    parts += (i == 1 ? "" : ", ") + kind.part(i);
    text += kind.entry(i);
  }
  const auto kernel = FakeKernel::parse(kind.host(parts));
  std::vector<int> out;
  for (const auto& document : {text, text, std::string()}) {
    kind.looks(*kernel) = 0;
    const auto report = apply_text(*kernel, document);
    EXPECT_TRUE(applied(report)) << text_of(report);
    EXPECT_EQ(report.plan.empty(), !out.empty() && out.size() != 2) << text_of(report);
    out.push_back(kind.looks(*kernel));
  }
  return out;
}

TEST(Looks, AreAsManyForManyEntriesAsForTwo) {
  for (const auto& kind : many_entries()) {
    SCOPED_TRACE(kind.name);
    const auto few = looks_of(kind, 2);
    EXPECT_GT(few.front(), 0) << "or nobody counts them";
    EXPECT_EQ(looks_of(kind, 20), few);
  }
}

}  // namespace
}  // namespace rdmacfg::contract
