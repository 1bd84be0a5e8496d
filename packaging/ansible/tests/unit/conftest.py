# SPDX-License-Identifier: Apache-2.0
"""Runs a module in this process against the fake program beside this file."""
import importlib
import json
import os

import pytest
from ansible.module_utils import basic

HERE = os.path.dirname(os.path.abspath(__file__))


class Host:
    """A host with a fake rdma-configctl."""

    def __init__(self, folder, capsys, monkeypatch):
        self.folder, self.capsys, self.monkeypatch = folder, capsys, monkeypatch
        self.file = folder / "calls"
        monkeypatch.setenv("FAKE_CALLS", str(self.file))

    def answers(self, *entries):
        """Sets the answers of the program; a pair is (words, file of answers)."""
        whole = [dict(words=entry[0].split(), answer=entry[1]) if isinstance(entry, tuple) else entry for entry in entries]
        self.monkeypatch.setenv("FAKE_ANSWERS", json.dumps(whole))

    def run(self, name, check=False, diff=False, **params):
        """The result of a module."""
        given = dict(params, _ansible_check_mode=check, _ansible_diff=diff, _ansible_remote_tmp=str(self.folder))
        given.setdefault("executable", os.path.join(HERE, "rdma-configctl"))
        self.monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps(dict(ANSIBLE_MODULE_ARGS=given)).encode())
        module = importlib.import_module("ansible_collections.rdma_configd.host.plugins.modules." + name)
        self.capsys.readouterr()
        with pytest.raises(SystemExit):
            module.main()
        return json.loads(self.capsys.readouterr().out)

    def calls(self):
        """The command lines, without the program's name."""
        return [json.loads(line) for line in self.file.read_text().splitlines()]


@pytest.fixture
def host(tmp_path, capsys, monkeypatch):
    return Host(tmp_path, capsys, monkeypatch)
