// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/srp/srp_session.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kScsiHosts = "/sys/class/scsi_host";

std::string attribute_of(system::Files& files, const std::string& folder, std::string_view name) {
  const auto text = files.read(fmt::format("{}/{}", folder, name));
  return text && *text ? std::string(base::trim(**text)) : std::string();
}

}  // namespace

Result<std::vector<SrpSession>> observe_srp_sessions(system::Files& files) {
  std::vector<SrpSession> out;
  const auto names = files.list(std::string(kScsiHosts));
  if (!names) return base::fail(names.error());
  for (const auto& name : *names) {
    const auto folder = fmt::format("{}/{}", kScsiHosts, name);
    const auto id_ext = model::SrpId::parse(attribute_of(files, folder, "id_ext"));
    if (!id_ext) continue;  // of another driver
    const auto ioc_guid = model::SrpId::parse(attribute_of(files, folder, "ioc_guid"));
    if (!ioc_guid) continue;
    SrpSession session{.id_ext = *id_ext, .ioc_guid = *ioc_guid};
    if (const auto service = model::SrpId::parse(attribute_of(files, folder, "service_id")))
      session.service_id = *service;
    for (const std::string_view gid : {"orig_dgid", "dgid"}) {
      const auto parsed = model::PortGid::parse(attribute_of(files, folder, gid));
      if (parsed && !session.dgid) session.dgid = *parsed;
    }
    if (const auto pkey = base::parse_number(attribute_of(files, folder, "pkey")))
      session.pkey = static_cast<std::uint16_t>(*pkey);
    session.device = attribute_of(files, folder, "local_ib_device");
    session.port = attribute_of(files, folder, "local_ib_port");
    out.push_back(std::move(session));
  }
  return out;
}

bool matches(const SrpRule& rule, const SrpSession& session) {
  return (!rule.id_ext || *rule.id_ext == session.id_ext) &&
         (!rule.ioc_guid || *rule.ioc_guid == session.ioc_guid) &&
         (!rule.service_id || *rule.service_id == session.service_id) &&
         (!rule.dgid || rule.dgid == session.dgid) && (!rule.pkey || *rule.pkey == session.pkey);
}

std::string text_of(const SrpSession& session) {
  auto out = fmt::format("id_ext={},ioc_guid={}", session.id_ext.text(), session.ioc_guid.text());
  if (session.dgid) out += ",dgid=" + session.dgid->digits();
  out += fmt::format(",pkey={:04x},service_id={}", session.pkey, session.service_id.text());
  if (!session.device.empty()) out += fmt::format(" over {}/{}", session.device, session.port);
  return out;
}

}  // namespace rdmacfg::kinds
