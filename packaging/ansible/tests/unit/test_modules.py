# SPDX-License-Identifier: Apache-2.0
"""Each module, with answers recorded from the program (answers/, written by ./record)."""
import json
import os

import pytest
from ansible.module_utils import basic

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = 'version = 1\n\n[[module]]\nname = "ib_ipoib"\n'
STATUS = ("status", "status.json")


def said(name):
    with open(os.path.join(HERE, "answers", name)) as file:
        return json.load(file)


def test_apply_changes_and_returns_the_changes(host):
    host.answers(("apply", "apply-done.json"), STATUS)
    result = host.run("apply", content=DOCUMENT, install=False)
    assert result["changed"] and result["exit"] == {"status": 0, "name": "ok"}
    assert [change["label"] for change in result["changes"]] == [change["label"] for change in said("apply-done.json")["changes"]]
    assert result["generation"] == said("status.json")["generation"]["number"]
    assert result["unconfirmed"] is None and result["pending"] == [] and not result["installed"]


def test_the_document_goes_by_standard_input(host):
    host.answers(("apply", "apply-done.json"), STATUS)
    host.run("apply", content=DOCUMENT, install=False)
    call = host.calls()[0]
    assert call["words"] == ["apply", "--yes", "--config", "-", "--json"]
    assert call["stdin"] == DOCUMENT and call["locale"] == "C.UTF-8"


def test_apply_without_changes_is_unchanged(host):
    host.answers(("apply", "apply-same.json"), STATUS)
    assert not host.run("apply")["changed"]
    assert host.calls()[0]["words"] == ["apply", "--yes", "--json"]


def test_check_mode_changes_nothing(host):
    host.answers(("apply --dry-run", "dry-run.json"), STATUS)
    result = host.run("apply", check=True, diff=True, content=DOCUMENT, install=False, confirm=60)
    assert result["changed"] and result["exit"]["name"] == "differs"
    assert all("--yes" not in call["words"] and "--confirm" not in call["words"] for call in host.calls())
    (diff,) = result["diff"]
    assert diff["before"] != diff["after"] and said("dry-run.json")["changes"][0]["label"] in diff["before"] + diff["after"]


def test_the_file_is_installed_only_when_it_differs(host):
    host.answers(("apply", "apply-same.json"))
    folder = host.folder / "etc/rdma-configd"
    folder.mkdir(parents=True)
    result = host.run("apply", content=DOCUMENT, root=str(host.folder), diff=True)
    assert result["changed"] and result["installed"] and "--install" in host.calls()[0]["words"]
    assert result["diff"][0]["after"] == DOCUMENT and result["diff"][0]["before"] == ""
    (folder / "config.toml").write_text(DOCUMENT)
    result = host.run("apply", content=DOCUMENT, root=str(host.folder))
    assert not result["changed"] and not result["installed"] and "--install" not in host.calls()[1]["words"]


def test_check_mode_tells_of_the_file(host):
    host.answers(("apply", "apply-same.json"))
    result = host.run("apply", check=True, content=DOCUMENT, root=str(host.folder))
    assert result["changed"] and result["installed"] and "--install" not in host.calls()[0]["words"]


def test_a_document_that_is_not_kept_is_a_failure(host):
    host.answers({"words": ["apply"], "answer": "apply-same.json", "lost": True})
    result = host.run("apply", content=DOCUMENT, root=str(host.folder))
    assert result["failed"] and result["changed"] and "not kept for the next boot: /etc/rdma-configd/config.toml" in result["msg"]


def test_drop_ins_are_found_in_check_mode(host):
    host.answers(("apply", "apply-same.json"))
    folder = host.folder / "etc/rdma-configd/conf.d"
    folder.mkdir(parents=True)
    (folder / "10-site.toml").write_text(DOCUMENT)
    result = host.run("apply", check=True, content=DOCUMENT, root=str(host.folder))
    assert result["failed"] and "10-site.toml would be merged" in result["msg"]
    assert not host.run("apply", check=True, content=DOCUMENT, root=str(host.folder), install=False).get("failed")


def test_drop_ins_are_an_error_where_the_document_is_there_already(host):
    host.answers(("apply", "apply-same.json"))
    folder = host.folder / "etc/rdma-configd"
    (folder / "conf.d").mkdir(parents=True)
    (folder / "conf.d/10-site.toml").write_text(DOCUMENT)
    (folder / "config.toml").write_text(DOCUMENT)
    for check in (True, False):
        result = host.run("apply", check=check, content=DOCUMENT, root=str(host.folder))
        assert result["failed"] and "10-site.toml would be merged" in result["msg"]
    assert not host.file.exists()


TABLES = {"nodes.csv": "host,guid\na,1\n"}


