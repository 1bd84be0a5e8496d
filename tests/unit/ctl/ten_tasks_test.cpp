// SPDX-License-Identifier: Apache-2.0
// docs/TEN-TASKS.md works as it is written: its files are laid on a fake host, its commands run in their
// order, and what they print and how they end is compared. UPDATE_GOLDEN=1 writes the page with what they
// print.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "catalog/all.hpp"
#include "console.hpp"
#include "core/commit/commit.hpp"
#include "ctl/service.hpp"
#include "page.hpp"
#include "sources.hpp"

namespace rdmacfg::ctl::ten_tasks {
namespace {

/// The host that the page speaks of.
constexpr const char* kHost = R"({
  "devices": [
    { "name": "mlx4_0", "pci": "0000:10:00.0", "node_guid": "00:02:c9:03:00:31:78:f1", "ports": [
      { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0" } },
      { "guid": "00:02:c9:03:00:31:78:f3", "state": "DOWN", "interface": { "name": "ib1", "up": false } }] },
    { "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "00:02:c9:03:00:31:80:01", "ports": [
      { "guid": "00:02:c9:03:00:31:80:02", "link_layer": "Ethernet", "netdev": "ens1f0np0" }] }],
  "links": [{ "name": "ens1f0np0", "up": true, "items": ["addr4 203.0.113.1/24"] }],
  "dcb": { "ens1f0np0": {} },
  "groups": ["rdma"],
  "units": { "opensm@.service": {}, "opensm.service": {}, "slurmd.service": { "running": true } },
  "files": { "/etc/default/opensm": "PORTS=\"NONE\"\n" }
})";

/// The daemon, as far as a page for users shows it: the core does its work.
class Daemon : public Service {
 public:
  explicit Daemon(fakes::FakeKernel& kernel, std::vector<config::Text> texts)
      : host_(kernel.host()), texts_(std::move(texts)) {}
  base::Result<model::Report> apply(const Apply& wanted, const Call& call) override {
    core::Request request = request_of("apply", call);
    if (wanted.confirm_s > 0) request.confirm = std::chrono::seconds(wanted.confirm_s);
    return core::commit(parsed(wanted.texts), request, context_);
  }
  base::Result<model::Report> reload(const Call& call) override {
    return core::commit(parsed(texts_), request_of("reload", call), context_);
  }
  base::Result<model::Report> confirm(const Call& call) override {
    return core::confirm(request_of("confirm", call), context_);
  }
  base::Result<model::Report> roll_back(std::uint64_t generation, std::uint64_t /*from*/,
                                        const Call& call) override {
    return core::roll_back(generation, request_of("rollback", call), context_);
  }
  base::Result<DaemonStatus> status() override {
    DaemonStatus status;
    status.version = "0.1";
    status.state = "idle";
    return status;
  }

 private:
  static config::Document parsed(std::vector<config::Text> texts) {
    return config::parse_texts(std::move(texts), "node1", kinds::grammar());
  }
  static core::Request request_of(const std::string& what, const Call& call) {
    return {.who = call.who, .what = what, .host_name = "node1"};
  }
  system::Host host_;
  core::Context context_{host_, {}};
  std::vector<config::Text> texts_;
};

using page::fits;
using page::words_of;

/// The host of the page and what its administrator types.
class Administrator {
 public:
  Administrator() : kernel_(fakes::FakeKernel::parse(kHost)) {
    console_.environment.host = [this](const std::filesystem::path& root) {
      auto host = std::make_shared<system::Host>((root == "/" ? *kernel_ : other_).host());
      host->offline = root != "/";
      return host;
    };
    console_.environment.service = [this]() -> std::unique_ptr<Service> {
      return daemon_ ? std::make_unique<Daemon>(*kernel_, own_document()) : nullptr;
    };
  }

  void write(const std::string& path, const std::string& text) {
    constexpr std::string_view kOther = "/mnt/rhel7";
    if (path.starts_with(kOther)) {
      other_.files.content[path.substr(kOther.size())] = text;
    } else {
      kernel_->files.content[path] = text;
    }
  }

  /// The output of a command.
  std::string type(std::string command) {
    static const std::string kStatus = "; echo $?";
    const bool asks = command.ends_with(kStatus);
    if (asks) command.resize(command.size() - kStatus.size());
    std::string out;
    int status = 0;
    if (command.starts_with("rdma-configctl ")) {
      status = run(command, out);
    } else if (!by_others(command)) {
      ADD_FAILURE() << "the test does not know what this does: " << command;
    }
    EXPECT_TRUE(asks || status == 0) << command << " ends with " << status
                                     << ", which the page does not say\n"
                                     << out;
    return asks ? out + std::to_string(status) + '\n' : out;
  }

