"""A database for Slurm's accounting that outlives the cluster."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import jsii
from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, aws_policy_reasons, main_resource
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import ConfigurationError, raise_problems
from cdk_trainyard.lifecycle.spec import MYSQL_PORT
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import Network
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.options.wiring import got
from cdk_trainyard.problems import Problem, option
from cdk_trainyard.real import real
from cdk_trainyard.retention import KEPT, is_kept
from cdk_trainyard.storage.deletion_protection import DeletionProtection
from cdk_trainyard.storage.rules_data import accounting_problems, accounting_warnings, subnet_zone_problems
from cdk_trainyard.storage.spec import AccountingSpec, DatabaseEngine
from cdk_trainyard.surroundings import surroundings
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import rows

if TYPE_CHECKING:  # a large module: only who makes a database waits for it
    from aws_cdk import aws_rds as rds

# What a choice of the user's makes true, and the rules of AwsSolutions and NIST that would say so.
_ONE_ZONE = dict.fromkeys(
    ("AwsSolutions-RDS3", "NIST.800.53.R5-RDSMultiAZSupport", "CKV_AWS_157"),
    "asked for with 'multi_az': without a standby, accounting stops while its zone is down; jobs go on",
)
_PROTECTION_RULES = ("AwsSolutions-RDS10", "NIST.800.53.R5-RDSInstanceDeletionProtectionEnabled")
_DELETABLE = dict.fromkeys(
    _PROTECTION_RULES,
    "asked for with 'deletion_protection'; what becomes of the database in its stack is 'removal_policy'",
)
_PROTECTED_LATER = dict.fromkeys(
    _PROTECTION_RULES,
    "a function beside it switches it on when it stands: said here, a creation that fails could not be rolled back",
)

_USER = "slurm"
_MONITORING = aws_policy_reasons(
    {"service-role/AmazonRDSEnhancedMonitoringRole": "RDS asks for this policy, and only RDS can assume the role"}
)
_NO_ROTATION = dict.fromkeys(
    ("AwsSolutions-SMG4", "NIST.800.53.R5-SecretsManagerRotationEnabled"),
    "slurmdbd gets the password when its node is set up; a rotation would cut accounting off until an administrator "
    "sets it up again, so it is theirs to start",
)
_OWN_KEY = dict.fromkeys(
    ("NIST.800.53.R5-SecretsManagerUsingKMSKey", "CKV_AWS_149"),
    "encrypted with the account's AWS managed key; give 'key' for one of your own",
)
_KNOWN_PORT = {"AwsSolutions-RDS11": "only security groups of clusters reach the port at all"}
_NO_TLS = {"CKV2_AWS_69": "whether HyperPod's slurmdbd uses TLS is not documented; 'require_tls' asks for it"}
_NOT_PLAIN = (
    "'password_secret' must be given for ParallelCluster, which reads no JSON; give from_attributes a secret that "
    "holds the password and nothing else"
)
_ALWAYS = {
    "NIST.800.53.R5-RDSInBackupPlan": (
        "automatic backups with point-in-time recovery are on; a plan of AWS Backup is the account's to choose"
    ),
    **dict.fromkeys(
        [f"NIST.800.53.R5-RDSLoggingEnabled[LogExport::{log}]" for log in ("audit", "error", "general", "slowquery")],
        "RDS makes the exported log groups itself, without retention; the error log stays on the instance, and the "
        "general log would repeat every job record",
    ),
}


@jsii.implements(ec2.IConnectable)
class AccountingDatabaseBase(Construct):
    """What a cluster needs of an accounting database, made here or elsewhere.

    Attributes:
        endpoint: Its host name.
        port: Its port.
        secret: User name and password, as JSON with ``username`` and ``password``: what HyperPod reads. The user must
            be allowed to create the schema.
        user: The user name in the secret.
        schema_name: Schema of the Slurm accounting, or None for one named after the cluster.
        rules_exist: Whether its group lets the clusters in already.
    """

    endpoint: str
    port: int
    secret: secretsmanager.ISecret
    user: str
    schema_name: str | None
    rules_exist: bool = False
    _connections: ec2.Connections
    _password_secret: secretsmanager.ISecret | None = None

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the database."""
        return self._connections

    @property
    def password_secret(self) -> secretsmanager.ISecret:
        """The user's password and nothing else, as plain text: what ParallelCluster reads.

        Raises:
            ConfigurationError: The database was imported without one.
        """
        if self._password_secret is None:
            raise ConfigurationError(self.node.path, [_NOT_PLAIN])
        return self._password_secret