def test_tables_are_kept_with_the_document(host):
    host.answers(("apply", "apply-same.json"))
    (host.folder / "etc/rdma-configd").mkdir(parents=True)
    result = host.run("apply", content=DOCUMENT, tables=TABLES, root=str(host.folder), diff=True)
    table = host.folder / "etc/rdma-configd/nodes.csv"
    assert result["changed"] and [shown["after_header"] for shown in result["diff"]] == [
        "/etc/rdma-configd/nodes.csv", "/etc/rdma-configd/config.toml"]
    assert table.read_text() == TABLES["nodes.csv"] and table.stat().st_mode & 0o777 == 0o644
    assert host.calls()[0]["stdin"] == DOCUMENT + " and nodes.csv"
    assert not host.run("apply", content=DOCUMENT, tables=TABLES, root=str(host.folder))["changed"]


@pytest.mark.parametrize("how", [dict(check=True), dict(confirm=60), dict(install=False)])
def test_tables_are_not_kept_before_the_document(host, how):
    host.answers(("apply", "apply-done.json"), ("status", "status-unconfirmed.json"))
    assert host.run("apply", content=DOCUMENT, tables=TABLES, root=str(host.folder), **how)["changed"]
    assert host.calls()[0]["stdin"] == DOCUMENT + " and nodes.csv" and not (host.folder / "etc").exists()


@pytest.mark.parametrize("name", ["../nodes.csv", "/etc/nodes.csv", "nodes.toml", ".csv"])
def test_names_of_tables_have_no_folder(host, name):
    host.answers(("apply", "apply-done.json"))
    assert "without a folder" in host.run("apply", content=DOCUMENT, tables={name: "host\n"})["msg"]
    assert "given with content" in host.run("apply", tables=TABLES)["msg"]
    assert "must be the text" in host.run("apply", content=DOCUMENT, tables={"a.csv": 1})["msg"]


def test_a_status_that_cannot_be_read_is_a_failure(host):
    error = json.dumps(dict(schema="org.rdmaconfigd.report/1", exit=dict(status=1, name="error"), error=dict(code="denied", message="no ledger")))
    host.answers(("apply", "apply-done.json"), {"words": ["status"], "text": error, "exit": 1})
    result = host.run("apply", content=DOCUMENT, confirm=60)
    assert result["failed"] and result["changed"] and "no ledger" in result["msg"]
    result = host.run("confirm", generation=1)
    assert result["failed"] and not result["changed"] and "no ledger" in result["msg"]


def test_the_journal_does_not_get_the_document(host):
    logged = []
    host.monkeypatch.setattr(basic.AnsibleModule, "log", lambda self, text, log_args=None: logged.append(text))
    host.answers(("apply", "apply-same.json"), STATUS)
    host.run("apply", content=DOCUMENT, install=False)
    assert not [text for text in logged if "ib_ipoib" in text]


def test_a_window_does_not_install(host):
    host.answers(("apply", "apply-done.json"), ("status", "status-unconfirmed.json"))
    result = host.run("apply", content=DOCUMENT, confirm=90)
    words = host.calls()[0]["words"]
    assert "--install" not in words and words[words.index("--confirm") + 1] == "90"
    assert result["unconfirmed"]["seconds_left"] > 0
    assert "exclude each other" in host.run("apply", content=DOCUMENT, confirm=90, install=True)["msg"]


def test_pending_is_no_failure(host):
    host.answers(("apply", "apply-partly.json"), STATUS)
    result = host.run("apply")
    assert not result.get("failed") and result["exit"] == {"status": 5, "name": "partly"}
    assert result["pending"] and result["pending"][0]["reason"]


def test_applied_and_not_kept_is_a_failure_with_change(host):
    answer = said("apply-done.json")
    answer.update(exit={"status": 5, "name": "partly"}, error=dict(code="denied", message="applied, but not installed: read-only", errno=30))
    host.answers({"words": ["apply"], "text": json.dumps(answer), "exit": 5}, STATUS)
    result = host.run("apply", content=DOCUMENT, install=False)
    assert result["failed"] and result["changed"] and result["changes"] and result["exit"]["name"] == "partly"
    assert "not all is done: applied, but not installed" in result["msg"] and "nothing was changed" not in result["msg"]


def test_undone_is_a_failure_without_change(host):
    host.answers(("apply", "apply-undone.json"))
    result = host.run("apply")
    assert result["failed"] and not result["changed"] and result["exit"] == {"status": 3, "name": "undone"}
    assert "was undone" in result["msg"] and said("apply-undone.json")["error"]["message"] in result["msg"]


def test_undone_in_part_is_a_failure_with_change(host):
    answer = said("apply-undone.json")
    answer.update(exit={"status": 4, "name": "undo_incomplete"}, left_over=["ib0: mtu is 4092, was 2044"])
    host.answers({"words": ["apply"], "text": json.dumps(answer), "exit": 4})
    result = host.run("apply")
    assert result["failed"] and result["changed"] and result["left_over"] == answer["left_over"]
    assert "INCOMPLETE" in result["msg"] and answer["left_over"][0] in result["msg"]


