// SPDX-License-Identifier: Apache-2.0
#include "ctl/command.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/characters.hpp"
#include "base/host_name.hpp"
#include "catalog/all.hpp"
#include "core/guards/plausibility.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"

namespace rdmacfg::ctl {

namespace {

/// With the root in front of the paths of system files that say nothing of it: else who reads the text would
/// look at, or mend, the file of the host that the image is built on.
std::string below(const std::string& root, std::string_view text) {
  constexpr std::array<std::string_view, 5> kFolders{"/etc/", "/run/", "/usr/lib/", "/lib/", "/var/lib/"};
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto rest = text.substr(at);
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool starts =
        std::string_view(" \t\n\"'(=:,[").find(before) != std::string_view::npos &&
        std::any_of(kFolders.begin(), kFolders.end(), [&](auto folder) { return rest.starts_with(folder); });
    if (starts && !rest.starts_with(root + '/')) out += root;
    out += text[at];
  }
  return out;
}

enum class TextFor { kPeople, kPrograms };

/// The same of every text for people in an object. `reader`: of `json`, where that is a text.
void put_below(const std::string& root, nlohmann::ordered_json& json, TextFor reader) {
  constexpr std::array<std::string_view, 6> kWords{"message", "hint", "note", "notes", "reason", "warnings"};
  if (json.is_string() && reader == TextFor::kPeople) {
    json = below(root, json.get_ref<const std::string&>());
  } else if (json.is_array()) {
    for (auto& element : json) put_below(root, element, reader);
  } else if (json.is_object()) {
    for (auto& [key, value] : json.items()) {
      const bool words = std::find(kWords.begin(), kWords.end(), key) != kWords.end();
      put_below(root, value, words ? TextFor::kPeople : TextFor::kPrograms);
    }
  }
}

}  // namespace

std::string Context::placed(std::string_view text) const {
  return offline() ? below(arguments.root, text) : std::string(text);
}

void Context::say_error(std::string_view text) const {
  environment.err << "rdma-configctl: " << err.paint("error:", Style::kBad) << ' '
                  << clean(placed(text), err.utf8) << '\n';
}

void Context::say(std::string_view text) const {
  if (arguments.quiet) return;
  environment.err << "rdma-configctl: " << clean(placed(text), err.utf8) << '\n';
}

void Context::say(std::string_view text, std::string_view quoted) const {
  if (arguments.quiet) return;
  environment.err << "rdma-configctl: " << clean(placed(text), err.utf8) << clean(quoted, err.utf8) << '\n';
}

void Context::say_open(const model::Report& report) const {
  if (!arguments.quiet || report.error || status_of(*this, report) != static_cast<int>(model::Exit::kPartly))
    return;
  const auto& selected = arguments.apply.selected;
  const auto open = summarize_open(report, selected ? &*selected : nullptr);
  if (!open.empty()) environment.err << "rdma-configctl: " << clean(placed(open), err.utf8) << '\n';
}

std::string host_name(const Context& context) {
  if (!context.arguments.seen_by.empty()) return context.arguments.seen_by;
  if (!context.offline()) return context.environment.host_name;
  const auto text = context.environment.host(context.root())->files.read("/etc/hostname");
  return text && *text ? base::host_name_in(**text) : std::string();
}

config::Document parse_document(std::vector<config::Text> texts, const std::string& host) {
  auto document = config::parse_texts(std::move(texts), host, kinds::grammar());
  core::require_version(document);
  core::warn_of_implausible(document);
  return document;
}

base::Result<config::Document> load(const Context& context) {
  auto host = host_name(context);
  // Whether a document is right does not hang on where it is looked at.
  if (host.empty() && context.arguments.command == "validate") host = "localhost";
  auto texts = load_texts(context);
  if (!texts) return base::fail(texts.error());
  auto document = parse_document(std::move(*texts), host);
  if (context.arguments.apply.boot) config::require_trusted_files(document);
  return document;
}

