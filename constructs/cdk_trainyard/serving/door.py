"""The door before a service: a load balancer that lets in what it knows, and nobody it does not."""

from collections.abc import Sequence
from typing import cast

import jsii
from aws_cdk import Annotations, Duration, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from cdk_trainyard.acknowledgments import (
    AWS_SOLUTIONS,
    NIST_800_53_R5,
    acknowledge_checkov,
    acknowledge_nag,
    main_resource,
)
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.serving.authentication import AuthenticationKind, DoorAuthentication
from cdk_trainyard.serving.concurrency import CONTROL_PORT, DATA_PORT, ConcurrencyLimit
from cdk_trainyard.serving.engine_settings import HEALTH_PATH
from cdk_trainyard.serving.rules_door import (
    authentication_problems,
    client_problems,
    concurrency_problems,
    log_problems,
    path_problems,
    place_problems,
    transport_problems,
)
from cdk_trainyard.serving.rules_service import subnet_problems
from cdk_trainyard.serving.service import InferenceService
from cdk_trainyard.serving.web_acl import PromptWebAcl
from cdk_trainyard.storage import BucketPurpose, TrainingBucket

METHODS = ("GET", "POST")
_HTTP, _HTTPS = 80, 443
_REFUSED = '{"error":{"message":"there is nothing here","type":"invalid_request_error","code":404}}'


