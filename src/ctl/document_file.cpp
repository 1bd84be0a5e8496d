// SPDX-License-Identifier: Apache-2.0
#include "ctl/document_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "ctl/output_file.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::Result;

namespace {

constexpr const char* kBeginning =
    "# RDMA configuration of this host: see rdma-configd.toml(5).\n"
    "version = 1\n";

/// Not every folder can be locked: over NFS none can.
Result<std::shared_ptr<void>> lock_folder(const Context& context, const std::filesystem::path& folder) {
  auto lock = context.environment.lock_document(folder);
  if (!lock && lock.error().code != Code::kTimeout) return std::shared_ptr<void>();
  return lock;
}

}  // namespace

Result<std::vector<config::Text>> texts_to_edit(const Context& context) {
  auto texts = load_texts(context);
  const bool none = !texts && texts.error().code == Code::kNotFound && context.arguments.config.empty();
  if (!texts && !none) return base::fail(texts.error());
  auto out = none ? std::vector<config::Text>() : std::move(*texts);
  if (!context.arguments.config.empty()) return out;
  const auto main = context.offline() ? context.arguments.root + kMainFile : std::string(kMainFile);
  const bool there = std::any_of(out.begin(), out.end(), [&](const auto& text) { return text.name == main; });
  if (there) return out;
  std::vector<config::Text> all{config::Text{main, kBeginning}};
  std::move(out.begin(), out.end(), std::back_inserter(all));
  return all;
}

Result<std::vector<config::Text>> with_tables(const Context& context, std::vector<config::Text> texts) {
  config::Source source;
  source.root = context.root();
  source.host = host_name(context);
  if (!context.arguments.config.empty()) source.file = context.arguments.config.front();
  if (auto done = config::add_host_data(texts, source); !done) return base::fail(done.error());
  return texts;
}

Result<std::shared_ptr<void>> lock_document(const Context& context) {
  const auto& files = context.arguments.config;
  if (files.empty() && !context.environment.privileged) return std::shared_ptr<void>();
  if (files.empty()) return lock_installed_document(context);
  if (files.front() == config::kStandardInput) return std::shared_ptr<void>();
  std::error_code error;
  const auto file = std::filesystem::canonical(files.front(), error);
  if (error) return std::shared_ptr<void>();
  return lock_folder(context, file.parent_path());
}

Result<std::shared_ptr<void>> lock_installed_document(const Context& context) {
  if (!context.offline()) return context.environment.lock_document({});
  std::error_code error;
  const auto root = std::filesystem::canonical(context.root(), error);
  if (error) return std::shared_ptr<void>();
  // Not the root itself, which an apply to it holds.
  const auto folder = root / "etc/rdma-configd";
  return lock_folder(context, std::filesystem::is_directory(folder, error) ? folder : root);
}

Result<void> replace_document(const Context& context, const std::string& name,
                              const Result<std::optional<std::string>>& before, std::string_view text) {
  const auto lock = lock_document(context);
  if (!lock) return base::fail(lock.error());
  const auto now = context.environment.host(context.root())->files.read(name);
  if (now && before && *now != *before) {
    return base::fail(
        Code::kBusy,
        fmt::format("{} was changed by another process while you were editing; it was not overwritten",
                    name));
  }
  return write_document(context, name, text);
}

Result<void> write_document(const Context& context, const std::string& name, std::string_view text) {
  if (!context.arguments.config.empty()) {
    if (name == config::kStandardInput) {
      context.environment.out << text;
      return {};
    }
    return write_output(name, text);
  }
  auto path = name;
  if (context.offline() && path.starts_with(context.arguments.root))
    path.erase(0, context.arguments.root.size());
  if (!path.starts_with("/etc/")) {
    const auto* why = path.starts_with("/run/") ? "lasts until the next boot" : "belongs to a package";
    return base::fail(Code::kDenied, fmt::format("{} {}: a file of the same name in {} takes its place", name,
                                                 why, kDropInFolder));
  }
  if (!context.environment.privileged)
    return base::fail(Code::kDenied, fmt::format("{}: writing it requires root: run it with sudo", name));
  return context.environment.host(context.root())->files.write(path, text);
}

}  // namespace rdmacfg::ctl
