// SPDX-License-Identifier: Apache-2.0
// Codes of rates that the installed OpenSM does not know. Sources: IB_MAX_RATE in ib_types.h of OpenSM 3.3.23
// and 3.3.24; mgrp_request_is_realizable() in osm_sa_mcmember_record.c, osm_qos_parser_y.y.
#pragma once

#include <span>
#include <string_view>

#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Warns of resources of `kind`, partitions or files of OpenSM, with the code of a rate above 600 Gb/s, where
/// the installed OpenSM is one before 3.3.24. Of a program that does not tell its version nothing is said.
void check_rates(std::span<const model::Desired> desired, std::string_view kind, system::Files& files,
                 model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
