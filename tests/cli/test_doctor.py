"""``trainyard doctor``: credentials that are missing, of others or refused; its forms; the policy that it needs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.account import Account
from cdk_trainyard.cli import _cdk, _tables, main
from cdk_trainyard.doctor import CHECKS, Verdict, diagnose, policy
from cdk_trainyard.local import Fault, LocalAws
from tests.asking import asking
from tests.doctor.parts import TRUST, put_right, raise_quotas, shipped
from tests.shown import lacking, promised
from tests.support import DEPLOYMENTS, ROOT

FILE = "deployments/hyperpod-trn1-llama2.yaml"
LLAMA = shipped("hyperpod-trn1-llama2")
MINE = '{"context": {"@aws-cdk/core:bootstrapQualifier": "mine"}}'


@pytest.fixture(scope="module")
def here(aws: LocalAws) -> Iterator[LocalAws]:
    aws.reset()
    with asking(aws) as patch:
        patch.chdir(ROOT)
        for path in DEPLOYMENTS:
            put_right(aws, shipped(path.stem))
        raise_quotas(aws, LLAMA)
        yield aws
    aws.reset()


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["doctor", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.usefixtures("here")
def test_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, FILE)
    assert code == 0
    assert out.splitlines()[0].split() == ["VERDICT", "CHECK", "NEEDED", "THE", "ACCOUNT", "HAS", "CALL", "FILE"]
    assert out.splitlines()[-1].endswith(" ok")
    assert "What to do" not in out
    assert err == "asking AWS what hyperpod-trn1-llama2 needs in us-west-2\n"


def test_what_is_short_is_first_and_its_remedy_is_a_line(here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    here.set_quota("sagemaker", "ml.trn1.32xlarge for cluster usage", 0)
    code, out, _ = run(capsys, FILE)
    raise_quotas(here, LLAMA)
    assert code == 1
    assert lacking(promised("constructs/cdk_trainyard/doctor/README.md", "trainyard doctor mine.yaml"), out) == []


@pytest.mark.parametrize(
    ("name", "text", "qualifier"),
    [
        ("cdk.json", MINE, "mine"),
        ("cdk.context.json", '{"@aws-cdk/core:bootstrapQualifier": "mine"}', "mine"),
        (".cdk.json", MINE, "mine"),
        ("cdk.json", '{"app": "x"}', None),
        ("cdk.json", "[]", None),
    ],
)
def test_the_bootstrap_of_the_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, text: str, qualifier: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert _cdk.bootstrap_qualifier() == qualifier


@pytest.mark.usefixtures("here")
def test_it_is_looked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for text, said in ((MINE, "--qualifier mine, version"), ("[]", "cdk bootstrap, version")):
        Path("cdk.json").write_text(text)
        _, out, _ = run(capsys, str(ROOT / FILE))
        assert said in out


@pytest.mark.usefixtures("here")
def test_a_project_file_that_is_not_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cdk.json").write_text("{")
    code, _, err = run(capsys, str(ROOT / FILE))
    assert code == 1
    assert err.startswith("cdk.json: it is not JSON: ")


@pytest.mark.usefixtures("here")
def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, FILE, "--json")
    assert code == 0
    found = json.loads(out)["findings"]
    zone = next(row for row in found if row["check"] == "zone" and "trn1" in row["needed"])
    assert zone["permission"] == "ec2:DescribeInstanceTypeOfferings"
    assert zone["command"].startswith("aws ec2 describe-instance-type-offerings --location-type")
    assert zone["at"] == f"{FILE}:30:22"
    assert zone["verdict"] == "ok"


@pytest.mark.usefixtures("here")
def test_paragraphs_where_the_terminal_is_narrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tables, "width", lambda: 60)
    _, out, _ = run(capsys, FILE)
    assert [line for line in out.splitlines() if len(line) > 60] == []
    assert "\n  the account has: it is there\n" in out


def test_without_credentials_what_is_needed_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    code, out, err = run(capsys, FILE)
    assert code == 3
    assert "not asked  quota" in out
    assert "4 instances: ml.trn1.32xlarge for cluster usage" in out
    assert out.splitlines()[-1].endswith(" not asked")
    assert "," not in out.splitlines()[-1]
    assert "aws configure sso" in err


def test_expired_credentials(here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    with here.faults(Fault(call="*", code="ExpiredToken", message="The security token is expired")):
        code, out, err = run(capsys, FILE)
    assert code == 3
    assert out.startswith("account: an account is needed: ")
    assert "There are no credentials of an AWS account that work" in err


@pytest.mark.usefixtures("here")
def test_the_wrong_account_is_said_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"account: '999999999999'\n{(ROOT / FILE).read_text()}")
    code, out, _ = run(capsys, str(path))
    assert code == 1
    assert out.splitlines()[0].startswith("account: the account 999999999999 is needed: 123456789012, as arn:aws:sts")


def test_a_region_that_the_account_may_not_use(here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    refused = Fault(call="ec2 DescribeAvailabilityZones", code="OptInRequired", message="not subscribed")
    with here.faults(refused):
        code, out, _ = run(capsys, FILE)
    assert code == 1
    assert out.splitlines()[0] == (
        "account: the Region us-west-2 is needed: the account may not use it: not subscribed"
    )


def test_one_call_that_is_refused_leaves_the_others(here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    with here.faults(Fault(call="iam ListRoles", code="AccessDenied", message="not you")):
        code, out, _ = run(capsys, FILE)
    assert code == 0
    assert out.splitlines()[-1].startswith("2 unknown, ")
    assert "allow iam:ListRoles" in out


def test_the_policy_is_enough(here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    """A role with what ``--policy`` prints is refused nothing, of any shipped deployment."""
    _, out, _ = run(capsys, FILE, "--policy")
    assert json.loads(out) == policy()
    iam = here.client("iam")
    trust = TRUST.replace("[]", '[{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]')
    role = iam.create_role(RoleName="doctor", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    iam.put_role_policy(RoleName="doctor", PolicyName="ask", PolicyDocument=out)
    key = here.client("sts").assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
    called: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        for name, member in (
            ("AWS_ACCESS_KEY_ID", "AccessKeyId"),
            ("AWS_SECRET_ACCESS_KEY", "SecretAccessKey"),
            ("AWS_SESSION_TOKEN", "SessionToken"),
        ):
            patch.setenv(name, key[member])
        for path in DEPLOYMENTS:
            deployment = shipped(path.stem)
            raise_quotas(here, deployment)
            found = diagnose(deployment, Account(deployment.region), lambda answer: called.add(str(answer.call)))
            assert [each for each in found if each.verdict is Verdict.UNKNOWN] == []
            assumed = next(each for each in found if each.check == "deployer" and "assume" in each.needed)
            assert assumed.verdict is Verdict.SHORT  # it may ask, and not deploy
    assert called <= {each for check in CHECKS for each in check.asks}
