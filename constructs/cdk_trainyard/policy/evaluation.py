"""Whether a request is allowed, by all the policies that apply to it.

Source: IAM User Guide, "Policy evaluation logic", "Cross-account policy evaluation logic" and "Permissions boundaries
for IAM entities" (2023-05-11).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cdk_trainyard.policy.document import Policy, PolicyKind, Statement
from cdk_trainyard.policy.principals import Reach
from cdk_trainyard.policy.request import Request

_FREE = {"sts:getcalleridentity"}  # STS API Reference, GetCallerIdentity: no permission is needed, no Deny counts


@dataclass(frozen=True, kw_only=True, slots=True)
class Policies:
    """Every policy that applies to a request.

    Attributes:
        identity: Of the user or role, inline and managed.
        boundary: Its permissions boundary. Default - none.
        session: Given when the session was made. Default - none.
        resource: Of the resource: bucket, key, queue, trust policy. Default - none.
        endpoint: Of the VPC endpoint that the request goes through. Default - it goes through none.
        service_control: Of the organization, one list for each level, root first. Default - no organization.
    """

    identity: tuple[Policy, ...] = ()
    boundary: Policy | None = None
    session: tuple[Policy, ...] = ()
    resource: tuple[Policy, ...] = ()
    endpoint: Policy | None = None
    service_control: tuple[tuple[Policy, ...], ...] = ()

    def limits(self) -> Iterator[tuple[str, tuple[Policy, ...]]]:
        """Yield what every request must be allowed by, beside the policies that grant."""
        if self.endpoint is not None:
            yield f"no statement of endpoint policy {self.endpoint.name}", (self.endpoint,)
        for level in self.service_control:
            yield "no service control policy of a level", level

    def limits_of_identity(self) -> Iterator[tuple[str, tuple[Policy, ...]]]:
        """Yield what bounds the identity policies."""
        if self.boundary is not None:
            yield f"no statement of permissions boundary {self.boundary.name}", (self.boundary,)
        if self.session:
            yield "no session policy", self.session

    def all(self) -> Iterator[Policy]:
        """Yield every policy."""
        yield from (*self.identity, *self.session, *self.resource)
        yield from (policy for level in self.service_control for policy in level)
        yield from (policy for policy in (self.boundary, self.endpoint) if policy is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The answer.

    Attributes:
        allowed: Whether the request may go on.
        reason: Which statement decided, or which policies lack an Allow, with the nearest statements.
        statement: The statement that denied or granted. None when none did.
        missing: The statement that would have to be added. None when allowed, or when a Deny decided.
    """

    allowed: bool
    reason: str
    statement: Mapping[str, Any] | None = None
    missing: Mapping[str, Any] | None = None


def evaluate(request: Request, policies: Policies) -> Decision:
    """Decide about ``request``.

    Raises:
        PolicyError: A condition has no defined meaning for this request (several values without a set operator).
    """
    if request.action.lower() in _FREE:
        return Decision(allowed=True, reason=f"{request.action} needs no permission")
    if not request.principal.is_of_an_account:  # an organization governs principals of its accounts only
        policies = replace(policies, service_control=())
    denial = next(_applying(request, policies.all(), deny=True), None)
    if denial:
        policy, statement = denial
        reason = (
            f"{_refused(request)} with an explicit deny in {_named(policy, statement)}: {json.dumps(statement.source)}"
        )
        return Decision(allowed=False, reason=reason, statement=statement.source)
    for what, limit in policies.limits():
        if not _allowing(request, limit):
            return _lacking(request, what, limit)
    return _granted(request, policies)


