#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: withdraw
short_description: Hand a host over before rdma-configd is removed
description:
  - Stops the daemon. Files of rdma-configd stay under other names, and scripts called by udev configure the host at boot.
  - The network stays as it is now. The state and the generations are deleted.
version_added: 0.1.0
attributes:
  check_mode:
    description: Reports what would be handed over.
    support: full
  diff_mode:
    description: Returns the names of the files before and after.
    support: full
extends_documentation_fragment:
  - rdma_configd.host.configctl
"""

EXAMPLES = r"""
- name: Hand the host over
  rdma_configd.host.withdraw:
  register: withdrawn

- name: Remove the package
  ansible.builtin.package:
    name: rdma-configd
    state: absent
"""

RETURN = r"""
kept:
  description: Files that are kept, with their names before (from) and after (to).
  returned: success
  type: list
  elements: dict
setup:
  description: Files that replace rdma-configd at boot.
  returned: success
  type: list
  elements: dict
lost:
  description: Settings that are lost at the next boot.
  returned: success
  type: list
  elements: str
notes:
  description: Remaining manual steps.
  returned: success
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rdma_configd.host.plugins.module_utils.configctl import ARGUMENTS, Configctl, failure


def ask(module, configctl, option):
    answer = configctl.run(["withdraw", option], ["withdrawal", "report"])
    if answer.data.get("schema") != "org.rdmaconfigd.withdrawal/1":
        module.fail_json(msg=failure(answer, "not withdrawn"), changed=answer.name == "undo_incomplete")
    return answer


def is_over(configctl, data):
    """Whether an image was handed over before: its document stays, so that the program would write the same files again."""
    return bool(configctl.root) and not data.get("kept") and all(
        os.path.exists(configctl.root.rstrip("/") + file["path"]) for file in data.get("setup") or [])


def main():
    module = AnsibleModule(argument_spec=dict(ARGUMENTS), supports_check_mode=True)
    configctl = Configctl(module)
    answer = ask(module, configctl, "--dry-run")
    changed = answer.name == "differs" and not is_over(configctl, answer.data)
    if changed and not module.check_mode:
        answer = ask(module, configctl, "--yes")
    result = dict((key, answer.data.get(key) or []) for key in ("kept", "setup", "lost", "notes"))
    if module._diff:
        before = "".join("%s\n" % file["from"] for file in result["kept"])
        after = "".join("%s\n" % file["to"] for file in result["kept"]) + "".join("%s\n" % file["path"] for file in result["setup"])
        result["diff"] = dict(before=before, after=after)
    module.exit_json(changed=changed, **result)


if __name__ == "__main__":
    main()
