"""The metrics of a deployed cluster, and its alarms at work: a workspace of Amazon Managed Service for Prometheus.

Rules and alert manager are those that the deployed workspace has, asked of its API; nodes and agent are as the scripts
make them. On the controller there are, for the service, Debian's Prometheus and Alertmanager, and a stand-in of its
door and of SNS under AWS's own names.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import yaml
from botocore.exceptions import ClientError

from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.egress_proxy import Authority
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile

_SETTINGS = "settings.json"
_FOLDER = "/root/workspace"
_TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
_SHUT, _MESSAGES = f"{_FOLDER}/shut", f"{_FOLDER}/messages"
_SERVER, _MANAGER = "127.0.0.1:9091", "127.0.0.1:9093"
_START_SECONDS = 120
_LOOK_SECONDS = 1
_PATIENCE_SECONDS = 900
_KEY = ("AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=test")  # of the service, which signs as itself


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedAlarms:
    """What a deployment's metrics meet.

    Attributes:
        url: Where the cluster's agent writes to, by the settings in the bucket.
        region: Its Region.
        rules: The rules of the workspace, by the name of their namespace: rules files of Prometheus.
        alert_manager: The definition of its alert manager: ``alertmanager_config`` and ``template_files``; empty where
            the workspace has none.
        late_seconds: How late a sample may come after younger ones of its series.
    """

    url: str
    region: str
    rules: Mapping[str, str]
    alert_manager: Mapping[str, Any]
    late_seconds: int

    @classmethod
    def of(cls, control_plane: ControlPlane, bundles: Mapping[str, Bundle]) -> Self | None:
        """Return what the API of the workspace says, or None of a cluster without metrics.

        Args:
            control_plane: The local AWS, with what the deployment made.
            bundles: The scripts of its nodes, from the bucket.
        """
        settings = (json.loads(bundle[_SETTINGS]) for bundle in bundles.values() if _SETTINGS in bundle)
        agent = next((found for one in settings if (found := one.get("metrics_agent"))), None)
        if agent is None:
            return None
        workspace = urlsplit(agent["url"]).path.split("/")[2]
        client = control_plane.client("amp")
        named = client.list_rule_groups_namespaces(workspaceId=workspace)["ruleGroupsNamespaces"]
        return cls(
            url=agent["url"],
            region=agent["region"],
            rules={row["name"]: _rules(client, workspace, row["name"]) for row in named},
            alert_manager=_alert_manager(client, workspace),
            late_seconds=_late_seconds(client, workspace),
        )


class Workspace:
    """The workspace, on a cluster's controller."""

    def __init__(self, controller: Machine, *, evaluate_seconds: int = 5) -> None:
        """Describe it; nothing is started.

        Args:
            controller: Where it runs: that machine is up.
            evaluate_seconds: How often rules are evaluated, and how long the alert manager waits for more of a kind.
                The service evaluates each minute, and waits as its definition says. Default: 5.
        """
        self._controller = controller
        self._seconds = evaluate_seconds

    def open(self, alarms: DeployedAlarms) -> None:
        """Start it, with what the deployed one has."""
        parts = urlsplit(alarms.url)
        hosts = [str(parts.hostname), f"sns.{alarms.region}.amazonaws.com"]
        authority = Authority.for_names(hosts)
        trusted = (self._controller.root / _TRUSTED.lstrip("/")).read_bytes()
        files: dict[str, str | bytes] = {
            _TRUSTED: trusted + authority.certificate,
            f"{_FOLDER}/server.pem": authority.server,
            f"{_FOLDER}/stand_in.py": (Path(__file__).parent / "workspace_stand_in.py").read_text(),
            "/etc/hosts": (self._controller.root / "etc/hosts").read_text() + f"127.0.0.1 {' '.join(hosts)}\n",
            **self._files(alarms),
        }
        for name, content in files.items():
            self._controller.write(name, NodeFile(text=content))
        passed_on = f"--prometheus=http://{_SERVER}/api/v1/write --path={parts.path}"
        kept = f"--certificate={_FOLDER}/server.pem --shut={_SHUT} --messages={_MESSAGES}"
        self._start("stand-in", f"/usr/bin/python3 -B {_FOLDER}/stand_in.py {passed_on} {kept}")
        self._start(
            "prometheus",
            f"/usr/bin/prometheus --config.file={_FOLDER}/prometheus.yml --storage.tsdb.path={_FOLDER}/metrics "
            f"--web.listen-address={_SERVER} --web.enable-remote-write-receiver --web.enable-lifecycle",
        )
        self._start(
            "alertmanager",
            f"/usr/bin/prometheus-alertmanager --config.file={_FOLDER}/alertmanager.yml "
            f"--storage.path={_FOLDER}/manager --web.listen-address={_MANAGER} --cluster.listen-address=",
        )
        for address in (_SERVER, _MANAGER):
            wait_for(f"{address} on the controller", partial(self._answers, address), seconds=_START_SECONDS)

    def change(self, alarms: DeployedAlarms) -> None:
        """Take what a new deployment has made of rules and alert manager."""
        for name, content in self._files(alarms).items():
            self._controller.write(name, NodeFile(text=content))
        for address in (_SERVER, _MANAGER):
            self._curl("--fail", "--request", "POST", f"http://{address}/-/reload", check=True)

    def shut(self, *, shut: bool) -> None:
        """Refuse what is written, as a workspace that cannot be reached, or take it again."""
        self._controller.run(*(["touch"] if shut else ["rm", "--force"]), _SHUT)

    def query(self, asked: str) -> list[dict[str, Any]]:
        """Return what a query of PromQL has now: ``metric`` and ``value`` of each series."""
        told = self._curl("--get", f"http://{_SERVER}/api/v1/query", "--data-urlencode", f"query={asked}")
        return list(json.loads(told)["data"]["result"]) if told else []

    def samples(self, selector: str, over: str = "1h") -> list[tuple[Mapping[str, str], list[tuple[float, float]]]]:
        """Return series with their samples as they were written: seconds since 1970, and the number."""
        return [
            (each["metric"], [(float(second), float(number)) for second, number in each["values"]])
            for each in self.query(f"{selector}[{over}]")
        ]

    def ring(self, alerts: Collection[Mapping[str, Any]]) -> None:
        """Tell the alert manager of alerts beside those of the rules, in the words of Alertmanager's API."""
        words = ("--fail", "--header", "Content-Type: application/json", "--data", json.dumps([*alerts]))
        self._curl(*words, f"http://{_MANAGER}/api/v2/alerts", check=True)

    def ringing(self) -> set[tuple[str, str]]:
        """Return what rings: the name of each alarm, with the node that it is about."""
        found = self.query('ALERTS{alertstate="firing"}')
        return {(each["metric"]["alertname"], each["metric"].get("node", "")) for each in found}

    def messages(self) -> list[Mapping[str, str]]:
        """Return what SNS was told, in its order: ``TopicArn``, ``Subject``, ``Message`` and more."""
        return [json.loads(line) for line in self._controller.run("cat", _MESSAGES, check=False).out.splitlines()]

    def subjects(self) -> list[str]:
        """Return the subjects of what SNS was told."""
        return [message["Subject"] for message in self.messages()]

    # ------------------------------------------------------------ parts
    def _files(self, alarms: DeployedAlarms) -> dict[str, str]:
        rules = {f"{_FOLDER}/{name}.rules.yml": text for name, text in alarms.rules.items()}
        server = {
            "global": {"evaluation_interval": f"{self._seconds}s"},
            "storage": {"tsdb": {"out_of_order_time_window": f"{alarms.late_seconds}s"}},
            "rule_files": sorted(rules),
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [_MANAGER]}]}]},
        }
        definition = alarms.alert_manager
        manager = yaml.safe_load(
            definition.get("alertmanager_config", "{route: {receiver: x}, receivers: [{name: x}]}")
        )
        manager["route"] |= {"group_wait": f"{self._seconds}s", "group_interval": f"{self._seconds}s"}
        return {
            **rules,
            f"{_FOLDER}/prometheus.yml": json.dumps(server),
            f"{_FOLDER}/alertmanager.yml": json.dumps(manager),
            **{f"{_FOLDER}/{name}": text for name, text in definition.get("template_files", {}).items()},
        }

    def _start(self, name: str, command: str) -> None:
        unit = ["systemd-run", "--quiet", f"--unit=workspace-{name}", "--property=Restart=always"]
        self._controller.run(*unit, *(f"--setenv={each}" for each in _KEY), *command.split())

    def _answers(self, address: str) -> bool:
        return self._controller.run("curl", "--silent", "--fail", f"http://{address}/-/ready", check=False).code == 0

    def _curl(self, *words: str, check: bool = False) -> str:
        return self._controller.run("curl", "--silent", "--max-time", "50", *words, check=check).out


