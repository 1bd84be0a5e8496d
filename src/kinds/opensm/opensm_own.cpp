// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_own.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "kinds/others_file.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Guid;

namespace {

/// The option by which a file of opensm-launch names its port.
constexpr std::string_view kGuidOption = "guid";

std::optional<Guid> port_of_conf(OpensmLayout layout, std::string_view name) {
  return layout == OpensmLayout::kRhel ? port_of_instance_conf(name) : port_of_own_conf(name);
}

/// Whether anything was changed.
Result<bool> write_instance_conf(system::Files& files, const std::string& path, Guid port,
                                 const std::map<std::string, std::string>& options) {
  const auto before = files.read(path);
  if (!before) return base::fail(before.error());
  if (options.empty()) {
    if (!*before || !is_our_opensm_file(**before)) return false;  // others' files stay
    if (auto done = files.remove(path); !done) return base::fail(done.error());
    return true;
  }
  std::vector<std::string> lines{fmt::format("{} {}", kGuidOption, opensm_guid(port))};
  for (const auto& [option, value] : options) lines.push_back(fmt::format("{} {}", option, value));
  const auto text = render_opensm_file(lines);
  if (*before == text) return false;
  if (auto mine = refuse_others_file(*before, path, may_replace_opensm_file); !mine)
    return base::fail(mine.error());
  if (auto done = files.write(path, text); !done) return base::fail(done.error());
  return true;
}

}  // namespace

std::string OpensmOwner::id() const { return port ? fmt::format("{}/{}", port->text(), option) : option; }

std::string OpensmOwner::label(std::string_view place) const {
  return port ? fmt::format("{} {} of {}", place, option, port->text()) : fmt::format("{} {}", place, option);
}

OpensmOwner OpensmOwner::of(std::string_view id) {
  const auto slash = id.find('/');
  const auto guid = slash == std::string_view::npos ? std::nullopt : [&]() -> std::optional<Guid> {
    const auto parsed = Guid::parse(id.substr(0, slash));
    return parsed ? std::optional(*parsed) : std::nullopt;
  }();
  return guid ? OpensmOwner{guid, std::string(id.substr(slash + 1))}
              : OpensmOwner{std::nullopt, std::string(id)};
}

std::string why_not_writable(system::Files& files, const std::string& path) {
  const auto text = files.read(path);
  if (!text) return text.error().message;
  if (!*text || may_replace_opensm_file(**text)) return {};
  return fmt::format("{} exists, and was not written by rdma-configd", path);
}

std::optional<Guid> port_with_own_conf(const model::Section& opensm) {
  const bool own = opensm.child("opensm.option") != nullptr || opensm.child("opensm.file") != nullptr;
  const auto* entry = own ? opensm.find("guid") : nullptr;
  if (entry == nullptr) return std::nullopt;
  const auto guid = Guid::parse(model::text_of(entry->value));
  return guid ? std::optional(*guid) : std::nullopt;
}

std::vector<model::Key> own_option_keys(const model::Section& opensm) {
  std::vector<model::Key> out;
  const auto port = port_with_own_conf(opensm);
  if (!port) return out;
  for (const auto& child : opensm.children) {
    const auto* entry = child.path == "opensm.option" ? child.find("key")
                        : child.path == "opensm.file" ? child.find("option")
                                                      : nullptr;
    if (entry != nullptr)
      out.push_back({"opensm_option", OpensmOwner{port, model::text_of(entry->value)}.id()});
  }
  return out;
}

Result<std::map<Guid, OwnConf>> observe_own_confs(system::Files& files, const std::string& folder) {
  std::map<Guid, OwnConf> out;
  const auto names = files.list(folder);
  if (!names) return base::fail(names.error());
  const auto layout = observe_opensm_layout(files);
  for (const auto& name : *names) {
    const auto port = port_of_conf(layout, name);
    if (!port) continue;
    const auto path = own_conf_path(layout, folder, *port);
    const auto text = files.read(path);
    if (!text || !*text || !is_our_opensm_file(**text)) continue;  // check() says so where it matters
    auto& conf = out[*port];
    for (const auto& line : parse_opensm_file(**text)) {
      const auto blank = line.find(' ');
      if (blank != std::string::npos)
        conf.options.insert_or_assign(line.substr(0, blank), std::string(base::trim(line.substr(blank))));
    }
    if (layout == OpensmLayout::kRhel) {
      const auto named = conf.options.extract(std::string(kGuidOption));
      conf.is_read = !named.empty() && named.mapped() == opensm_guid(*port);
      continue;
    }
    const auto drop_in = files.read(opensm_drop_in(*port));
    conf.is_read =
        drop_in && *drop_in && **drop_in == render_opensm_drop_in(parse_opensm_drop_in(**drop_in), path);
  }
  return out;
}

Result<std::string> own_conf_of(system::Files& files, Guid port) {
  const auto folder = observe_opensm_folder(files);
  if (!folder) return base::fail(folder.error());
  if (!*folder) return std::string();
  auto path = opensm_own_conf(**folder, port);
  const auto text = files.read(path);
  if (!text && !system::is_unusable(text.error())) return base::fail(text.error());
  return text && *text && is_our_opensm_file(**text) ? path : std::string();
}

std::string own_conf_path(OpensmLayout layout, const std::string& folder, Guid port) {
  return layout == OpensmLayout::kRhel ? opensm_instance_conf(folder, port) : opensm_own_conf(folder, port);
}

Result<bool> write_own_conf(system::Files& files, const std::string& folder, Guid port,
                            const std::map<std::string, std::string>& options) {
  if (observe_opensm_layout(files) == OpensmLayout::kRhel)
    return write_instance_conf(files, opensm_instance_conf(folder, port), port, options);
  std::vector<std::string> lines;
  lines.reserve(options.size());
  for (const auto& [option, value] : options) lines.push_back(fmt::format("{} {}", option, value));
  const auto path = opensm_own_conf(folder, port), drop_in = opensm_drop_in(port);
  const auto before = files.read(path), was = files.read(drop_in);
  if (!before) return base::fail(before.error());
  if (!was) return base::fail(was.error());
  const auto text = render_opensm_file(lines);
  const auto wanted =
      render_opensm_drop_in(parse_opensm_drop_in(was->value_or("")), text.empty() ? std::string() : path);
  const bool conf_differs = text != before->value_or("");
  const bool goes = text.empty() && *before && is_our_opensm_file(**before);  // others' files stay
  // A file goes after, and comes before, what has it read.
  if (conf_differs && !text.empty()) {
    if (auto mine = refuse_others_file(*before, path, may_replace_opensm_file); !mine)
      return base::fail(mine.error());
    if (auto done = files.write(path, text); !done) return base::fail(done.error());
  }
  const bool drop_in_differs = wanted != was->value_or("");
  if (drop_in_differs) {
    auto done = wanted.empty() ? files.remove(drop_in) : files.write(drop_in, wanted);
    if (!done) return base::fail(done.error());
  }
  if (goes) {
    if (auto done = files.remove(path); !done) return base::fail(done.error());
  }
  return drop_in_differs || goes || (conf_differs && !text.empty());
}

}  // namespace rdmacfg::kinds
