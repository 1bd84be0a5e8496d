# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """Options that every module of the collection has."""

    DOCUMENTATION = r"""
options:
  executable:
    description: Path of the program, or a name to look up in PATH.
    type: path
    default: rdma-configctl
  root:
    description:
      - Work on the files of an image below this directory, without looking at devices.
    type: path
  timeout:
    description: Kill the program after this number of seconds, and fail.
    type: int
    default: 300
requirements:
  - rdma-configd 0.1.0 or later on the host
  - Python 3.6 or later on the host
author:
  - The rdma-configd project (@rdma-configd)
"""
