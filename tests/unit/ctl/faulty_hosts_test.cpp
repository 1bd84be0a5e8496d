// SPDX-License-Identifier: Apache-2.0
// tests/data/faults/hosts.txt: faults of hosts, and that diff, show and doctor say it with its
// cause. say the same. HOSTS_PRINT=1 prints what each of them says.
#include <gtest/gtest.h>

#include <iostream>

#include "base/text.hpp"
#include "sources.hpp"
#include "truth.hpp"

namespace rdmacfg::ctl::faulty_hosts {
namespace {

using truth::Json;
using nlohmann::literals::operator""_json_pointer;

const std::filesystem::path kFolder = std::filesystem::path(TEST_DATA) / "faults";

struct Case {
  int line = 0;
  std::string diff, status, doctor;  ///< what they say
  std::vector<std::string> host;     ///< how it is other than host.json
  std::string document;
};

std::vector<std::string> parts_of(const std::string& text, const std::string& separator) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (auto at = text.find(separator); at != std::string::npos; at = text.find(separator, from)) {
    out.push_back(text.substr(from, at - from));
    from = at + separator.size();
  }
  out.push_back(text.substr(from));
  for (auto& part : out) part = std::string(base::trim(part));
  return out;
}

/// \n is a line end, \G the line with the GUID of the first port.
std::string unescaped(const std::string& text) {
  std::string out = "version = 1\n" + text;
  const auto all = [&](const std::string& from, const std::string& to) {
    for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size()))
      out.replace(at, from.size(), to);
  };
  all("\\n", "\n");
  all("\\G", "guid = \"00:02:c9:03:00:31:78:f2\"\n");
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  std::istringstream file(content(kFolder / "hosts.txt"));
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto columns = parts_of(line, "|");
    EXPECT_EQ(columns.size(), 5U) << "hosts.txt:" << number;
    if (columns.size() != 5) continue;
    out.push_back({number, columns[0], columns[1], columns[2],
                   columns[3] == "-" ? std::vector<std::string>() : parts_of(columns[3], " ; "),
                   unescaped(columns[4])});
  }
  return out;
}

/// One part of HOST before the document is applied.
void change(Json& host, const std::string& part) {
  if (part.starts_with("-/")) {
    const Json::json_pointer at(part.substr(1));
    auto& parent = host.at(at.parent_pointer());
    if (parent.is_array()) {
      parent.erase(static_cast<std::size_t>(std::stoi(at.back())));
    } else {
      ASSERT_EQ(parent.erase(at.back()), 1U) << part;
    }
    return;
  }
  const auto equals = part.find('=');
  ASSERT_NE(equals, std::string::npos) << part;
  const auto text = part.substr(equals + 1);
  auto value = Json::parse(text, nullptr, false);
  host[Json::json_pointer(part.substr(0, equals))] = value.is_discarded() ? Json(text) : value;
}

/// One part of HOST that is done by hand afterwards: "mtu ib0 1500".
void by_hand(fakes::FakeKernel& kernel, const std::string& part) {
  auto words = ctl::words(part);
  const auto verb = words.at(0), object = words.at(1);
  const auto rest = base::join(std::span(words).subspan(2), " ");
  auto& files = kernel.files.content;
  if (verb == "up" || verb == "down") {
    verb == "up" ? kernel.set_up(object) : kernel.set_down(object);
  } else if (verb == "mode") {
    kernel.set_mode(object, rest == "connected" ? model::IpoibMode::kConnected : model::IpoibMode::kDatagram);
  } else if (verb == "mtu") {
    kernel.set_mtu(object, std::stoi(rest));
  } else if (verb == "rename") {
    kernel.link(object).name = rest;
  } else if (verb == "unlink") {
    std::erase_if(kernel.machine.links, [&](const auto& link) { return link.name == object; });
  } else if (verb == "flush") {
    kernel.link(object).items.clear();
  } else if (verb == "pfc") {
    kernel.dcb.interfaces.at(object).pfc = static_cast<std::uint8_t>(std::stoi(rest));
  } else if (verb == "stop") {
    kernel.units.units.at(object).running = false;
  } else if (verb == "disable") {
    kernel.units.units.at(object).enabled = false;
  } else if (verb == "remove") {
    ASSERT_EQ(files.erase(object), 1U) << part;
  } else if (verb == "append") {
    ASSERT_TRUE(files.contains(object)) << part;
    files[object] += rest + '\n';
  } else if (verb == "mode-of") {
    kernel.files.access[object] = "mode " + rest;
  } else if (verb == "unreadable") {
    kernel.files.unreadable.insert(object);
  } else if (verb == "sysctl") {
    ASSERT_TRUE(kernel.host().sysctl.write(object, rest)) << part;
  } else {
    FAIL() << "unknown: " << part;
  }
}

std::set<std::string> statuses_in(const Json& report) {
  std::set<std::string> out;
  for (const auto& resource : report.at("resources")) {
    if (truth::is_open(resource["status"])) out.insert(resource["status"]);
  }
  return out;
}

TEST(FaultyHosts, EachIsSeenByAllWithItsCause) {
  const bool print = std::getenv("HOSTS_PRINT") != nullptr;
  const Scratch scratch;
  auto healthy = Json::parse(content(kFolder / "host.json"));
  healthy["/devices/0/ports/0/interface/up"_json_pointer] = true;
  std::size_t count = 0;
  for (const auto& row : cases()) {
    SCOPED_TRACE(fmt::format("{}:{}", (kFolder / "hosts.txt").string(), row.line));
    ++count;
    auto description = healthy;
    std::vector<std::string> later;
    for (const auto& part : row.host) {
      if (part.starts_with("then ")) {
        later.push_back(part.substr(5));
      } else {
        change(description, part);
      }
    }
    scratch.write("config.toml", row.document);
    truth::Host host(description.dump(), (scratch.path() / "config.toml").string());
    EXPECT_EQ(host.ask("validate")["exit"]["name"], "ok") << "the document is at fault, not the host";
    if (!later.empty()) host.apply();
    for (const auto& part : later) by_hand(host.kernel(), part);
    const auto diff = host.say("diff"), doctor = host.say("doctor");
    const auto shown = host.ask("show");
    const auto statuses =
        shown["exit"]["name"] == "error" ? std::set<std::string>{"error"} : statuses_in(shown);
    const auto status = statuses.empty() ? "-" : *statuses.begin();
    if (print) {
      std::cout << "=== " << row.line << ": " << base::join(row.host, " ; ") << '\n'
                << row.document << "--- show: " << status << "\n--- diff\n"
                << diff << "--- doctor\n"
                << doctor;
      continue;
    }
    EXPECT_NE(diff.find(row.diff), std::string::npos) << diff;
    EXPECT_EQ(status, row.status);
    if (row.doctor == "-") {
      EXPECT_NE(doctor.find("nothing found"), std::string::npos) << doctor;
    } else {
      EXPECT_NE(doctor.find(row.doctor), std::string::npos) << doctor;
    }
  }
  EXPECT_GE(count, 65U);
}

}  // namespace
}  // namespace rdmacfg::ctl::faulty_hosts
