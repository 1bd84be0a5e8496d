#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: report
short_description: Return a report of a host for others to read
description:
  - Returns what C(rdma-configctl doctor --report) writes. Names, addresses and GUIDs are replaced and secrets are removed.
  - Written to a file, C(rdma-configctl doctor --host FILE) examines it on any machine.
version_added: 0.1.0
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
- name: Look at the host
  rdma_configd.host.report:
  register: rdma

- name: Keep the report on the controller
  ansible.builtin.copy:
    content: "{{ rdma.report | to_json }}"
    dest: "reports/{{ inventory_hostname }}.json"
    mode: "0600"
  delegate_to: localhost
"""

RETURN = r"""
report:
  description: The object org.rdmaconfigd.host/1, at most 4 MiB.
  returned: success
  type: dict
findings:
  description: Findings of the doctor in that report.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rdma_configd.host.plugins.module_utils.configctl import ARGUMENTS, Configctl, failure


def main():
    module = AnsibleModule(argument_spec=dict(ARGUMENTS), supports_check_mode=True)
    if module.params["root"]:
        module.fail_json(msg="report does not go with root: it is about a running host")
    answer = Configctl(module).run(["doctor", "--report", "-"], ["host", "report", "doctor"])
    if answer.data.get("schema") != "org.rdmaconfigd.host/1":
        module.fail_json(msg=failure(answer, "no report"))
    findings = ((answer.data.get("results") or {}).get("doctor") or {}).get("findings") or []
    module.exit_json(changed=False, report=answer.data, findings=findings)


if __name__ == "__main__":
    main()
