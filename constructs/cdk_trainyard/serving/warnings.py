"""What may go wrong with a service without being wrong: said once, at synthesis. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.problems import Warned, shown, warned
from cdk_trainyard.serving.spec_load_balancer import AuthenticationKind, ClientAuthentication, LoadBalancerSpec
from cdk_trainyard.serving.spec_service import MonitoringSpec, ServingHosts
from cdk_trainyard.tokens import unresolved

_HTTPS: Final = "https://"
_DISCOVERY: Final = "/.well-known/openid-configuration"


def placed_warnings(
    hosts: ServingHosts, zones: Sequence[str | None], region: str | None, *, has_nat: bool
) -> Iterator[Warned]:
    """Yield what may surprise about hosts, where they stand.

    Args:
        hosts: The hosts.
        zones: Zones of their subnets. None for one that is not known.
        region: The Region. None: not known.
        has_nat: Whether they reach the internet.
    """
    known = InstanceType.of(hosts.instance_type)
    if warning := known.offer_warning(region, zones):
        yield from warned("serving", "zone-without-type", [warning])
    yield from warned("serving", "no-way-out", no_route_to_internet(has_nat=has_nat))
    if hosts.protect:
        text = (
            "'protect' leaves hosts protected when the stack is deleted; the deletion then waits until somebody takes "
        )
        yield from warned("serving", "protected-hosts", [f"{text}the protection away (aws/aws-cdk issue 18179)"])


def load_balancer_warnings(spec: LoadBalancerSpec) -> Iterator[Warned]:
    """Yield what may surprise about the way in.

    Args:
        spec: The load balancer.
    """
    if spec.plain_http:
        text = "'plain_http': prompts, answers and keys can be read and changed on their way to the load balancer"
        yield from warned("serving", "plain-http", [text])
    if spec.authentication.kind is AuthenticationKind.NONE:
        text = "whoever reaches the load balancer can use the model: 'clients' alone says who that is"
        yield from warned("serving", "no-authentication", [text])
    yield from _token_warnings(spec.authentication)


def _token_warnings(spec: ClientAuthentication) -> Iterator[Warned]:
    """Say of an issuer what it mostly is (OpenID Connect Discovery 1.0, section 2: an https URL), and of its keys."""
    issuer, keys = spec.issuer, spec.key_set_url
    if issuer is None or unresolved(issuer):
        return
    if not issuer.startswith(_HTTPS):
        text = f"the issuer {shown(issuer)} begins with no {_HTTPS}, as that of OpenID Connect does"
        text += ": tokens pass only if their claim iss is the same to the letter"
        yield from warned("serving", "issuer", [text])
    if issuer == keys:
        text = f"'key_set_url' is {shown(keys)}, the issuer itself, and its public keys mostly stand below it"
        text += f": give what its {issuer.rstrip('/')}{_DISCOVERY} says as 'jwks_uri'"
        yield from warned("serving", "key-set", [text])


def monitoring_warnings(spec: MonitoringSpec) -> Iterator[Warned]:
    """Yield what may surprise about thresholds.

    Args:
        spec: The thresholds, in which nothing is wrong.
    """
    percent = spec.error_percent
    if not unresolved(percent) and percent < 1:
        text = f"'error_percent' {percent:g} is less than one of a hundred requests"
        text += f"; for {100 * percent:g} percent, write {100 * percent:g}"
        yield from warned("serving", "part-of-percent", [text])


def no_route_to_internet(*, has_nat: bool) -> Iterator[str]:
    """Without NAT the hosts need endpoints of what they and their agents ask."""
    if not has_nat:
        yield (
            "without NAT the hosts reach only services with an endpoint: they ask ECS (ecs, ecs-agent, ecs-telemetry), "
            "ECR, CloudWatch Logs and Systems Manager, and an image of another registry is out of reach"
        )
