# SPDX-License-Identifier: Apache-2.0
"""Tests of the filters."""
import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.rdma_configd.host.plugins.filter.rows_of_host import FilterModule

rows_of_host = FilterModule().filters()["rows_of_host"]

TABLE = "# of the inventory\n\nhost,guid,note\ngpu1,a,\n# gpu2,x,\ngpu2, b,\"gpu3,c\"\ngpu20,d,\n\nhost,e,\nGPU3.a.net,f,\n \"gpu4\" ,g,\n"


@pytest.mark.parametrize("host, rows", [
    ("gpu1", ["gpu1,a,"]),
    ("gpu2", ["gpu2, b,\"gpu3,c\""]),
    ("gpu2.a.net", ["gpu2, b,\"gpu3,c\""]),
    ("gpu3", ["GPU3.a.net,f,"]),
    ("gpu3.b.net", ["GPU3.a.net,f,"]),
    ("gpu4", [" \"gpu4\" ,g,"]),
    ("host", ["host,e,"]),
])
def test_a_table_has_the_lines_of_the_host(host, rows):
    assert rows_of_host(TABLE, host) == "\n".join(["host,guid,note"] + rows) + "\n"


@pytest.mark.parametrize("host", ["gpu", "gpu30", "g.u1", "a"])
def test_a_table_without_the_host_stays_whole(host):
    assert rows_of_host(TABLE, host) == TABLE


@pytest.mark.parametrize("text, wanted", [
    ("host\na", "host\na\n"),
    ("host\nb\n", "host\nb\n"),
    ("\ufeffhost,k\r\nb,1\r\na,2\r\n", "host,k\r\na,2\r\n"),
    ("host,k\na,1\nb,2\na,3\n", "host,k\na,1\na,3\n"),  # the program names both lines
    (",\r\nhost,k\r\n,\r\nb,1\r\na,2\r\n,\r\n", "host,k\r\na,2\r\n"),  # empty rows of a spreadsheet
    ("host,k\na,\"not closed\n", "host,k\na,\"not closed\n"),
    ("", ""),
])
def test_lines_stay_as_they_are(text, wanted):
    assert rows_of_host(text, "a") == wanted


def test_another_host_does_not_change_the_lines():
    assert rows_of_host(TABLE.replace("gpu1,a", "gpu0,z\ngpu1,a"), "gpu2") == rows_of_host(TABLE, "gpu2")


def test_a_host_has_a_name():
    with pytest.raises(AnsibleFilterError):
        rows_of_host(TABLE, "")