def await_metrics(workspace: Workspace, hosts: Collection[str]) -> int:
    """Wait until every node's metrics arrive; return how many series there are.

    Args:
        workspace: The workspace.
        hosts: The nodes.

    Raises:
        RehearsalError: They do not.
    """

    def arrived() -> bool:
        return set(hosts) <= {each["metric"]["node"] for each in workspace.query('up{job="node"} == 1')}

    wait_for("metrics of every node", arrived, seconds=_PATIENCE_SECONDS, every=_LOOK_SECONDS)
    return int(workspace.query('count({__name__=~".+"})')[0]["value"][1])


def await_alarm(workspace: Workspace, name: str, host: str, *, rings: bool) -> None:
    """Wait until an alarm on a node rings, or rings no more.

    Raises:
        RehearsalError: It does not.
    """
    what = f"{name} of {host} to {'ring' if rings else 'end'}"
    question = partial(_rings, workspace, name, host, rings)
    wait_for(what, question, seconds=_PATIENCE_SECONDS, every=_LOOK_SECONDS)


def await_message(workspace: Workspace, begins: str) -> str:
    """Wait until SNS is told something, and return its subject.

    Args:
        workspace: The workspace.
        begins: How the subject begins.

    Raises:
        RehearsalError: It is not told, or more than once.
    """

    def told() -> list[str]:
        return [subject for subject in workspace.subjects() if subject.startswith(begins)]

    wait_for(f"a message {begins}", lambda: bool(told()), seconds=_PATIENCE_SECONDS, every=_LOOK_SECONDS)
    subject, *others = told()
    if others:
        raise RehearsalError(f"one message {begins} was to come, got {len(others) + 1}")
    return subject


def _rings(workspace: Workspace, name: str, host: str, rings: bool) -> bool:
    return ((name, host) in workspace.ringing()) == rings


def _rules(client: Any, workspace: str, name: str) -> str:
    described = client.describe_rule_groups_namespace(workspaceId=workspace, name=name)
    return bytes(described["ruleGroupsNamespace"]["data"]).decode()


def _late_seconds(client: Any, workspace: str) -> int:
    configuration = client.describe_workspace_configuration(workspaceId=workspace)["workspaceConfiguration"]
    return int(configuration.get("outOfOrderTimeWindowInSeconds", 0))


def _alert_manager(client: Any, workspace: str) -> Mapping[str, Any]:
    try:
        described = client.describe_alert_manager_definition(workspaceId=workspace)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return {}
        raise
    return dict(yaml.safe_load(bytes(described["alertManagerDefinition"]["data"])))
