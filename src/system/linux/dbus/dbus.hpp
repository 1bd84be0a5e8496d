// SPDX-License-Identifier: Apache-2.0
// D-Bus services, clients and signals by sdbus-c++: the only border to that library. Its releases 1 and 2
// have different interfaces; CMake compiles dbus_v1.cpp or dbus_v2.cpp. Messages, Variant and Struct are the
// same in both and are used as they are.
//
// Every failure throws sdbus::Error. Objects, peers and matches must not outlive their connection.
#pragma once

#include <sdbus-c++/sdbus-c++.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/limits.hpp"

namespace rdmacfg::system::dbus {

/// @param name  "org.rdmaconfigd1.Error.NotFound"
sdbus::Error make_error(const std::string& name, const std::string& message);

/// Unique name of who sent a message; empty when it has none.
std::string sender_of(const sdbus::Message& message);
std::string path_of(const sdbus::Message& message);
std::string interface_of(const sdbus::Message& message);
std::string member_of(const sdbus::Message& message);

/// Connects to the system bus for a moment. Throws where the bus does not let anybody in within
/// limits::kBusCall: sdbus-c++ connects without a deadline of its own (sd_bus_flush(3)), and sd-bus gives the
/// bus 90 s.
void await_bus();

/// As D-Bus writes it: "a{sv}". A tuple stands for several values.
template <class T>
std::string signature() {
  if constexpr (requires { sdbus::signature_of<T>::str(); }) {
    return sdbus::signature_of<T>::str();
  } else {
    return {sdbus::signature_of<T>::value.begin(), sdbus::signature_of<T>::value.end()};
  }
}
template <class... T>
std::string signatures() {
  return (std::string() + ... + signature<T>());
}

using Microseconds = std::chrono::microseconds;
using MessageHandler = std::function<void(sdbus::Message& message)>;

/// A connection to the system bus.
class Connection {
 public:
  Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Of synchronous calls.
  void set_deadline(Microseconds deadline);
  void request_name(const std::string& name);
  void release_name(const std::string& name);

  /// Ends with its last copy.
  using Match = std::shared_ptr<void>;
  [[nodiscard]] Match match(const std::string& rule, MessageHandler heard);

  /// For a loop of the caller's: poll(2) events, and when to wake up (CLOCK_MONOTONIC, UINT64_MAX: never).
  struct Poll {
    int fd = -1;
    short events = 0;
    std::uint64_t deadline_us = UINT64_MAX;
  };
  [[nodiscard]] Poll poll() const;
  /// Handles one message. @return whether there may be more
  bool process();

  /// Or a thread of the connection's own, which calls the handlers, and `lost` when the bus has gone.
  void start_thread(std::function<void()> lost = {});
  void stop_thread();

  [[nodiscard]] sdbus::IConnection& handle() { return *connection_; }

 private:
  std::unique_ptr<sdbus::IConnection> connection_;
  std::thread thread_;
};

/// The answer to a method call, given once, now or later. Copies stand for the same answer.
template <class... Results>
class Reply {
 public:
  explicit Reply(const sdbus::MethodCall& call) : call_(call) {}
  [[nodiscard]] std::string sender() const { return sender_of(call_); }
  void send(const Results&... results) const {
    auto reply = call_.createReply();
    (void)(reply << ... << results);
    reply.send();
  }
  void fail(const sdbus::Error& why) const { call_.createErrorReply(why).send(); }

