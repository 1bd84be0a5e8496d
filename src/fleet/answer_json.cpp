// SPDX-License-Identifier: Apache-2.0
#include "fleet/answer_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace rdmacfg::fleet {

namespace {

/// Builds only the values of keys that are read, and nothing that nests deeper than any answer. The rest is
/// checked all the same.
class BoundedJsonReader : public Json::json_sax_t {
  static constexpr std::size_t kDeepest = 32;

 public:
  /// @param is_read  the keys whose values are built
  explicit BoundedJsonReader(bool (*is_read)(std::string_view key)) : is_read_(is_read) {}

  Json root;
  std::optional<std::size_t> wrong_at;  ///< byte, from 1

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return put(nullptr); }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (skipped_ > 0) return true;
    skip_next_ = !is_read_(name);
    if (!skip_next_) key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    wrong_at = position;
    return false;
  }

 private:
  /// The place of the next value; null when it is skipped.
  Json* place(Json value) {
    if (skip_next_) {
      skip_next_ = false;
      return nullptr;
    }
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    auto& parent = *open_.back();
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    auto& member = parent[key_];
    member = std::move(value);
    return &member;
  }
  bool put(Json value) {
    if (skipped_ == 0) place(std::move(value));
    return true;
  }
  bool open(Json value) {
    const bool too_deep = open_.size() >= kDeepest;
    if (too_deep) skip_next_ = false;
    auto* at = skipped_ > 0 || too_deep ? nullptr : place(std::move(value));
    if (at == nullptr) {
      ++skipped_;
    } else {
      open_.push_back(at);
    }
    return true;
  }
  bool close() {
    if (skipped_ > 0) {
      --skipped_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  bool (*is_read_)(std::string_view key);
  std::vector<Json*> open_;  ///< objects and lists that are being built, which do not move meanwhile
  std::string key_;
  bool skip_next_ = false;
  std::size_t skipped_ = 0;  ///< how deep inside of what is skipped
};

model::Location place_of(const config::Text& json, std::size_t byte) {
  const auto before = std::string_view(json.text).substr(0, byte > 0 ? byte - 1 : 0);
  const auto start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {json.name, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
          1 + static_cast<int>(before.size() - start), 1};
}

}  // namespace

const Json& at(const Json& json, const char* key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

const Json::array_t& list_at(const Json& json, const char* key) {
  static const Json::array_t kNone;
  const auto& list = at(json, key);
  return list.is_array() ? list.get_ref<const Json::array_t&>() : kNone;
}

std::string text_at(const Json& json, const char* key) {
  const auto& text = at(json, key);
  return text.is_string() ? text.get_ref<const std::string&>() : std::string();
}

std::optional<std::int64_t> number_at(const Json& json, const char* key) {
  constexpr std::int64_t kMost = 0x7fff'ffff;
  const auto& number = at(json, key);
  if (!number.is_number_integer()) return std::nullopt;
  const auto value = number.get<std::int64_t>();
  return value >= 0 && value <= kMost ? std::optional(value) : std::nullopt;
}

bool is_false_at(const Json& json, const char* key) {
  const auto& value = at(json, key);
  return value.is_boolean() && !value.get<bool>();
}

std::optional<model::Diagnostic> parse_answer(const config::Text& json, bool (*is_read)(std::string_view key),
                                              const char* hint, Json& out) {
  BoundedJsonReader reader(is_read);
  if (!Json::sax_parse(json.text, &reader)) {
    const auto byte = reader.wrong_at.value_or(1);
    const bool cut = byte >= json.text.size();
    return faulty(place_of(json, byte), cut ? "the JSON is cut off here" : "is not valid JSON here", hint);
  }
  out = std::move(reader.root);
  return std::nullopt;
}

model::Diagnostic faulty(model::Location where, std::string message, std::string hint) {
  return {model::Severity::kError, std::move(where), std::move(message), std::move(hint), {}};
}

}  // namespace rdmacfg::fleet
