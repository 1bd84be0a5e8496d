// SPDX-License-Identifier: Apache-2.0
// Lists of words in a script, as far as their words stand there themselves (sh(1), bash(1)).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

using LoopWords = std::vector<std::string>;

/// The words of a list that stand there themselves; nothing where only the shell knows them.
std::optional<LoopWords> literal_words(std::string_view list);

/// "3" and "0" of "$(seq 0 3)". Nothing for other lists.
std::optional<LoopWords> sequence_of(std::string_view list);

/// The words of "ib0", "'ib0 ib1'" and "(ib0 ib1)". Nothing where only the shell knows them.
std::optional<LoopWords> assigned_words(std::string_view value);

}  // namespace rdmacfg::foreign