class AccountingDatabase(AccountingDatabaseBase):
    """RDS for MySQL or MariaDB for Slurm's accounting: encrypted, in two zones, backed up, kept when the stack goes.

    Clusters of HyperPod and of ParallelCluster can share it, each with a schema of its own. Only the clusters that it
    is given to can connect.

    Without it HyperPod keeps job history in a MariaDB on the controller's root volume, which a software update wipes.
    Once a HyperPod cluster uses such a database it cannot go back. It needs continuous provisioning and images released
    after August 30, 2026 (``sagemaker-hyperpod-external-accounting-db-slurm`` in the SageMaker developer guide).

    The password is made by Secrets Manager and stands in no template. ``password_secret``, defined when it is first
    asked for, has it copied by CloudFormation (``dynamic-references-secretsmanager`` in its user guide), once: who
    changes the password in ``secret`` changes it in the database and in ``password_secret`` too.

    Args:
        network: The network; its ``service_subnets`` must lie in two zones or more.
        engine_version: Version of the engine, in the class of CDK that is the engine's.
            Default - 8.4.9 of MySQL, 11.4.10 of MariaDB.
        removal_policy: What becomes of the database when it leaves the stack; what is retained keeps its secrets, the
            groups that RDS would not let go, and the role that monitors it. Default: RETAIN_ON_UPDATE_OR_DELETE.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        engine: The engine of RDS: mysql (8.4) or mariadb (11.4). Another one is another database, empty.
            Default: MYSQL.
        schema_name: Schema of the accounting, 1 to 64 letters, digits, ``_`` and ``$``.
            Default - ``slurm_acct_db_`` and the cluster's unique name, so that clusters can share the database.
        instance_type: Size of the instance. Default: t4g.medium.
        storage_gb: Storage to begin with, in GB; it grows up to ``max_storage_gb``. Default: 20.
        max_storage_gb: Storage to grow to, in GB. Default: 200.
        multi_az: Whether a standby runs in a second zone. Default: True.
        port: Port. Default: 3306.
        require_tls: Whether connections without TLS are refused. slurmdbd of ParallelCluster uses TLS where it is
            offered (``slurm-accounting-v3`` in its user guide); of HyperPod that is not documented.
            Default: False.
        backup_retention: How long automatic backups are kept, 1 to 35 days. Default: 35.
        key: KMS key of storage and secrets. Default - the account's AWS managed keys.
        deletion_protection: Whether deleting it needs a second step, once the database stands: a small function
            switches the protection on then, so that a first creation that fails can be taken back.
            Default: True.

    Attributes:
        instance_identifier: What RDS calls it.
        storage_gb: The storage that it began with, in GB.

    Raises:
        ConfigurationError: The network, the schema's name or the retention cannot work.
    """

    instance_identifier: str
    storage_gb: int

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        engine_version: "rds.MysqlEngineVersion | rds.MariaDbEngineVersion | None" = None,
        removal_policy: RemovalPolicy = KEPT,
        names: Naming | None = None,
        engine: DatabaseEngine = DatabaseEngine.MYSQL,
        schema_name: str | None = None,
        instance_type: ec2.InstanceType | None = None,
        storage_gb: int = 20,
        max_storage_gb: int = 200,
        multi_az: bool = True,
        port: int = 3306,
        require_tls: bool = False,
        backup_retention: Duration | None = None,
        key: kms.IKey | None = None,
        deletion_protection: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        from aws_cdk import aws_rds as rds  # noqa: PLC0415  a large module: only who makes a database waits for it

        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(AccountingSpec, locals()))
        zones = [subnet.availability_zone for subnet in network.service_subnets]
        of_zones = subnet_zone_problems(
            ("network", "service_subnets"), zones, remedy=f"; give a new network its {option('service_zones')}"
        )
        of_version = _version_problems(spec.engine, engine_version)
        raise_problems(self, [*judge.problems, *accounting_problems(spec), *of_zones, *of_version])
        say_warnings(self, accounting_warnings(spec))
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="Slurm accounting database: in from its clusters, nothing out",
            allow_all_outbound=False,
        )
        secret = rds.DatabaseSecret(self, "Secret", username=_USER, encryption_key=key)
        database = rds.DatabaseInstance(
            self,
            "Resource",
            engine=_engine(spec.engine, engine_version),
            instance_type=real(spec.instance_type),
            vpc=network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=list(network.service_subnets)),
            security_groups=[group],
            credentials=rds.Credentials.from_secret(secret),
            port=port,
            allocated_storage=storage_gb,
            max_allocated_storage=max_storage_gb,
            storage_type=rds.StorageType.GP3,
            storage_encrypted=True,
            storage_encryption_key=key,
            multi_az=multi_az,
            # What Slurm's own accounting page asks of MySQL and of MariaDB (slurm.schedmd.com/accounting.html).
            parameters={
                "innodb_lock_wait_timeout": "900",
                "max_allowed_packet": "16777216",
                "require_secure_transport": "1" if require_tls else "0",
            },
            backup_retention=real(spec.backup_retention),
            copy_tags_to_snapshot=True,
            iam_authentication=True,
            auto_minor_version_upgrade=True,
            monitoring_interval=Duration.minutes(1),
            deletion_protection=False,
            removal_policy=removal_policy,
        )
        self.instance_identifier = database.instance_identifier
        self.storage_gb = storage_gb
        self._database = database
        self._key = key
        self._beside = removal_policy if is_kept(removal_policy) else RemovalPolicy.DESTROY
        # CDK itself would let the subnet group go beside a database that is kept (aws-cdk#37780)
        parts = ("ParameterGroup", "SubnetGroup", "MonitoringRole")
        for part in (group, secret, *map(database.node.find_child, parts)):
            main_resource(part).apply_removal_policy(self._beside)
        self.endpoint = database.db_instance_endpoint_address
        self.port = port
        self.secret = secret
        self.user = _USER
        self.schema_name = schema_name
        self._connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(port))
        instance = main_resource(database)
        if deletion_protection:
            instance.add_property_deletion_override("DeletionProtection")  # or an update would switch it off again
            DeletionProtection(self, "DeletionProtection", database=instance, database_arn=database.instance_arn)
        acknowledge(main_resource(database.node.find_child("MonitoringRole")), _MONITORING)
        _acknowledge_secret(secret)
        acknowledge(
            instance,
            {
                **_ALWAYS,
                **(_KNOWN_PORT if port == MYSQL_PORT else {}),
                **({} if require_tls else _NO_TLS),
                **({} if multi_az else _ONE_ZONE),
                **(_PROTECTED_LATER if deletion_protection else _DELETABLE),
            },
        )

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric of the database instance.

        Source: Amazon RDS User Guide, "Amazon CloudWatch metrics for Amazon RDS".

        Args:
            metric_name: The metric's name in the namespace ``AWS/RDS``.
            statistic: What to make of its values. Default - their average.
            period: What to sum up over. Default - five minutes.
        """
        return self._database.metric(metric_name, statistic=statistic, period=period)

    def metric_cpu_utilization(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return how busy its processors are, in percent.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("CPUUtilization", period=period)

    def metric_free_storage_space(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return its free space in bytes, at the least.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("FreeStorageSpace", statistic=cloudwatch.Stats.MINIMUM, period=period)

    def metric_connections(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the connections to it, at the most.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("DatabaseConnections", statistic=cloudwatch.Stats.MAXIMUM, period=period)

    @property
    def password_secret(self) -> secretsmanager.ISecret:
        """The user's password and nothing else, as plain text: what ParallelCluster reads."""
        if self._password_secret is None:
            copy = secretsmanager.Secret(
                self,
                "Password",
                description="Password of the accounting database, and nothing else",
                secret_string_value=self.secret.secret_value_from_json("password"),
                encryption_key=self._key,
                removal_policy=self._beside,
            )
            _acknowledge_secret(copy)
            self._password_secret = copy
        return self._password_secret

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        endpoint: str,
        secret: secretsmanager.ISecret,
        security_group: ec2.ISecurityGroup,
        port: int = MYSQL_PORT,
        user: str = "admin",
        schema_name: str | None = None,
        password_secret: secretsmanager.ISecret | None = None,
        rules_exist: bool = False,
    ) -> AccountingDatabaseBase:
        """Use a MySQL-compatible database that exists already.

        Args:
            scope: Where it belongs.
            construct_id: Its id there.
            endpoint: Its host name.
            secret: User name and password, as JSON with ``username`` and ``password``.
            security_group: Its security group; clusters are let in.
            port: Its port. Default: 3306.
            user: The user name in the secret; ``MultiHead`` and ParallelCluster need it. Default: admin.
            schema_name: Schema of the Slurm accounting. Default - named after the cluster.
            password_secret: The password and nothing else, as plain text; ParallelCluster needs it. Default - none.
            rules_exist: Whether its group lets those of the clusters in already, which may go to it: EC2 refuses a rule
                that exists. Default: False, both rules are added.

        Raises:
            ConfigurationError: The schema's name cannot work.
        """
        imported = AccountingDatabaseBase(scope, construct_id)
        judge = Judge(environment=surroundings(imported))
        judge.judged(AccountingSpec(schema_name=schema_name))
        raise_problems(imported, judge.problems)
        imported.endpoint = endpoint
        imported.port = port
        imported.secret = secret
        imported.user = user
        imported.schema_name = schema_name
        imported.rules_exist = rules_exist
        imported._password_secret = password_secret  # noqa: SLF001
        imported._connections = ec2.Connections(security_groups=[security_group], default_port=ec2.Port.tcp(port))  # noqa: SLF001
        return imported


