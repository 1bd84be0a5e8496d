// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/render_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "ctl/render/blocks.hpp"
#include "ctl/render/render_blocks.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl {

using model::Operation;
using model::Report;
using model::Status;

namespace {

/// Adds the warnings of `report` to `said` and renders those that are new there.
std::string render_warnings(const Report& report, const Terminal& terminal, std::set<std::string>& said) {
  std::string out;
  for (const auto& resource : report.resources) {
    for (const auto& warning : resource.warnings) {
      const auto text = resource.label + ": " + warning;
      if (said.insert(text).second) out += hanging_paragraph("warning", Style::kNotice, text, terminal, 0);
    }
  }
  return out;
}

std::string warnings_of(const Report& report, const Terminal& terminal) {
  std::set<std::string> said;
  return render_warnings(report, terminal, said);
}

std::string rest_of(const Tally& tally) {
  std::string out;
  if (tally.unmet > 0) out += fmt::format(", {} unmet", tally.unmet);
  if (tally.pending > 0) out += fmt::format(", {} pending", tally.pending);
  if (tally.limited > 0) out += fmt::format(", {} limited", tally.limited);
  if (tally.failed > 0) out += fmt::format(", {} failed", tally.failed);
  return out;
}

std::string as_wanted(const Tally& tally) {
  const auto number = static_cast<std::size_t>(tally.in_sync);
  return fmt::format("{} {} the document", count(number, "resource"), number == 1 ? "matches" : "match");
}

std::string separated(std::initializer_list<std::string> parts) {
  std::string out;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += '\n';
    out += part;
  }
  return out;
}

std::string nothing_to_do(const Report& report) {
  const auto tally = tally_of(report.resources);
  const auto rest = rest_of(tally);
  if (tally.in_sync == 0 && rest.empty())
    return "Nothing to do: the document configures nothing on this host.\n";
  return fmt::format("Nothing to do{}: {}{}.\n", rest.empty() ? "" : " now", as_wanted(tally), rest);
}

}  // namespace

Style style_of(Status status) {
  switch (status) {
    case Status::kInSync:
    case Status::kDone:
      return Style::kGood;
    case Status::kDiffers:
    case Status::kLimited:
    case Status::kPending:
    case Status::kReleased:
      return Style::kNotice;
    case Status::kUnmet:
    case Status::kFailed:
      return Style::kBad;
    case Status::kForeign:
    case Status::kIgnored:
      return Style::kDim;
  }
  return Style::kPlain;
}

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string count_changes(const Report& report) {
  std::size_t create = 0;
  std::size_t update = 0;
  std::size_t remove = 0;
  for (const auto& block : blocks_of(report)) {
    ++(block.operation == Operation::kCreate   ? create
       : block.operation == Operation::kDelete ? remove
                                               : update);
  }
  return fmt::format("Plan: {} to create, {} to change, {} to delete", create, update, remove);
}

namespace {

/// "1 created, 2 changed, 0 deleted".
std::string sum_of(const Report& report) {
  std::size_t create = 0, update = 0, remove = 0;
  for (const auto& block : blocks_of(report)) {
    ++(block.operation == Operation::kCreate   ? create
       : block.operation == Operation::kDelete ? remove
                                               : update);
  }
  return fmt::format("{} created, {} changed, {} deleted", create, update, remove);
}

}  // namespace

namespace {

/// Healthy resources come first, so that the others stand next to the closing line.
int place_of(Status status) {
  constexpr std::array kOrder{Status::kDone,    Status::kReleased, Status::kLimited,
                              Status::kPending, Status::kUnmet,    Status::kFailed};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), status) - kOrder.begin());
}

/// A resource may have a change and wait for something: a Soft-RoCE device without its interface, whose
/// module is to be loaded at boot all the same.
Status outcome_of(const model::ResourceReport& resource) {
  return resource.status == Status::kDiffers && resource.waits ? Status::kPending : resource.status;
}

}  // namespace

std::string render_outcomes(const Report& report, const Terminal& terminal, Deletions deletions) {
  Table table{{{"", 0, false}, {"", 0, false}, {"", 0, true}}, {}};
  std::set<std::tuple<std::string, Status, std::string>> said;
  std::vector<const model::ResourceReport*> resources;
  for (const auto& resource : report.resources) {
    const auto outcome = outcome_of(resource);
    const bool plain = outcome == Status::kInSync || outcome == Status::kDiffers ||
                       outcome == Status::kForeign || outcome == Status::kIgnored;
    if (!plain) resources.push_back(&resource);
  }
  std::stable_sort(resources.begin(), resources.end(), [](const auto* a, const auto* b) {
    return place_of(outcome_of(*a)) < place_of(outcome_of(*b));
  });
  // A deleted resource is not counted. An object goes as a whole, whatever number of kinds has a part in it.
  for (const auto& block : deletions == Deletions::kDone ? blocks_of(report) : std::vector<Block>()) {
    if (block.operation == Operation::kDelete && said.emplace(block.title, Status::kDone, "deleted").second)
      table.rows.push_back(
          {{"done", style_of(Status::kDone)}, {block.title, Style::kPlain}, {"deleted", Style::kPlain}});
  }
  for (const auto* reported : resources) {
    const auto& resource = *reported;
    const auto label = resource.label.empty() ? resource.key.id : resource.label;
    const auto outcome = outcome_of(resource);
    if (!said.emplace(label, outcome, resource.reason).second) continue;
    table.rows.push_back({{std::string(model::text_of(outcome)), style_of(outcome)},
                          {label, Style::kPlain},
                          {resource.reason, Style::kPlain}});
  }
  return render_table(table, terminal);
}

