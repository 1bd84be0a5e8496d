// SPDX-License-Identifier: Apache-2.0
// The arguments of a call are taken from its message within bounds, before its sender is known.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "system/linux/dbus/dbus.hpp"
#include "unit/system/dbus/bus_fixture.hpp"

namespace rdmacfg::system {
namespace {

class BusArguments : public BusFixture {
 protected:
  using Texts = std::vector<std::string>;
  using Options = std::map<std::string, sdbus::Variant>;
  static constexpr const char* kRefused = "org.rdmaconfigd1.Error.LimitsExceeded";

  /// The name of the error of a call with these; empty where it was carried out.
  std::string error_of_call(const Texts& texts, const Options& options) {
    dbus::Connection server;
    dbus::Object object(server, "/org/example", "org.example.Interface");
    object.method("Take", {}, {}, [this](const dbus::Reply<>& reply, const Texts&, const Options&) {
      ++called;
      reply.send();
    });
    object.publish();
    server.request_name("org.example");
    server.start_thread();
    std::string error;
    {
      dbus::Connection connection;
      dbus::Peer peer(connection, "org.example", "/org/example");
      try {
        peer.call("org.example.Interface", "Take", std::chrono::seconds(60), texts, options);
      } catch (const sdbus::Error& why) {
        error = why.getName();
      }
    }
    server.stop_thread();
    return error;
  }

  static Options many(std::size_t count) {
    Options out;
    for (std::size_t i = 0; i < count; ++i) out.emplace(std::to_string(i), sdbus::Variant(true));
    return out;
  }

  std::atomic<int> called{0};
};

TEST_F(BusArguments, ListsHaveAsManyEntriesAsAreAllowed) {
  constexpr auto kMost = dbus::arguments::kMostEntries;
  EXPECT_EQ(error_of_call(Texts(kMost), many(kMost)), "");
  EXPECT_EQ(called, 1);
  EXPECT_EQ(error_of_call(Texts(kMost + 1), {}), kRefused);
  EXPECT_EQ(error_of_call({}, many(kMost + 1)), kRefused);
  EXPECT_EQ(called, 1) << "nothing more is taken than that";
}

TEST_F(BusArguments, AnOptionIsASingleValue) {
  EXPECT_EQ(error_of_call({}, {{"x", sdbus::Variant(std::string(100'000, 'x'))}}), "");
  EXPECT_EQ(called, 1);
  EXPECT_EQ(error_of_call({}, {{"x", sdbus::Variant(std::vector<std::uint8_t>(8))}}), kRefused);
  EXPECT_EQ(error_of_call({}, {{"x", sdbus::Variant(Options{})}}), kRefused);
  EXPECT_EQ(called, 1) << "sdbus-c++ would copy it";
}

}  // namespace
}  // namespace rdmacfg::system
