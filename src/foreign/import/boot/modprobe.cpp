// SPDX-License-Identifier: Apache-2.0
// modprobe.d(5) and modules-load.d(5), as far as they are about RDMA.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/rdma/lustre.hpp"
#include "foreign/syntax/kernel_words.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::foreign {

namespace {

std::string underscored(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

/// Lines, with those that end in a backslash joined.
template <class Each>
void each_line(const File& file, Each each) {
  int number = 0, first = 0;
  std::string joined;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    if (joined.empty()) first = number;
    const auto line = base::trim(raw);
    if (line.ends_with('\\')) {
      joined += std::string(line.substr(0, line.size() - 1)) + ' ';
      continue;
    }
    joined += line;
    const auto words = words_of(joined);
    if (!words.empty() && !words.front().starts_with('#') && !words.front().starts_with(';'))
      each(Place{file.path, first}, words, joined);
    joined.clear();
  }
}

class Options {
 public:
  explicit Options(Claims& claims) : claims_(claims) {}

  void line(const Place& where, const std::vector<std::string_view>& words, std::string_view line) {
    if (is_rdma_module(words.front())) {
      claims_.miss(where, fmt::format("{}: is not a command of modprobe.d(5), so modprobe ignores the line; "
                                      "lists of modules belong to modules-load.d",
                                      words.front()));
      return;
    }
    if (words.size() < 2) return;
    const auto module = underscored(words[1]);
    if (tell_kept(where, words)) return;
    if (words.front() == "options" && tell_lnet_options(where, module, line, claims_)) return;
    if (!is_rdma_module(module)) return by_another(where, words);
    if (words.front() != "options") {
      claims_.miss(where, fmt::format("{} {}: cannot be expressed in the document; leave it in its file",
                                      words.front(), module));
      return;
    }
    claims_.took(where);
    std::vector<std::string> options;
    const auto written = kernel_words(line);
    for (std::size_t at = 2; at < written.size(); ++at) {
      const auto& word = written[at];
      const auto equals = word.find('=');
      const auto name = underscored(word.substr(0, equals));
      // One that the document refuses would take the others of its module with it.
      const auto option = model::ModuleOption::parse(word);
      const auto known = !claims_.has_option || equals == std::string::npos ||
                         claims_.has_option(module, name).value_or(true);
      if (!known) {
        claims_.miss(where, fmt::format("{} {}: the driver of this kernel has no such option; it is left out",
                                        module, name));
      } else if (equals == std::string::npos) {
        claims_.miss(where, fmt::format("{} {}: has no value", module, name));
      } else if (module == "mlx4_en" && (name == "pfctx" || name == "pfcrx")) {
        pfc(where, name, std::string_view(word).substr(equals + 1));
      } else if (!option) {
        claims_.miss(where, fmt::format("{}: {}", module, option.error().message));
      } else {
        options.push_back(option->text());
      }
    }
    if (options.empty()) return;
    auto& entry = claims_.entry("module", {{"name", module}}, where);
    // An entry that something else has made already is loaded; this file alone loads nothing.
    if (!entry.values.contains("options")) {
      if (entry.where == where) entry.values["load"] = false;
      entry.values["options"] = std::vector<std::string>{};
    }
    auto& list = options_[module];
    std::move(options.begin(), options.end(), std::back_inserter(list));
  }

  void finish() {
    for (auto& [module, list] : options_) {
      // modprobe hands on all of them, and the kernel takes the last of each name.
      std::set<std::string> seen;
      std::reverse(list.begin(), list.end());
      std::erase_if(list, [&](const std::string& option) {
        return !seen.insert(option.substr(0, option.find('='))).second;
      });
      std::reverse(list.begin(), list.end());
      claims_.entry("module", model::Attributes{{"name", model::Value(module)}}, Place{}).values["options"] =
          std::move(list);
    }
    if (!tx_ && !rx_) return;
    if (tx_ != rx_) {
      claims_.miss(where_, "pfctx and pfcrx differ; the document supports one list of priorities for both");
      return;
    }
    std::vector<std::string> priorities;
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((*tx_ >> bit & 1U) != 0) priorities.push_back(std::to_string(bit));
    }
    claims_.entry("pfc", {{"driver", std::string("mlx4_en")}}, where_).values["priorities"] = priorities;
  }

 private:
  /// Lines that stay in force, or name another file. @return whether it is such a line
  bool tell_kept(const Place& where, const std::vector<std::string_view>& words) {
    if (words.front() == "include") {
      claims_.pass(where,
                   fmt::format("include {0}: kmod ignores this line, module-init-tools reads that file; "
                               "to take it over, run `rdma-configctl import modprobe {0}`",
                               words[1]));
      return true;
    }
    if (words.front() != "options" || words[1] != "sunrpc") return false;
    claims_.pass(where, "options sunrpc: NFS uses them over every transport; keep this line");
    return true;
  }

