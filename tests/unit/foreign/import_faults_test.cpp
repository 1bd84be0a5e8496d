// SPDX-License-Identifier: Apache-2.0
// tests/data/faults/imports.txt: mistakes in files of other tools, each reported with its line and cause.
// IMPORTS_PRINT=1 prints what each case gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/stage.hpp"
#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {
namespace {

const std::string kImportFaults = std::string(TEST_DATA) + "/faults/imports.txt";
constexpr std::string_view kAddressBegin = "80:00:02:08:fe:80:00:00:00:00:00:00:";
constexpr std::string_view kFirstGuid = "00:02:c9:03:00:31:78:f2";
constexpr std::string_view kSecondGuid = "00:02:c9:03:00:31:78:f3";

/// The file of each format in which a case stands that names no other.
const std::map<std::string, std::string, std::less<>>& usual_files() {
  static const std::map<std::string, std::string, std::less<>> kFiles{
      {"ifcfg", "/etc/sysconfig/network-scripts/ifcfg-ib0"},
      {"nm", "/etc/NetworkManager/system-connections/a.nmconnection"},
      {"udev", "/etc/udev/rules.d/70-ib.rules"},
      {"networkd", "/etc/systemd/network/30-ib0.network"},
      {"netplan", "/etc/netplan/60-ib.yaml"},
      {"nmstate", "/etc/nmstate/a.yml"},
      {"system-roles", "/etc/ansible/host_vars/a.yml"},
      {"wicked", "/etc/sysconfig/network/ifcfg-ib0"},
      {"ifupdown", "/etc/network/interfaces"},
      {"cmdline", "/etc/kernel/cmdline"},
      {"limits", "/etc/security/limits.d/20-rdma.conf"},
      {"sysctl", "/etc/sysctl.d/90-ib.conf"},
      {"modprobe", "/etc/modprobe.d/a.conf"},
      {"openib", "/etc/infiniband/openib.conf"},
      {"rdma-conf", "/etc/rdma/rdma.conf"},
      {"mlx4-conf", "/etc/rdma/mlx4.conf"},
      {"opensm", "/etc/opensm/opensm.conf"},
      {"srp", "/etc/srp_daemon.conf"},
      {"nvme", "/etc/nvme/discovery.conf"},
      {"lio", "/etc/target/saveconfig.json"},
      {"cloud-init", "/etc/cloud/cloud.cfg.d/99-net.cfg"},
      {"scripts", "/etc/rc.local"},
      {"sysfs", "/etc/sysfs.conf"}};
  return kFiles;
}

/// The meaning of a backslash and a letter in a text.
std::string expansion_of(char letter) {
  switch (letter) {
    case 'n':
      return "\n";
    case '\\':
      return "\\";
    case 'G':
      return std::string(kFirstGuid);
    case 'A':
      return std::string(kAddressBegin).append(kFirstGuid);
    case 'B':
      return std::string(kAddressBegin).append(kSecondGuid);
    case 'N':
      return "[connection]\ntype=infiniband\n[infiniband]\ntransport-mode=datagram\n";
    case 'Y':
      return "network:\n  ethernets:\n    ib0:\n";
    case 'S':
      return "interfaces:\n- name: ib0\n  type: infiniband\n";
    case 'R':
      return "network_connections:\n- name: ib0\n  type: infiniband\n";
    case 'C':
      return "network:\n  version: 1\n  config:\n  - type: infiniband\n    name: ib0\n";
    case 'I':
      return "auto ib0\niface ib0 inet static\n";
    default:
      ADD_FAILURE() << "\\" << letter << " stands for nothing";
      return {};
  }
}

std::string expanded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      out += expansion_of(text[++at]);
    } else {
      out += text[at];
    }
  }
  return out;
}

struct ImportFault {
  int line = 0;  ///< of the table
  std::string format;
  bool document = false;  ///< `message` is part of the document
  bool passed = false;
  Place place;
  std::string message;
  std::map<std::string, std::string> files;  ///< by path
};

/// "==> /path <==" begins another file than the usual one.
std::map<std::string, std::string> files_of(const std::string& usual, const std::string& text) {
  std::map<std::string, std::string> out;
  std::string path = usual;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size() - 1) + 1;
    const auto line = text.substr(from, end - from);
    if (line.starts_with("==> ") && line.ends_with(" <==\n")) {
      path = line.substr(4, line.size() - 9);
    } else {
      out[path] += line;
    }
    from = end;
  }
  return out;
}

ImportFault fault_of(std::string_view line) {
  constexpr std::string_view kBar = " | ", kPassed = "passed ";
  ImportFault out;
  std::vector<std::string_view> parts;
  for (int i = 0; i < 3; ++i) {
    const auto at = line.find(kBar);
    if (at == std::string_view::npos) return out;
    parts.push_back(line.substr(0, at));
    line.remove_prefix(at + kBar.size());
  }
  out.format = parts[0];
  const auto usual = usual_files().find(out.format);
  if (usual == usual_files().end()) return out;
  auto place = parts[1];
  out.passed = place.starts_with(kPassed);
  if (out.passed) place.remove_prefix(kPassed.size());
  out.document = place == "document";
  const auto colon = place.rfind(':');
  const bool elsewhere = place.starts_with('/') && colon != std::string_view::npos;
  out.place.file = elsewhere ? std::string(place.substr(0, colon)) : usual->second;
  out.place.line = out.document ? 0 : std::atoi(std::string(place.substr(elsewhere ? colon + 1 : 0)).c_str());
  out.message = parts[2];
  out.files = files_of(usual->second, expanded(line));
  return out;
}

