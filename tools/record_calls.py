"""Record what roles call: deploy and rehearse deployments, and keep what it takes to decide again.

``python -m tools.record_calls [DEPLOYMENT …]`` deploys each deployment to the local AWS (as ``make demo``) and, where
nodes can be booted, rehearses it (as ``make rehearse``); ``--keep FILE …`` takes recordings that were made before.
It rewrites ``tests/local/access/recorded_calls.json``, which a test replays against roles with a permission taken out.

Of calls that the same statement allows for the same reason one is kept.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdk_trainyard.cli.demo import deployed
from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.server import RECORDING_VARIABLE
from cdk_trainyard.policy import Context, Policies, Policy, PolicyKind, Principal, Request, evaluate, parse_policy

ROOT = Path(__file__).parent.parent
OUTPUT = ROOT / "tests" / "local" / "access" / "recorded_calls.json"
_NOT_REHEARSED = ("serving-",)
Recording = Mapping[str, Any]


def main() -> None:
    """Record, and rewrite the committed data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deployments", type=Path, nargs="*", default=sorted((ROOT / "deployments").glob("*.yaml")))
    parser.add_argument("--keep", type=Path, nargs="+", help="condense these recordings, and record nothing")
    options = parser.parse_args()
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in options.keep or []]
    OUTPUT.write_text(text(kept or [made for file in options.deployments for made in _record(file)]), encoding="utf-8")


def _record(deployment: Path) -> Iterator[Recording]:
    with deployed(deployment, "*") as made:
        if made.missing:
            sys.exit(f"not deployed: {', '.join(made.missing)}")
        _operate(made.aws)
        yield made.aws.recording
    if not deployment.stem.startswith(_NOT_REHEARSED):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "calls.json")
            words = [sys.executable, "-m", "cdk_trainyard.rehearsal", str(deployment), "--no-job"]
            subprocess.run(words, cwd=ROOT, env={**os.environ, RECORDING_VARIABLE: str(file)}, check=True)
            yield json.loads(file.read_text(encoding="utf-8"))


def _operate(aws: LocalAws) -> None:
    """Do what users do after a deployment: start builds, and services that wait for it."""
    builds, ecs = aws.client("codebuild"), aws.client("ecs")
    for project in builds.list_projects()["projects"]:
        builds.start_build(projectName=project)
    for cluster in ecs.list_clusters()["clusterArns"]:
        for service in ecs.describe_services(cluster=cluster, services=_services(ecs, cluster))["services"]:
            if service["schedulingStrategy"] == "REPLICA":
                ecs.update_service(cluster=cluster, service=service["serviceArn"], desiredCount=1)


def _services(ecs: Any, cluster: str) -> list[str]:
    return list(ecs.list_services(cluster=cluster)["serviceArns"])


def text(recordings: Sequence[Recording]) -> str:
    """Return the committed data: one line for each call, and for each policy."""
    policies: dict[str, Any] = {}
    calls: dict[str, Mapping[str, Any]] = {}
    for recording in recordings:
        for row in recording["calls"]:
            if not row["allowed"]:
                raise SystemExit(f"{row['role']} was refused {row['action']} on {row['resource']}: mend it first")
            by = decided_by(row, recording["policies"])
            calls.setdefault(json.dumps([row["role"], row["action"], by], sort_keys=True), row)
            policies |= {name: recording["policies"][name] for names in row["policies"].values() for name in names}
    lines = {
        "policies": [f"{json.dumps(name)}: {json.dumps(policies[name], sort_keys=True)}" for name in sorted(policies)],
        "calls": [json.dumps(calls[key], sort_keys=True) for key in sorted(calls)],
    }
    listed = ",\n".join(lines["policies"]), ",\n".join(lines["calls"])
    return f'{{"policies": {{\n{listed[0]}\n}},\n"calls": [\n{listed[1]}\n]}}\n'


def decided_by(row: Mapping[str, Any], policies: Mapping[str, Any]) -> Any:
    """Return the statement that allows a recorded call, with those of its resources that the call is about."""
    statement = dict(decide(row, policies).statement or {})
    listed = statement.get("Resource", "*")
    statement["Resource"] = [
        resource
        for resource in (listed if isinstance(listed, list) else [listed])
        if _is_about({**statement, "Resource": resource}, row)
    ]
    return statement


def _is_about(statement: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    kind = "RESOURCE" if "Principal" in statement else "IDENTITY"
    (read,) = _read({"statements": [statement], "kind": kind}, "the statement that decides").statements
    return read.is_about_resource(row["resource"], Context(row["keys"]))


def _read(document: Mapping[str, Any], name: str) -> Policy:
    content = {"Version": "2012-10-17", "Statement": document["statements"]}
    return parse_policy(content, kind=PolicyKind[document["kind"]], name=name)


def decide(row: Mapping[str, Any], documents: Mapping[str, Any]) -> Any:
    """Decide a recorded call again, by these documents of the policies that it names."""
    read = {kind: tuple(_read(documents[name], name) for name in names) for kind, names in row["policies"].items()}
    request = Request(
        principal=Principal.role_session(row["role"], "recorded"),
        action=row["action"],
        resource=row["resource"],
        keys=row["keys"],
        resource_account=row["role"].split(":")[4],
    )
    policies = Policies(
        identity=read["identity"],
        resource=read["resource"],
        boundary=next(iter(read["boundary"]), None),
        endpoint=next(iter(read["endpoint"]), None),
    )
    return evaluate(request, policies)


if __name__ == "__main__":
    main()
