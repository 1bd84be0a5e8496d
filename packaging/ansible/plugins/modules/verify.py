#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: verify
short_description: Send test messages over RDMA
description:
  - Runs one test of C(rdma-configctl verify) and fails if messages are lost.
version_added: 0.1.0
options:
  server:
    description:
      - Wait for one client and answer it. Run it with C(async), since it ends with its client.
    type: bool
    default: false
  client:
    description: Connect to a server at this address by rdma_cm and send messages over a reliable connection.
    type: str
  mad:
    description: Ping a LID or a port GUID with management datagrams.
    type: str
  ipoib:
    description: Ping the address I(to) over this interface.
    type: str
  to:
    description: With I(ipoib) the IPv4 address to ping, with I(server) the one to listen on.
    type: str
  port:
    description: With I(mad) the port to send from, such as C(mlx5_0/1).
    type: str
  count:
    description: Number of messages.
    type: int
    default: 5
  service:
    description: Port number of server and client.
    type: int
    default: 20049
  allow_loss:
    description: Succeed if at least one message was answered.
    type: bool
    default: false
attributes:
  check_mode:
    description: Sends messages and changes nothing.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
extends_documentation_fragment:
  - rdma_configd.host.configctl
"""

EXAMPLES = r"""
- name: Start a server
  rdma_configd.host.verify:
    server: true
  async: 60
  poll: 0

- name: Reach it over the first rail
  rdma_configd.host.verify:
    client: 10.10.0.1

- name: Ping over a partition
  rdma_configd.host.verify:
    ipoib: storage0
    to: 10.20.0.1
"""

RETURN = r"""
test:
  description: Kind of test (rc, mad, ipoib).
  returned: success
  type: str
sent:
  description: Messages that were sent.
  returned: success
  type: int
answered:
  description: Messages that were answered.
  returned: success
  type: int
answered_by:
  description: The side that answered.
  returned: success
  type: str
latency_us:
  description: Microseconds for one message and its answer (min, mean, max).
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rdma_configd.host.plugins.module_utils.configctl import ARGUMENTS, Configctl, failure


def arguments_of(params):
    words = ["verify"]
    if params["server"]:
        words += ["--server", "--once"]
    for key, option in (("client", "--client"), ("mad", "--mad"), ("ipoib", "--ipoib"), ("to", "--to"), ("port", "--from")):
        if params[key]:
            words += [option, params[key]]
    if not params["server"]:
        words += ["--count", str(params["count"])]
    if params["server"] or params["client"]:
        words += ["--service", str(params["service"])]
    return words


def main():
    module = AnsibleModule(
        argument_spec=dict(
            ARGUMENTS,
            server=dict(type="bool", default=False),
            client=dict(type="str"),
            mad=dict(type="str"),
            ipoib=dict(type="str"),
            to=dict(type="str"),
            port=dict(type="str"),
            count=dict(type="int", default=5),
            service=dict(type="int", default=20049),
            allow_loss=dict(type="bool", default=False),
        ),
        required_by=dict(ipoib=["to"]),
        supports_check_mode=True,
    )
    params = module.params
    chosen = [name for name in ("server", "client", "mad", "ipoib") if params[name]]
    if len(chosen) != 1:
        module.fail_json(msg="exactly one of server, client, mad and ipoib is needed, not %s" % (", ".join(chosen) or "none"))
    if params["root"]:
        module.fail_json(msg="verify does not go with root: an image has no devices")
    answer = Configctl(module).run(arguments_of(params), ["verify", "report"])
    data = answer.data
    result = dict((key, data.get(key)) for key in ("test", "sent", "answered", "answered_by", "latency_us"))
    if answer.name == "partly" and params["allow_loss"]:
        module.warn("%s of %s messages were answered" % (data.get("answered"), data.get("sent")))
    elif answer.name != "ok":
        lost = "%s of %s messages were answered" % (data.get("answered", 0), data.get("sent", 0))
        module.fail_json(msg=failure(answer, lost), **result)
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
