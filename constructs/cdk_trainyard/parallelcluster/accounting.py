"""How a head node reaches the accounting database, and reads its password."""

from collections.abc import Iterator, Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from cdk_trainyard.parallelcluster.node_policy import PATH
from cdk_trainyard.parallelcluster.spec import SlurmAccounting
from cdk_trainyard.storage.reach import open_database
from cdk_trainyard.storage.secret_grants import decrypt_statements


class AccountingClient(Construct):
    """What the head node needs for the database, if there is one, and no other node has: slurmdbd runs there alone.

    ParallelCluster lets the head node read the secret by itself, but not decrypt it with a key of one's own.

    Args:
        accounting: The database, or None.
        vpc: The VPC of the nodes.

    Attributes:
        security_groups: What the database lets in: none when it cannot be opened from here.
        policies: What decrypts the password: none when it is encrypted with the account's own key.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, accounting: SlurmAccounting | None, vpc: ec2.IVpc
    ) -> None:
        super().__init__(scope, construct_id)
        self._rules: list[Construct] = []
        self.security_groups: list[ec2.SecurityGroup] = []
        self.policies: list[iam.ManagedPolicy] = []
        if accounting is None:
            return
        if accounting.security_group is not None:
            port = ec2.Port.tcp(accounting.port)
            database = ec2.Connections(security_groups=[accounting.security_group], default_port=port)
            self._open(database, vpc, accounting.port)
        if statements := decrypt_statements(accounting.password_secret.encryption_key):
            self._decrypt(statements)

    @property
    def needs(self) -> Iterator[IDependable]:
        """What must be there before slurmdbd starts, beside what the configuration refers to."""
        yield from self._rules

    def _open(self, database: ec2.Connections, vpc: ec2.IVpc, port: int) -> None:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="Head node of a ParallelCluster: out to its accounting database",
            allow_all_outbound=False,
        )
        self.security_groups.append(group)
        self._rules += open_database(self, database, [group], port=port)

    def _decrypt(self, statements: Sequence[iam.PolicyStatement]) -> None:
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            path=PATH,
            description="Head node of a ParallelCluster: decrypt the password of its accounting database",
            statements=statements,
        )
        self.policies.append(policy)