def _granted(request: Request, policies: Policies) -> Decision:
    """Decide when nothing denies and no outer limit lacks an Allow."""
    principal, is_local = request.principal, not request.is_cross_account
    reach, by_resource = _widest(request, policies.resource)
    if by_resource and (not principal.is_of_an_account or (reach == Reach.DIRECT and is_local)):
        return _by(*by_resource)
    is_demanded = not principal.is_of_an_account or not is_local or request.is_guarded_by_its_resource
    if is_demanded and not by_resource:
        return _lacking(request, "no statement of the resource's policy", policies.resource)
    if principal.kind == "Account":
        return Decision(allowed=True, reason="the account's root user may do everything that nothing denies")
    for what, limit in policies.limits_of_identity():
        if not _allowing(request, limit):
            return _lacking(request, what, limit)
    granting = by_resource if reach == Reach.ROLE and is_local else _allowing(request, policies.identity)
    if granting:
        return _by(*granting)
    return _lacking(request, f"no identity policy of {principal.identity_arn}", policies.identity)


def _by(policy: Policy, statement: Statement) -> Decision:
    return Decision(allowed=True, reason=f"allowed by {_named(policy, statement)}", statement=statement.source)


def _named(policy: Policy, statement: Statement) -> str:
    return f"statement {statement.sid} of {policy.name}" if statement.sid else policy.name


def _applies(request: Request, policy: Policy, statement: Statement) -> bool:
    """Whether a statement is about the request."""
    context = request.context
    is_about = statement.is_about_action(request.action) and statement.is_about_resource(request.resource, context)
    if not is_about or not statement.is_about_principal(request.principal) or statement.unmet(context):
        return False
    if policy.kind is PolicyKind.ENDPOINT and statement.principal is not None and not statement.is_deny:
        return statement.principal.opens_endpoint(request.principal)
    return True


def _applying(request: Request, policies: Iterator[Policy], *, deny: bool) -> Iterator[tuple[Policy, Statement]]:
    for policy in policies:
        for statement in policy.statements:
            if statement.is_deny == deny and _applies(request, policy, statement):
                yield policy, statement


def _allowing(request: Request, policies: tuple[Policy, ...]) -> tuple[Policy, Statement] | None:
    return next(_applying(request, iter(policies), deny=False), None)


def _widest(request: Request, policies: tuple[Policy, ...]) -> tuple[Reach, tuple[Policy, Statement] | None]:
    """Return the Allow of the resource policies that goes furthest for the principal."""
    found = [
        (statement.principal.reach(request.principal), (policy, statement))
        for policy, statement in _applying(request, iter(policies), deny=False)
        if statement.principal is not None
    ]
    return max(found, key=lambda item: item[0], default=(Reach.NONE, None))


def _lacking(request: Request, what: str, policies: tuple[Policy, ...]) -> Decision:
    missing = {"Effect": "Allow", "Action": request.action, "Resource": request.resource}
    near = [
        text for policy in policies for statement in policy.statements for text in _near(request, policy, statement)
    ]
    hints = f" (nearest: {'; '.join(near)})" if near else ""
    reason = f"{_refused(request)} because {what} allows it{hints}"
    return Decision(allowed=False, reason=f"{reason}; missing: {json.dumps(missing)}", missing=missing)


def _refused(request: Request) -> str:
    """Return AWS's own words."""
    who = request.principal.arn or request.principal.kind
    return f"{who} is not authorized to perform: {request.action} on resource: {request.resource}"


def _near(request: Request, policy: Policy, statement: Statement) -> Iterator[str]:
    """Yield why a statement that allows the action does not allow this request."""
    if statement.is_deny or not statement.is_about_action(request.action):
        return
    context = request.context
    if not statement.is_about_resource(request.resource, context):
        listed = ", ".join(template.source for template in statement.resources)
        yield f"{_named(policy, statement)} is for {listed}"
    elif not statement.is_about_principal(request.principal):
        yield f"{_named(policy, statement)} is for other principals"
    else:
        for condition in statement.unmet(context):
            found = ", ".join(context.values(condition.key)) or "absent"
            yield f"{_named(policy, statement)} demands {condition.name} of {condition.key}, which is {found}"
