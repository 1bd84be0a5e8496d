// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/document.hpp"

namespace rdmacfg::core {

/// Adds warnings about values that the language allows and that were almost surely meant otherwise, each with
/// what was probably meant: a P_Key whose hexadecimal digits were written as a decimal number, a datagram MTU
/// that no InfiniBand link has, keys that fell under [[ipoib.pkey]] though the layout puts them with
/// [[ipoib]], names that the kernel hands out itself.
void warn_of_implausible(config::Document& document);

/// For a document that somebody is about to use: the file that it begins with must say `version`, unless it
/// is a drop-in. An empty or cut file (a full disk, a template that failed) wants nothing, and would take
/// everything away.
void require_version(config::Document& document);

}  // namespace rdmacfg::core
