// SPDX-License-Identifier: Apache-2.0
#include "catalog/file_integrity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "formats/limits_conf.hpp"
#include "formats/modprobe_conf.hpp"
#include "formats/modules_load.hpp"
#include "formats/sysctl_conf.hpp"
#include "formats/udev_netdev_names.hpp"
#include "formats/udev_rdma_names.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/networkd_file.hpp"
#include "kinds/address/nm_keyfile.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;

namespace {

constexpr std::string_view kFileKind = "file";
constexpr std::size_t kMostLines = 6;
constexpr std::size_t kLongest = 400;

/// A file that holds what its kind reads from it, and nothing else.
struct Whole {
  std::string_view path;
  std::string (*rendered)(std::string_view text);  ///< from what is read of the text; empty: no file
};

std::string without_comments(std::string_view text) {
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    if (!base::trim(line).starts_with('#')) out += fmt::format("{}\n", line);
  }
  return out;
}

std::string rendered_options(std::string_view text) {
  const auto lines = parse_option_lines(text);
  auto rendered = lines.empty() ? std::string() : render_option_lines(lines);
  return without_comments(rendered) == without_comments(text) ? std::string(text) : rendered;
}

/// Whose lines are seen by their kind; here only who may write the file.
std::string as_it_is(std::string_view text) { return std::string(text); }

constexpr std::array kWhole{
    Whole{kRuleFile,
          [](std::string_view text) {
            const auto rules = parse_rules(text);
            return rules.empty() ? std::string() : render_rules(rules);
          }},
    Whole{kDeviceRuleFile,
          [](std::string_view text) {
            const auto rules = parse_device_rules(text);
            return rules.empty() ? std::string() : render_device_rules(rules);
          }},
    Whole{kBackendRules,
          [](std::string_view text) {
            const auto rules = parse_backend_lines(text);
            return rules.empty() ? std::string() : render_backend_rules(rules);
          }},
    Whole{kModuleOptionsFile, rendered_options},
    Whole{kPfcOptionsFile, rendered_options},
    Whole{kNetnsOptionsFile, as_it_is},
    Whole{kModulesLoadFile, as_it_is},
    Whole{kRdmaModulesFile, as_it_is},
    Whole{kSysctlFile, as_it_is},
    Whole{kLimitsFile, as_it_is},
};

const Whole* whole_of(std::string_view path) {
  const auto at =
      std::find_if(kWhole.begin(), kWhole.end(), [&](const auto& one) { return one.path == path; });
  return at == kWhole.end() ? nullptr : &*at;
}

/// Others may have lines in a profile, which stay.
bool is_profile(std::string_view path) { return path.starts_with(kNmFolder); }
bool is_rule(std::string_view path) { return path.ends_with(".rules"); }

/// Control characters would reach a terminal, and invalid UTF-8 would reach JSON.
std::string printable(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, kLongest)) out += c >= ' ' && c <= '~' ? c : '?';
  return line.size() > kLongest ? out + "..." : out;
}

Result<void> write(const std::string& path, const std::string& text, system::Files& files) {
  if (is_profile(path)) return files.write_private(path, text);
  return text.empty() ? files.remove(path) : files.write(path, text);
}

class OwnFileKind final : public Kind {
 public:
  OwnFileKind()
      : Kind({.name = kFileKind,
              .fields = model::specs<OwnFile>(),
              .traits = {.works_offline = true, .only_mends = true, .listed_when_foreign = false}}) {}

