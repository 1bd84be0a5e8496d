// SPDX-License-Identifier: Apache-2.0
// The requests to a host, and its answers.
#pragma once

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "ctl/bundle/answers.hpp"
#include "store/json_file.hpp"

namespace rdmacfg::ctl {

/// Answers by question ("dcb") and what it was about ("ib0"; empty where there is only one answer). A tape
/// either records, and asks the real host, or replays; then what was never asked has the answer of a host
/// that has no such thing, and is in missing().
class Tape {
 public:
  Tape() = default;
  /// Replays; `answers` as answers() gave them.
  explicit Tape(nlohmann::json answers) : answers_(std::move(answers)), replays_(true) {}

  [[nodiscard]] bool replays() const { return replays_; }
  [[nodiscard]] const nlohmann::json& answers() const { return answers_; }
  /// Questions without an answer, and answers that cannot be read: "dcb eth3".
  [[nodiscard]] const std::set<std::string>& missing() const { return missing_; }
  [[nodiscard]] const std::set<std::string>& damaged() const { return damaged_; }

  /// The answer: that of `real`, or the one on the tape. Answer is a value or a Result of one.
  template <class Real>
  auto ask(const std::string& question, const std::string& about, Real real) -> decltype(real()) {
    using Answer = decltype(real());
    if (!replays_) {
      Answer answer = real();
      auto& kept = answers_[question];
      if (!kept.contains(about)) kept[about] = encoded(answer);
      return answer;
    }
    const auto* kept = find(question, about);
    if (kept == nullptr) {
      missing_.insert(question + ' ' + about);
      return Answer{};
    }
    try {
      if (has_fraction(*kept)) throw std::invalid_argument("a number is not whole");
      return decoded<Answer>(*kept);
    } catch (const std::exception&) {  // of the library, or a text that is not what it stands for
      damaged_.insert(question + ' ' + about);
      return Answer{};
    }
  }

 private:
  [[nodiscard]] const nlohmann::json* find(const std::string& question, const std::string& about) const {
    const auto group = answers_.find(question);
    if (group == answers_.end()) return nullptr;
    const auto at = group->find(about);
    return at == group->end() ? nullptr : &*at;
  }

  /// Answers have whole numbers of at most 64 bits alone: the library would turn others to any.
  static bool has_fraction(const nlohmann::json& json) {
    if (json.is_structured()) return std::any_of(json.begin(), json.end(), has_fraction);
    return json.is_number_float();
  }

  template <class T>
  struct IsResult : std::false_type {};
  template <class T>
  struct IsResult<base::Result<T>> : std::true_type {};

  template <class Answer>
  static nlohmann::json encoded(const Answer& answer) {
    if constexpr (IsResult<Answer>::value) {
      // The text of an error may name anything.
      if (!answer) return {{"error", {{"code", answer.error().code}, {"errno", answer.error().sys_errno}}}};
      return nlohmann::json(*answer);
    } else {
      return nlohmann::json(answer);
    }
  }

  template <class Answer>
  static Answer decoded(const nlohmann::json& json) {
    if constexpr (IsResult<Answer>::value) {
      if (json.is_object() && json.size() == 1 && json.contains("error")) {
        const auto& error = json.at("error");
        const auto number = core::number_in<int>(error.at("errno"));
        if (number != 0) return base::fail_errno(number, "as reported");
        return base::fail(error.at("code").template get<base::Code>(), "refused, as reported");
      }
      return json.template get<typename Answer::value_type>();
    } else {
      return json.template get<Answer>();
    }
  }

  nlohmann::json answers_ = nlohmann::json::object();
  bool replays_ = false;
  std::set<std::string> missing_, damaged_;
};

}  // namespace rdmacfg::ctl
