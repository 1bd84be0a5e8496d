// SPDX-License-Identifier: Apache-2.0
// Cells of the tables about the host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ctl/host_view.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl {

inline constexpr std::string_view kUnknown = "unknown";

inline Cell cell(const std::string& text) {
  return text.empty() ? Cell{std::string(kUnknown), Style::kDim} : Cell{text, Style::kPlain};
}

/// Like cell(), for what an object may lack: "-" is an answer, and no gap in knowledge.
inline Cell maybe(const std::string& text) {
  return text.empty() ? Cell{"-", Style::kDim} : Cell{text, Style::kPlain};
}

inline std::string text(model::Guid guid) { return guid.number == 0 ? std::string() : guid.text(); }
inline std::string text(std::optional<int> number) {
  return number ? std::to_string(*number) : std::string();
}

inline Style style_of_state(const std::string& state) {
  if (state == "ACTIVE") return Style::kGood;
  return state == "DOWN" ? Style::kBad : Style::kNotice;
}

inline Cell state_cell(const system::RdmaPort& port) {
  return port.state.empty() ? cell("") : Cell{port.state, style_of_state(port.state)};
}

inline Cell link_cell(const system::Link& link) {
  if (!link.up) return {"down", Style::kDim};
  return link.carrier ? Cell{"up", Style::kGood} : Cell{"up, no carrier", Style::kNotice};
}

inline std::string pkeys_text(const PortView& port) {
  if (!port.pkeys) return {};
  return port.pkeys->empty() ? "none" : compress(*port.pkeys);
}

}  // namespace rdmacfg::ctl
