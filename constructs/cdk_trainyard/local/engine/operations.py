"""The operations on stacks: each runs in a thread of its own, and the request waits a while for it.

CloudFormation answers at once and works on; the CDK CLI then asks every five seconds. Waiting a little before the
answer makes a deployment quick, and giving up in time keeps SDKs from sending a long request twice.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlparse
from uuid import uuid4

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.engine.deploy import Deployment, Target
from cdk_trainyard.local.engine.parameters import given_parameters
from cdk_trainyard.local.engine.state import REGIONS, Region, Stack
from cdk_trainyard.local.engine.template import in_order, parse
from cdk_trainyard.local.engine.validation import check
from cdk_trainyard.local.engine.worker import StepFailed, Worker
from cdk_trainyard.local.errors import ResourceFailed, describe, validation_error
from cdk_trainyard.local.parallelcluster.provider import provider_template
from cdk_trainyard.local.resources.model import Resource

_PATIENCE_S = 25.0
_DEAD_ENDS = frozenset({"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED"})
_log = logging.getLogger(__name__)


class Engine:
    """CloudFormation's operations in one account and region; also deploys nested stacks for their parents."""

    def __init__(self, account: str, region: str) -> None:
        """Work on the stacks of ``region``."""
        self.region: Region = REGIONS.of(account, region)

    # ---------------------------------------------------------------- for the API
    def deploy(self, stack: Stack, target: Target, *, keep_on_failure: bool = False) -> None:
        """Create or update ``stack`` in the background."""
        with self.region.lock:
            self.refuse_update(stack)
            deployment = Deployment(self.region, stack, target, self, keep_on_failure=keep_on_failure)
            stack.status = "CREATE_IN_PROGRESS" if stack.status == "REVIEW_IN_PROGRESS" else "UPDATE_IN_PROGRESS"
        _run(deployment.run)

    def roll_back(self, stack: Stack) -> None:
        """Take a stack that failed without rollback back to where it was."""
        if stack.pending is None:
            raise validation_error(f"RollbackStack failed: stack {stack.name} is in {stack.status} state")
        pending: Deployment = stack.pending
        _run(lambda: pending.roll_back("User Initiated"))

    def delete(self, stack: Stack, retain: frozenset[str] = frozenset()) -> None:
        """Delete ``stack`` in the background, all but the resources to ``retain``."""
        if stack.protected:
            raise validation_error(f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled")
        if stack.in_progress:
            raise validation_error(f"Stack:{stack.stack_id} is in {stack.status} state and can not be deleted.")
        _run(lambda: self._delete(stack, retain))

    @staticmethod
    def refuse_update(stack: Stack) -> None:
        """Raise when an operation on ``stack`` runs, or when it can only be deleted."""
        if stack.in_progress or stack.status in _DEAD_ENDS:
            raise validation_error(f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")

    def _delete(self, stack: Stack, retain: frozenset[str]) -> None:
        used = {name: self.region.importers(name) for name in stack.exports}
        used = {name: users for name, users in used.items() if users}
        if used:
            name, users = next(iter(used.items()))
            # CloudFormation leaves the stack as it was, with this reason in its status
            stack.note(stack.status, f"Export {name} cannot be deleted as it is in use by {' and '.join(users)}")
            return
        stack.note("DELETE_IN_PROGRESS", "User Initiated")
        worker, failures = Worker(self.region, stack, self), []
        for name in reversed(_creation_order(stack)):
            try:
                if name not in retain:
                    worker.delete(stack.resources[name])
                del stack.resources[name]
            except StepFailed as failure:
                failures.append(name)
                _log.warning("%s: %s: %s", stack.name, name, failure)
        if failures:
            stack.note("DELETE_FAILED", f"The following resource(s) failed to delete: [{', '.join(failures)}]. ")
            return
        self._forget(stack)
        stack.note("DELETE_COMPLETE")

    def _forget(self, stack: Stack) -> None:
        stack.deleted = datetime.now(UTC)
        stack.imports, stack.outputs = frozenset(), {}
        for change_set in [found for found in self.region.change_sets.values() if found.stack is stack]:
            del self.region.change_sets[change_set.change_set_id]

    # ---------------------------------------------------------------- nested stacks
    def deploy_nested(self, resource: Resource) -> dict[str, Any]:
        """Create or update the stack that an ``AWS::CloudFormation::Stack`` stands for."""
        template = parse(read_template(resource["TemplateURL"], self.region.name))
        check(template)
        stack = self.region.find(resource.id) if resource.id else None
        sent = [{"ParameterKey": key, "ParameterValue": value} for key, value in resource.get("Parameters", {}).items()]
        target = Target(
            template=template,
            parameters=given_parameters(template, sent, None),
            tags={tag["Key"]: tag["Value"] for tag in resource.get("Tags", [])},
        )
        if stack is None:
            where = resource.where
            stack = self.region.begin(f"{where.stack_name}-{where.logical_id}-{uuid4().hex[:12].upper()}")
            stack.parent = where.stack_id
        resource.id = stack.stack_id
        Deployment(self.region, stack, target, self).run()
        if stack.status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            verb = "created" if "UPDATE" not in stack.status else "updated"
            raise ResourceFailed(f"Embedded stack {stack.stack_id} was not successfully {verb}: {first_failure(stack)}")
        outputs = {f"Outputs.{name}": output.value for name, output in stack.outputs.items()}
        return {"StackId": stack.stack_id, "Outputs": outputs}

    def delete_nested(self, stack_id: str) -> None:
        """Delete the stack that an ``AWS::CloudFormation::Stack`` stands for."""
        stack = self.region.find(stack_id)
        if stack is None or stack.deleted:
            return
        self._delete(stack, frozenset())
        if not stack.deleted:
            raise ResourceFailed(f"Embedded stack {stack_id} was not successfully deleted: {stack.reason}")


def first_failure(stack: Stack) -> str:
    """Return the reason of the first resource that failed in the newest operation of ``stack``."""
    failed = [event.reason for event in stack.events if event.status in ("CREATE_FAILED", "UPDATE_FAILED")]
    return next((reason for reason in failed if reason), stack.reason or stack.status)


def read_template(url: str, region: str) -> str:
    """Return the template that a ``TemplateURL`` points to.

    Both ways of naming a bucket are understood: in the path (``https://s3.us-west-2.amazonaws.com/bucket/key``, and
    this server's own address), and in the host (``https://bucket.s3.us-west-2.amazonaws.com/key``). The template of
    ParallelCluster's provider, which AWS publishes, has a stand-in.
    """
    if standing_in := provider_template(url):
        return standing_in
    parts = urlparse(url)
    host, path = parts.hostname or "", unquote(parts.path.lstrip("/"))
    first = host.split(".")[0]
    if first in ("s3", "localhost", "127") or first.startswith("s3-"):
        bucket, _, key = path.partition("/")
    else:
        bucket, key = host.split(".s3")[0], path
    try:
        body: bytes = client("s3", region).get_object(Bucket=bucket, Key=key)["Body"].read()
    except Exception as error:
        raise validation_error(f"S3 error: {url}: {describe(error)}") from error
    return body.decode()


def _creation_order(stack: Stack) -> list[str]:
    """Return the resources of ``stack``, each after what it needs, as far as the template tells."""
    declared: Mapping[str, Any] = stack.template.resources
    known = in_order({name: declared[name] for name in stack.resources if name in declared})
    return [*(name for name in stack.resources if name not in declared), *known]


def _run(operation: Callable[[], None]) -> None:
    thread = Thread(target=operation, daemon=True)
    thread.start()
    thread.join(_PATIENCE_S)
