// SPDX-License-Identifier: Apache-2.0
#include "ctl/document_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ctl/output_file.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::Result;

namespace {

constexpr const char* kBeginning =
    "# How the RDMA devices and IPoIB interfaces of this host should be: rdma-configd.toml(5).\n"
    "version = 1\n";

}  // namespace

Result<std::vector<config::Text>> texts_to_edit(const Context& context) {
  auto texts = load_texts(context);
  const bool none = !texts && texts.error().code == Code::kNotFound && context.arguments.config.empty();
  if (!texts && !none) return base::fail(texts.error());
  auto out = none ? std::vector<config::Text>() : std::move(*texts);
  if (!context.arguments.config.empty()) return out;
  const auto main = context.offline() ? context.arguments.root + kMainFile : std::string(kMainFile);
  const bool there = std::any_of(out.begin(), out.end(), [&](const auto& one) { return one.name == main; });
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
    return base::fail(Code::kDenied,
                      fmt::format("{} belongs to a package: a file of the same name in {} takes its place",
                                  name, kDropInFolder));
  }
  if (!context.environment.privileged)
    return base::fail(Code::kDenied, fmt::format("{}: writing it takes root: run it with sudo", name));
  return context.environment.host(context.root())->files.write(path, text);
}

}  // namespace rdmacfg::ctl
