// SPDX-License-Identifier: Apache-2.0
// Files of other tools in memory, and what import and export make of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/memory_files.hpp"
#include "foreign/export/exporter.hpp"
#include "foreign/import/importer.hpp"

namespace rdmacfg::foreign {

inline config::Document parsed(const std::string& text) {
  return config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
}

inline model::Diagnostics complaints(const std::string& text) {
  const auto limits = config::all_errors();
  return core::validate(config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar(), limits),
                        limits)
      .diagnostics;
}

struct Imported {
  std::string document;
  Claims claims;
};

/// "host" is every format.
inline Imported import_all(system::Files& files, const std::string& format,
                           std::map<std::string, model::Guid, std::less<>> known = {},
                           std::vector<std::string> paths = {}) {
  Imported out;
  Request request;
  for (const auto& supported : formats()) {
    if (format == "host" || format == supported.name) request.formats.push_back(&supported);
  }
  request.paths = std::move(paths);
  out.claims.known = std::move(known);
  gather(request, files, out.claims);
  auto document = make_document(out.claims, complaints);
  out.document = document ? *document : "error: " + document.error().message;
  return out;
}

/// As the program prints it.
inline std::string report_of(const Claims& claims) {
  std::string out;
  for (const auto& [file, lines] : claims.understood) {
    if (lines > 0) out += file + ": " + std::to_string(lines) + " understood\n";
  }
  for (const auto& line : claims.passed) out += line.where.text() + ": skipped: " + line.text + "\n";
  for (const auto& line : claims.missed) out += line.where.text() + ": not understood: " + line.text + "\n";
  return out;
}

}  // namespace rdmacfg::foreign
