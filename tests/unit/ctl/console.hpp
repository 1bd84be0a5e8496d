// SPDX-License-Identifier: Apache-2.0
// rdma-configctl on a fake host, in front of a fake terminal.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ctl/render/terminal.hpp"
#include "ctl/run.hpp"
#include "fakes/fake_kernel.hpp"
#include "unit/temp_folder.hpp"

namespace rdmacfg::ctl {

inline constexpr const char* kGuid1 = "00:02:c9:03:00:31:78:f2";
inline constexpr const char* kGuid2 = "00:02:c9:03:00:31:78:f3";

class Console {
 public:
  Console() {
    std::filesystem::permissions(folder(), std::filesystem::perms(0755));  // its documents are not private
    kernel.add_device({.name = "mlx4_0", .pci = "0000:10:00.0", .node_guid = 0x0002c903003178f0})
        .ib_port({.guid = kGuid1, .interface = "ib0", .pkeys = {0xffff, 0x8002, 0x8003, 0x8004, 0x0005}})
        .ib_port({.guid = kGuid2, .interface = "ib1"});
    environment.variable = [this](const char* wanted) {
      return variables.contains(wanted) ? variables[wanted] : "";
    };
    environment.host = [this](const std::filesystem::path& root) {
      auto host = std::make_shared<system::Host>(kernel.host());
      host->offline = root != "/";
      return host;
    };
    environment.lock = [this](const auto&, const auto&) -> base::Result<std::shared_ptr<void>> {
      ++locks;
      if (lock_error) return base::fail(*lock_error);
      return std::shared_ptr<void>();
    };
    environment.hold_signals = [] { return std::shared_ptr<void>(); };
  }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// A document for --config, which run() adds.
  void document(const std::string& text) {
    document_ = folder() / "config.toml";
    std::ofstream(document_) << text;
  }

  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "rdma-configctl");
    if (!document_.empty()) words.insert(words.end(), {"--config", document_.string()});
    std::vector<const char*> argv;
    for (const auto& word : words) argv.push_back(word.c_str());
    out.str("");
    err.str("");
    return ctl::run(static_cast<int>(argv.size()), argv.data(), environment);
  }

  void terminal() { environment.in_terminal = environment.out_terminal = environment.err_terminal = true; }
  void answer(const std::string& text) {
    in.clear();
    in.str(text);
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  fakes::FakeKernel kernel;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  std::map<std::string, std::string> variables{{"LANG", "C.UTF-8"}};
  int locks = 0;
  std::optional<base::Error> lock_error;
  Environment environment{.in = in,
                          .out = out,
                          .err = err,
                          .privileged = true,
                          .host_name = "node1",
                          .variable = {},
                          .host = {},
                          .lock = {},
                          .hold_signals = {}};

 private:
  unit::TempFolder folder_;
  std::filesystem::path document_;
};

inline const std::string kRename = std::string("version = 1\n\n[[ipoib]]\nguid = \"") + kGuid1 +
                                   "\"\nname = \"mlx4_ib0\"\nmode = \"connected\"\nmtu = 65520\n";

}  // namespace rdmacfg::ctl