  /// Commands for another module, or for a name, by which modprobe loads one of RDMA.
  void by_another(const Place& where, const std::vector<std::string_view>& words) {
    const auto command = words.front();
    if (command != "alias" && command != "softdep" && command != "weakdep" && command != "install") return;
    const auto at = std::find_if(words.begin() + 2, words.end(),
                                 [](std::string_view word) { return is_rdma_module(word); });
    if (at == words.end()) return;
    const auto loaded = at->substr(0, at->find_first_of(";&|)"));  // of a shell's command
    claims_.pass(where,
                 fmt::format("{} {}: loads {}; keep this line", command, words[1], underscored(loaded)));
  }

  void pfc(const Place& where, const std::string& name, std::string_view value) {
    const auto mask = base::c_number(value);
    if (!mask || *mask > 0xff) {
      claims_.miss(where, fmt::format("mlx4_en {}={}: not a mask of 8 priorities", name, value));
      return;
    }
    (name == "pfctx" ? tx_ : rx_) = static_cast<unsigned>(*mask);
    where_ = where;
  }

  Claims& claims_;
  std::map<std::string, std::vector<std::string>> options_;  ///< by module, in their order
  std::optional<unsigned> tx_, rx_;
  Place where_;
};

/// A file of modules to load, one a line.
bool is_list(const File& file) {
  return file.path.find("/modules-load.d/") != std::string::npos ||
         file.path.find("/rdma/modules/") != std::string::npos || file.path.ends_with("/modules");
}

/// A list of rdma-core's, which rdma-load-modules@.service reads when the hardware appears.
bool is_of_rdma_core(const File& file) { return file.path.find("/rdma/modules/") != std::string::npos; }

/// Modules of the lists that rdma-core ships (kernel-boot/modules): they are loaded without a word of the
/// administrator's, and its packages keep these lines.
struct ShippedList {
  std::string_view name;
  std::array<std::string_view, 5> modules;
};
constexpr auto kShippedLists = std::to_array<ShippedList>({
    {"infiniband.conf", {"ib_ipoib", "ib_umad"}},
    {"opa.conf", {"ib_ipoib", "ib_umad", "opa_vnic"}},
    {"rdma.conf", {"ib_iser", "ib_uverbs", "rdma_ucm", "xprtrdma", "svcrdma"}},
});

bool is_shipped(const File& file, std::string_view module) {
  if (!is_of_rdma_core(file)) return false;
  const auto name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
  return std::any_of(kShippedLists.begin(), kShippedLists.end(), [&](const ShippedList& list) {
    return list.name == name &&
           std::find(list.modules.begin(), list.modules.end(), module) != list.modules.end();
  });
}

/// Lists in which options stand behind the module: initramfs-tools hands both to modprobe.
bool takes_options(const File& file) { return file.path.ends_with("/initramfs-tools/modules"); }

}  // namespace

bool is_rdma_module(std::string_view name) {
  const auto module = underscored(name);
  for (const auto* prefix :
       {"mlx4_",    "mlx5_",   "ib_",        "rdma_",  "iw_",       "hfi1",        "qib",
        "qedr",     "bnxt_re", "irdma",      "i40iw",  "ocrdma",    "usnic_verbs", "vmw_pvrdma",
        "hns_roce", "erdma",   "efa",        "siw",    "rpcrdma",   "xprtrdma",    "svcrdma",
        "rds",      "mana_ib", "opa_vnic",   "mthca",  "nvme_rdma", "nvmet_rdma",  "rdmavt",
        "rtrs_",    "rnbd_",   "ionic_rdma", "bng_re", "9pnet_rdma"}) {
    if (module.starts_with(prefix)) return true;
  }
  return module == "smc" || module == "smc_diag";
}

std::string loaded_for(std::string module) {
  return module == "xprtrdma" || module == "svcrdma" ? std::string("rpcrdma") : std::move(module);
}

void parse_modprobe(std::span<const File> files, Claims& claims) {
  Options options(claims);
  for (const auto& file : files) {
    if (!is_list(file)) continue;
    std::size_t shipped = 0;
    each_line(file, [&](const Place& where, const std::vector<std::string_view>& words,
                        std::string_view line) {
      const auto written = underscored(words.front());
      if (!is_rdma_module(written)) return;
      if (words.size() > 1 && !takes_options(file))
        return claims.miss(where, fmt::format("{}: systemd-modules-load reads the whole line as a name and "
                                              "loads nothing; options belong to modprobe.d, comments into "
                                              "lines of their own",
                                              line));
      claims.took(where);
      if (is_shipped(file, written)) {
        ++shipped;
        return;
      }
      const auto module = loaded_for(written);
      claims.entry("module", {{"name", module}}, where);
      if (words.size() < 2 || words[1].starts_with('#')) return;
      const auto whole = fmt::format("options {}", line);
      options.line(where, words_of(whole), whole);
      claims.entry("module", {{"name", module}}, where).values.erase("load");
    });
    if (shipped > 0)
      claims.pass({file.path, 0},
                  fmt::format("{} {} of rdma-core's own list {} in that file", shipped,
                              shipped == 1 ? "module" : "modules", shipped == 1 ? "stays" : "stay"));
  }
  for (const auto& file : files) {
    if (is_list(file)) continue;
    each_line(file, [&](const Place& where, const auto& words, std::string_view line) {
      options.line(where, words, line);
    });
  }
  options.finish();
}

}  // namespace rdmacfg::foreign