@jsii.implements(ec2.IConnectable)
class FrontDoor(Construct):
    """A load balancer before a service that speaks OpenAI's protocol.

    Defines the load balancer with its security group, a listener whose default answer is 404, one rule that lets in
    ``paths``, a target group, and a bucket for access logs unless one is given. Requests go to the task that has the
    fewest open ones.

    Args:
        service: The service. A service has one door.
        authentication: Who may call.
        certificate: The certificate for HTTPS, of the stack's Region. Default - none, which needs ``plain_http``.
        plain_http: Whether the door speaks HTTP: for an internal door only, and prompts can be read on the way.
            Default: False.
        public: Whether it is reached from the internet. Default: False.
        clients: Who reaches it. Default - internal: the VPC's block; public: anybody.
        subnets: Where it stands, in two zones or more.
            Default - the network's service subnets; public: its public subnets.
        domain_name: The name that callers use, which must lead to the door. Default - the load balancer's own.
        paths: What is let in, at most 3 patterns. Default: ``/v1/*``.
        web_acl: A web ACL before it. Default - none.
        concurrency: Holds requests back at the load balancer until a task has room. Cannot be changed later but by
            a new door. Default - the engine queues them.
        access_logs: A bucket for access logs, under the prefix ``front-door``. Default - one is made.
        deletion_protection: Whether deleting it needs a second step. Default: False, so that stacks can be deleted.

    Attributes:
        load_balancer: The load balancer.
        listener: Its listener.
        target_group: The tasks behind it.
        access_logs: The bucket of its access logs.
        base_url: What the ``openai`` client takes as ``base_url``.

    Raises:
        ConfigurationError: Something is left open, or cannot work; names everything that was found.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: InferenceService,
        authentication: DoorAuthentication,
        certificate: acm.ICertificate | None = None,
        plain_http: bool = False,
        public: bool = False,
        clients: Sequence[ec2.IPeer] | None = None,
        subnets: Sequence[ec2.ISubnet] | None = None,
        domain_name: str | None = None,
        paths: Sequence[str] = ("/v1/*",),
        web_acl: PromptWebAcl | None = None,
        concurrency: ConcurrencyLimit | None = None,
        access_logs: s3.IBucket | None = None,
        deletion_protection: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        network, region = service.network, Stack.of(self).region
        places = tuple(subnets or (network.public_subnets if public else network.service_subnets))
        block = _block(network.vpc)
        missing = place_problems(has_public_subnets=bool(places), public=public)
        raise_problems(
            self.node.path,
            [
                *transport_problems(
                    None if certificate is None else certificate.certificate_arn,
                    region,
                    plain_http=plain_http,
                    public=public,
                ),
                *authentication_problems(authentication, plain_http=plain_http, public=public),
                *path_problems(paths, METHODS),
                *client_problems(given=clients is not None, cidr_known=block is not None, public=public),
                *(missing or subnet_problems("subnets", [each.availability_zone for each in places], 2)),
                *log_problems(region),
                *concurrency_problems(None if concurrency is None else concurrency.requests),
            ],
        )
        self._public, self._service = public, service
        self._warn(authentication, plain_http=plain_http)
        peers = clients if clients is not None else [ec2.Peer.any_ipv4() if public else ec2.Peer.ipv4(str(block))]
        security_group = self._security_group(
            network.vpc, peers, _HTTP if plain_http else _HTTPS, verifies=authentication.kind is AuthenticationKind.JWT
        )
        self._connections = ec2.Connections(
            security_groups=[security_group], default_port=ec2.Port.tcp(_HTTP if plain_http else _HTTPS)
        )
        self.load_balancer = elb.ApplicationLoadBalancer(
            self,
            "Resource",
            vpc=network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=list(places)),
            internet_facing=public,
            security_group=security_group,
            idle_timeout=service.request_timeout,
            drop_invalid_header_fields=True,
            desync_mitigation_mode=elb.DesyncMitigationMode.DEFENSIVE,
            http2_enabled=True,
            deletion_protection=deletion_protection,
        )
        self.access_logs = access_logs or self._own_access_logs()
        self.load_balancer.log_access_logs(self.access_logs, "front-door")
        self.target_group = self._target_group(network.vpc, concurrency)
        self.listener = elb.ApplicationListener(
            self,
            "Listener",
            load_balancer=self.load_balancer,
            port=_HTTP if plain_http else _HTTPS,
            protocol=elb.ApplicationProtocol.HTTP if plain_http else elb.ApplicationProtocol.HTTPS,
            certificates=[] if certificate is None else [elb.ListenerCertificate.from_certificate_manager(certificate)],
            ssl_policy=None if plain_http else elb.SslPolicy.RECOMMENDED_TLS,
            open=False,
            default_action=elb.ListenerAction.fixed_response(
                404, content_type="application/json", message_body=_REFUSED
            ),
        )
        rule = self._rule(authentication, paths)
        service.expose(self.target_group, after=[rule], api_key=authentication.secret, concurrency=concurrency)
        if concurrency is not None:
            for port, what in ((service.port, "health"), (CONTROL_PORT, "what the target optimizer's agent says")):
                service.connections.allow_from(self, ec2.Port.tcp(port), what)
        if web_acl is not None:
            wafv2.CfnWebACLAssociation(
                self,
                "WebAcl",
                resource_arn=self.load_balancer.load_balancer_arn,
                web_acl_arn=web_acl.acl_arn,
            )
        scheme = "http" if plain_http else "https"
        self.base_url: str = f"{scheme}://{domain_name or self.load_balancer.load_balancer_dns_name}/v1"
        self._acknowledge(has_acl=web_acl is not None, deletion_protection=deletion_protection)
        self._acknowledge_choices(security_group, plain_http=plain_http, anybody=public and clients is None)

    @property
    def connections(self) -> ec2.Connections:
        """The load balancer's connections; their default port is the door's."""
        return self._connections

    # ---------------------------------------------------------------- parts
    def _security_group(
        self, vpc: ec2.IVpc, peers: Sequence[ec2.IPeer], port: int, *, verifies: bool
    ) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=vpc, allow_all_outbound=False, description="The door of a model service"
        )
        for peer in peers:
            group.add_ingress_rule(peer, ec2.Port.tcp(port), "callers")
        if verifies:
            group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), "the public keys of the tokens' issuer")
        return group

    def _target_group(self, vpc: ec2.IVpc, concurrency: ConcurrencyLimit | None) -> elb.ApplicationTargetGroup:
        group = elb.ApplicationTargetGroup(
            self,
            "Tasks",
            vpc=vpc,
            port=self._service.port if concurrency is None else DATA_PORT,
            protocol=elb.ApplicationProtocol.HTTP,
            target_type=elb.TargetType.IP,
            load_balancing_algorithm_type=elb.TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
            deregistration_delay=self._service.request_timeout,
            health_check=elb.HealthCheck(
                path=HEALTH_PATH,
                port=None if concurrency is None else str(self._service.port),
                healthy_http_codes="200",
                interval=Duration.seconds(30),
                timeout=Duration.seconds(10),
                healthy_threshold_count=2,
                unhealthy_threshold_count=3,
            ),
        )
        if concurrency is not None:
            cast("elb.CfnTargetGroup", main_resource(group)).target_control_port = CONTROL_PORT
        return group

    def _rule(self, authentication: DoorAuthentication, paths: Sequence[str]) -> elb.ApplicationListenerRule:
        forward = elb.ListenerAction.forward([self.target_group])
        verifies = authentication.kind is AuthenticationKind.JWT
        rule = elb.ApplicationListenerRule(
            self,
            "Paths",
            listener=self.listener,
            priority=10,
            conditions=[
                elb.ListenerCondition.path_patterns(list(paths)),
                elb.ListenerCondition.http_request_methods(list(METHODS)),
            ],
            action=elb.ListenerAction.authenticate_jwt(
                issuer=str(authentication.issuer), jwks_endpoint=str(authentication.key_set_url), next=forward
            )
            if verifies
            else forward,
        )
        if verifies:  # aws/aws-cdk issue 36096: the action has no claims yet
            main_resource(rule).add_property_override(
                "Actions.0.JwtValidationConfig.AdditionalClaims",
                [
                    {"Format": claim.format.value, "Name": claim.name, "Values": list(claim.values)}
                    for claim in authentication.claims
                ],
            )
        return rule

    # ---------------------------------------------------------------- what is said about it
    def _warn(self, authentication: DoorAuthentication, *, plain_http: bool) -> None:
        annotations = Annotations.of(self)
        if plain_http:
            annotations.add_warning_v2(
                "@cdk-trainyard/serving:plain-http",
                "'plain_http': prompts, answers and keys can be read and changed on their way to the door",
            )
        if authentication.kind is AuthenticationKind.NONE:
            annotations.add_warning_v2(
                "@cdk-trainyard/serving:no-authentication",
                "whoever reaches the door can use the model: 'clients' alone says who that is",
            )

    def _acknowledge(self, *, has_acl: bool, deletion_protection: bool) -> None:
        balancer = main_resource(self.load_balancer)
        if not deletion_protection:
            acknowledge_nag(
                balancer,
                pack=NIST_800_53_R5,
                rule="ELBDeletionProtectionEnabled",
                reason="a door keeps no data, and a stack with a protected one cannot be deleted in one step",
            )
        if not has_acl:
            acknowledge_nag(
                balancer,
                pack=NIST_800_53_R5,
                rule="ALBWAFEnabled",
                reason="paths are listed and callers are looked at; a web ACL is a choice (web_acl)",
            )

    def _acknowledge_choices(self, security_group: ec2.SecurityGroup, *, plain_http: bool, anybody: bool) -> None:
        if plain_http:
            reason = "an internal door whose owner said plain_http; a warning says what that means"
            for rule in ("ALBHttpToHttpsRedirection", "ELBv2ACMCertificateRequired"):
                acknowledge_nag(main_resource(self.listener), pack=NIST_800_53_R5, rule=rule, reason=reason)
            for check in ("CKV_AWS_2", "CKV_AWS_103"):
                acknowledge_checkov(main_resource(self.listener), check=check, reason=reason)
        if anybody:
            acknowledge_nag(
                main_resource(security_group),
                pack=AWS_SOLUTIONS,
                rule="EC23",
                reason="a public door whose owner named no clients; it lets in HTTPS with a token or a key alone",
            )

    def _own_access_logs(self) -> s3.IBucket:
        bucket = TrainingBucket(self, "AccessLogs", purpose=BucketPurpose.ACCESS_LOGS).bucket
        reason = "this is the bucket that the door logs to; logging it to itself would never end"
        acknowledge_nag(main_resource(bucket), pack=AWS_SOLUTIONS, rule="S1", reason=reason)
        acknowledge_nag(main_resource(bucket), pack=NIST_800_53_R5, rule="S3BucketLoggingEnabled", reason=reason)
        return bucket


def _block(vpc: ec2.IVpc) -> str | None:
    try:
        return str(vpc.vpc_cidr_block)
    except RuntimeError:  # an imported VPC that was not told its block
        return None
