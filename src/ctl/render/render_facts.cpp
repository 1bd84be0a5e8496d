// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/render_facts.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl {

namespace {

Cell fact_cell(const std::string& text) {
  return text.empty() ? Cell{"-", Style::kDim} : Cell{text, Style::kPlain};
}

template <class T>
Cell value_cell(const std::optional<T>& value) {
  if (!value) return {"unknown", Style::kDim};
  return fact_cell(model::text_of(model::Codec<T>::value(*value)));
}

std::string options_text(const std::vector<model::ModuleOption>& options) {
  std::vector<std::string> texts;
  texts.reserve(options.size());
  for (const auto& option : options) texts.push_back(option.text());
  return base::join(texts, " ");
}

Table dcb_table(const std::vector<DcbView>& all) {
  Table table{{{"INTERFACE"},
               {"LOSSLESS"},
               {"CLASSES", 2},
               {"BANDWIDTH", 3},
               {"SERVED", 5},
               {"DSCP"},
               {"TRUST", 2},
               {"DCBX", 1},
               {"WILLING", 4}},
              {}};
  for (const auto& [interface, dcb] : all) {
    table.rows.push_back(
        {fact_cell(interface), value_cell(dcb.priorities), value_cell(dcb.traffic_classes),
         value_cell(dcb.bandwidth),
         fact_cell(dcb.algorithms ? base::join(*dcb.algorithms, ", ") : std::string()), value_cell(dcb.dscp),
         // The column is left out where no kernel or driver has the order.
         dcb.trust ? value_cell(dcb.trust) : Cell{}, value_cell(dcb.dcbx), value_cell(dcb.willing)});
  }
  return table;
}

Table memlock_table(const std::vector<kinds::MemlockLine>& all) {
  Table table{{{"DOMAIN"}, {"TYPE"}, {"LIMIT"}, {"WHERE", 1}}, {}};
  for (const auto& line : all) {
    table.rows.push_back({fact_cell(line.domain), fact_cell(line.type), fact_cell(line.limit),
                          fact_cell(fmt::format("{}:{}", line.file, line.line))});
  }
  return table;
}

Table modules_table(const std::vector<ModuleView>& all) {
  Table table{{{"MODULE"}, {"LOADED"}, {"OPTIONS"}, {"RUNNING WITH", 1}}, {}};
  for (const auto& module : all) {
    Cell loaded{"unknown", Style::kDim};
    if (module.loaded) loaded = *module.loaded ? Cell{"yes", Style::kGood} : Cell{"no", Style::kDim};
    table.rows.push_back({fact_cell(module.name), loaded, fact_cell(options_text(module.wanted)),
                          fact_cell(options_text(module.running))});
  }
  return table;
}

Table services_table(const std::vector<ServiceView>& all) {
  Table table{{{"SERVICE"}, {"AT BOOT"}, {"NOW"}, {"PROCESS", 3}, {"MEMLOCK", 1}, {"PRIORITY", 2}}, {}};
  for (const auto& service : all) {
    const auto& unit = service.unit;
    const auto style = unit.active == "active"   ? Style::kGood
                       : unit.active == "failed" ? Style::kBad
                                                 : Style::kDim;
    table.rows.push_back({fact_cell(unit.name),
                          fact_cell(unit.load == "masked" ? unit.load : unit.file),
                          {fmt::format("{} ({})", unit.active, unit.sub), style},
                          fact_cell(unit.main_pid == 0 ? std::string() : std::to_string(unit.main_pid)),
                          fact_cell(service.memlock ? service.memlock->text() : std::string()),
                          fact_cell(service.priority ? std::to_string(*service.priority) : std::string())});
  }
  return table;
}

Table expansions_table(const std::vector<ExpansionView>& all) {
  Table table{{{"[[LOSSLESS]]"}, {"STANDS FOR"}, {"VALUE", 0, true}, {"WHERE", 1}}, {}};
  for (const auto& expansion : all) {
    for (const auto& setting : expansion.settings) {
      const auto* kind = kinds::find(setting.key.kind);
      const auto section = kind == nullptr ? std::string_view(setting.key.kind) : kind->section();
      table.rows.push_back({fact_cell(expansion.interface),
                            fact_cell(fmt::format("[[{}]] {}", section, setting.name)),
                            fact_cell(model::text_of(setting.value)),
                            fact_cell(fmt::format("{}:{}", setting.origin.file, setting.origin.line))});
    }
  }
  return table;
}

}  // namespace

std::string render_facts(const HostFacts& facts, const Terminal& terminal, bool* left_out) {
  std::string out;
  const auto add = [&](std::string_view title, const Table& table) {
    if (table.rows.empty()) return;
    if (!out.empty()) out += '\n';
    out += terminal.paint(title, Style::kBold) + '\n' + render_table(table, terminal, left_out);
  };
  add("FLOW CONTROL AND TRAFFIC CLASSES", dcb_table(facts.dcb));
  add("LOSSLESS PRESETS", expansions_table(facts.expansions));
  add("LOCKED MEMORY OF LOGINS, KIB", memlock_table(facts.memlock));
  add("MODULES", modules_table(facts.modules));
  add("SERVICES", services_table(facts.services));
  return out;
}

}  // namespace rdmacfg::ctl