std::vector<ImportFault> import_faults() {
  std::vector<ImportFault> out;
  std::ifstream file(kImportFaults);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    out.push_back(fault_of(line));
    out.back().line = number;
  }
  return out;
}

Imported import_of(const ImportFault& row) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  for (const auto& [path, text] : row.files) files.content[path] = text;
  const std::map<std::string, model::Guid, std::less<>> known{{"ib0", *model::Guid::parse(kFirstGuid)},
                                                              {"ib1", *model::Guid::parse(kSecondGuid)}};
  return import_all(files, row.format, known);
}

bool is_met(const ImportFault& row, const Imported& made) {
  if (row.document) return made.document.find(row.message) != std::string::npos;
  const auto& remarks = row.passed ? made.claims.passed : made.claims.missed;
  return std::find(remarks.begin(), remarks.end(), Remark{row.place, row.message}) != remarks.end();
}

TEST(ImportFaults, EachSaysTheLineAndTheCause) {
  const bool print = std::getenv("IMPORTS_PRINT") != nullptr;
  for (const auto& row : import_faults()) {
    ASSERT_FALSE(row.files.empty()) << kImportFaults << ':' << row.line << ": is not a case";
    const auto made = import_of(row);
    const auto report = report_of(made.claims);
    if (print) std::cout << kImportFaults << ':' << row.line << '\n' << report << made.document << '\n';
    EXPECT_TRUE(is_met(row, made)) << kImportFaults << ':' << row.line << ": expected " << row.place.text()
                                   << ": " << row.message << "\nis\n"
                                   << report << made.document;
  }
}

/// Every format has its faults here, each once.
TEST(ImportFaults, CoverTheFormats) {
  const auto all = import_faults();
  EXPECT_GE(all.size(), 450U);
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen;
  for (const auto& row : all)
    EXPECT_TRUE(seen.insert({row.format, row.files}).second) << "line " << row.line << " is there twice";
  for (const auto& format : formats()) {
    const auto count = std::count_if(all.begin(), all.end(),
                                     [&](const ImportFault& row) { return row.format == format.name; });
    EXPECT_GE(count, 4) << format.name;
  }
}

/// Remarks on what one file of a format says and nobody understands.
std::vector<std::string> missed_of(const std::string& format, const std::string& text) {
  ImportFault row;
  row.format = format;
  row.files.emplace(format == "wicked" ? "/etc/wicked/ifconfig/a.xml" : usual_files().find(format)->second,
                    text);
  std::vector<std::string> out;
  for (const auto& remark : import_of(row).claims.missed)
    out.push_back(remark.where.text() + ": " + remark.text);
  return out;
}

bool has_text(const std::vector<std::string>& all, const std::string& text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

// An author of files of any size or depth wants only to keep us busy.
TEST(ImportLimits, OfEachSyntax) {
  std::string deep_xml = "<interface>", many_xml, deep_yaml = "network: ", many_yaml = "network:\n  x: [0";
  for (int i = 0; i < kYamlDepth; ++i) {
    deep_xml += "<a>";
    deep_yaml += "[";
  }
  for (std::size_t i = 0; i < kYamlNodes; ++i) {
    many_xml += "<a/>";
    many_yaml += ",0";
  }
  EXPECT_TRUE(has_text(missed_of("wicked", deep_xml), "/etc/wicked/ifconfig/a.xml:1: is nested too deeply"));
  EXPECT_TRUE(has_text(missed_of("wicked", many_xml), "/etc/wicked/ifconfig/a.xml:1: has too many elements"));
  EXPECT_TRUE(has_text(missed_of("netplan", deep_yaml + "["),
                       "/etc/netplan/60-ib.yaml:1: nested deeper than 16 levels"));
  EXPECT_TRUE(
      has_text(missed_of("netplan", many_yaml + "]\n"), "/etc/netplan/60-ib.yaml:2: more than 20000 values"));
  EXPECT_TRUE(has_text(missed_of("ifupdown", "source " + std::string(300, '*') + "\n"),
                       "/etc/network/interfaces:1: is too long a pattern"));
  EXPECT_TRUE(has_text(missed_of("sysctl", std::string(20'001, '\n')),
                       "/etc/sysctl.d/90-ib.conf: has more than 20000 lines"));
}

TEST(NameTemplates, SayWhatIsWrong) {
  EXPECT_EQ(wrong_template("fab{number}"), "");
  EXPECT_EQ(wrong_template("ib_{guid_tail}"), "");
  EXPECT_EQ(wrong_template("a23456789{guid_tail}"), "") << "15 characters";
  EXPECT_EQ(wrong_template("a234567890{guid_tail}"), "names would have more than 15 characters");
  EXPECT_EQ(wrong_template("fab0"), "without {number} or {guid_tail} all ports get one name");
  EXPECT_EQ(wrong_template("fab{port}"), "the placeholders are {number} and {guid_tail}");
  EXPECT_EQ(wrong_template("fab{number"), "the placeholders are {number} and {guid_tail}");
  EXPECT_EQ(wrong_template("ib{number}"),
            "ib{number} is the name that the kernel assigns to the first port that appears");
}

}  // namespace
}  // namespace rdmacfg::foreign
