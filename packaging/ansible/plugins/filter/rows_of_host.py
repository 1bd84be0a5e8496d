# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0
"""The lines of a table that one host needs."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
name: rows_of_host
short_description: Keep the lines of a table that are about one host
description:
  - Keeps the first line of a CSV table with values of hosts, and the lines of the given host. Names are compared without their domains.
  - A table without a line for the host stays whole, since the host may call itself by another name than the inventory does.
version_added: 0.1.0
positional: host
options:
  _input:
    description: The text of the table.
    type: str
    required: true
  host:
    description: Name of the host, short or with its domain.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Apply a document with the values of this host
  rdma_configd.host.apply:
    content: "{{ site_document }}"
    tables:
      nodes.csv: "{{ lookup('ansible.builtin.file', 'nodes.csv') | rdma_configd.host.rows_of_host(inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: The table with the lines of this host.
  type: str
"""

from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.text.converters import to_text


def short_name(name):
    """A host's name as the program compares it, without its domain."""
    return name.strip(u" \t\r\"").split(u".", 1)[0].lower()


def rows_of_host(text, host):
    """Header and lines of `host`; the whole text if it has none."""
    text, wanted = to_text(text), short_name(to_text(host))
    if not wanted:
        raise AnsibleFilterError("rows_of_host needs the name of a host")
    lines = [line for line in text.lstrip(u"\ufeff").split(u"\n") if line.strip(u", \t\r") and not line.startswith(u"#")]
    rows = [line for line in lines[1:] if short_name(line.split(u",", 1)[0]) == wanted]
    return u"\n".join(lines[:1] + rows) + u"\n" if rows else text


class FilterModule(object):
    """Filters of the collection."""

    def filters(self):
        return dict(rows_of_host=rows_of_host)
