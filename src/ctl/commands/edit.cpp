// SPDX-License-Identifier: Apache-2.0
// edit: the document in an editor, checked before it takes the place of the old one.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

#include "base/text.hpp"
#include "ctl/changing.hpp"
#include "ctl/document_file.hpp"
#include "ctl/output_file.hpp"
#include "ctl/render/render_report.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::Result;

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kConfirm = 60;  ///< seconds

/// A folder of our own, which goes with this; nothing may guess its name.
class EditFolder {
 public:
  EditFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "rdma-configctl-XXXXXX").string();
    if (!error && ::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~EditFolder() {
    std::error_code ignored;
    if (!kept_ && !folder_.empty()) fs::remove_all(folder_, ignored);
  }
  EditFolder(const EditFolder&) = delete;
  EditFolder& operator=(const EditFolder&) = delete;
  [[nodiscard]] bool there() const { return !folder_.empty(); }
  [[nodiscard]] fs::path file() const { return folder_ / "config.toml"; }
  void keep() { kept_ = true; }

 private:
  fs::path folder_;
  bool kept_ = false;
};

Result<std::string> read_back(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return base::fail(Code::kIo, fmt::format("{}: cannot be read", file.string()));
  return text.str();
}

/// The meaning of an empty answer.
enum class Otherwise { kNo, kYes };

bool says_yes(const Context& context, const std::string& question, Otherwise otherwise) {
  context.environment.err << context.err.paint(fmt::format("{} [{}] ", question,
                                                           otherwise == Otherwise::kYes ? "Y/n" : "y/N"),
                                               Style::kBold)
                          << std::flush;
  std::string answer;
  if (!std::getline(context.environment.in, answer)) {
    context.environment.err << '\n';
    return false;
  }
  answer = base::lower(base::trim(answer));
  return answer.empty() ? otherwise == Otherwise::kYes : answer == "y" || answer == "yes";
}

/// The text of the file that is edited among all of them; adds it where it is not there yet.
Result<config::Text*> find_text(std::vector<config::Text>& texts, const std::string& name) {
  const auto at =
      std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.name == name; });
  if (at != texts.end()) return &*at;
  if (!name.starts_with(kDropInFolder) || !name.ends_with(".toml")) {
    return base::fail(Code::kInvalid, fmt::format("{} is not a file of the document: {} is, and {}NAME.toml",
                                                  name, kMainFile, kDropInFolder));
  }
  texts.push_back({name, "version = 1\n"});
  return &texts.back();
}

std::optional<base::Error> misplaced_edit(const Context& context) {
  if (context.offline())
    return base::Error{Code::kInvalid, "edit cannot be combined with --root: edit the file there itself", 0};
  if (!context.arguments.config.empty())
    return base::Error{Code::kInvalid, "edit takes the file without -f: rdma-configctl edit FILE", 0};
  if (context.arguments.json || !context.environment.in_terminal || !context.environment.err_terminal)
    return base::Error{Code::kInvalid,
                       "edit needs a terminal; `rdma-configctl set` changes single values without one", 0};
  if (!context.environment.privileged)
    return base::Error{Code::kDenied, "edit writes below /etc, which requires root: run it with sudo", 0};
  return std::nullopt;
}

/// The file that is edited, and the text that is to take its place.
struct Draft {
  const std::string& name;
  config::Text& text;
  base::Result<std::optional<std::string>> before;  ///< the file as it was when the editor was opened
  bool edited = false;
  EditFolder folder{};

  /// The text is kept, and its place is said.
  int refused(const Context& context, const base::Error& error) {
    if (!edited) return refuse(context, error);
    folder.keep();
    return refuse(context, error.in(fmt::format("your text is kept in {}", folder.file().string())));
  }
};

/// Writes what was edited, and applies it. @return the exit status
int write_and_apply(const Context& context, system::Host& host, Draft& draft,
                    const config::Document& document, const model::Report& report) {
  context.environment.out << render_diff(report, context.out) << std::flush;
  warn_of_session(context, host, report);
  const auto& name = draft.name;
  const auto question =
      report.plan.empty() ? fmt::format("Write {}?", name) : fmt::format("Write {} and apply it?", name);
  if (!context.arguments.yes && !says_yes(context, question, Otherwise::kNo)) {
    draft.folder.keep();
    context.say(fmt::format("nothing was changed; your text is kept in {}", draft.folder.file().string()));
    return static_cast<int>(model::Exit::kError);
  }
  if (auto done = replace_document(context, name, draft.before, draft.text.text); !done)
    return draft.refused(context, done.error());
  Context applying{context.environment, context.arguments, context.out, context.err};
  applying.arguments.command = "apply";
  applying.arguments.words.clear();
  if (!report.plan.empty()) applying.arguments.confirm = context.arguments.confirm.value_or(kConfirm);
  const auto service = service_for(applying);
  return apply_agreed(applying, document, host, service.get(), &report);
}

}  // namespace

int edit(const Context& context) {
  if (const auto error = misplaced_edit(context)) return refuse(context, *error);
  const auto name =
      context.arguments.words.empty() ? std::string(kMainFile) : context.arguments.words.front();
  const auto host = context.environment.host("/");
  // First: a text that is newer than this is noticed when it is written, an older one would not be.
  auto before = host->files.read(name);
  auto texts = texts_to_edit(context);
  if (!texts) return refuse(context, texts.error());
  const auto found = find_text(*texts, name);
  if (!found) return refuse(context, found.error());
  Draft draft{.name = name, .text = **found, .before = std::move(before)};
  const auto& folder = draft.folder;
  if (!folder.there()) return refuse(context, {Code::kIo, "a temporary directory could not be created", 0});
  if (auto done = write_output(folder.file(), draft.text.text); !done) return refuse(context, done.error());
  for (;;) {
    const auto ended = context.environment.edit(folder.file());
    if (!ended) return draft.refused(context, ended.error());
    if (*ended != 0) {
      return draft.refused(
          context,
          {Code::kRefused, fmt::format("the editor exited with status {}; nothing was changed", *ended), 0});
    }
    draft.edited = true;
    auto written = read_back(folder.file());
    if (!written) return draft.refused(context, written.error());
    if (draft.before && *draft.before && **draft.before == *written) {
      context.say("nothing was changed");
      return 0;
    }
    draft.text.text = std::move(*written);
    auto all = with_tables(context, *texts);
    if (!all) return draft.refused(context, all.error());
    const auto document = parse_document(std::move(*all), host_name(context));
    auto report = core::validate(document);
    if (report.exit != model::Exit::kError) {
      report = core::diff(document, *host, options_of(context));
      report.diagnostics = together(document, report);
    }
    tell(context, document, report.diagnostics);
    if (report.error) return draft.refused(context, *report.error);
    if (report.exit != model::Exit::kError) return write_and_apply(context, *host, draft, document, report);
    if (!says_yes(context, "The document has errors. Edit it again?", Otherwise::kYes)) {
      draft.folder.keep();
      context.say(fmt::format("{} was not changed; your text is kept in {}", name, folder.file().string()));
      return static_cast<int>(model::Exit::kError);
    }
  }
}

}  // namespace rdmacfg::ctl
