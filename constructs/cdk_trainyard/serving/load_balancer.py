"""The load balancer before a service: it lets in what it knows, and nobody it does not."""

from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import cast

import jsii
from aws_cdk import Duration
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.names import Naming, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import At
from cdk_trainyard.serving.concurrency import CONTROL_PORT, DATA_PORT
from cdk_trainyard.serving.engine_settings import HEALTH_PATH
from cdk_trainyard.serving.rules_load_balancer import (
    known_client_problems,
    load_balancer_problems,
    region_problems,
)
from cdk_trainyard.serving.rules_place import Place, size_problems, zones_problems
from cdk_trainyard.serving.service import InferenceService
from cdk_trainyard.serving.spec_load_balancer import (
    METHODS,
    AuthenticationKind,
    ClientAuthentication,
    ConcurrencyLimit,
    LoadBalancerSpec,
)
from cdk_trainyard.serving.subnets import block_of, room_problems, zone_of
from cdk_trainyard.serving.warnings import load_balancer_warnings
from cdk_trainyard.serving.web_acl import PromptWebAcl
from cdk_trainyard.storage import BucketPurpose, TrainingBucket
from cdk_trainyard.surroundings import known, surroundings

_HTTP, _HTTPS = 80, 443
_ANYBODY = "0.0.0.0/0"
_DELETABLE = {
    "NIST.800.53.R5-ELBDeletionProtectionEnabled": (
        "a door keeps no data, and a stack with a protected one cannot be deleted in one step"
    )
}
_NO_ACL = {
    "NIST.800.53.R5-ALBWAFEnabled": "paths are listed and callers are looked at; a web ACL is a choice (web_acl)"
}
_PLAIN = dict.fromkeys(
    (
        "NIST.800.53.R5-ALBHttpToHttpsRedirection",
        "NIST.800.53.R5-ELBv2ACMCertificateRequired",
        "CKV_AWS_2",
        "CKV_AWS_103",
    ),
    "an internal door whose owner said plain_http; a warning says what that means",
)
_UNNAMED = "a public door whose owner named no clients; it lets in HTTPS with a token or a key alone"
_UNLOGGED = dict.fromkeys(
    ("AwsSolutions-S1", "NIST.800.53.R5-S3BucketLoggingEnabled"),
    "this is the bucket that the door logs to; logging it to itself would never end",
)
_REFUSED = '{"error":{"message":"there is nothing here","type":"invalid_request_error","code":404}}'


