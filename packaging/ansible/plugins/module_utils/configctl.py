# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0
"""Runs rdma-configctl --json and turns its answer into results of Ansible."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json
import os
import re
import signal
import subprocess

from ansible.module_utils.common.text.converters import to_bytes, to_text

MINIMUM = (0, 1, 0)  # the first rdma-configctl that speaks these schemas
ANSWER_LIMIT = 64 * 1024 * 1024  # bytes of JSON that one answer may have
SHOWN = 20  # diagnostics in one message

ARGUMENTS = dict(
    executable=dict(type="path", default="rdma-configctl"),
    root=dict(type="path"),
    timeout=dict(type="int", default=300),
)

EXITS = ("ok", "error", "differs", "undone", "undo_incomplete", "partly")


class Answer(object):
    """One run of the program: its exit status, its name, and the object that it printed."""

    def __init__(self, status, data):
        self.status = status
        self.data = data
        said = data.get("exit") or {}
        self.name = said.get("name") or (EXITS[status] if 0 <= status < len(EXITS) else "error")

    @property
    def error(self):
        """The program's own sentence, or an empty text."""
        return (self.data.get("error") or {}).get("message", "")


class Configctl(object):
    """The program on this host; every failure to get an answer ends the module with one message."""

    def __init__(self, module):
        self.module = module
        self.root = module.params.get("root")
        self.timeout = module.params["timeout"]
        if self.timeout < 1:
            module.fail_json(msg="timeout: must be at least 1 second, not %d" % self.timeout)
        self.path = self._find(module.params["executable"])

    def _find(self, name):
        if "/" in name:
            if os.path.isfile(name) and os.access(name, os.X_OK):
                return name
            self.module.fail_json(msg="%s does not exist or cannot be executed; see the option executable" % name)
        path = self.module.get_bin_path(name, opt_dirs=["/usr/local/bin"])
        if not path:
            self.module.fail_json(msg="%s is not installed on this host: install the package rdma-configd, "
                                      "or run the role rdma_configd.host.host first" % name, not_installed=True)
        return path

    def run(self, arguments, schemas, stdin=None, rooted=True):
        """The Answer to `arguments`, which has one of `schemas` (report stands for org.rdmaconfigd.report/1).

        `stdin` is given to the program; `rooted` adds --root where the module has it.
        """
        command = [self.path] + list(arguments) + ["--json"]
        if rooted and self.root:
            command += ["--root", self.root]
        status, out, err = self._start(command, stdin)
        try:
            data = json.loads(to_text(out))
        except ValueError:
            data = None
        if not isinstance(data, dict):
            self._no_answer(command, status, out, err)
        wanted = ["org.rdmaconfigd.%s/1" % name for name in schemas]
        if data.get("schema") not in wanted:
            self.module.fail_json(msg="%s answers in schema %r, and this collection understands %s%s"
                                      % (" ".join(command), data.get("schema"), " and ".join(wanted), self._version_hint()))
        return Answer(status, data)

    def _start(self, command, stdin):
        environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1")
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=environment, close_fds=True, start_new_session=True)
        except OSError as error:
            self.module.fail_json(msg="%s cannot be executed: %s" % (self.path, error.strerror))
        try:
            out, err = process.communicate(to_bytes(stdin) if stdin is not None else None, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            self._stop(process)
            self.module.fail_json(msg="%s did not finish within %d seconds and was ended; where rdma-configd runs, it may still be at work "
                                      "(rdma-configctl status), and an interrupted apply is completed by the next one. "
                                      "The option timeout gives it longer." % (" ".join(command), self.timeout))
        if len(out) > ANSWER_LIMIT:
            self.module.fail_json(msg="%s printed more than %d bytes" % (" ".join(command), ANSWER_LIMIT))
        return process.returncode, out, err

    @staticmethod
    def _stop(process):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except OSError:
                pass
            try:
                process.communicate(timeout=10)
                return
            except subprocess.TimeoutExpired:
                continue

    def _no_answer(self, command, status, out, err):
        said = to_text(err or out).strip() or "nothing"
        how = "was killed by signal %d" % -status if status < 0 else "ended with exit status %d" % status
        self.module.fail_json(msg="%s did not print one JSON object and %s; it said: %s%s"
                                  % (" ".join(command), how, said[:500], self._version_hint()), exit_status=status)

    def version(self):
        """The version as numbers, or None where the program does not tell."""
        unused, out, unused = self._start([self.path, "--version", "--json"], None)
        try:
            text = json.loads(to_text(out))["version"]
        except (ValueError, KeyError, TypeError):
            text = to_text(out)
        found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", to_text(text))
        return tuple(int(number or 0) for number in found.groups()) if found else None

    def _version_hint(self):
        found = self.version()
        if found is None:
            return ". %s is not an rdma-configctl that this collection knows" % self.path
        if found < MINIMUM:
            return ". %s is version %s; this collection needs %s or later: upgrade the package rdma-configd" % (self.path, dots(found), dots(MINIMUM))
        return ". %s is version %s: it may be newer than this collection, or its answer was cut short" % (self.path, dots(found))

    def status(self, changed=False):
        """The object of `status`, or an empty one with root: an image has no generations.

        `changed`: the host was changed before, which a failure to read the status must not hide.
        """
        if self.root:
            return {}
        answer = self.run(["status"], ["status", "report"])
        # Without a ledger nobody can tell whether an apply waits for its confirmation.
        if answer.data.get("schema") != "org.rdmaconfigd.status/1" or answer.error and not answer.data.get("generation"):
            self.module.fail_json(msg=failure(answer, "the host was changed, but its status cannot be read" if changed
                                              else "the status cannot be read"), changed=changed)
        return answer.data


def dots(version):
    """(0, 1, 0) as 0.1.0."""
    return ".".join(str(number) for number in version)


def place(where):
    """FILE:LINE:COLUMN of a diagnostic, or an empty text."""
    if not where or not where.get("file"):
        return ""
    return "%s:%s:%s: " % (where["file"], where.get("line", 0), where.get("column", 0))


def diagnostics(data, severity=None):
    """Each diagnostic as one line, as the program prints it."""
    lines = []
    for diagnostic in data.get("diagnostics") or []:
        if severity and diagnostic.get("severity") != severity:
            continue
        hint = " (%s)" % diagnostic["hint"] if diagnostic.get("hint") else ""
        lines.append("%s%s: %s%s" % (place(diagnostic.get("where")), diagnostic.get("severity"), diagnostic.get("message"), hint))
    return lines


def failure(answer, what):
    """One message with all that the program says of a failure."""
    lines = [answer.error] if answer.error else []
    errors = diagnostics(answer.data, "error")
    lines += errors[:SHOWN]
    if len(errors) > SHOWN:
        lines.append("and %d more errors" % (len(errors) - SHOWN))
    if not errors:
        lines += ["%s: %s" % (resource.get("label"), resource.get("reason")) for resource in with_status(answer.data, "failed")]
    if not lines:
        lines = ["exit status %d (%s) without a reason" % (answer.status, answer.name)]
    return what + ": " + "\n".join(lines)


def with_status(data, status):
    """Name and reason of each resource with the given status."""
    return [dict(kind=resource.get("kind"), id=resource.get("id"), label=resource.get("label"), reason=resource.get("reason"))
            for resource in data.get("resources") or [] if resource.get("status") == status]


def value(given):
    """A value of a change as people read it."""
    if given is None:
        return "not set"
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, list):
        return ", ".join(to_text(item) for item in given)
    return to_text(given)


def sides(changes):
    """The changes as two texts, which differ in what the changes differ: Ansible's diff."""
    before, after = [], []
    for change in changes:
        head = "%s %s\n" % (change.get("kind"), change.get("label") or change.get("id"))
        was, wanted = change.get("before") or {}, change.get("after") or {}
        if change.get("operation") != "create":
            before.append(head)
        if change.get("operation") != "delete":
            after.append(head)
        for field in change.get("fields") or sorted(set(was) | set(wanted)):
            if change.get("operation") != "create":
                before.append("  %s = %s\n" % (field, value(was.get(field))))
            if change.get("operation") != "delete":
                after.append("  %s = %s\n" % (field, value(wanted.get(field))))
    return dict(before_header="host", after_header="document", before="".join(before), after="".join(after))


def brief(changes):
    """The changes as results: without places, needs and GUIDs that only the program's own report has."""
    kept = ("kind", "id", "label", "operation", "fields", "before", "after", "effect", "interrupts")
    return [dict(((key, change.get(key)) for key in kept), interrupts_later=change.get("interrupts_later") or [])
            for change in changes]
