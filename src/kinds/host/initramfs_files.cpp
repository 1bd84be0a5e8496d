// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/initramfs_files.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/modprobe_conf.hpp"
#include "kinds/ipoib/link_name.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Desired;
using model::Observed;

std::string digest_of(const Contents& contents) {
  if (contents.empty()) return {};
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3U;
    }
    hash ^= 0xffU;
    hash *= 0x100000001b3U;
  };
  for (const auto& [path, content] : contents) {
    add(path);
    add(content);
  }
  return fmt::format("{:016x}", hash);
}

Result<std::string> digest_now(system::Files& files) {
  Contents contents;
  for (const auto path : kInitramfsFiles) {
    auto content = files.read(std::string(path));
    if (!content) return base::fail(content.error());
    if (*content) contents.emplace(path, std::move(**content));
  }
  return digest_of(contents);
}

Result<std::string> read_stamp(system::Files& files) {
  auto text = files.read(std::string(kInitramfsStamp));
  if (!text) return base::fail(text.error());
  return std::string(base::trim(text->value_or(std::string())));
}

Result<void> write_stamp(system::Files& files, std::string_view stamp) {
  if (stamp.empty()) return files.remove(std::string(kInitramfsStamp));
  return files.write(std::string(kInitramfsStamp), std::string(stamp) + "\n");
}

bool is_there(system::Files& files, std::string_view path) {
  const auto text = files.read(std::string(path));
  return text && text->has_value();
}

Contents contents_after(const std::vector<Desired>& desired, const std::vector<Observed>& observed) {
  std::map<model::Key, const Observed*> now;
  for (const auto& one : observed) now.emplace(one.key, &one);
  OptionLines modules, pfcs;
  std::optional<model::NetnsMode> netns;
  Rules rules;
  for (const auto& one : desired) {
    if (one.key.kind == "module") {
      if (const auto options = model::from_attributes<KernelModule>(one.settings).options)
        modules[one.key.id] = *options;
    } else if (one.key.kind == "pfc") {
      if (const auto priorities = model::from_attributes<PfcDriver>(one.settings).priorities)
        pfcs[one.key.id] = pfc_options(*priorities);
    } else if (one.key.kind == "rdma_system") {
      netns = model::from_attributes<RdmaSystem>(one.settings).option;
    } else if (one.key.kind == "link_name") {
      auto rule = model::from_attributes<LinkName>(one.settings).rule;
      const auto at = now.find(one.key);
      if (!rule && at != now.end()) rule = model::from_attributes<LinkName>(at->second->settings).rule;
      const auto guid = model::Guid::parse(one.key.id);
      if (rule && guid) rules[*guid] = *rule;
    }
  }
  Contents out;
  if (!modules.empty()) out.emplace(kModuleOptionsFile, render_option_lines(modules));
  if (!pfcs.empty()) out.emplace(kPfcOptionsFile, render_option_lines(pfcs));
  if (netns) out.emplace(kNetnsOptionsFile, render_netns_option(*netns));
  if (!rules.empty()) out.emplace(kRuleFile, render_rules(rules));
  return out;
}

}  // namespace rdmacfg::kinds