@jsii.implements(ec2.IConnectable)
class InferenceLoadBalancer(Construct):
    """An Application Load Balancer before a service that speaks OpenAI's protocol.

    Defines the load balancer with its security group, a listener whose default answer is 404, one rule that lets in
    ``paths``, a target group, and a bucket for access logs unless one is given. Requests go to the task that has the
    fewest open ones. Who is no block of addresses is let in by ``connections``.

    Args:
        service: The service. A service has one load balancer.
        subnets: Where it stands, in two zones or more.
            Default - the network's service subnets; public: its public subnets.
        web_acl: A web ACL before it. Default - none.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        authentication: Who may call.
        certificate: The ACM certificate for HTTPS, of the same Region. Default - none, which needs ``plain_http``.
        plain_http: Whether it speaks HTTP, for an internal one only; prompts can be read on the way. Default: False.
        domain_name: The name of the certificate that callers use; let it lead to the load balancer.
            Default - its own name.
        public: Whether it is reached from the internet. Default: False.
        clients: Blocks of addresses that reach it. Default - internal: the VPC; public: anybody.
        paths: What is let in, at most 3 patterns; with api-key within /v1/. Default - /v1/*.
        concurrency: Refuses with 503 what is over so many requests of each task.
            Default - whatever comes waits in the engine.
        access_logs: An existing bucket for access logs, under the prefix ``front-door``, which must let the load
            balancer write.
            Default - one is made.
        deletion_protection: Whether deleting it needs a second step. Default: False.

    Attributes:
        load_balancer: The load balancer.
        listener: Its listener.
        target_group: The tasks behind it.
        access_logs: The bucket of its access logs.
        concurrency: How many requests a task gets at a time. None: as many as come.
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
        subnets: Sequence[ec2.ISubnet] | None = None,
        web_acl: PromptWebAcl | None = None,
        names: Naming | None = None,
        authentication: ClientAuthentication,
        certificate: acm.ICertificate | None = None,
        plain_http: bool = False,
        domain_name: str | None = None,
        public: bool = False,
        clients: Sequence[str] | None = None,
        paths: Sequence[str] = ("/v1/*",),
        concurrency: ConcurrencyLimit | None = None,
        access_logs: s3.IBucket | None = None,
        deletion_protection: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(LoadBalancerSpec, locals()))
        network = service.network
        places = tuple(subnets or (network.public_subnets if public else network.service_subnets))
        block = _block(network.vpc)
        raise_problems(
            self,
            [
                *judge.problems,
                *load_balancer_problems(spec),
                *known_client_problems(spec, cidr_known=block is not None),
                *zones_problems(
                    ("subnets",),
                    [Place(at=("subnets", n), zone=zone_of(each)) for n, each in enumerate(places)],
                    public=public,
                    tasks=[zone_of(each) for each in service.subnets] if public or subnets else (),
                ),
                *size_problems(_sizes(places)),
                *(room_problems(places, service.spec, doors=len(places)) if places == service.subnets else ()),
                *region_problems(judge.environment.region),
            ],
        )
        self._spec, self._service, self.concurrency = spec, service, concurrency
        say_warnings(self, load_balancer_warnings(spec))
        self._security_group = self._define_security_group(
            [_ANYBODY if public else str(block)] if clients is None else clients
        )
        self._connections = ec2.Connections(
            security_groups=[self._security_group], default_port=ec2.Port.tcp(self._port)
        )
        self.load_balancer = self._define_load_balancer(places)
        self.access_logs = access_logs or self._own_access_logs()
        self.load_balancer.log_access_logs(self.access_logs, "front-door")
        self.target_group = self._target_group(network.vpc)
        self.listener = self._listener()
        service.expose(self.target_group, after=[self._rule()], authentication=authentication, concurrency=concurrency)
        self._reach_the_agent()
        if web_acl is not None:
            wafv2.CfnWebACLAssociation(
                self,
                "WebAcl",
                resource_arn=self.load_balancer.load_balancer_arn,
                web_acl_arn=web_acl.acl_arn,
            )
        scheme = "http" if plain_http else "https"
        self.base_url: str = f"{scheme}://{domain_name or self.load_balancer.load_balancer_dns_name}/v1"
        self._acknowledge(has_acl=web_acl is not None)
        self._acknowledge_choices()

    @property
    def connections(self) -> ec2.Connections:
        """The load balancer's connections; their default port is that of its listener."""
        return self._connections

    # ---------------------------------------------------------------- parts
    @property
    def _port(self) -> int:
        return _HTTP if self._spec.plain_http else _HTTPS

    @property
    def _verifies(self) -> bool:
        return self._spec.authentication.kind is AuthenticationKind.JWT

    def _define_security_group(self, blocks: Sequence[str]) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self._service.network.vpc,
            allow_all_outbound=False,
            description="The door of a model service",
        )
        for block in dict.fromkeys(blocks):
            peer = ec2.Peer.any_ipv4() if block == _ANYBODY else ec2.Peer.ipv4(block)
            group.add_ingress_rule(peer, ec2.Port.tcp(self._port), "callers")
        if self._verifies:
            group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), "the public keys of the tokens' issuer")
        return group

    def _define_load_balancer(self, subnets: Sequence[ec2.ISubnet]) -> elb.ApplicationLoadBalancer:
        return elb.ApplicationLoadBalancer(
            self,
            "Resource",
            vpc=self._service.network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=list(subnets)),
            internet_facing=self._spec.public,
            security_group=self._security_group,
            idle_timeout=self._service.request_timeout,
            drop_invalid_header_fields=True,
            desync_mitigation_mode=elb.DesyncMitigationMode.DEFENSIVE,
            http2_enabled=True,
            deletion_protection=self._spec.deletion_protection,
        )

    def _listener(self) -> elb.ApplicationListener:
        plain, certificate = self._spec.plain_http, self._spec.certificate
        return elb.ApplicationListener(
            self,
            "Listener",
            load_balancer=self.load_balancer,
            port=self._port,
            protocol=elb.ApplicationProtocol.HTTP if plain else elb.ApplicationProtocol.HTTPS,
            certificates=[] if certificate is None else [elb.ListenerCertificate.from_certificate_manager(certificate)],
            ssl_policy=None if plain else elb.SslPolicy.RECOMMENDED_TLS,
            open=False,
            default_action=elb.ListenerAction.fixed_response(
                404, content_type="application/json", message_body=_REFUSED
            ),
        )

    def _reach_the_agent(self) -> None:
        """Let the load balancer ask the agent of the target optimizer, and the engine behind it for its health."""
        if self._spec.concurrency is not None:
            for port, what in (
                (self._service.port, "health"),
                (CONTROL_PORT, "what the target optimizer's agent says"),
            ):
                self._service.connections.allow_from(self, ec2.Port.tcp(port), what)

    def _target_group(self, vpc: ec2.IVpc) -> elb.ApplicationTargetGroup:
        concurrency = self._spec.concurrency
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

    def _rule(self) -> elb.ApplicationListenerRule:
        authentication, verifies = self._spec.authentication, self._verifies
        forward = elb.ListenerAction.forward([self.target_group])
        rule = elb.ApplicationListenerRule(
            self,
            "Paths",
            listener=self.listener,
            priority=10,
            conditions=[
                elb.ListenerCondition.path_patterns(list(self._spec.paths)),
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
    def _acknowledge(self, *, has_acl: bool) -> None:
        deletable = {} if self._spec.deletion_protection else _DELETABLE
        acknowledge(main_resource(self.load_balancer), {**deletable, **({} if has_acl else _NO_ACL)})

    def _acknowledge_choices(self) -> None:
        spec = self._spec
        if spec.plain_http:
            acknowledge(main_resource(self.listener), _PLAIN)
        if (spec.clients is None and spec.public) or _ANYBODY in (spec.clients or ()):
            reason = _UNNAMED if spec.clients is None else "its owner named everybody as a client (clients)"
            acknowledge(main_resource(self._security_group), {"AwsSolutions-EC23": reason})

    def _own_access_logs(self) -> s3.IBucket:
        bucket = TrainingBucket(self, "AccessLogs", purpose=BucketPurpose.ACCESS_LOGS).bucket
        acknowledge(main_resource(bucket), _UNLOGGED)
        return bucket


def _sizes(subnets: Sequence[ec2.ISubnet]) -> dict[At, IPv4Network]:
    blocks = [block_of(each) for each in subnets]
    return {("subnets", number): block for number, block in enumerate(blocks) if block is not None}


def _block(vpc: ec2.IVpc) -> str | None:
    return known(lambda: vpc.vpc_cidr_block)
