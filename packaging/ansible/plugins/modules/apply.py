#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: apply
short_description: Apply a document to an RDMA host
description:
  - Applies a document of rdma-configd to the host, all or nothing. If the kernel refuses a change, all others are undone.
  - The document goes to the program on its standard input, without a shell. With I(tables) it is in a temporary folder, which only root may read.
  - Without I(content) and I(src) it is the document of the host in C(/etc/rdma-configd), with its drop-ins.
version_added: 0.1.0
options:
  content:
    description: The document as text (TOML). CSV tables that it names are given with I(tables), or have absolute paths.
    type: str
  tables:
    description:
      - Texts of the CSV tables that I(content) names, by their file names without a folder.
      - They are kept in the folder of the document, and only if the document is kept.
    type: dict
    default: {}
  src:
    description: The document as a file on the host.
    type: path
  install:
    description:
      - Keep the document as C(/etc/rdma-configd/config.toml) once it is applied. Otherwise the daemon enforces it only until its next start or reload.
      - The default is to keep it, but not with I(confirm), since an unconfirmed document must not be applied again at the next boot.
        Apply it again without I(confirm) after the confirmation.
      - Drop-ins in C(conf.d) are an error, because they would be merged with the document. Check mode finds them too.
    type: bool
  confirm:
    description:
      - Seconds after which the host is rolled back unless M(rdma_configd.host.confirm) is called first.
      - Call it over a new connection, which proves that the host can still be reached.
      - With C(0) the changes are final at once.
    type: int
    default: 0
  only:
    description: Apply only these entries and their dependencies (a section, a name, a pattern).
    type: list
    elements: str
    default: []
  retry:
    description: Retry values that the fabric limited before.
    type: bool
    default: false
  allow_removal:
    description: Allow the removal of the interface of the default route or of a login session.
    type: bool
    default: false
attributes:
  check_mode:
    description: Compares and changes nothing.
    support: full
  diff_mode:
    description: Returns the changes of the host, and those of the installed files.
    support: full
extends_documentation_fragment:
  - rdma_configd.host.configctl
seealso:
  - module: rdma_configd.host.confirm
"""

EXAMPLES = r"""
- name: Apply a document and keep it
  rdma_configd.host.apply:
    content: "{{ lookup('ansible.builtin.template', 'site.toml') }}"

- name: Apply the document that is on the host
  rdma_configd.host.apply:

- name: Apply a document that undoes itself where it cuts a host off
  rdma_configd.host.apply:
    content: "{{ site_document }}"
    confirm: 120
  register: applied

- name: Connect again
  ansible.builtin.meta: reset_connection

- name: Confirm over the new connection
  rdma_configd.host.confirm:
    generation: "{{ applied.generation }}"
"""

RETURN = r"""
exit:
  description: Exit status of the program with its name (ok, differs, partly; on failure error, undone, undo_incomplete).
  returned: on success, and where the apply failed
  type: dict
  sample: {"status": 5, "name": "partly"}
changes:
  description: Changes that were, or in check mode would be, carried out, in this order.
  returned: on success, and where the apply failed
  type: list
  elements: dict
pending:
  description: Resources that wait for a device, a driver's reload or a reboot (kind, id, label, reason).
  returned: success
  type: list
  elements: dict
limited:
  description: Resources that the fabric limits (kind, id, label, reason).
  returned: success
  type: list
  elements: dict
unmet:
  description: Expectations of the document that the host does not meet (kind, id, label, reason). They are not repaired.
  returned: success
  type: list
  elements: dict
generation:
  description: Number of the active generation; null below I(root).
  returned: success
  type: int
unconfirmed:
  description: Apply that waits for its confirmation (generation, deadline, seconds_left), or null.
  returned: success
  type: dict
installed:
  description: Whether the document or a table of it became, or in check mode would become, the host's own.
  returned: success
  type: bool
notes:
  description: Messages about the run as a whole.
  returned: on success, and where the apply failed
  type: list
  elements: str