 private:
  sdbus::MethodCall call_;
};

/// Taking the arguments of a call from its message, before anybody knows who has sent it. An entry of a list
/// takes many times its length in memory, a Variant a message of its own: without bounds the 32 MiB that
/// the bus lets through become gigabytes.
namespace arguments {

/// Of a list or dictionary; a method may allow fewer.
inline constexpr std::size_t kMostEntries = model::limits::kDocumentFiles;

/// Throws org.rdmaconfigd1.Error.LimitsExceeded.
[[noreturn]] void refuse_entries();
/// Throws it unless the Variant that comes next has a single value, such as a string.
void refuse_containers(const sdbus::Message& message);
/// The type in the Variant that comes next.
std::string type_in_variant(const sdbus::Message& message);

template <class T>
void take(sdbus::Message& message, T& argument) {
  (void)(message >> argument);
}

template <class Element>
void take(sdbus::Message& message, std::vector<Element>& list) {
  if (!message.enterContainer(signature<Element>().c_str())) return;
  for (;;) {
    Element element;
    if (!(message >> element)) break;
    if (list.size() == kMostEntries) refuse_entries();
    list.push_back(std::move(element));
  }
  message.clearFlags();
  message.exitContainer();
}

template <class Value>
void take(sdbus::Message& message, std::map<std::string, Value>& dictionary) {
  const auto entry = signature<std::string>() + signature<Value>();
  if (!message.enterContainer(("{" + entry + "}").c_str())) return;
  for (std::size_t taken = 0; message.enterDictEntry(entry.c_str()); ++taken) {
    if (taken == kMostEntries) refuse_entries();
    std::string key;
    Value value;
    (void)(message >> key);
    if constexpr (std::is_same_v<Value, sdbus::Variant>) refuse_containers(message);
    (void)(message >> value);
    dictionary.emplace(std::move(key), std::move(value));
    message.exitDictEntry();
  }
  message.clearFlags();
  message.exitContainer();
}

}  // namespace arguments

using Names = std::vector<std::string>;

struct Method {
  std::string name, in_types;
  Names in_names;
  std::string out_types;
  Names out_names;
  std::function<void(sdbus::MethodCall call)> called;
};
struct Signal {
  std::string name, types;
  Names names;
};
struct Property {
  std::string name, type;
  bool constant = false;
  std::function<void(sdbus::PropertyGetReply& reply)> read;
};

/// An exported object at a path: one interface.
class Object {
 public:
  Object(Connection& connection, const std::string& path, std::string interface);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  /// `called`: (const Reply<Results...>& reply, const Arguments&...). An sdbus::Error that it throws is the
  /// answer. It is not called where a list has more than arguments::kMostEntries entries.
  template <class Called>
  Object& method(const std::string& name, const Names& in, const Names& out, Called called) {
    methods_.push_back(describe(name, in, out, std::function(std::move(called))));
    return *this;
  }
  template <class... Types>
  Object& signal(const std::string& name, const Names& names) {
    signals_.push_back({name, signatures<Types...>(), names});
    return *this;
  }
  enum class Changes { kTold, kNever };
  /// `read`: () -> value
  template <class Read>
  Object& property(const std::string& name, Read read, Changes changes = Changes::kTold) {
    properties_.push_back({name, signature<std::decay_t<decltype(read())>>(), changes == Changes::kNever,
                           [read = std::move(read)](sdbus::PropertyGetReply& reply) { reply << read(); }});
    return *this;
  }
  /// From now on it can be seen. Once.
  void publish();

  template <class... Values>
  void emit(const std::string& name, const Values&... values) {
    auto message = new_signal(name);
    (void)(message << ... << values);
    send(message);
  }
  void emit_changed(const std::vector<std::string>& properties);

 private:
  template <class... Results, class... Arguments>
  static Method describe(const std::string& name, const Names& in, const Names& out,
                         std::function<void(const Reply<Results...>&, Arguments...)> called) {
    return {name,
            signatures<std::decay_t<Arguments>...>(),
            in,
            signatures<Results...>(),
            out,
            [called = std::move(called)](sdbus::MethodCall call) {
              std::tuple<std::decay_t<Arguments>...> taken;
              std::apply([&call](auto&... each) { (arguments::take(call, each), ...); }, taken);
              std::apply([&](const auto&... each) { called(Reply<Results...>(call), each...); }, taken);
            }};
  }
  sdbus::Signal new_signal(const std::string& name);
  void send(const sdbus::Signal& signal);

  std::string interface_;
  std::vector<Method> methods_;
  std::vector<Signal> signals_;
  std::vector<Property> properties_;
  std::unique_ptr<sdbus::IObject> object_;
};

/// An object of somebody else.
class Peer {
 public:
  Peer(Connection& connection, const std::string& destination, const std::string& path);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  /// Calls under way are dropped; their answers are not told.
  ~Peer();

  /// Waits for the answer at most so long; 0: the connection's deadline.
  template <class Result = void, class... Arguments>
  Result call(const char* interface, const char* method, Microseconds timeout,
              const Arguments&... arguments) {
    auto message = new_call(interface, method);
    (void)(message << ... << arguments);
    auto reply = send(message, timeout);
    if constexpr (!std::is_void_v<Result>) {
      Result result{};
      reply >> result;
      return result;
    }
  }

  /// `answered`: (const sdbus::Error* error), with a Result also (…, const Result& result).
  template <class Result = void, class Answered, class... Arguments>
  void call_async(const char* interface, const char* method, Microseconds timeout, Answered answered,
                  const Arguments&... arguments) {
    auto message = new_call(interface, method);
    (void)(message << ... << arguments);
    send_async(message, timeout,
               [answered = std::move(answered)](const sdbus::Error* error, sdbus::MethodReply& reply) {
                 if constexpr (std::is_void_v<Result>) {
                   answered(error);
                 } else {
                   Result result{};
                   try {
                     if (error == nullptr) reply >> result;
                   } catch (const sdbus::Error& unreadable) {
                     return answered(&unreadable, Result{});
                   }
                   answered(error, result);
                 }
               });
  }

 private:
  using Answered = std::function<void(const sdbus::Error* error, sdbus::MethodReply& reply)>;
  sdbus::MethodCall new_call(const char* interface, const char* method);
  sdbus::MethodReply send(const sdbus::MethodCall& call, Microseconds timeout);
  void send_async(const sdbus::MethodCall& call, Microseconds timeout, Answered answered);

  std::unique_ptr<sdbus::IProxy> proxy_;
};

}  // namespace rdmacfg::system::dbus
