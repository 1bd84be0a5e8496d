// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "kinds/kind.hpp"
#include "model/diagnostic.hpp"
#include "model/report.hpp"
#include "model/resource.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

/// One observation of the host, and the document's demands on exactly that host.
struct Observation {
  kinds::World world;
  std::vector<model::Desired> desired;
  std::vector<model::Observed> observed;
  std::map<model::Key, const model::Observed*> observed_by_key;
  model::Diagnostics diagnostics;                ///< of the document against the host
  std::map<std::string, std::string> unseen;     ///< kinds that could not be observed, with the reason
  std::map<model::Key, model::LeftFields> left;  ///< settings that are not laid beside the document
  std::vector<std::string> at_boot;  ///< labels of what another root cannot have before its kernel runs
  /// Of every place of an entry where the entry begins; empty without errors.
  std::map<model::Location, model::Location> entry_of;

  [[nodiscard]] const model::Observed* find(const model::Key& key) const {
    const auto at = observed_by_key.find(key);
    return at == observed_by_key.end() ? nullptr : at->second;
  }
};

/// Resources that are looked at although the document may not mention them, with what is known of each.
using KnownResources = std::map<model::Key, kinds::KnownIdentity>;

/// Whether a kind may fail to be observed: its resources are set aside then (Observation::unseen, and
/// Desired::ignore). Without one none may.
using MayFail = std::function<bool(const std::string& kind)>;

/// How a host is observed.
struct ObserveOptions {
  bool thorough = false;   ///< World::thorough
  bool settled = true;     ///< World::settled
  bool cut_short = false;  ///< World::cut_short
  MayFail may_fail{};
  /// A kind that the caller may not observe (Code::kDenied) takes no part: Observation::unseen names it, and
  /// Observation::desired has none of its resources.
  bool leave_out_denied = false;
};

/// Observes the host once and lays the document beside it. Changes nothing.
base::Result<Observation> observe_host(const config::Document& document, system::Host& host,
                                       const KnownResources& known, const ObserveOptions& options);

/// May fail to be observed, as it did before.
MayFail may_fail_as_in(const Observation& before);

/// The observed part alone, of the kinds that `known` speaks of.
base::Result<Observation> observe_host(system::Host& host, const KnownResources& known);

/// The same after undoing, where a kind that cannot be observed (a link is in the place of a file of ours)
/// must not keep the others from being recorded: it is in Observation::unseen. A first failure of any call is
/// retried.
base::Result<Observation> observe_what_can_be(system::Host& host, const KnownResources& known);

/// The same with the demands of the document.
base::Result<Observation> observe_what_can_be(const config::Document& document, system::Host& host,
                                              const KnownResources& known);

/// The resources of a state and of a plan.
KnownResources keys_of(const State& state, const model::Plan& plan);

/// The document's demands where there is no host: only its own rules are checked.
void check_document(const config::Document& document, model::Diagnostics& diagnostics);

/// The same of a document with errors: mistakes in its other entries.
void check_understood(const config::Document& document, model::Diagnostics& diagnostics);

}  // namespace rdmacfg::core