left_over:
  description: Settings that the rollback could not restore.
  returned: on success, and where the apply failed
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.text.converters import to_bytes, to_text
from ansible_collections.rdma_configd.host.plugins.module_utils.configctl import (
    ARGUMENTS, Configctl, brief, diagnostics, failure, sides, with_status)

FOLDER = "/etc/rdma-configd"
MAIN_FILE = FOLDER + "/config.toml"


def read(module, path):
    """The text of a file; None where there is none."""
    try:
        with open(path, "rb") as file:
            return to_text(file.read())
    except (IOError, OSError) as error:
        if error.errno == 2:
            return None
        module.fail_json(msg="%s cannot be read: %s" % (path, error.strerror))


def check_tables(module):
    """Ends the module where the tables cannot be kept as they are given."""
    tables = module.params["tables"]
    if tables and module.params["content"] is None:
        module.fail_json(msg="tables belong to a document that is given with content")
    for name, table in tables.items():
        if "/" in name or name.startswith(".") or not name.endswith(".csv"):
            module.fail_json(msg="tables: %s must be a file name that ends in .csv, without a folder" % name)
        if not hasattr(table, "encode"):
            module.fail_json(msg="tables: %s must be the text of the table, not %s" % (name, type(table).__name__))


def installs(module):
    """Whether the document is to become the host's own."""
    params = module.params
    given = params["content"] is not None or params["src"] is not None
    wanted = params["install"] if params["install"] is not None else given and not params["confirm"] and not params["only"]
    if wanted and not given:
        module.fail_json(msg="install keeps a document that is given with content or src")
    if wanted and params["confirm"]:
        module.fail_json(msg="install and confirm exclude each other: apply with confirm, confirm over a new connection, "
                             "then apply the same document again, which installs it")
    return wanted


def drop_ins(root):
    """Files that would be merged with an installed document."""
    found = []
    for folder in ("/etc", "/run", "/usr/lib"):
        path = root + folder + "/rdma-configd/conf.d"
        names = os.listdir(path) if os.path.isdir(path) else []
        found += [os.path.join(path, name) for name in sorted(names) if name.endswith(".toml") and not name.startswith(".")]
    return found


def file_changes(module, configctl):
    """List (path, before, after) for each installed file that changes; before is None for a new file."""
    if not installs(module):
        return []
    params, root = module.params, (configctl.root or "").rstrip("/")
    after = params["content"]
    if after is None:
        after = read(module, params["src"])
        if after is None:
            module.fail_json(msg="src: %s does not exist on this host" % params["src"])
    others = drop_ins(root)
    if others:  # also where the document is there already: the program, which is not to install it then, would not say it
        module.fail_json(msg="%s would be merged with the document; remove it, or use install=false" % ", ".join(others))
    wanted = [("%s/%s" % (FOLDER, name), table) for name, table in sorted(params["tables"].items())] + [(MAIN_FILE, after)]
    before = [(path, read(module, root + path), text) for path, text in wanted]
    return [file for file in before if file[1] != file[2]]


def lay_out(module):
    """The document and its tables in a folder of their own, which Ansible removes; the path of the document."""
    for name, text in list(module.params["tables"].items()) + [("config.toml", module.params["content"])]:
        path = os.path.join(module.tmpdir, name)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(to_bytes(text))
    return os.path.join(module.tmpdir, "config.toml")


def arguments_of(module, install):
    """The command line, and the text for standard input."""
    params, check = module.params, module.check_mode
    words, stdin = ["apply"], None
    words += ["--dry-run"] if check else ["--yes"]
    if params["tables"]:
        words += ["--config", lay_out(module)]
    elif params["content"] is not None:
        words += ["--config", "-"]
        stdin = params["content"]
    elif params["src"] is not None:
        words += ["--config", params["src"]]
    if install and not check:
        words.append("--install")
    if params["confirm"] and not check:
        words += ["--confirm", str(params["confirm"])]
    for name in params["only"]:
        words += ["--only", name]
    words += ["--retry"] if params["retry"] else []
    words += ["--allow-removal"] if params["allow_removal"] else []
    return words, stdin


