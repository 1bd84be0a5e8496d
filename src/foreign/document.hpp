// SPDX-License-Identifier: Apache-2.0
// From claims to a document of ours, and from a document to what other tools would have to be told.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foreign/claims.hpp"
#include "model/diagnostic.hpp"

namespace rdmacfg::foreign {

/// A line of the document being made, and its source.
struct Line {
  std::string text;
  Place from;
};

/// The interfaces that were claimed, by port: those of one port become one, of two values the first counts
/// and the second is reported. Entries of no known port are in `portless`, P_Key interfaces too.
struct ImportedHost {
  struct InterfaceTree {
    Interface port;
    std::vector<Interface> children;  ///< by P_Key
  };
  std::vector<InterfaceTree> trees;  ///< by GUID
  std::vector<Interface> portless;
};

ImportedHost assemble_host(Claims& claims);

/// Whether more is said of the addresses of the port or of a P_Key interface that there is to be than that
/// there are none.
bool is_addressed(const ImportedHost::InterfaceTree& tree);

/// Leaves out what is_default() (inet.hpp). Where no more is said that would leave the addresses to whoever
/// has them: then IPv4 stays disabled, of the port if it was default, else of the P_Key interfaces that were.
void drop_default_settings(ImportedHost::InterfaceTree& tree);

/// openib.conf gives every interface its MTU of connected mode. Where a port says datagram mode and no MTU
/// that would not be a default: the matching entries have it then.
void spread_default_mtu(ImportedHost& imported, std::vector<Entry>& entries);

/// The document as lines; entries without a port are there as comments.
std::vector<Line> render_document(const ImportedHost& imported, const std::vector<Entry>& entries);

/// Turns into comments what the language does not accept, until `check` finds no error, and reports it. Fails
/// when errors remain.
base::Result<std::string> prune(std::vector<Line> lines,
                                const std::function<model::Diagnostics(const std::string& text)>& check,
                                Claims& claims);

/// The [[ipoib]] entries of a document. An entry without `guid` has none here either; its name says which
/// interface is meant, if it has one.
std::vector<ImportedHost::InterfaceTree> interface_trees_of(const std::vector<model::Section>& sections);

/// The same as values: the result of interface_trees_of() for the document that they are rendered to.
std::string render_value(std::string_view path, std::string_view key, const model::Value& value);

}  // namespace rdmacfg::foreign