@pytest.mark.parametrize("check", [False, True])
def test_an_error_in_the_document_has_its_place(host, check):
    host.answers(("apply", "apply-error.json"))
    result = host.run("apply", check=check, content=DOCUMENT, install=False)
    where = said("apply-error.json")["diagnostics"][0]["where"]
    assert result["failed"] and not result["changed"] and "nothing was changed" in result["msg"]
    assert "%s:%d:%d: error" % (where["file"], where["line"], where["column"]) in result["msg"]


def test_confirm(host):
    waiting = said("status-unconfirmed.json")["generation"]["number"]
    host.answers(("confirm", "confirm.json"), ("status", "status-unconfirmed.json"))
    result = host.run("confirm", generation=waiting)
    assert result["changed"] and result["generation"] == waiting
    assert [call["words"][0] for call in host.calls()] == ["status", "confirm", "status"]


def test_a_status_that_cannot_be_read_after_a_confirmation(host):
    waiting = said("status-unconfirmed.json")["generation"]["number"]
    error = json.dumps(dict(schema="org.rdmaconfigd.report/1", exit=dict(status=1, name="error"), error=dict(code="denied", message="no ledger")))
    host.answers({"words": ["status"], "answer": "status-unconfirmed.json", "once": True}, {"words": ["status"], "text": error, "exit": 1},
                 ("confirm", "confirm.json"))
    result = host.run("confirm", generation=waiting)
    assert result["failed"] and result["changed"] and "no ledger" in result["msg"]


def test_confirm_in_check_mode(host):
    host.answers(("status", "status-unconfirmed.json"))
    assert host.run("confirm", check=True)["changed"] and len(host.calls()) == 1


def test_nothing_to_confirm_is_unchanged(host):
    host.answers(STATUS)
    result = host.run("confirm")
    assert not result["changed"] and result["seconds_left"] is None


def test_a_generation_that_went_back_is_not_confirmed(host):
    host.answers(STATUS)
    result = host.run("confirm", generation=4711)
    assert result["failed"] and "not confirmed in time" in result["msg"]


def test_a_deadline_that_passes_meanwhile(host):
    waiting = said("status-unconfirmed.json")["generation"]["number"]
    assert waiting != said("status.json")["generation"]["number"]
    host.answers({"words": ["status"], "answer": "status-unconfirmed.json", "once": True}, STATUS, ("confirm", "confirm.json"))
    assert host.run("confirm", generation=waiting)["failed"]


def test_info(host):
    host.answers(STATUS, ("show --document", "show-document.json"), ("show", "show.json"), ("import", "import.json"))
    result = host.run("info", gather=["status", "show", "document", "import"])
    assert result["in_sync"] is (said("status.json")["exit"]["name"] == "ok") and not result["changed"]
    assert result["show"]["schema"] == "org.rdmaconfigd.show/1" and "diff_report" not in result
    assert "version" in result["document"] and result["imported"]["document"] == said("import.json")["document"]


@pytest.mark.parametrize("source, code, root, imported", [
    ("host", "not_found", "", True), ("host", "not_found", "missing", False), ("host", "io", "", False), ("nm", "not_found", "", False)])
def test_info_of_an_image_without_files(host, source, code, root, imported):
    answer = dict(schema="org.rdmaconfigd.report/1", command="import", exit=dict(status=1, name="error"),
                  error=dict(code=code, message="no readable file of any format was found", errno=0))
    host.answers(dict(words=["import"], text=json.dumps(answer), exit=1))
    result = host.run("info", gather=["import"], import_format=source, root=str(host.folder / root))
    if imported:
        assert result["imported"]["document"] == "version = 1\n" and result["imported"]["not_understood"] == []
        assert result["imported"]["passed_over"][0]["text"] == "no readable file of any format was found"
    else:
        assert result["failed"] and "nothing can be imported: no readable file" in result["msg"]


def test_info_of_differences(host):
    host.answers(("diff", "dry-run.json"))
    assert host.run("info", gather=["diff"])["diff_report"]["exit"]["name"] == "differs"


@pytest.mark.parametrize("schema, status", [("fabric", 0), ("fabric", 5), ("report", 1)])
def test_info_of_a_fabric(host, schema, status):
    answer = dict(schema="org.rdmaconfigd.%s/1" % schema, command="fabric", exit=dict(status=status, name="ok"))
    host.answers(dict(words=["fabric"], text=json.dumps(answer), exit=status))
    result = host.run("info", gather=["fabric"])
    assert result["fabric"] == answer and not result["changed"] and not result.get("failed")
    assert host.calls()[0]["words"] == ["fabric", "--json"]


