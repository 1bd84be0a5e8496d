#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: info
short_description: Read the RDMA configuration and state of a host
description:
  - Returns the output of rdma-configctl on a host unchanged. Changes nothing.
version_added: 0.1.0
options:
  gather:
    description:
      - C(status) is the daemon, the generation, and resources that do not match the document.
      - C(show) is the whole host with devices, ports, P_Keys and interfaces.
      - C(diff) lists the differences between the host and its document, by resource.
      - C(document) is the document that applies to the host, with drop-ins merged and values of the host filled in.
      - C(fabric) is the InfiniBand fabric behind a port of the host, or why it cannot be read.
      - C(import) is a document made from configuration files or running interfaces; see I(import_format).
      - C(status) is not available with I(root).
    type: list
    elements: str
    choices: [status, show, diff, document, fabric, import]
    default: [status, show]
  names:
    description: Show only these devices, ports, interfaces or GUIDs.
    type: list
    elements: str
    default: []
  import_format:
    description: Source of the import. C(live) is the running interfaces, C(host) all known files; others are formats of C(rdma-configctl import).
    type: str
    default: live
attributes:
  check_mode:
    description: Changes nothing.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
extends_documentation_fragment:
  - rdma_configd.host.configctl
"""

EXAMPLES = r"""
- name: Is the host as its document says?
  rdma_configd.host.info:
    gather: [status]
  register: rdma

- name: Stop where it is not
  ansible.builtin.assert:
    that: rdma.in_sync
    fail_msg: "{{ rdma.status.resources }}"

- name: Write a document for a host that runs already
  rdma_configd.host.info:
    gather: [import]
  register: rdma
"""

RETURN = r"""
in_sync:
  description: Whether everything matches the document; null without C(status).
  returned: success
  type: bool
status:
  description: The object org.rdmaconfigd.status/1.
  returned: with status
  type: dict
show:
  description: The object org.rdmaconfigd.show/1.
  returned: with show
  type: dict
diff_report:
  description: The object org.rdmaconfigd.report/1 of C(diff).
  returned: with diff
  type: dict
document:
  description: The document that applies to the host.
  returned: with document
  type: str
fabric:
  description: The object org.rdmaconfigd.fabric/1; where the fabric cannot be read, org.rdmaconfigd.report/1 with the error.
  returned: with fabric
  type: dict
imported:
  description: The object org.rdmaconfigd.import/1; its C(document) is the text, which has no entry where C(host) finds no files.
  returned: with import
  type: dict
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rdma_configd.host.plugins.module_utils.configctl import ARGUMENTS, Configctl, failure


def ask(module, configctl, words, schema, what):
    """Return the JSON object of a subcommand; fail the module if the subcommand reports an error."""
    answer = configctl.run(words, [schema, "report"])
    if answer.data.get("schema") != "org.rdmaconfigd.%s/1" % schema:
        module.fail_json(msg=failure(answer, what))
    return answer


def imported(module, configctl):
    """Return the object of import; that of an image without files of the network has an empty document, as live has it."""
    source = module.params["import_format"]
    answer = configctl.run(["import", source], ["import", "report"])
    error = answer.data.get("error") or {}
    if answer.data.get("schema") == "org.rdmaconfigd.import/1":
        return answer.data
    if source != "host" or error.get("code") != "not_found" or not os.path.isdir(configctl.root or "/"):
        module.fail_json(msg=failure(answer, "nothing can be imported"))
    nothing = dict(file=configctl.root or "/", line=None, text=error.get("message", ""))
    return dict(schema="org.rdmaconfigd.import/1", command="import", error=None, document="version = 1\n", understood=[], not_understood=[],
                passed_over=[nothing], exit=dict(status=0, name="ok"))


def main():
    module = AnsibleModule(
        argument_spec=dict(
            ARGUMENTS,
            gather=dict(type="list", elements="str", choices=["status", "show", "diff", "document", "fabric", "import"], default=["status", "show"]),
            names=dict(type="list", elements="str", default=[]),
            import_format=dict(type="str", default="live"),
        ),
        supports_check_mode=True,
    )
    configctl, gather = Configctl(module), module.params["gather"]
    result = dict(changed=False, in_sync=None)
    if "status" in gather and not configctl.root:
        answer = ask(module, configctl, ["status"], "status", "the status cannot be read")
        result.update(status=answer.data, in_sync=answer.name == "ok")
    if "show" in gather:
        result["show"] = ask(module, configctl, ["show"] + module.params["names"], "show", "the host cannot be read").data
    if "diff" in gather:
        result["diff_report"] = configctl.run(["diff"], ["report"]).data
    if "fabric" in gather:
        result["fabric"] = configctl.run(["fabric"], ["fabric", "report"]).data
    if "document" in gather:
        answer = ask(module, configctl, ["show", "--document"], "document", "there is no valid document")
        result["document"] = answer.data.get("text", "")
    if "import" in gather:
        result["imported"] = imported(module, configctl)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