std::string summarize_open(const Report& report, const std::set<model::Key>* only) {
  constexpr std::size_t kSaid = 3;
  std::vector<std::string> open;
  for (const auto& resource : report.resources) {
    const bool waits = resource.status == Status::kPending || resource.status == Status::kLimited ||
                       resource.status == Status::kUnmet;
    if (!waits || (only != nullptr && !only->contains(resource.key))) continue;
    auto text = fmt::format("{} is {}", resource.label.empty() ? resource.key.id : resource.label,
                            model::text_of(resource.status));
    if (!resource.reason.empty()) text += " (" + resource.reason + ')';
    if (std::find(open.begin(), open.end(), text) == open.end()) open.push_back(std::move(text));
  }
  // An interrupted run is finished, but for what only its notes name.
  if (open.empty())
    return report.exit == model::Exit::kPartly ? base::join(model::note_texts(report.notes), "; ") : "";
  return fmt::format(
      "{}; apply again once that has changed (rdma-configd does so automatically); `rdma-configctl status` "
      "shows what remains",
      base::join_first(kSaid, open, "; "));
}

std::string render_diff(const Report& report, const Terminal& terminal, Origins origins) {
  const auto blocks = blocks_of(report);
  const auto closing = blocks.empty() ? nothing_to_do(report) : count_changes(report) + ".\n";
  return separated({render_blocks(blocks, terminal, origins), render_outcomes(report, terminal),
                    warnings_of(report, terminal), closing});
}

std::string render_plan(const Report& report, const Terminal& terminal) {
  return separated(
      {render_blocks(blocks_of(report), terminal, Origins::kHidden), warnings_of(report, terminal)});
}

/// At boot one part may fail by itself, and the others are done.
std::string undone(const Report& report) {
  std::size_t made = 0, failed = 0;
  for (const auto& resource : report.resources) {
    if (resource.status == model::Status::kDone) ++made;
    if (resource.status == model::Status::kFailed) ++failed;
  }
  if (failed == 0) return "The apply failed and was undone: the host is as it was before.";
  return fmt::format("{} made; {} failed and {} as before: see above.", count(made, "change"),
                     count(failed, "resource"), failed == 1 ? "is" : "are");
}

std::string render_applied(const Report& report, const Terminal& terminal, const Report& shown,
                           const std::string& taken_back) {
  std::set<std::string> said;
  render_warnings(shown, terminal, said);
  std::string notes;
  for (const auto& note : report.notes)
    notes += hanging_paragraph("note", Style::kDim, note.text, terminal, 0);
  const auto tally = tally_of(report.resources);
  std::string closing;
  switch (report.exit) {
    case model::Exit::kOk:
    case model::Exit::kPartly:
      if (report.error) break;  // it is said how far what was done is known
      // An apply that was taken back setting by setting has no plan, nor a document.
      if (!taken_back.empty() && report.resources.empty() && report.plan.empty()) {
        closing = taken_back;
        break;
      }
      closing = report.plan.empty()
                    ? nothing_to_do(report)
                    : fmt::format("Done: {}; {}{}.\n", sum_of(report), as_wanted(tally), rest_of(tally));
      break;
    case model::Exit::kError:
    case model::Exit::kDiffers:
      closing = "Nothing was changed.\n";
      break;
    case model::Exit::kUndone:
      closing = terminal.paint(undone(report), Style::kBad) + '\n';
      break;
    case model::Exit::kUndoIncomplete:
      if (report.left_over.empty()) {
        closing = terminal.paint("The outcome is not known.", Style::kBad) + '\n';
        break;
      }
      closing = terminal.paint(report.applied ? "Applied, but incompletely. Left over:"
                                              : "The apply failed, and undoing it is incomplete. Left over:",
                               Style::kBad) +
                '\n';
      for (const auto& left : report.left_over) closing += "  - " + clean(left, terminal.utf8) + '\n';
      closing += "Check `rdma-configctl show`, repair that, then apply again.\n";
      break;
  }
  const bool good = report.exit == model::Exit::kOk || report.exit == model::Exit::kPartly;
  const auto deletions = report.applied || (good && !report.error) ? Deletions::kDone : Deletions::kPlanned;
  return separated({render_outcomes(report, terminal, deletions), notes,
                    render_warnings(report, terminal, said), closing});
}

}  // namespace rdmacfg::ctl
