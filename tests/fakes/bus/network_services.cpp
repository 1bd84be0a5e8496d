// SPDX-License-Identifier: Apache-2.0
#include "fakes/bus/network_services.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace rdmacfg::fakes::bus {

namespace {

constexpr const char* kResolvedLinks = "/org/freedesktop/resolve1/link";

}  // namespace

Networkd::Networkd() {
  peer_.on("DescribeLink", [this](auto* call) {
    int index = 0;
    if (const int status = sd_bus_message_read(call, "i", &index); status < 0) return status;
    const auto at = links.find(index);
    // The name of resolve1, which networkd answers with in systemd 252.
    if (at == links.end())
      return sd_bus_reply_method_errorf(call, "org.freedesktop.resolve1.NoSuchLink", "Link %i not known",
                                        index);
    return sd_bus_reply_method_return(call, "s", at->second.c_str());
  });
  peer_.on("Reload", [this](auto* call) {
    log.emplace_back("Reload");
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.on("ReconfigureLink", [this](auto* call) {
    int index = 0;
    if (const int status = sd_bus_message_read(call, "i", &index); status < 0) return status;
    log.push_back("ReconfigureLink " + std::to_string(index));
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.start();
}

Resolved::Resolved() {
  peer_.on("GetLink", [this](auto* call) { return get_link(call); });
  peer_.on("Get", [this](auto* call) { return get_dns(call); });
  peer_.on("SetLinkDNS", [this](auto* call) { return set_servers(call); });
  peer_.on("SetLinkDomains", [this](auto* call) { return set_domains(call); });
  peer_.on("RevertLink", [this](auto* call) {
    int index = 0;
    if (const int status = sd_bus_message_read(call, "i", &index); status < 0) return status;
    links[index] = {};
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.start();
}

int Resolved::get_link(sd_bus_message* call) {
  int index = 0;
  if (const int status = sd_bus_message_read(call, "i", &index); status < 0) return status;
  if (!links.contains(index))
    return sd_bus_reply_method_errorf(call, "org.freedesktop.resolve1.NoSuchLink", "Link %i not known",
                                      index);
  // Of a number, escaped: "_33".
  char* raw = nullptr;
  if (const int status = sd_bus_path_encode(kResolvedLinks, std::to_string(index).c_str(), &raw); status < 0)
    return status;
  const std::unique_ptr<char, void (*)(void*)> path(raw, &::free);
  return sd_bus_reply_method_return(call, "o", raw);
}

int Resolved::get_dns(sd_bus_message* call) {
  const char *interface = nullptr, *property = nullptr;
  if (const int status = sd_bus_message_read(call, "ss", &interface, &property); status < 0) return status;
  char* raw = nullptr;
  if (sd_bus_path_decode(sd_bus_message_get_path(call), kResolvedLinks, &raw) <= 0) return 0;
  const std::unique_ptr<char, void (*)(void*)> index(raw, &::free);
  const auto& link = links[std::atoi(raw)];
  Writer out(call);
  if (std::string(property) == "DNS") {
    out.open('v', "a(iay)").open('a', "(iay)");
    for (const auto& [family, bytes] : link.servers)
      out.open('r', "iay").put("i", family).put_bytes(bytes).close();
  } else {
    out.open('v', "a(sb)").open('a', "(sb)");
    for (const auto& [name, routes] : link.domains) out.put("(sb)", name.c_str(), routes ? 1 : 0);
  }
  return out.close().close().send();
}

int Resolved::set_servers(sd_bus_message* call) {
  int index = 0;
  if (const int status = sd_bus_message_read(call, "i", &index); status < 0) return status;
  if (const int status = sd_bus_message_enter_container(call, 'a', "(iay)"); status < 0) return status;
  auto& servers = links[index].servers;
  servers.clear();
  while (sd_bus_message_enter_container(call, 'r', "iay") > 0) {
    int family = 0;
    const void* bytes = nullptr;
    std::size_t size = 0;
    if (const int status = sd_bus_message_read(call, "i", &family); status < 0) return status;
    if (const int status = sd_bus_message_read_array(call, 'y', &bytes, &size); status < 0) return status;
    if (const int status = sd_bus_message_exit_container(call); status < 0) return status;
    servers.emplace_back(family, std::string(static_cast<const char*>(bytes), size));
  }
  return sd_bus_reply_method_return(call, nullptr);
}

int Resolved::set_domains(sd_bus_message* call) {
  int index = 0, routes = 0;
  const char* name = nullptr;
  if (const int status = sd_bus_message_read(call, "i", &index); status < 0) return status;
  if (const int status = sd_bus_message_enter_container(call, 'a', "(sb)"); status < 0) return status;
  auto& domains = links[index].domains;
  domains.clear();
  while (sd_bus_message_read(call, "(sb)", &name, &routes) > 0) domains.emplace_back(name, routes != 0);
  return sd_bus_reply_method_return(call, nullptr);
}

}  // namespace rdmacfg::fakes::bus
