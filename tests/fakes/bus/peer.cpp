// SPDX-License-Identifier: Apache-2.0
#include "fakes/bus/peer.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <system_error>

namespace rdmacfg::fakes::bus {

Answer error(const std::string& name, const std::string& message) {
  return [name, message](sd_bus_message* call) {
    return sd_bus_reply_method_errorf(call, name.c_str(), "%s", message.c_str());
  };
}

Answer silence() {
  return [](sd_bus_message* /*call*/) { return 1; };
}

Writer::Writer(sd_bus_message* call) {
  sd_bus_message* raw = nullptr;
  status_ = sd_bus_message_new_method_return(call, &raw);
  message_.reset(raw);
}
Writer& Writer::open(char type, const char* contents) {
  if (status_ >= 0) status_ = sd_bus_message_open_container(message_.get(), type, contents);
  return *this;
}
Writer& Writer::close() {
  if (status_ >= 0) status_ = sd_bus_message_close_container(message_.get());
  return *this;
}
Writer& Writer::put_bytes(const std::string& bytes) {
  if (status_ >= 0) status_ = sd_bus_message_append_array(message_.get(), 'y', bytes.data(), bytes.size());
  return *this;
}
int Writer::send() { return status_ < 0 ? status_ : sd_bus_send(nullptr, message_.get(), nullptr); }

std::vector<std::string> read_texts(sd_bus_message* call) {
  char** raw = nullptr;
  std::vector<std::string> out;
  if (sd_bus_message_read_strv(call, &raw) < 0) return out;
  for (char** at = raw; at != nullptr && *at != nullptr; ++at) {
    out.emplace_back(*at);
    ::free(*at);
  }
  ::free(raw);
  return out;
}

Peer::Peer(const std::string& name) : name_(name) {
  const auto check = [](int status, const std::string& what) {
    if (status < 0) throw std::system_error(-status, std::generic_category(), what);
  };
  sd_bus* opened = nullptr;
  check(sd_bus_open_system(&opened), "reaching the test's bus");
  bus_.reset(opened);
  if (!name.empty()) check(sd_bus_request_name(opened, name.c_str(), 0), "taking the name " + name);
  check(sd_bus_add_filter(opened, nullptr, on_message, this), "adding a filter");
}

Peer::~Peer() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  kept_.clear();
}

void Peer::on(const std::string& member, Answer answer) {
  const std::lock_guard hold(mutex_);
  answers_[member] = std::move(answer);
}

void Peer::start() {
  thread_ = std::thread([this] { loop(); });
}

void Peer::play(const std::string& member, Answer answer) {
  const std::lock_guard hold(mutex_);
  if (answer) {
    played_[member] = std::move(answer);
  } else {
    played_.erase(member);
  }
}

void Peer::keep(const std::string& member) {
  play(member, [this](sd_bus_message* call) {
    kept_.emplace_back(sd_bus_message_ref(call), sd_bus_message_unref);
    return 1;
  });
}

void Peer::answer_kept(const Answer& answer) {
  run([&](sd_bus* /*bus*/) {
    for (const auto& call : kept_) (void)answer(call.get());
    kept_.clear();
  });
}

void Peer::leave_at(const std::string& member) {
  play(member, [this](sd_bus_message* /*call*/) {
    leaves_ = true;
    return 1;
  });
}

void Peer::leave() {
  {
    const std::lock_guard hold(mutex_);
    leaves_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Peer::give_name_back() {
  if (!name_.empty()) (void)sd_bus_release_name(bus_.get(), name_.c_str());
}

void Peer::run(const std::function<void(sd_bus* bus)>& action) {
  std::atomic<bool> done{false};
  {
    const std::lock_guard hold(mutex_);
    if (ended_) return;
    actions_.emplace_back(&action, &done);
  }
  while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Peer::flush() {
  run([](sd_bus* bus) {
    (void)sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                             "GetId", nullptr, nullptr, nullptr);
  });
}

std::size_t Peer::calls(const std::string& member) {
  const std::lock_guard hold(mutex_);
  return calls_[member];
}

std::string Peer::caller() {
  const std::lock_guard hold(mutex_);
  return caller_;
}

int Peer::on_message(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
  std::uint8_t type = 0;
  if (sd_bus_message_get_type(message, &type) < 0 || type != SD_BUS_MESSAGE_METHOD_CALL) return 0;
  return static_cast<Peer*>(user)->answer(message);
}

int Peer::answer(sd_bus_message* call) {
  const char* member = sd_bus_message_get_member(call);
  const char* sender = sd_bus_message_get_sender(call);
  if (member == nullptr) return 0;
  ++calls_[member];
  caller_ = sender == nullptr ? "" : sender;
  // A copy: the call may change the tables.
  if (const auto played = played_.find(member); played != played_.end()) {
    const auto now = played->second;
    return now(call);
  }
  const auto usual = answers_.find(member);
  return usual == answers_.end() ? 0 : usual->second(call);
}

void Peer::loop() {
  constexpr std::uint64_t kRest = 5'000;  // microseconds, until actions are looked for
  while (!ends_) {
    {
      const std::lock_guard hold(mutex_);
      for (const auto& [action, done] : std::exchange(actions_, {})) {
        (*action)(bus_.get());
        *done = true;
      }
      int status = 1;
      while (status > 0 && !leaves_) status = sd_bus_process(bus_.get(), nullptr);
      if (status < 0 || leaves_) break;
    }
    if (sd_bus_wait(bus_.get(), kRest) < 0) break;
  }
  const std::lock_guard hold(mutex_);
  ended_ = true;
  for (const auto& left : actions_) *left.second = true;
  kept_.clear();
  give_name_back();
  bus_.reset();
}

}  // namespace rdmacfg::fakes::bus