def keep_tables(module, configctl, changes):
    """Installs the tables; the program has installed the document."""
    root = (configctl.root or "").rstrip("/")
    for path, unused, text in changes:
        if path == MAIN_FILE:
            continue
        source = os.path.join(module.tmpdir, "kept")
        with open(source, "wb") as file:
            file.write(to_bytes(text))
        os.chmod(source, 0o644)
        module.atomic_move(source, root + path)
    missing = [path for path, unused, text in changes if read(module, root + path) != text]
    if missing:
        module.fail_json(msg="applied, but not kept for the next boot: %s is not as it was given" % ", ".join(missing), changed=True)


def differences(changes, files):
    """For --diff: the installed files, then the host."""
    out = [dict(before_header=path, after_header=path, before=before or "", after=after) for path, before, after in files]
    if changes:
        out.append(sides(changes))
    return out


def result_of(module, answer, configctl, files):
    """The result of a run that succeeded."""
    data = answer.data
    changes = data.get("changes") or []
    changed = bool(changes or files)
    status = configctl.status(changed=changed and not module.check_mode)
    return dict(
        changed=changed,
        exit=dict(status=answer.status, name=answer.name),
        changes=brief(changes),
        pending=with_status(data, "pending"),
        limited=with_status(data, "limited"),
        unmet=with_status(data, "unmet"),
        generation=(status.get("generation") or {}).get("number"),
        unconfirmed=status.get("unconfirmed"),
        installed=bool(files),
        notes=data.get("notes") or [],
        left_over=data.get("left_over") or [],
    )


def fail(module, answer):
    """Ends the module after exit 1, 3 or 4, and where a step behind the apply failed."""
    applied = answer.name in ("ok", "partly") and not module.check_mode
    what = "the document was applied, but not all is done" if applied else "nothing was changed"
    if answer.name == "undone":
        what = "the apply failed and was undone, the host is as before"
    if answer.name == "undo_incomplete":
        what = "the apply failed, and undoing it is INCOMPLETE"
    left = answer.data.get("left_over") or []
    message = failure(answer, what)
    if left:
        message += "\nleft over: " + "\n".join(left)
    module.fail_json(msg=message, changed=answer.name == "undo_incomplete" or applied, exit=dict(status=answer.status, name=answer.name),
                     changes=brief(answer.data.get("changes") or []), left_over=left, notes=answer.data.get("notes") or [])


def main():
    module = AnsibleModule(
        argument_spec=dict(
            ARGUMENTS,
            content=dict(type="str"),
            src=dict(type="path"),
            install=dict(type="bool"),
            confirm=dict(type="int", default=0),
            only=dict(type="list", elements="str", default=[]),
            retry=dict(type="bool", default=False),
            allow_removal=dict(type="bool", default=False),
            tables=dict(type="dict", default={}),
        ),
        mutually_exclusive=[("content", "src")],
        supports_check_mode=True,
        no_log=True,  # keeps the whole document out of the host's journal
    )
    if module.params["confirm"] < 0:
        module.fail_json(msg="confirm: must be 0 or a number of seconds, not %d" % module.params["confirm"])
    configctl = Configctl(module)
    check_tables(module)
    files = file_changes(module, configctl)
    words, stdin = arguments_of(module, bool(files))
    answer = configctl.run(words, ["report"], stdin=stdin)
    if answer.name not in ("ok", "differs", "partly") or answer.data.get("error"):
        fail(module, answer)
    for line in diagnostics(answer.data, "warning"):
        module.warn(line)
    if files and not module.check_mode:
        keep_tables(module, configctl, files)
    result = result_of(module, answer, configctl, files)
    if module._diff:
        result["diff"] = differences(answer.data.get("changes") or [], files)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
