// SPDX-License-Identifier: Apache-2.0
// `show` for people.
#pragma once

#include <string>
#include <vector>

#include "ctl/host_view.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

enum class Rows {
  kAll,
  kFolded,  ///< many P_Key interfaces of one port take one line, and counters that are 0 none
};

/// Devices, ports, P_Key tables and interfaces as tables. `left_out` is set when columns had no room.
std::string render_host(const HostView& host, const Terminal& terminal, bool* left_out = nullptr,
                        Rows rows = Rows::kAll);

/// Topics that can be shown alone: "ports".
const std::vector<std::string>& show_topics();

/// That part of `host`, or the resources for "resources".
std::string render_topic(const std::string& topic, const HostView& host,
                         const std::vector<model::ResourceReport>& resources, const Terminal& terminal,
                         bool* left_out, Rows rows);

/// The same of what was asked for by name, one property a line, with everything that is known.
std::string render_details(const HostView& host, const Terminal& terminal);

/// How each resource compares with the document.
std::string render_conformity(const std::vector<model::ResourceReport>& resources, const Terminal& terminal);

}  // namespace rdmacfg::ctl
