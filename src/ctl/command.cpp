// SPDX-License-Identifier: Apache-2.0
#include "ctl/command.hpp"

#include <algorithm>

#include "base/host_name.hpp"
#include "ctl/json.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::ctl {

void Context::say_error(std::string_view text) const {
  environment.err << "rdma-configctl: " << err.paint("error:", Style::kBad) << ' ' << clean(text, err.utf8)
                  << '\n';
}

void Context::say(std::string_view text) const {
  environment.err << "rdma-configctl: " << clean(text, err.utf8) << '\n';
}

std::string host_name(const Context& context) {
  if (!context.offline()) return context.environment.host_name;
  const auto text = context.environment.host(context.root())->files.read("/etc/hostname");
  return text && *text ? base::host_name_in(**text) : std::string();
}

base::Result<config::Document> load(const Context& context) {
  config::Source source;
  source.root = context.root();
  source.file = context.arguments.config;
  source.host = host_name(context);
  // Whether a document is right does not hang on where it is looked at.
  if (source.host.empty() && context.arguments.command == "validate") source.host = "localhost";
  auto texts = config::read_files(source);
  if (!texts) return base::fail(texts.error());
  return config::parse_texts(std::move(*texts), source.host, kinds::grammar());
}

void tell(const Context& context, const config::Document& document, const model::Diagnostics& diagnostics) {
  if (context.arguments.json || diagnostics.empty()) return;
  context.environment.err << config::render_diagnostics(document, diagnostics, context.err.colour);
}

void emit(const Context& context, const nlohmann::ordered_json& json) {
  // Names of hardware need not be UTF-8, and a program is to get its object all the same.
  context.environment.out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                          << '\n';
}

int status_of(const Context& context, model::Exit exit) {
  if (exit == model::Exit::kPartly && context.arguments.pending_ok) exit = model::Exit::kOk;
  return static_cast<int>(exit);
}

int refuse(const Context& context, const base::Error& error) {
  model::Report report;
  report.error = error;
  report.exit = model::Exit::kError;
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(report, context.arguments.command, status));
  } else {
    context.say_error(error.message);
  }
  return status;
}

model::Report report_of(const config::Document& document) {
  if (model::has_errors(document.diagnostics)) return core::validate(document);
  model::Report report;
  report.diagnostics = document.diagnostics;
  return report;
}

model::Diagnostics together(const config::Document& document, const model::Report& report) {
  auto all = document.diagnostics;
  for (const auto& one : report.diagnostics) {
    const bool known = std::any_of(
        document.diagnostics.begin(), document.diagnostics.end(),
        [&](const auto& other) { return other.where == one.where && other.message == one.message; });
    if (!known) all.push_back(one);
  }
  return all;
}

core::Options options_of(const Context& context) {
  core::Options options;
  options.retry_limited = context.arguments.retry;
  options.independent = context.arguments.boot;
  if (context.arguments.wait) {
    options.carrier_deadline =
        std::chrono::milliseconds(static_cast<std::int64_t>(*context.arguments.wait * 1000));
  }
  return options;
}

}  // namespace rdmacfg::ctl