  void parse(const Bound& /*bound*/, std::vector<Desired>& /*out*/,
             Diagnostics& /*diagnostics*/) const override {}

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& files = world.host().files;
    std::vector<Observed> out;
    const auto add = [&](const std::string& path, std::vector<std::string> edited, bool is_private) {
      OwnFile now;
      if (!edited.empty()) now.edited = std::move(edited);
      if (auto access = files.odd_access(path, is_private); !access.empty()) now.access = std::move(access);
      Observed observed;
      observed.key = {std::string(kFileKind), path};
      observed.label = path;
      observed.settings = model::to_attributes(now);
      out.push_back(std::move(observed));
    };
    for (const auto& one : kWhole) {
      const std::string path(one.path);
      const auto text = files.read(path);
      if (!text) return base::fail(text.error());
      if (*text) add(path, edits(**text, one.rendered(**text)), false);
    }
    const auto profiles = files.list(std::string(kNmFolder));
    if (!profiles) return base::fail(profiles.error());
    for (const auto& name : *profiles) {
      if (nm_id(name)) add(fmt::format("{}/{}", kNmFolder, name), {}, true);
    }
    const auto networks = files.list(std::string(kNetworkdFolder));
    if (!networks) return base::fail(networks.error());
    for (const auto& name : *networks) {
      if (networkd_id(name)) add(fmt::format("{}/{}", kNetworkdFolder, name), {}, false);
    }
    return out;
  }

  /// Nobody has to ask for it.
  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& /*world*/,
             Diagnostics& /*diagnostics*/) const override {
    for (const auto& one : observed) {
      if (one.key.kind != kFileKind || one.settings.empty()) continue;
      Desired mended;
      mended.key = one.key;
      mended.label = one.label;
      mended.where.file = one.key.id;
      for (const auto& [field, value] : one.settings) mended.settings[field] = model::Value{};
      desired.push_back(std::move(mended));
    }
  }

  /// An undone apply brings back what was in the file, whoever wrote it.
  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      if (!change->before.contains("edited")) continue;
      const auto text = world.host().files.read(change->key.id);
      if (!text) return base::fail(text.error());
      if (*text) change->carried = {**text};
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto& path = change.key.id;
      const auto text = host.files.read(path);
      if (!text) return base::fail(text.error());
      const bool back = change.after.contains("edited") &&
                        model::value_of(change.after, "edited") != model::Value{} && !change.carried.empty();
      if (!*text && !back) continue;
      const auto* whole = whole_of(path);
      const auto wanted = back ? change.carried.front() : whole == nullptr ? **text : whole->rendered(**text);
      if (*text == wanted && host.files.odd_access(path, is_profile(path)).empty()) continue;
      if (auto done = write(path, wanted, host.files); !done) return done;
      if (auto done = tell(path, host); !done) return done;
    }
    return {};
  }

  /// A killed run may have written a file without recording it.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      if (auto done = tell(change.key.id, host); !done) return done;
    }
    return {};
  }

  /// Undoing gives nobody rights back that he is not to have.
  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& /*differing*/, World& /*world*/) const override {
    if (model::text_at(desired.settings, "access").empty()) return {};
    return {Verdict::Sort::kLimited, "it stays as it is written", {"access"}, {}};
  }

  [[nodiscard]] bool returns(std::string_view /*field*/, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return false;
  }

 private:
  static Result<void> tell(const std::string& path, system::Host& host) {
    if (host.offline) return {};
    if (is_profile(path)) {
      // It passes over a profile that others may read.
      if (const auto state = host.network_manager.observe(); state && *state)
        (void)host.network_manager.load({&path, 1});
      return {};
    }
    if (path == kBackendRules) return tell_backends(host);
    if (is_rule(path)) (void)host.udev.reload_rules();  // only makes sooner what udevd does by itself
    return {};
  }
};

}  // namespace

std::vector<std::string> edits(std::string_view text, std::string_view should) {
  if (text == should) return {};
  std::vector<std::string> out;
  const auto list = [&](char sign, std::string_view of, std::string_view without) {
    std::multiset<std::string_view> known;
    for (const auto line : base::split(without, '\n')) known.insert(base::trim(line));
    for (const auto whole : base::split(of, '\n')) {
      const auto line = base::trim(whole);
      if (const auto at = known.find(line); at != known.end()) {
        known.erase(at);
      } else if (!line.empty()) {
        out.push_back(fmt::format("{} {}", sign, printable(line)));
      }
    }
  };
  list('+', text, should);
  list('-', should, text);
  if (out.empty()) out.emplace_back("blanks, ends of lines, or the order of lines");
  if (out.size() > kMostLines) {
    const auto rest = out.size() - kMostLines;
    out.resize(kMostLines);
    out.push_back(fmt::format("and {} more", rest));
  }
  return out;
}

const Kind& own_file() {
  static const OwnFileKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