def test_report(host):
    host.answers(("doctor", "report.json"))
    result = host.run("report")
    assert result["report"]["schema"] == "org.rdmaconfigd.host/1" and isinstance(result["findings"], list)


def test_verify(host):
    host.answers(("verify", "verify.json"))
    result = host.run("verify", ipoib="rail0", to="192.0.2.1", count=3)
    assert result["sent"] == said("verify.json")["sent"] and not result["changed"]
    assert host.calls()[0]["words"] == ["verify", "--ipoib", "rail0", "--to", "192.0.2.1", "--count", "3", "--json"]


def test_verify_with_losses(host):
    answer = said("verify.json")
    answer.update(answered=1, sent=5, exit={"status": 5, "name": "partly"})
    host.answers({"words": ["verify"], "text": json.dumps(answer), "exit": 5})
    assert "1 of 5 messages" in host.run("verify", mad="1")["msg"]
    assert not host.run("verify", mad="1", allow_loss=True).get("failed")


def test_verify_takes_one_test(host):
    assert "exactly one of" in host.run("verify")["msg"]
    assert "exactly one of" in host.run("verify", mad="1", client="192.0.2.1")["msg"]


def test_withdraw(host):
    host.answers(("withdraw --dry-run", "withdraw-dry-run.json"), ("withdraw --yes", "withdraw.json"))
    assert host.run("withdraw", check=True)["changed"] and len(host.calls()) == 1
    result = host.run("withdraw", diff=True)
    assert result["changed"] and result["kept"] and result["diff"]["before"] != result["diff"]["after"]


def test_nothing_to_withdraw_is_unchanged(host):
    answer = said("withdraw.json")
    answer.update(kept=[], setup=[], lost=[])
    host.answers({"words": ["withdraw"], "text": json.dumps(answer)})
    assert not host.run("withdraw")["changed"] and len(host.calls()) == 1


def test_a_program_that_is_not_installed(host):
    result = host.run("apply", executable="rdma-configctl-that-is-not-there")
    assert "is not installed on this host" in result["msg"] and result["not_installed"]
    result = host.run("info", executable="/nonexistent/rdma-configctl")
    assert "cannot be executed" in result["msg"] and "not_installed" not in result


@pytest.mark.parametrize("text", ["", "{", "[]", "Usage: rdma-configctl", '{"schema": "org.rdmaconfigd.report/1", "exit"'])
def test_an_answer_that_is_cut_short(host, text):
    host.answers(("--version", "version.json"), {"words": [], "text": text, "exit": 1})
    result = host.run("apply")
    assert "did not print one JSON object and ended with exit status 1" in result["msg"] and "is version 0.1.0" in result["msg"]


def test_a_version_that_is_too_old(host):
    host.answers({"words": ["--version"], "text": "rdma-configctl 0.0.7\n"}, {"words": [], "text": "unknown option --json\n", "exit": 1})
    assert "is version 0.0.7; this collection needs 0.1.0 or later" in host.run("info")["msg"]


def test_a_newer_schema(host):
    host.answers(("--version", "version.json"), {"words": [], "text": '{"schema": "org.rdmaconfigd.report/2"}'})
    result = host.run("apply")
    assert "report/2" in result["msg"] and "may be newer" in result["msg"]


def test_a_program_that_is_another(host):
    host.answers({"words": ["--version"], "text": "hello\n"}, {"words": [], "text": "hello\n"})
    assert "not an rdma-configctl that this collection knows" in host.run("apply")["msg"]


def test_a_timeout(host):
    host.answers({"words": ["apply"], "text": "{}", "sleep": 600})
    result = host.run("apply", timeout=1)
    assert "did not finish within 1 seconds" in result["msg"]
    assert "at least 1" in host.run("apply", timeout=0)["msg"]


def test_a_document_that_is_not_there(host):
    host.answers(("apply", "apply-done.json"), STATUS)
    assert "does not exist" in host.run("apply", src="/nonexistent.toml")["msg"]
    assert "mutually exclusive" in host.run("apply", src="/nonexistent.toml", content=DOCUMENT)["msg"]
    assert "given with content or src" in host.run("apply", install=True)["msg"]


def test_what_does_not_go_with_an_image(host):
    for name in ("confirm", "report"):
        assert "does not go with root" in host.run(name, root="/srv/image")["msg"]
    assert "does not go with root" in host.run("verify", mad="1", root="/srv/image")["msg"]


def test_no_shell_sees_the_words(host):
    host.answers(("apply", "apply-same.json"), STATUS)
    host.run("apply", only=["$(touch /tmp/x); ib0 'b'"])
    assert "$(touch /tmp/x); ib0 'b'" in host.calls()[0]["words"]
