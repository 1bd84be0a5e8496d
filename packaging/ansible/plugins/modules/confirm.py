#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: confirm
short_description: Confirm an apply, over a connection that the change has survived
description:
  - Ends the confirmation window of M(rdma_configd.host.apply) so that the change stays.
  - With I(generation) it fails if that generation is no longer active, because the window has passed and the host was rolled back.
version_added: 0.1.0
options:
  generation:
    description: The generation to confirm, which M(rdma_configd.host.apply) returned as C(generation).
    type: int
attributes:
  check_mode:
    description: Reports whether an apply waits for confirmation.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
extends_documentation_fragment:
  - rdma_configd.host.configctl
seealso:
  - module: rdma_configd.host.apply
"""

EXAMPLES = r"""
- name: Connect again
  ansible.builtin.meta: reset_connection

- name: Confirm
  rdma_configd.host.confirm:
    generation: "{{ applied.generation }}"
"""

RETURN = r"""
generation:
  description: Number of the active generation.
  returned: on success, and where another generation is active
  type: int
seconds_left:
  description: Seconds left until the deadline; null if no apply waited.
  returned: success
  type: int
notes:
  description: Messages of the program.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rdma_configd.host.plugins.module_utils.configctl import ARGUMENTS, Configctl, failure


def active_of(module, status):
    """The active generation, which must be the expected one."""
    active = (status.get("generation") or {}).get("number")
    wanted = module.params["generation"]
    if wanted is not None and active != wanted:
        module.fail_json(msg="generation %d is not active (active: %s): it was not confirmed in time and the host went back to its former state, "
                             "or somebody has applied another document; see `rdma-configctl history`" % (wanted, active), generation=active)
    return active


def main():
    module = AnsibleModule(argument_spec=dict(ARGUMENTS, generation=dict(type="int")), supports_check_mode=True)
    if module.params["root"]:
        module.fail_json(msg="confirm does not go with root: an image has no generations")
    configctl = Configctl(module)
    status = configctl.status()
    active = active_of(module, status)
    waiting = status.get("unconfirmed")
    result = dict(changed=waiting is not None, generation=active, seconds_left=(waiting or {}).get("seconds_left"), notes=[])
    if waiting and not module.check_mode:
        answer = configctl.run(["confirm"], ["report"])
        if answer.name not in ("ok", "partly") or answer.data.get("error"):
            module.fail_json(msg=failure(answer, "not confirmed"))
        active_of(module, configctl.status(changed=True))  # the deadline may have passed in between
        result["notes"] = answer.data.get("notes") or []
    module.exit_json(**result)


if __name__ == "__main__":
    main()