def _version_problems(engine: DatabaseEngine, version: object) -> Iterator[Problem]:
    from aws_cdk import aws_rds as rds  # noqa: PLC0415  as above

    wanted = rds.MariaDbEngineVersion if engine is DatabaseEngine.MARIADB else rds.MysqlEngineVersion
    if version is not None and not unresolved(engine) and not isinstance(version, wanted):
        text = f"must be an rds.{wanted.__name__} for {option('engine')} {engine}, got {got(version)}"
        yield Problem(("engine_version",), text)


def _engine(
    engine: DatabaseEngine, version: "rds.MysqlEngineVersion | rds.MariaDbEngineVersion | None"
) -> "rds.IInstanceEngine":
    from aws_cdk import aws_rds as rds  # noqa: PLC0415  as above

    pinned = next((row["version"], row["series"]) for row in rows("databases") if row["engine"] == engine.value)
    if engine is DatabaseEngine.MARIADB:
        of_mariadb = cast("rds.MariaDbEngineVersion | None", version) or rds.MariaDbEngineVersion.of(*pinned)
        return rds.DatabaseInstanceEngine.maria_db(version=of_mariadb)
    of_mysql = cast("rds.MysqlEngineVersion | None", version) or rds.MysqlEngineVersion.of(*pinned)
    return rds.DatabaseInstanceEngine.mysql(version=of_mysql)


def _acknowledge_secret(secret: secretsmanager.Secret) -> None:
    own_key = _OWN_KEY if secret.encryption_key is None else {}
    acknowledge(main_resource(secret), {**_NO_ROTATION, **own_key})
