// SPDX-License-Identifier: Apache-2.0
// sdbus-c++ 2.
#include <optional>

#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::system::dbus {

namespace {

std::unique_ptr<sdbus::IConnection> open_system_bus() {
  await_bus();
  return sdbus::createSystemBusConnection();
}

std::string text_or_nothing(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

sdbus::Error make_error(const std::string& name, const std::string& message) {
  return {sdbus::Error::Name(name), message};
}

std::string sender_of(const sdbus::Message& message) { return text_or_nothing(message.getSender()); }
std::string path_of(const sdbus::Message& message) { return text_or_nothing(message.getPath()); }
std::string interface_of(const sdbus::Message& message) {
  return text_or_nothing(message.getInterfaceName());
}
std::string member_of(const sdbus::Message& message) { return text_or_nothing(message.getMemberName()); }

std::string arguments::type_in_variant(const sdbus::Message& message) {
  return text_or_nothing(message.peekType().second);
}

Connection::Connection() : connection_(open_system_bus()) {}
Connection::~Connection() { stop_thread(); }

void Connection::set_deadline(Microseconds deadline) { connection_->setMethodCallTimeout(deadline); }
void Connection::request_name(const std::string& name) { connection_->requestName(sdbus::ServiceName(name)); }
void Connection::release_name(const std::string& name) { connection_->releaseName(sdbus::ServiceName(name)); }

Connection::Match Connection::match(const std::string& rule, MessageHandler heard) {
  return connection_->addMatch(
      rule, [heard = std::move(heard)](sdbus::Message message) { heard(message); }, sdbus::return_slot);
}

/// Its event descriptor is for loops of other threads: poll() is asked before every wait.
Connection::Poll Connection::poll() const {
  const auto data = connection_->getEventLoopPollData();
  const bool never = data.timeout == Microseconds::max();
  return {data.fd, data.events, never ? UINT64_MAX : static_cast<std::uint64_t>(data.timeout.count())};
}

bool Connection::process() { return connection_->processPendingEvent(); }

Object::Object(Connection& connection, const std::string& path, std::string interface)
    : interface_(std::move(interface)),
      object_(sdbus::createObject(connection.handle(), sdbus::ObjectPath(path))) {}
Object::~Object() = default;

void Object::publish() {
  std::vector<sdbus::VTableItem> all;
  for (const auto& method : methods_) {
    auto item = sdbus::registerMethod(method.name);
    item.inputSignature = sdbus::Signature(method.in_types);
    item.inputParamNames = method.in_names;
    item.outputSignature = sdbus::Signature(method.out_types);
    item.outputParamNames = method.out_names;
    item.callbackHandler = method.called;
    all.emplace_back(std::move(item));
  }
  for (const auto& signal : signals_) {
    auto item = sdbus::registerSignal(signal.name);
    item.signature = sdbus::Signature(signal.types);
    item.paramNames = signal.names;
    all.emplace_back(std::move(item));
  }
  for (const auto& property : properties_) {
    auto item = sdbus::registerProperty(property.name);
    item.signature = sdbus::Signature(property.type);
    item.getter = property.read;
    if (property.constant) item.withUpdateBehavior(sdbus::Flags::CONST_PROPERTY_VALUE);
    all.emplace_back(std::move(item));
  }
  object_->addVTable(sdbus::InterfaceName(interface_), std::move(all));
}

void Object::emit_changed(const std::vector<std::string>& properties) {
  std::vector<sdbus::PropertyName> names;
  for (const auto& property : properties) names.emplace_back(property);
  object_->emitPropertiesChangedSignal(sdbus::InterfaceName(interface_), names);
}
sdbus::Signal Object::new_signal(const std::string& name) {
  return object_->createSignal(sdbus::InterfaceName(interface_), sdbus::SignalName(name));
}
void Object::send(const sdbus::Signal& signal) { object_->emitSignal(signal); }

Peer::Peer(Connection& connection, const std::string& destination, const std::string& path)
    : proxy_(sdbus::createProxy(connection.handle(), sdbus::ServiceName(destination),
                                sdbus::ObjectPath(path))) {}
Peer::~Peer() = default;

sdbus::MethodCall Peer::new_call(const char* interface, const char* method) {
  return proxy_->createMethodCall(sdbus::InterfaceName(interface), sdbus::MethodName(method));
}
sdbus::MethodReply Peer::send(const sdbus::MethodCall& call, Microseconds timeout) {
  return proxy_->callMethod(call, timeout);
}
void Peer::send_async(const sdbus::MethodCall& call, Microseconds timeout, Answered answered) {
  proxy_->callMethodAsync(
      call,
      [answered = std::move(answered)](sdbus::MethodReply reply, std::optional<sdbus::Error> error) {
        answered(error ? &*error : nullptr, reply);
      },
      timeout);
}

}  // namespace rdmacfg::system::dbus
