// SPDX-License-Identifier: Apache-2.0
// Managers on a bus of the test's (unit/daemon/private_bus.hpp), which DBUS_SYSTEM_BUS_ADDRESS names. They
// keep state, and misbehave when they are told to. Written with sd-bus: a reply may so have any type.
#pragma once

#include <systemd/sd-bus.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rdmacfg::fakes::bus {

/// Answers a call. @return what sd_bus_reply_method_return(3) returns; 1 without a reply leaves the call
/// waiting
using Answer = std::function<int(sd_bus_message* call)>;

/// A reply of any type.
template <class... Args>
Answer reply(const char* types, Args... args) {
  return [=](sd_bus_message* call) { return sd_bus_reply_method_return(call, types, args...); };
}
Answer error(const std::string& name, const std::string& message);
/// Waits for ever.
Answer silence();

/// A reply that is put together; the first failure stays.
class Writer {
 public:
  explicit Writer(sd_bus_message* call);
  Writer& open(char type, const char* contents);
  Writer& close();
  template <class... Args>
  Writer& put(const char* types, Args... args) {
    if (status_ >= 0) status_ = sd_bus_message_append(message_.get(), types, args...);
    return *this;
  }
  Writer& put_bytes(const std::string& bytes);
  int send();

 private:
  std::unique_ptr<sd_bus_message, sd_bus_message* (*)(sd_bus_message*)> message_{nullptr,
                                                                                 sd_bus_message_unref};
  int status_ = 0;
};

/// A list of texts ("as") at this place of the call.
std::vector<std::string> read_texts(sd_bus_message* call);

/// A connection with a thread of its own, which answers calls.
class Peer {
 public:
  /// @param name  it takes; empty: a stranger without one
  explicit Peer(const std::string& name);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  /// The manager's behaviour on a call of this member ("StartUnit"), of whichever interface.
  void on(const std::string& member, Answer answer);
  /// From now on it hears calls.
  void start();

  /// Instead of what the manager does; nullptr ends it.
  void play(const std::string& member, Answer answer);
  /// Keeps calls of a member waiting, until answer_kept().
  void keep(const std::string& member);
  void answer_kept(const Answer& answer);
  /// Leaves the bus with the next call of a member, without an answer.
  void leave_at(const std::string& member);
  /// Leaves the bus.
  void leave();

  /// Runs in the thread, between calls; returns when it is done. Nothing after it has left.
  void run(const std::function<void(sd_bus* bus)>& action);

  /// Returns when the bus has passed on what was sent before.
  void flush();

  /// Reads or changes a manager's state, which the thread uses, too.
  template <class Body>
  auto locked(Body body) -> decltype(body()) {
    const std::lock_guard hold(mutex_);
    return body();
  }

  [[nodiscard]] std::size_t calls(const std::string& member);
  /// Unique name of who called last.
  [[nodiscard]] std::string caller();

 private:
  using Message = std::unique_ptr<sd_bus_message, sd_bus_message* (*)(sd_bus_message*)>;
  /// The bus knows that nobody has the name any more before this returns.
  void give_name_back();
  static int on_message(sd_bus_message* message, void* user, sd_bus_error* error);
  int answer(sd_bus_message* call);
  void loop();

  std::string name_;
  std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> bus_{nullptr, sd_bus_flush_close_unref};
  std::recursive_mutex mutex_;  ///< of everything below; a handler may call play()
  std::map<std::string, Answer> answers_, played_;
  std::map<std::string, std::size_t> calls_;
  std::vector<Message> kept_;
  std::string caller_;
  std::vector<std::pair<const std::function<void(sd_bus*)>*, std::atomic<bool>*>> actions_;
  bool leaves_ = false, ended_ = false;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace rdmacfg::fakes::bus