 private:
  std::vector<config::Text> own_document() const {
    std::vector<config::Text> texts;
    const auto& files = kernel_->files.content;
    const std::string main = "/etc/rdma-configd/config.toml", more = "/etc/rdma-configd/conf.d/";
    if (const auto at = files.find(main); at != files.end()) texts.push_back({main, at->second});
    for (const auto& [path, text] : files) {
      if (path.starts_with(more) && path.ends_with(".toml")) texts.push_back({path, text});
    }
    return texts;
  }

  int run(const std::string& command, std::string& out) {
    auto words = words_of(command);
    words.erase(words.begin());
    const auto home = console_.folder().string() + "/";
    for (auto& word : words) {
      if (word.starts_with("/root/")) word = home + word.substr(6);
      if (!word.starts_with("/mnt/")) continue;
      word = home + word.substr(1);
      std::filesystem::create_directories(word);
    }
    console_.environment.document = own_document();
    const int status = console_.run(words);
    out = console_.out.str() + console_.err.str();
    const auto put = [&](const std::string& from, const std::string& to) {
      for (auto at = out.find(from); at != std::string::npos; at = out.find(from))
        out.replace(at, from.size(), to);
    };
    put(home + "mnt/", "/mnt/");
    put(home, "/root/");
    return status;
  }

  /// The actions of other programs on this page.
  bool by_others(const std::string& command) {
    if (command == "dcb pfc set dev ens1f0np0 prio-pfc 3:off") {
      kernel_->dcb.interfaces.at("ens1f0np0").pfc = 0;
    } else if (command == "systemctl restart slurmd") {
      EXPECT_TRUE(kernel_->host().units.act(system::UnitAction::kRestart, "slurmd.service"));
    } else if (command == "systemctl enable --now rdma-configd") {
      daemon_ = true;
    } else {
      return false;
    }
    return true;
  }

  Console console_;
  std::unique_ptr<fakes::FakeKernel> kernel_;
  fakes::FakeKernel other_;
  bool daemon_ = false;
};

TEST(TenTasks, WorkAsTheyAreWritten) {
  const auto path = kSource / "docs/TEN-TASKS.md";
  const bool update = std::getenv("UPDATE_GOLDEN") != nullptr;
  Administrator administrator;
  std::vector<std::string> page;
  std::istringstream stream(content(path));
  for (std::string line; std::getline(stream, line);) page.push_back(line);
  std::string written;  // the page as it should be
  std::size_t tasks = 0, commands = 0;
  std::string file, text;  // of the block that follows, or the one that this is
  for (std::size_t i = 0; i < page.size();) {
    const auto& line = page[i++];
    written += line + '\n';
    if (line.starts_with("## ")) ++tasks;
    if (line.starts_with("`/") && line.ends_with("`:")) file = line.substr(1, line.size() - 3);
    if (!line.starts_with("```")) continue;
    text.clear();
    for (; page.at(i) != "```";) {
      const auto command = page[i++];
      if (!file.empty()) {
        text += command + '\n';
        continue;
      }
      ASSERT_TRUE(command.starts_with("# ")) << path << ':' << i << ": no command: " << command;
      std::vector<std::string> expected;
      while (page.at(i) != "```" && !page[i].starts_with("# ")) expected.push_back(page[i++]);
      SCOPED_TRACE(fmt::format("{}: {}", i, command));
      ++commands;
      const auto out = administrator.type(command.substr(2));
      std::vector<std::string> lines;
      std::istringstream printed(out);
      for (std::string printed_line; std::getline(printed, printed_line);) lines.push_back(printed_line);
      const bool same = fits(expected, lines);
      EXPECT_TRUE(same || update) << "it prints\n" << out;
      written += command + '\n';
      for (const auto& printed_line : same ? expected : lines) written += printed_line + '\n';
    }
    if (!file.empty()) administrator.write(file, text);
    written += text + page[i++] + '\n';
    file.clear();
  }
  EXPECT_EQ(tasks, 10U);
  EXPECT_GE(commands, 30U);
  if (update) std::ofstream(path) << written;
}

TEST(TenTasks, AreReallyLookedAt) {
  const std::vector<std::string> lines{"one", "two 2", "three"};
  EXPECT_TRUE(fits(std::vector<std::string>{"one", "…"}, lines));
  EXPECT_TRUE(fits(std::vector<std::string>{"one", "two …", "three"}, lines));
  EXPECT_FALSE(fits(std::vector<std::string>{"one", "three"}, lines));
  EXPECT_FALSE(fits(std::vector<std::string>{"one", "two …"}, lines));
}

}  // namespace
}  // namespace rdmacfg::ctl::ten_tasks
