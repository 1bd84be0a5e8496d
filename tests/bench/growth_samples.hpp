// SPDX-License-Identifier: Apache-2.0
// Documents, hosts and files of other tools of any size, every kind and every import format among them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rdmacfg::bench {

/// A document of `n` entries or list elements, and the fake host that it is held against.
struct DocumentSample {
  std::string name;
  std::function<std::string(int n)> text;
  std::function<std::string(int n)> host;  ///< as before.json of the golden cases
};

/// Files of one format with `n` lines.
struct ImportSample {
  std::string format;
  std::string name;
  std::function<std::map<std::string, std::string>(int n)> files;  ///< by path
};

const std::vector<DocumentSample>& documents();
const std::vector<ImportSample>& imports();

}  // namespace rdmacfg::bench
