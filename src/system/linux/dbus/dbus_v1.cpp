// SPDX-License-Identifier: Apache-2.0
// sdbus-c++ 1.
#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::system::dbus {

namespace {

std::unique_ptr<sdbus::IConnection> open_system_bus() {
  await_bus();
  return sdbus::createSystemBusConnection();
}

}  // namespace

sdbus::Error make_error(const std::string& name, const std::string& message) { return {name, message}; }

std::string sender_of(const sdbus::Message& message) { return message.getSender(); }
std::string path_of(const sdbus::Message& message) { return message.getPath(); }
std::string interface_of(const sdbus::Message& message) { return message.getInterfaceName(); }
std::string member_of(const sdbus::Message& message) { return message.getMemberName(); }

std::string arguments::type_in_variant(const sdbus::Message& message) {
  std::string type, contents;
  message.peekType(type, contents);
  return contents;
}

Connection::Connection() : connection_(open_system_bus()) {}
Connection::~Connection() { stop_thread(); }

void Connection::set_deadline(Microseconds deadline) { connection_->setMethodCallTimeout(deadline); }
void Connection::request_name(const std::string& name) { connection_->requestName(name); }
void Connection::release_name(const std::string& name) { connection_->releaseName(name); }

Connection::Match Connection::match(const std::string& rule, MessageHandler heard) {
  return connection_->addMatch(rule, std::move(heard));
}

Connection::Poll Connection::poll() const {
  const auto data = connection_->getEventLoopPollData();
  return {data.fd, data.events, data.timeout_usec};
}

bool Connection::process() { return connection_->processPendingRequest(); }

Object::Object(Connection& connection, const std::string& path, std::string interface)
    : interface_(std::move(interface)), object_(sdbus::createObject(connection.handle(), path)) {}
Object::~Object() = default;

void Object::publish() {
  for (const auto& method : methods_)
    object_->registerMethod(interface_, method.name, method.in_types, method.in_names, method.out_types,
                            method.out_names, method.called);
  for (const auto& signal : signals_)
    object_->registerSignal(interface_, signal.name, signal.types, signal.names);
  for (const auto& property : properties_) {
    sdbus::Flags flags;
    if (property.constant) flags.set(sdbus::Flags::CONST_PROPERTY_VALUE);
    object_->registerProperty(interface_, property.name, property.type, property.read, flags);
  }
  object_->finishRegistration();
}

void Object::emit_changed(const std::vector<std::string>& properties) {
  object_->emitPropertiesChangedSignal(interface_, properties);
}
sdbus::Signal Object::new_signal(const std::string& name) { return object_->createSignal(interface_, name); }
void Object::send(const sdbus::Signal& signal) { object_->emitSignal(signal); }

Peer::Peer(Connection& connection, const std::string& destination, const std::string& path)
    : proxy_(sdbus::createProxy(connection.handle(), destination, path)) {
  proxy_->finishRegistration();
}
Peer::~Peer() = default;

sdbus::MethodCall Peer::new_call(const char* interface, const char* method) {
  return proxy_->createMethodCall(interface, method);
}
sdbus::MethodReply Peer::send(const sdbus::MethodCall& call, Microseconds timeout) {
  return proxy_->callMethod(call, timeout);
}
void Peer::send_async(const sdbus::MethodCall& call, Microseconds timeout, Answered answered) {
  proxy_->callMethod(
      call,
      [answered = std::move(answered)](sdbus::MethodReply& reply, const sdbus::Error* error) {
        answered(error, reply);
      },
      timeout);
}

}  // namespace rdmacfg::system::dbus
