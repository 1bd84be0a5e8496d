// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "system/fabric_reader.hpp"
#include "system/linux/fabric/frames.hpp"

namespace rdmacfg::system {

/// By libibnetdisc and libibmad, which are loaded at the first use, in a child process that ends at the
/// timeout.
std::unique_ptr<FabricReader> make_linux_fabric_reader();

namespace detail {

/// The same with another explorer in the child, for tests.
using Explore = std::function<void(const FabricRequest& request, const std::function<void(Frame)>& send)>;
std::unique_ptr<FabricReader> make_fabric_reader(Explore explore);

}  // namespace detail

}  // namespace rdmacfg::system