base::Result<std::vector<config::Text>> load_texts(const Context& context, ValueTables tables) {
  if (const auto& document = context.environment.document; document && context.arguments.config.empty()) {
    if (document->empty()) return base::fail(base::Code::kNotFound, "the host has no document");
    return *document;
  }
  config::Source source;
  source.root = context.root();
  source.host = host_name(context);
  source.every_host = tables == ValueTables::kWhole;
  if (context.arguments.config.empty()) return config::read_files(source);
  const auto& named = context.arguments.config;
  if (std::count(named.begin(), named.end(), "-") > 1)
    return base::fail(base::Code::kInvalid, "--config -: standard input can be read only once");
  std::vector<config::Text> texts;
  for (const auto& file : named) {
    source.file = file;
    auto read = config::read_files(source);
    if (!read) return base::fail(read.error());
    std::move(read->begin(), read->end(), std::back_inserter(texts));
  }
  return texts;
}

void tell(const Context& context, const config::Document& document, const model::Diagnostics& diagnostics) {
  if (context.arguments.json || diagnostics.empty()) return;
  auto shown = diagnostics;
  for (auto& diagnostic : shown) {
    diagnostic.message = context.placed(diagnostic.message);
    diagnostic.hint = context.placed(diagnostic.hint);
  }
  const auto colouring = context.err.colour ? config::Colouring::kAnsi : config::Colouring::kNone;
  context.environment.err << config::render_diagnostics(document, shown, colouring);
}

void emit(const Context& context, nlohmann::ordered_json json) {
  if (context.offline()) put_below(context.arguments.root, json, TextFor::kPrograms);
  // Names of hardware need not be UTF-8, and a program is to get its object all the same.
  const auto text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  context.environment.out << base::harmless_json(text) << '\n';
}

int status_of(const Context& context, model::Exit exit) {
  if (exit == model::Exit::kPartly && context.arguments.pending_ok) exit = model::Exit::kOk;
  return static_cast<int>(exit);
}

int status_of(const Context& context, const model::Report& report) {
  // An unmet expectation does not wait for anything: only a person makes it right.
  if (report.exit == model::Exit::kPartly && model::has_status(report, model::Status::kUnmet))
    return static_cast<int>(report.exit);
  return status_of(context, report.exit);
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

model::Report placed(const Context& context, model::Report report) {
  if (!context.offline()) return report;
  for (auto& resource : report.resources) {
    resource.reason = context.placed(resource.reason);
    for (auto& warning : resource.warnings) warning = context.placed(warning);
  }
  for (auto& note : report.notes) note.text = context.placed(note.text);
  return report;
}

model::Diagnostics together(const config::Document& document, const model::Report& report) {
  model::Diagnostics all;
  std::copy_if(document.diagnostics.begin(), document.diagnostics.end(), std::back_inserter(all),
               [&](const auto& diagnostic) {
                 // The report has counted the resources that it counts as too many.
                 if (document.not_shown > 0 && &diagnostic == &document.diagnostics.back()) return false;
                 return std::none_of(
                     report.diagnostics.begin(), report.diagnostics.end(), [&](const auto& other) {
                       return other.where == diagnostic.where && other.message == diagnostic.message;
                     });
               });
  all.insert(all.end(), report.diagnostics.begin(), report.diagnostics.end());
  return all;
}

core::Options options_of(const Context& context) {
  core::Options options;
  options.only = context.arguments.apply.selected;
  options.retry_limited = context.arguments.apply.retry;
  options.independent = context.arguments.apply.boot;
  const auto& arguments = context.arguments;
  // A person who is asked has seen the plan, and an unconfirmed apply comes back by itself.
  if (arguments.apply.boot) options.guard_removal = core::RemovalGuard::kMost;
  if (arguments.command == "apply" && arguments.yes && !arguments.confirm && !context.offline())
    options.guard_removal = core::RemovalGuard::kLifelines;
  if (arguments.apply.allow_removal) options.guard_removal = core::RemovalGuard::kNone;
  if (context.arguments.apply.wait) {
    options.carrier_deadline =
        std::chrono::milliseconds(static_cast<std::int64_t>(*context.arguments.apply.wait * 1000));
  }
  return options;
}

}  // namespace rdmacfg::ctl
