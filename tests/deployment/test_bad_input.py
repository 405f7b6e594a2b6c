# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input: a small edit of a good file, and what is said about it, with line and column.

These rows are refused at load. Folders of scripts are in ``test_script_folder.py``.
"""

from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace

import pytest

from cdk_trainyard.deployment.accounting import existing_accounting_problems
from tests.deployment.good_file import (
    GOOD,
    GOOD_FLEET,
    GOOD_PARALLELCLUSTER,
    GOOD_SERVING,
    Edit,
    assert_refused,
    edited,
    problems_of,
    row,
)

EN_DASH = "\u2013"

DATABASE = (
    "cluster:\n  provisioning: Continuous\n  accounting:\n    endpoint: ENDPOINT\n"
    "    secret_arn: arn:aws:secretsmanager:us-east-1:111111111111:secret:slurm-abcdef\n"
    "    security_group_id: sg-0123456789abcdef0"
)

REFERENCES = """count: 4
      raw_overrides:
        OverrideVpcConfig.SecurityGroupIds: [sg-0123456789abcdef0]
        OverrideVpcConfig.Subnets:
        - Ref: Own
        - {'Fn::GetAtt': Own.SubnetId}
        - {'Fn::GetAtt': [Own, SubnetId]}
        - {'Fn::Sub': '${AWS::Region}${Own}'}
        - {Ref: 'AWS::NoValue'}
        - {'Fn::GetAtt': [NetworkAccelerator3971C45F, SubnetId]}
        - {'Fn::ImportValue': own}
"""
AT_LOAD = [
    row(
        "what others call capacity",
        [("count: 4", "count: 4\n      spot: true\n      capacity_reservation_id: cr-0123456789abcdef0")],
        "19:7: 'cluster.groups.workers.spot' is no key here; use 'capacity', spot",
        "20:7: 'cluster.groups.workers.capacity_reservation_id' is no key here; HyperPod takes none of EC2's reservations; use 'training_plan_arn'",
    ),
    row(
        "what AWS's API calls count and name",
        [("count: 4", "InstanceCount: 4\n      InstanceGroupName: workers\n      life_cycle_config: {}")],
        "18:7: 'cluster.groups.workers.InstanceCount' is no key here; did you mean 'count'?",
        "19:7: 'cluster.groups.workers.InstanceGroupName' is no key here; the key of the group is its name",
        "20:7: 'cluster.groups.workers.life_cycle_config' is no key here; use 'lifecycle'",
    ),
    row(
        "keys of a cluster at the top of the file, and of the top in a cluster",
        [
            ("name: demo\n", "name: demo\nhead_node: {}\navailability_zone: us-east-1a\ngroups: {}\n"),
            ("zone: use1-az4", "zone: use1-az4\n  enable_nat_gateway: true"),
            ("count: 4", "count: 4\n      vpcId: vpc-1\n      efa_enabled: true\n      tags: {}\n      SubnetId: x"),
        ],
        "2:1: 'head_node' is no key here; 'cluster.head_node' is for parallelcluster; 'orchestrator' is hyperpod",
        "3:1: 'availability_zone' is no key here; use 'zone' in 'network'",
        "4:1: 'groups' is no key here; there is 'cluster.groups'",
        "8:3: 'network.enable_nat_gateway' is no key here; use 'nat'",
        "23:7: 'cluster.groups.workers.vpcId' is no key here; there is 'network.vpc_id'",
        "24:7: 'cluster.groups.workers.efa_enabled' is no key here; use 'interface_type', efa",
        "25:7: 'cluster.groups.workers.tags' is no key here; 'tags' stands at the top of the file",
        "26:7: 'cluster.groups.workers.SubnetId' is no key here; nodes stand in the accelerator subnet of the network; leave it out",
    ),
    row(
        "one type again and again",
        [("instance_type: ml.trn1.32xlarge", "instance_types: [ml.trn1.32xlarge, ml.trn1.32xlarge, ml.trn1.32xlarge]")],
        "17:42: 'cluster.groups.workers.instance_types[1]' must be another than those before it, got 'ml.trn1.32xlarge' 3 times",
    ),
    row(
        "a required key misspelt, and one of a section that exists",
        [("region:", "regoin:"), ("zone: use1-az4", "vpc_idd: vpc-0123456789abcdef0")],
        "2:1: 'regoin' is no key here; did you mean 'region'?",
        "3:1: 'network.accelerator_subnet' is missing; it needs 'subnet_id', 'zone'",
        "4:3: 'network.vpc_idd' is no key here; did you mean 'vpc_id'?",
    ),
    row(
        "a key between one of a new section and one of a section that exists",
        [("zone: use1-az4", "zone: use1-az4\n  vpc_cidr: 10.2.0.0/16")],
        "5:3: 'network.vpc_cidr' is no key here; did you mean 'cidr'?",
    ),
    row(
        "a choice of keys misspelt",
        [("instance_type: ml.trn1.32xlarge", "instance_typ: ml.trn1.32xlarge"), ("orchestrator:", "orchestratr:")],
        "8:1: 'orchestratr' is no key here; did you mean 'orchestrator'?",
    ),
    row(
        "values that were",
        [
            ("count: 4", "count: 4\n      capacity: OnDemand"),
            ("cluster:\n", "cluster:\n  provisioning: AllOrNothing\n"),
        ],
        "10:17: 'cluster.provisioning' must be Continuous, got 'AllOrNothing'; leave it out: then a group comes whole or not at all",
        "20:17: 'cluster.groups.workers.capacity' must be on-demand, spot or capacity-block, got 'OnDemand'; use 'on-demand'",
    ),
    row(
        "a way to buy that HyperPod has elsewhere, and an endpoint of what is not here",
        [
            ("count: 4", "count: 4\n      capacity: training-plan"),
            ("zone: use1-az4", "zone: use1-az4\n  interface_endpoints: [sagemaker.runtime]"),
        ],
        "5:25: 'network.interface_endpoints[0]' must be autoscaling, cloudformation, dynamodb, ec2, ec2messages, ecr.api, ecr.dkr, elasticloadbalancing, … (all are in the reference of the deployment file), got 'sagemaker.runtime'; leave it out: no model is served by SageMaker here",
        "20:17: 'cluster.groups.workers.capacity' must be on-demand, spot or capacity-block, got 'training-plan'; leave it out; a group of hyperpod names its plan by 'training_plan_arn'",
    ),
    row(
        "unknown-key",
        [("  zone: use1-az4", "  zone: use1-az4\n  cdir: 10.2.0.0/16")],
        "5:3: 'network.cdir' is no key here; did you mean 'cidr'?",
    ),
    row(
        "unknown-section",
        [("storage:", "storge:")],
        "5:1: 'storge' is no key here; did you mean 'storage'?",
    ),
    row(
        "unknown-key-nothing-near",
        [("  zone: use1-az4", "  zone: use1-az4\n  xyzzy: 1")],
        "5:3: 'network.xyzzy' is no key here; there are zone, cidr, public_zones, accelerator_mask, accelerator_cidr, service_zones, nat, secondary_cidr, …",
    ),
    row(
        "unknown-group-key",
        [("count: 4", "count: 4\n      instancetype: x")],
        "19:7: 'cluster.groups.workers.instancetype' is no key here; 'instance_type' is given already; leave one of both out",
    ),
    row(
        "wrong-type-number",
        [("count: 4", "count: four")],
        "18:14: 'cluster.groups.workers.count' must be a whole number, got 'four'",
    ),
    row(
        "wrong-type-fraction",
        [("count: 4", "count: 4.5")],
        "18:14: 'cluster.groups.workers.count' must be a whole number, got 4.5",
    ),
    row(
        "wrong-type-bool-for-number",
        [("count: 4", "count: true")],
        "18:14: 'cluster.groups.workers.count' must be a whole number, got true",
    ),
    row(
        "wrong-type-text",
        [("name: demo", "name: 5")],
        "1:7: 'name' must be letters, digits and hyphens, beginning with a letter, as llama2, got '5'",
    ),
    row(
        "wrong-type-account",
        [("name: demo", "name: demo\naccount: 012345678901")],
        "2:10: 'account' must be text, got 012345678901; put it in quotes: \"012345678901\"",
    ),
    row(
        "an account with hyphens",
        [("name: demo", "name: demo\naccount: 1234-5678-9012")],
        "2:10: 'account' must be an account number, 12 digits in quotes, as \"111111111111\", got '1234-5678-9012'; write \"123456789012\"",
    ),
    row(
        "an account with dashes of a word processor",
        [("name: demo", "name: demo\naccount: 1234\u20135678\u20139012")],
        "2:10: 'account' must be an account number, 12 digits in quotes, as \"111111111111\", got '1234\u20135678\u20139012'; write \"123456789012\"",
    ),
    row(
        "an account with a sign that nobody sees in it",
        [("name: demo", "name: demo\naccount: '1234:\u200b56789012'")],
        "2:10: 'account' must be an account number, 12 digits in quotes, as \"111111111111\", got '1234:\\u200b56789012'",
    ),
    row(
        "an account by its name",
        [("name: demo", "name: demo\naccount: sandbox")],
        "2:10: 'account' must be an account number, 12 digits in quotes, as \"111111111111\", got 'sandbox'",
    ),
    row(
        "lists in place of one value",
        [
            ("zone: use1-az4", "zone: [use1-az4, use1-az5]\n  nat: [one]"),
            ("role: compute", "role: [compute, login]"),
            ("ml.trn1.32xlarge", "[ml.trn1.32xlarge]"),
            ("count: 4", "count: []"),
        ],
        "4:3: 'network.zone' must be text, got a list; write one of them",
        "5:3: 'network.nat' must be one, per-zone or none, got a list; write one",
        "17:7: 'cluster.groups.workers.role' must be controller, login or compute, got a list; write one of them",
        "18:7: 'cluster.groups.workers.instance_type' must be text, got a list; write ml.trn1.32xlarge",
        "19:7: 'cluster.groups.workers.count' must be a whole number, got a list; write one value",
    ),
    row(
        "what is no alarm and no mapping",
        [("network:", "monitoring:\n  topic_arn: x\n  alarms:\n    sns_topic_arn: x\n    DiskFul: 10\nnetwork:")],
        "3:1: 'monitoring' needs the project's own scripts on every group, which set exporters up; none runs a script: give 'lifecycle' of the cluster, or of a group that has one, 'on_create' on_create.sh or 'on_init_complete' on_init_complete.sh of the project",
        "4:3: 'monitoring.topic_arn' is no key here; who is told stands in 'alerts' at the top of the file, with 'emails' or 'topic_arn'",
        "6:5: 'monitoring.alarms.sns_topic_arn' is a key, and no name here; who is told stands in 'alerts' at the top of the file, with 'emails' or 'topic_arn'",
        "7:5: 'monitoring.alarms.DiskFul' must be an alarm: ClusterSilent, SlurmctldDown, SlurmMetricsStale, NodeDown, NodeAwaited, NodeDrained, NodeInvalid, JobsStarving, … (all are in the table of alarms), got 'DiskFul'; did you mean 'DiskFull'?",
    ),
    row(
        "wrong-type-bool",
        [("capacity_gib: 1200", "capacity_gib: 1200\n    efa_enabled: yes")],
        "8:18: 'storage.lustre.efa_enabled' must be true or false, got 'yes'; write true",
    ),
    row(
        "packages-for-another-python",
        [
            (
                "cluster:\n",
                "cluster:\n  node_setup:\n    neuron_environment:\n      packages: [neuronx-cc==2.26.6360.0]\n",
            )
        ],
        "10:3: 'cluster.node_setup' must be left out when no 'lifecycle' of a group runs the scripts that come with cdk-trainyard: they alone heed it; "
        "give 'on_create' of the cluster's 'lifecycle' on_create.sh, which is one",
        "12:7: 'cluster.node_setup.neuron_environment.packages' must fit Python 3.10.12 of HyperPod's image for Slurm, got neuronx-cc==2.26.6360.0 for Python 3.11, 3.12, 3.13; use neuronx-cc==2.22.12471.0 of Neuron SDK 2.27.1",
    ),
    row(
        "zone-in-capitals",
        [("zone: use1-az4", "zone: USE1-AZ4")],
        "4:9: 'network.zone' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got 'USE1-AZ4'; use 'use1-az4'",
    ),
    row(
        "name-of-the-cluster",
        [("cluster:\n", "cluster:\n  name: demo\n")],
        "10:3: 'cluster.name' is no key here; did you mean 'cluster_name'?",
    ),
    row(
        "wrong-type-list",
        [("zone: use1-az4", "zone: use1-az4\n  public_zones: use1-az4")],
        "5:17: 'network.public_zones' must be a list, got 'use1-az4'; write [use1-az4]",
    ),
    row(
        "wrong-type-mapping",
        [("network:\n  zone: use1-az4", "network: use1-az4")],
        "3:10: 'network' must be a mapping ('zone: …' on lines below it), got 'use1-az4'",
    ),
    *(
        row(
            f"no{path}",
            [("storage:\n  lustre:\n    capacity_gib: 1200\n", f"storage: {said}\n")],
            f"5:{column}: 'storage{path}' must be a mapping, got {got}; leave it out (default: {default})",
        )
        for said, column, path, got, default in (
            ("none", 10, "", "'none'", "no file system, and buckets for every purpose"),
            ("{buckets: false}", 20, ".buckets", "false", "all are made, and kept unless their auto_delete is true"),
            (
                "{buckets: {datasets: none}}",
                31,
                ".buckets.datasets",
                "'none'",
                "one is made, and kept unless auto_delete is true",
            ),
        )
    ),
    row(
        "wrong-type-mapping-list",
        [("  lustre:\n    capacity_gib: 1200", "  lustre:\n  - 1200")],
        "6:3: 'storage.lustre' must be a mapping ('at: …' on lines below it), got a list",
    ),
    *(
        row(
            f"items-with-{name}",
            [("zone: use1-az4", f"zone: use1-az4\n  public_zones:\n    {sign}use1-az4\n    {sign}use1-az6")],
            f"6:5: 'network.public_zones' must be a list, got '{sign}use1-az4 {sign}use1-az6'; write [use1-az4, use1-az6]",
        )
        for name, sign in {"no-blank": "-", "a-long-dash": f"{EN_DASH} "}.items()
    ),
    row(
        "a key of another orchestrator that looks like one of this",
        [("cluster:\n", "cluster:\n  reservation_group_arn: arn\n")],
        "10:3: 'cluster.reservation_group_arn' is no key here; that is for fleet; 'orchestrator' is hyperpod",
    ),
    row(
        "a zone of an existing subnet that there is not, beside one by its id",
        [
            (
                "  zone: use1-az4\n",
                (
                    "  vpc_id: vpc-0123456789abcdef0\n  cidr: 10.2.0.0/16\n  accelerator_subnet:\n"
                    "    subnet_id: subnet-0123456789abcdef0\n    zone: use1-az4\n    cidr: 10.2.0.0/20\n"
                    "    route_table_id: rtb-0123456789abcdef0\n  service_subnets:\n"
                    "  - {subnet_id: subnet-0123456789abcdef2, zone: us-east-1z}\n"
                    "  - {subnet_id: subnet-0123456789abcdef3, zone: use1-az1}\n"
                ),
            )
        ],
        "12:49: 'network.service_subnets[0].zone' must be one of us-east-1a to us-east-1f (as of 2026-10-27), got 'us-east-1z'",
    ),
    row(
        "a switch for a key of alerts",
        [("cluster:\n", "alerts:\n  true: x\n  emails: [a@b.example]\ncluster:\n")],
        "10:3: 'alerts.true' is no key here; there are emails or topic_arn",
    ),
    row(
        "wrong-type-list-item",
        [("zone: use1-az4", "zone: use1-az4\n  public_zones: [use1-az4, 5]")],
        "5:28: 'network.public_zones[1]' must be text, as use1-az4, got 5",
    ),
    row(
        "a switch for a zone",
        [("zone: use1-az4", "zone: use1-az4\n  public_zones: [use1-az4, true]")],
        "5:28: 'network.public_zones[1]' must be text, as use1-az4, got true",
    ),
    row(
        "a number for a network id",
        [
            (
                "    capacity_gib: 1200",
                "    capacity_gib: 1200\n    root_squash: {uid: 65534, gid: 65534, no_squash_nids: [5]}",
            )
        ],
        "8:60: 'storage.lustre.root_squash.no_squash_nids[0]' must be text, as 10.1.0.[1-20]@tcp, got 5",
    ),
    row(
        "a list with the comma of Arabic",
        [("zone: use1-az4", "zone: use1-az4\n  public_zones: [use1-az4\u060c use1-az6]")],
        "5:18: 'network.public_zones[0]' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got 'use1-az4\u060c use1-az6'; '\u060c' is U+060C (ARABIC COMMA); write ','",
    ),
    row(
        "a number of NAT gateways",
        [("zone: use1-az4", "zone: use1-az4\n  nat: 0")],
        "5:8: 'network.nat' must be one, per-zone or none, got 0; write none",
    ),
    row(
        "a Region of Google's",
        [("region: us-east-1", "region: europe-west4")],
        "2:9: 'region' must be a Region (as of 2026-10-27), as us-east-1, got 'europe-west4'",
    ),
    row(
        "region-in-words",
        [("region: us-east-1", "region: Europe (Frankfurt)")],
        "2:9: 'region' must be a Region (as of 2026-10-27), as us-east-1, got 'Europe (Frankfurt)'; write eu-central-1",
    ),
    row(
        "Spot by Google's word",
        [("count: 4", "count: 4\n      capacity: preemptible")],
        "19:17: 'cluster.groups.workers.capacity' must be on-demand, spot or capacity-block, got 'preemptible'; use 'spot'",
    ),
    row(
        "a truth value where a bucket of yours is named",
        [
            (
                "lustre:\n    capacity_gib: 1200",
                "lustre:\n    capacity_gib: 1200\n  buckets: {models: {bucket_name: true}}",
            )
        ],
        "8:35: 'storage.buckets.models.bucket_name' must be the name of a bucket, which is not a word for none, or for any, got 'true'",
    ),
    row(
        "wrong-type-mapping-for-scalar",
        [("count: 4", "count: {min: 4}")],
        "18:7: 'cluster.groups.workers.count' must be a whole number, got a mapping",
    ),
    row(
        "no-name",
        [("name: demo", "name: demo\n'': 1"), ("zone: use1-az4", "zone: use1-az4\n  '': 1")],
        "2:1: '\"\"' is no key here; there are name, region, account, tags, network, storage, orchestrator, cluster, …",
        "6:3: 'network.\"\"' is no key here; there are zone, cidr, public_zones, accelerator_mask, accelerator_cidr, service_zones, nat, secondary_cidr, …",
    ),
    row(
        "no-value",
        [("zone: use1-az4", "zone:")],
        "4:8: 'network.zone' has no value; write one",
    ),
    row(
        "two groups of one name, of which one is read",
        [("    workers:\n", "    head:\n")],
        "15:5: 'head' is given twice, first in line 11; remove one",
    ),
    row(
        "twice",
        [("count: 4", "count: 4\n      count: 5")],
        "19:7: 'count' is given twice, first in line 18; remove one",
    ),
    row(
        "missing-key",
        [("      count: 4\n", "")],
        "15:5: 'cluster.groups.workers.count' is missing",
    ),
    row(
        "missing-section",
        [("network:\n  zone: use1-az4\n", "")],
        "1:1: 'network' is missing",
    ),
    row(
        "missing-orchestrator, and what is wrong in its cluster",
        [("orchestrator: hyperpod\n", ""), ("count: 4", "count: x"), ("controller", "login")],
        "1:1: 'orchestrator' is missing; it says what 'cluster' is: with 'groups' in it write 'orchestrator: hyperpod'",
        "9:3: 'cluster.groups' must hold exactly one controller group, got none",
        "17:14: 'cluster.groups.workers.count' must be a whole number, got 'x'",
    ),
    row(
        "an orchestrator in other letters, and what is wrong in its cluster",
        [("orchestrator: hyperpod", "orchestrator: HyperPod"), ("count: 4", "count: x"), ("controller", "login")],
        "8:15: 'orchestrator' must be hyperpod, parallelcluster or fleet, got 'HyperPod'; did you mean 'hyperpod'?",
        "10:3: 'cluster.groups' must hold exactly one controller group, got none",
        "18:14: 'cluster.groups.workers.count' must be a whole number, got 'x'",
    ),
    row(
        "an orchestrator in its cluster, and what is wrong there",
        [("orchestrator: hyperpod\ncluster:", "cluster:\n  orchestrator: HyperPod"), ("count: 4", "count: x")],
        "9:3: 'cluster.orchestrator' is no key here; write 'orchestrator: hyperpod' at the top of the file in its place",
        "18:14: 'cluster.groups.workers.count' must be a whole number, got 'x'",
    ),
    row(
        "an orchestrator at both places",
        [("cluster:\n", "cluster:\n  orchestrator: fleet\n")],
        "10:3: 'cluster.orchestrator' is no key here; 'orchestrator' stands at the top of the file",
    ),
    row(
        "an orchestrator in a cluster that nobody knows",
        [("orchestrator: hyperpod\ncluster:", "cluster:\n  orchestrator: slurm")],
        "1:1: 'orchestrator' is missing; it says what 'cluster' is",
    ),
    row(
        "a Region without HyperPod, whatever the cluster is",
        [(GOOD[GOOD.index("cluster:") :], "cluster:\n"), ("us-east-1", "us-gov-west-1"), ("use1-az4", "usgw1-az1")],
        "2:9: 'region' must be a Region where CloudFormation makes HyperPod clusters (as of 2026-10-20), got 'us-gov-west-1'; it does in none of the partition aws-us-gov; use ParallelCluster or a fleet",
        "9:9: 'cluster' has no value; write one, or remove the key",
    ),
    row(
        "groups as a list, and what is wrong in them",
        [
            ("    head:\n      role", "    - name: head\n      role"),
            ("    workers:\n      role: compute", "    - InstanceGroupName: workers\n      role: controller"),
            ("count: 1", "cnt: 1"),
        ],
        "10:3: 'cluster.groups' must be a mapping ('head: …' on lines below it), got a list; write each one's name as its key",
        "11:7: 'cluster.groups.head.count' is missing",
        "14:7: 'cluster.groups.head.cnt' is no key here; there are […]",
        "18:14: 'cluster.groups.workers.count' must be 1 for a controller group, got 4; several controllers need the legacy topology, and the construct library",
    ),
    row(
        "groups beside their names in a list, and a script in place of a section",
        [
            ("cluster:\n", "cluster:\n  lifecycle: on_create.sh\n"),
            ("    head:\n      role", "    - head:\n      role"),
            ("    workers:\n      role", "    - workers:\n      role"),
        ],
        "10:14: 'cluster.lifecycle' must be a mapping ('on_create: on_create.sh' on lines below it), got 'on_create.sh'",
        "11:3: 'cluster.groups' must be a mapping ('head: …' on lines below it), got a list; write each one's name as its key",
        "12:12: 'cluster.groups[0].head' has no value; indent 'role' to 'count' from line 13 on below it",
        "16:15: 'cluster.groups[1].workers' has no value; indent 'role' to 'count' from line 17 on below it",
    ),
    row(
        "groups below their names in a list, and what is wrong in them",
        [
            ("    head:\n", "    - head:\n"),
            ("    workers:\n", "    - 1:\n"),
            (
                "      role: controller\n      instance_type: ml.m5.large\n      count: 1\n",
                "        {role: controller, instance_type: ml.m5.large, count: 01x, volumes: {size_gb: 0}}\n",
            ),
            (
                "      role: compute\n      instance_type: ml.trn1.32xlarge\n      count: 4\n",
                "        {role: controller, instance_type: ml.trn1.32xlarge, count: 4}\n",
            ),
        ],
        "10:3: 'cluster.groups' must be a mapping ('head: …' on lines below it), got a list; write each one's name as its key",
        "12:63: 'cluster.groups.head.count' must be a whole number, got '01x'",
        "12:68: 'cluster.groups.head.volumes' must be a list of mappings, got a mapping; begin each with '- size_gb: …'",
        "12:87: 'cluster.groups.head.volumes[0].size_gb' must be 1 to 16384 GB, got 0",
        "14:68: 'cluster.groups.1.count' must be 1 for a controller group, got 4; several controllers need the legacy topology, and the construct library",
    ),
    row(
        "unknown-orchestrator",
        [("orchestrator: hyperpod", "orchestrator: hyperpot")],
        "8:15: 'orchestrator' must be hyperpod, parallelcluster or fleet, got 'hyperpot'; did you mean 'hyperpod'?",
    ),
    row(
        "unknown-choice",
        [("role: compute", "role: computer")],
        "16:13: 'cluster.groups.workers.role' must be controller, login or compute, got 'computer'; did you mean 'compute'?",
    ),
    row(
        "unknown-choice-case",
        [("cluster:", "cluster:\n  provisioning: continuous")],
        "10:17: 'cluster.provisioning' must be Continuous, got 'continuous'; did you mean 'Continuous'?",
    ),
    row(
        "truth values in place of choices",
        [
            ("zone: use1-az4", "zone: use1-az4\n  nat: false"),
            ("capacity_gib: 1200", "capacity_gib: 1200\n    compression: yes"),
            ("cluster:", "cluster:\n  node_recovery: true"),
        ],
        "5:8: 'network.nat' must be one, per-zone or none, got false; write none",
        "9:18: 'storage.lustre.compression' must be NONE or LZ4, got 'yes'; write LZ4",
        "12:18: 'cluster.node_recovery' must be Automatic or None, got true; write Automatic",
    ),
    row(
        "unknown-int-choice",
        [("zone: use1-az4", "zone: use1-az4\n  flow_logs_retention_days: 91")],
        "5:29: 'network.flow_logs_retention_days' must be 1, 3, 5, 7, 14, 30, 60, 90, … (all are in the reference of the deployment file), got 91; the nearest are 90 and 120",
    ),
    row(
        "unknown-instance-type",
        [("ml.trn1.32xlarge", "ml.trn1.23xlarge")],
        "17:22: 'cluster.groups.workers.instance_type' must be the name of an EC2 instance type, got 'ml.trn1.23xlarge'; did you mean 'ml.trn1.2xlarge' or 'ml.trn1.32xlarge' or 'ml.trn1n.32xlarge'?",
    ),
    row(
        "inf2",
        [("ml.trn1.32xlarge", "ml.inf2.xlarge")],
        "17:22: 'cluster.groups.workers.instance_type' must be one of the 209 types […]",
    ),
    row(
        "trn1.2xlarge",
        [("ml.trn1.32xlarge", "ml.trn1.2xlarge")],
        "17:22: 'cluster.groups.workers.instance_type' must be one of the 209 types […]",
    ),
    row(
        "group-underscore",
        [("workers:", "worker_group:")],
        "15:5: 'cluster.groups.worker_group' must be 1 to 63 letters, digits and inner hyphens, got 'worker_group' as a name; use 'worker-group'",
    ),
    row(
        "key-of-the-cluster-among-groups",
        [("    workers:", "    node_recovery: None\n    workers:")],
        "15:5: 'cluster.groups.node_recovery' is a key, and no name here: it belongs in 'cluster'",
    ),
    row(
        "key-of-a-group-among-groups",
        [("    workers:", "    instance_types: [ml.m5.large]\n    workers:")],
        "15:5: 'cluster.groups.instance_types' is a key, and no name here: it belongs in 'cluster.groups.<name>'",
    ),
    row(
        "section-of-both-among-groups",
        [("    workers:", "    lifecycle: {on_create: on_create.sh}\n    workers:")],
        "15:5: 'cluster.groups.lifecycle' is a key, and no name here: it belongs in 'cluster' or 'cluster.groups.<name>'",
    ),
    row(
        "group-like-another",
        [
            (
                "    workers:",
                "    'head ':\n      role: login\n      instance_type: ml.m5.large\n      count: 1\n    workers:",
            )
        ],
        "15:5: 'cluster.groups.head ' must be 1 to 63 letters, digits and inner hyphens, got 'head ' as a name",
    ),
    row(
        "partition-dots",
        [("count: 4", "count: 4\n      partition: ml.trn1.32xlarge")],
        "19:18: 'cluster.groups.workers.partition' must be 1 to 1024 letters, digits and inner hyphens, got 'ml.trn1.32xlarge'; use 'ml-trn1-32xlarge'",
    ),
    row(
        "two-controllers",
        [("role: compute", "role: controller")],
        "10:3: 'cluster.groups' must hold at least one compute group […]",
        "10:3: 'cluster.groups' must hold exactly one controller group, got 2: head, workers",
        "18:14: 'cluster.groups.workers.count' must be 1 for a controller group, got 4; several controllers need the legacy topology, and the construct library",
    ),
    row(
        "controller-count",
        [("count: 1\n", "count: 2\n")],
        "14:14: 'cluster.groups.head.count' must be 1 for a controller group […]",
    ),
    row(
        "no-compute",
        [("    workers:\n      role: compute\n      instance_type: ml.trn1.32xlarge\n      count: 4\n", "")],
        "10:3: 'cluster.groups' must hold at least one compute group […]",
    ),
    row(
        "no-groups",
        [
            (
                "  groups:\n    head:\n      role: controller\n      instance_type: ml.m5.large\n      count: 1\n    workers:\n      role: compute\n      instance_type: ml.trn1.32xlarge\n      count: 4\n",
                "  groups: {}\n",
            )
        ],
        "10:3: 'cluster.groups' must be 1 to 100, got 0",
    ),
    row(
        "count-high",
        [("count: 4", "count: 6759")],
        "18:14: 'cluster.groups.workers.count' must be 0 to 6758, got 6759",
    ),
    row(
        "count-neg",
        [("count: 4", "count: -1")],
        "18:14: 'cluster.groups.workers.count' must be 0 to 6758, got -1",
    ),
    row(
        "min-count",
        [("count: 4", "count: 4\n      min_count: 2")],
        "19:18: 'cluster.groups.workers.min_count' needs 'provisioning' Continuous of the cluster",
    ),
    row(
        "min-count-high",
        [("count: 4", "count: 4\n      min_count: 5"), ("cluster:", "cluster:\n  provisioning: Continuous")],
        "20:18: 'cluster.groups.workers.min_count' must be at most the 'count' of 4, got 5",
    ),
    row(
        "strategy",
        [("cluster:", "cluster:\n  provisioning: Continuous\n  slurm_config_strategy: Managed")],
        "11:26: 'cluster.slurm_config_strategy' must be left out with continuous provisioning […]",
    ),
    row(
        "strategy-legacy",
        [
            (
                "cluster:",
                "cluster:\n  topology: legacy\n  slurm_config_strategy: Managed\n  lifecycle: {on_create: on_create.sh}",
            )
        ],
        "11:26: 'cluster.slurm_config_strategy' must be left out with 'topology' legacy; the file knows no strategy",
    ),
    row(
        "spot",
        [("count: 4", "count: 4\n      capacity: spot")],
        "19:17: 'cluster.groups.workers.capacity' needs 'provisioning' Continuous of the cluster to be spot",
    ),
    row(
        "no-type",
        [("      instance_type: ml.trn1.32xlarge\n", "")],
        "15:5: 'cluster.groups.workers' must have either 'instance_type' or 'instance_types', got neither",
    ),
    row(
        "root",
        [("count: 4", "count: 4\n      volumes:\n      - {root: true, size_gb: 200}")],
        "20:9: 'cluster.groups.workers.volumes[0].key_arn' must be given for the root volume […]",
        "20:31: 'cluster.groups.workers.volumes[0].size_gb' must be left out for the root […]",
    ),
    row(
        "volume-key",
        [
            (
                "count: 4",
                "count: 4\n      volumes:\n      - size_gb: 200\n        key_arn: arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef",
            )
        ],
        "21:18: 'cluster.groups.workers.volumes[0].key_arn' needs 'provisioning' Continuous of the cluster",
    ),
    row(
        "volumes-without-keys",
        [("count: 4", "count: 4\n      volumes: [500, null]")],
        "19:17: 'cluster.groups.workers.volumes[0]' must be a mapping ('size_gb: …' on lines below it), got 500",
        "19:22: 'cluster.groups.workers.volumes[1]' has no value; write one",
    ),
    row(
        "existing-accounting-by-other-names",
        [("cluster:\n", "cluster:\n  accounting: {host: db.example.internal, user: slurm, password: x}\n")],
        "10:3: 'cluster.accounting' needs 'provisioning' Continuous, or […]",
        "10:3: 'cluster.accounting.security_group_id' is missing",
        "10:16: 'cluster.accounting.host' is no key here; use 'endpoint'",
        "10:43: 'cluster.accounting.user' is no key here; use 'secret_arn'",
        "10:56: 'cluster.accounting.password' is no key here; use 'secret_arn'",
    ),
    row(
        "no-blank-behind-a-key-in-brackets",
        [("network:\n  zone: use1-az4", "network: {zone:use1-az4, zones:2}")],
        "3:11: a key needs ': ' after it, as in 'name: value', got 'zone:use1-az4'",
        "3:26: 'network.zones' is no key here; 'zone' is given already; leave one of both out",
        "3:26: a key needs ': ' after it, as in 'name: value', got 'zones:2'",
    ),
    row(
        "references-to-nothing",
        [("count: 4", REFERENCES)],
        *(
            f"{place}: 'cluster.groups.workers.raw_overrides.OverrideVpcConfig.Subnets[{index}]' must be written out, got a reference to 'Own', which no template here has"
            for index, place in enumerate(("22:11", "23:11", "24:11", "25:11"))
        ),
    ),
    row(
        "tools-without-keys",
        [("cluster:\n", "cluster:\n  lifecycle:\n    on_create: on_create.sh\n  node_setup:\n    tools: [enroot]\n")],
        "13:13: 'cluster.node_setup.tools[0]' must be a mapping ('tool: enroot' and 'sha256: …' on lines below it), got 'enroot'",
    ),
    row(
        "checks",
        [("count: 1\n", "count: 1\n      deep_health_checks: [InstanceStress]\n")],
        "15:7: 'cluster.groups.head.deep_health_checks' must be empty for a controller group […]",
    ),
    row(
        "checks1",
        [("count: 4\n", "count: 1\n      deep_health_checks: [InstanceConnectivity]\n")],
        "19:7: 'cluster.groups.workers.deep_health_checks' must not hold InstanceConnectivity for one node […]",
    ),
    row(
        "image",
        [("count: 4\n", "count: 4\n      image_id: foo\n")],
        "19:17: 'cluster.groups.workers.image_id' must be the id of an AMI, or 'default', as ami-0123456789abcdef0, got 'foo'",
    ),
    row(
        "schedule",
        [
            (
                "count: 4\n",
                "count: 4\n      scheduled_update: {schedule: daily, rolling: {batch: {unit: CAPACITY_PERCENTAGE, value: 200}, wait_seconds: 4000}}\n",
            )
        ],
        "19:36: 'cluster.groups.workers.scheduled_update.schedule' must be a cron expression of one minute, one hour of 0 to 23 and one day, as cron(0 4 ? * SUN *), […]",
        "19:95: 'cluster.groups.workers.scheduled_update.rolling.batch.value' must be 1 to 100 percent, got 200",
        "19:115: 'cluster.groups.workers.scheduled_update.rolling.wait_seconds' must be at most one hour, got 4000 seconds",
    ),
    row(
        "life-both",
        [("cluster:", "cluster:\n  lifecycle: {on_create: a.sh, on_init_complete: b.sh}")],
        "10:3: 'cluster.lifecycle' must have one of 'on_create' and 'on_init_complete', got both; the first replaces what the image does, the second adds to it",
        "10:26: 'cluster.lifecycle.on_create' must be a file at the top of the folder, got 'a.sh'",
    ),
    row(
        "life-folder",
        [("cluster:", "cluster:\n  lifecycle: {folder: scripts}")],
        "10:23: 'cluster.lifecycle.folder' must have a script that runs, got neither 'on_create' nor 'on_init_complete'",
    ),
    row(
        "life-group",
        [("count: 4", "count: 4\n      lifecycle: {on_create: a.sh, on_init_complete: b.sh}")],
        "19:7: 'cluster.groups.workers.lifecycle' must have one of 'on_create' and 'on_init_complete', got both; the first replaces what the image does, the second adds to it",
        "19:30: 'cluster.groups.workers.lifecycle.on_create' must be a file at the top of the folder, got 'a.sh'",
    ),
    row(
        "raw",
        [("count: 4", "count: 4\n      raw_overrides: {CurrentCount: 4}")],
        "19:23: 'cluster.groups.workers.raw_overrides.CurrentCount' must not be overridden: the service writes it",
    ),
    row(
        "raw-c",
        [("cluster:", "cluster:\n  raw_overrides: {InstanceGroups.0.InstanceCount: 4}")],
        "10:19: 'cluster.raw_overrides.InstanceGroups.0.InstanceCount' must not be overridden here […]",
    ),
    row(
        "cluster-name",
        [("cluster:", "cluster:\n  cluster_name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")],
        "10:17: 'cluster.cluster_name' must be 1 to 63 letters, digits and inner hyphens, got 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' (64 characters)",
    ),
    row(
        "name",
        [("name: demo", "name: 1demo")],
        "1:7: 'name' must be letters, digits and hyphens, beginning with a letter, as llama2, got '1demo'",
    ),
    row(
        "namelong",
        [
            (
                "name: demo",
                "name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            )
        ],
        "1:7: 'name' must have 1 to 119 characters, got 120",
    ),
    row(
        "region",
        [("region: us-east-1", "region: us_east_1")],
        "2:9: 'region' must be a Region (as of 2026-10-27), as us-east-1, got 'us_east_1'; did you mean 'us-east-1'?",
    ),
    row(
        "zone-other",
        [("zone: use1-az4", "zone: us-west-2a")],
        "4:9: 'network.zone' must be a zone of the stack's […]",
    ),
    row(
        "zone-in-quotes-of-a-word-processor",
        [("zone: use1-az4", "zone: \u201cuse1-az4\u201d\u200f")],
        "4:9: 'network.zone' must be use1-az4 alone, got '\u201cuse1-az4\u201d\\u200f': such quotes, and signs that nobody sees, are part of a value; write use1-az4",
    ),
    row(
        "zone-in-capitals-and-such-quotes",
        [("zone: use1-az4", "zone: \u201cUSE1-AZ4\u201d")],
        "4:9: 'network.zone' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got '\u201cUSE1-AZ4\u201d'; use 'use1-az4'",
    ),
    row(
        "zone-that-a-program-should-fill-in",
        [("zone: use1-az4", "zone: '{{ az }}'")],
        "4:9: 'network.zone' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got '{{ az }}'; nothing is put in place of '{{ az }}', write the value itself",
    ),
    row(
        "zone-with-signs-of-east-asian-writing",
        [("zone: use1-az4", "zone: use1-az4\n  service_zones: [use1-az1\uff0cuse1-az2]")],
        "5:19: 'network.service_zones[0]' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got 'use1-az1\uff0cuse1-az2'; '\uff0c' is U+FF0C (FULLWIDTH COMMA); write ','",
    ),
    row(
        "zone-unknown",
        [("zone: use1-az4", "zone: use1-az9")],
        "4:9: 'network.zone' must be one of use1-az1, use1-az2, use1-az3 […]",
    ),
    row(
        "zone-garbage",
        [("zone: use1-az4", "zone: somewhere")],
        "4:9: 'network.zone' must be the name or the id of a zone, as 'us-east-1a' or 'use1-az1', got 'somewhere'",
    ),
    row(
        "zone-garbage-of-another-region",
        [("region: us-east-1", "region: us-west-2"), ("zone: use1-az4", "zone: somewhere")],
        "4:9: 'network.zone' must be the name or the id of a zone, as 'us-west-2a' or 'usw2-az1', got 'somewhere'",
    ),
    row(
        "zone-of-another-region-beside-ids",
        [("zone: use1-az4", "zone: eu-west-1a\n  nat: per-zone\n  service_zones: [use1-az1, use1-az2]")],
        "4:9: 'network.zone' must be a zone of the stack's Region us-east-1, got 'eu-west-1a' of eu-west-1",
    ),
    row(
        "zones-mixed-with-nat-in-each",
        [("zone: use1-az4", "zone: us-east-1-bos-1a\n  nat: per-zone\n  service_zones: [use1-az1, use1-az2]")],
        "4:9: 'network.zone' must be an id like those of services and public subnets, 'use1-az1', got […]",
    ),
    row(
        "id-of-lustre-alone",
        [("  lustre:\n    capacity_gib: 1200\n", "  lustre: fs-0123456789abcdef0\n")],
        "6:11: 'storage.lustre' must be a mapping ('file_system_id: fs-0123456789abcdef0', 'dns_name: …', […]",
    ),
    row(
        "minus-nothing",
        [("count: 4", "count: 4\n      volumes: [{size_gb: -0}]")],
        "19:27: 'cluster.groups.workers.volumes[0].size_gb' must be 1 to 16384 GB, got -0",
    ),
    row(
        "zones-mixed",
        [("zone: use1-az4", "zone: use1-az4\n  service_zones: [us-east-1a, us-east-1b]")],
        "4:9: 'network.zone' must be a name like those of services and public subnets, 'us-east-1a', got 'use1-az4'; which name stands for which id differs from account to account",
    ),
    row(
        "zones-mixed-one",
        [("zone: use1-az4", "zone: use1-az4\n  service_zones: [use1-az1, us-east-1b]")],
        "5:29: 'network.service_zones[1]' must be an id like 'zone', 'use1-az4', got 'us-east-1b' […]",
    ),
    row(
        "endpoints",
        [("zone: use1-az4", "zone: use1-az4\n  interface_endpoints: [kms, s3, com.amazonaws.us-east-1.ecr.api]")],
        "5:25: 'network.interface_endpoints[0]' must be autoscaling, cloudformation, dynamodb, ec2, ec2messages, ecr.api, ecr.dkr, elasticloadbalancing, … (all are in the reference of the deployment file), got 'kms'; no endpoint of it is made here; leave it out",
        "5:30: 'network.interface_endpoints[1]' must be autoscaling, cloudformation, dynamodb, ec2, ec2messages, ecr.api, ecr.dkr, elasticloadbalancing, … (all are in the reference of the deployment file), got 's3'; leave it out: S3 is always reached inside the VPC, for free",
        "5:34: 'network.interface_endpoints[2]' must be autoscaling, cloudformation, dynamodb, ec2, ec2messages, ecr.api, ecr.dkr, elasticloadbalancing, … (all are in the reference of the deployment file), got 'com.amazonaws.us-east-1.ecr.api'; did you mean 'ecr.api'?",
    ),
    row(
        "what-cdk-writes",
        [
            (
                "zone: use1-az4",
                "vpc_id: vpc-12345\n  accelerator_subnet: {subnet_id: subnet-0123456789abcdef0, zone: use1-az4}",
            )
        ],
        "4:11: 'network.vpc_id' must be the id of a VPC, as vpc-0123456789abcdef0, got 'vpc-12345', which CDK writes until it has looked one up",
    ),
    row(
        "no-flow-logs",
        [("zone: use1-az4", "zone: use1-az4\n  flow_logs_retention_days: none")],
        "5:29: 'network.flow_logs_retention_days' must be a whole number, got 'none'; write 0 for none",
    ),
    row(
        "no-flow-logs-as-a-switch",
        [("zone: use1-az4", "zone: use1-az4\n  flow_logs_retention_days: false")],
        "5:29: 'network.flow_logs_retention_days' must be a whole number, got false; write 0 for none",
    ),
    row(
        "cidr",
        [("zone: use1-az4", "zone: use1-az4\n  cidr: 10.1.0.1/16")],
        "5:9: 'network.cidr' must begin where its mask says […]",
    ),
    row(
        "cidr-pub",
        [("zone: use1-az4", "zone: use1-az4\n  cidr: 11.0.0.0/8")],
        "5:9: 'network.cidr' must have a mask of /16 to /28, got '11.0.0.0/8'",
    ),
    row(
        "mask",
        [("zone: use1-az4", "zone: use1-az4\n  accelerator_mask: 15")],
        "5:21: 'network.accelerator_mask' must be 16 to 28, got 15",
    ),
    row(
        "lustre-1300",
        [("1200", "1300")],
        "7:19: 'storage.lustre.capacity_gib' must be 1200 or a multiple of […]",
    ),
    row(
        "251",
        [("1200", "1200\n    throughput_mb_s_per_tib: 251")],
        "8:30: 'storage.lustre.throughput_mb_s_per_tib' must be one of 125, 250, 500 […]",
    ),
    row(
        "efa",
        [("1200", "1200\n    efa_enabled: true")],
        "7:19: 'storage.lustre.capacity_gib' must be a multiple of 19200 for PERSISTENT_2 with EFA at 250 MB/s per TiB, got 1200; use 19200",
    ),
    row(
        "efa-scratch",
        [("1200", "1200\n    deployment: SCRATCH_2\n    efa_enabled: true")],
        "9:18: 'storage.lustre.efa_enabled' needs a PERSISTENT_2 file system, got SCRATCH_2",
    ),
    row(
        "tiering",
        [("1200", "1200\n    storage: INTELLIGENT_TIERING\n    read_cache_gib: 64")],
        "7:19: 'storage.lustre.capacity_gib' must be left out for PERSISTENT_2 on […]",
        "9:5: 'storage.lustre.read_cache_gib' is no key here; use 'read_cache', with 'mode' and 'size_gib'",
    ),
    row(
        "scratch-backups",
        [("1200", "1200\n    deployment: SCRATCH_2\n    backups: {retention_days: 3}")],
        "9:31: 'storage.lustre.backups.retention_days' must be 0 for a file system that is not persistent, got 3 with SCRATCH_2",
    ),
    row(
        "scratch-key",
        [
            (
                "1200",
                "1200\n    deployment: SCRATCH_2\n    key_arn: arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef",
            )
        ],
        "9:14: 'storage.lustre.key_arn' is for persistent file systems […]",
    ),
    row(
        "key-region",
        [("1200", "1200\n    key_arn: arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef")],
        "8:14: 'storage.lustre.key_arn' must be of Region us-east-1, got 'arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef'",
    ),
    row(
        "version",
        [("1200", "1200\n    lustre_version: '2.10'")],
        "8:21: 'storage.lustre.lustre_version' must be one of 2.12, 2.15 for […]",
    ),
    row(
        "spot beside a training plan",
        [
            (
                "ml.trn1.32xlarge",
                "ml.trn1.32xlarge\n      capacity: spot\n      training_plan_arn: arn:aws:sagemaker:us-east-1:111111111111:training-plan/x",
            )
        ],
        "18:17: 'cluster.groups.workers.capacity' must be left out with 'training_plan_arn', got spot […]",
    ),
    row(
        "version-number",
        [("1200", "1200\n    lustre_version: 2.10")],
        "8:21: 'storage.lustre.lustre_version' must be one of 2.12, 2.15 for PERSISTENT_2, got '2.10'; did you mean '2.15' or '2.12'? (text, in quotes)",
    ),
    row(
        "version-number-right",
        [("1200", "1200\n    lustre_version: 2.15")],
        "8:21: 'storage.lustre.lustre_version' must be text, got 2.15; put it in quotes: \"2.15\"",
    ),
    row(
        "backups",
        [("1200", "1200\n    backups: {retention_days: 100, hour: 25}")],
        "8:31: 'storage.lustre.backups.retention_days' must be 0 to 90, got 100",
        "8:42: 'storage.lustre.backups.hour' must be 0 to 23, got 25",
    ),
    row(
        "at",
        [("1200", "1200\n    at: /fsx/")],
        "8:9: 'storage.lustre.at' must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx, got '/fsx/'",
    ),
    row(
        "checkpoints",
        [("storage:", "storage:\n  buckets: {checkpoint_days: 0}")],
        "6:30: 'storage.buckets.checkpoint_days' must be 1 to 2147483647, got 0",
    ),
    row(
        "checkpoints2",
        [("storage:", "storage:\n  buckets: {checkpoint_days: 3, checkpoints: {bucket_name: foo}}")],
        "6:30: 'storage.buckets.checkpoint_days' must be left out with 'checkpoints' […]",
    ),
    row(
        "bucket-name",
        [("storage:", "storage:\n  buckets: {datasets: {bucket_name: Foo_Bar}}")],
        "6:37: 'storage.buckets.datasets.bucket_name' must be the name of a bucket, 3 to 63 lowercase letters, digits, '-' and '.' that begin and end with a letter or a digit, without s3:// and path, as my-bucket, got 'Foo_Bar'",
    ),
    row(
        "alerts",
        [("name: demo", "name: demo\nalerts: {}")],
        "2:1: 'alerts.emails' or 'topic_arn' must be given, got neither",
    ),
    row(
        "alerts2",
        [("name: demo", "name: demo\nalerts: {emails: [a@b.cc], topic_arn: 'arn:aws:sns:us-east-1:111111111111:x'}")],
        "2:39: 'alerts.topic_arn' must be left out beside 'emails'; subscribe the addresses to your topic yourself",
    ),
    row(
        "tags",
        [("name: demo", "name: demo\ntags: {aws:x: y, n: 5}")],
        "2:8: 'tags.aws:x' must be letters, digits, spaces between them and _ . : / = + - @, not beginning with aws: or trainyard:, as team, got 'aws:x' as a name",
        "2:21: 'tags.n' must be text, got 5; put it in quotes: \"5\"",
    ),
    row(
        "existing",
        [("zone: use1-az4", "vpc_id: vpc-1\n  acclerator_subnet: {subnet_id: subnet-12345678, zone: us-west-2a}")],
        "4:11: 'network.vpc_id' must be the id of a VPC, as vpc-0123456789abcdef0, got 'vpc-1'",
        "5:3: 'network.acclerator_subnet' is no key here; did you mean 'accelerator_subnet'?",
    ),
    row(
        "existing by the last word of its keys",
        [("zone: use1-az4", "vpc_id: vpc-12345678\n  accelerator_subnet: {id: subnet-12345678, zone: use1-az4}")],
        "5:24: 'network.accelerator_subnet.id' is no key here; did you mean 'subnet_id'?",
    ),
    row(
        "no-room-for-a-zone",
        [("zone: use1-az4", "zone: use1-az4\n  cidr: 10.1.0.0/25\n  service_zones: [use1-az5, use1-az6]")],
        "5:9: 'network.cidr' must be larger for 'service_zones' in use1-az5, use1-az6, got 10.1.0.0/25 with room for 2 public and 2 service subnets, which go by letter or number of the zone; use a /23 or larger, or a /21 or larger where load balancers stand in them",
    ),
    row(
        "existing2",
        [
            (
                "zone: use1-az4",
                "vpc_id: vpc-12345678\n  accelerator_subnet: {subnet_id: subnet-12345678, zone: us-west-2a}\n  self_rules_exist: true\n  public_subnets: [{subnet_id: subnet-12345678, zone: us-east-1a, cidr: foo}]",
            )
        ],
        "5:58: 'network.accelerator_subnet.zone' must be a zone of the stack's […]",
        "6:21: 'network.self_rules_exist' is said of a group of yours; give its 'security_group_id' too",
        "7:20: 'network.public_subnets[0]' must not be 'accelerator_subnet', got subnet-12345678; an instance with several interfaces gets no public address, so it needs a private subnet",
        "7:73: 'network.public_subnets[0].cidr' must be an IPv4 block, as 10.1.0.0/16, got 'foo'",
    ),
    row(
        "data-repositories",
        [
            (
                "1200\n",
                (
                    "1200\n    data_repositories:\n    - {file_system_path: data, bucket: datasets}\n    - {file_system_path: /data, bucket: data}\n    - {file_system_path: /data/x, bucket: models}\n"
                    "    - {file_system_path: /own, bucket: my-corpus}\n"
                ),
            )
        ],
        "9:26: 'storage.lustre.data_repositories[0].file_system_path' must be an absolute directory such as '/datasets', of at most 4096 characters, got 'data'; it starts at the root of the file system, not at its mount point",
        "10:41: 'storage.lustre.data_repositories[1].bucket' must be scripts, datasets, checkpoints or models, got 'data'; did you mean 'datasets'?",
        "11:26: 'storage.lustre.data_repositories[2].file_system_path' must not overlap that of another data repository, got '/data' and '/data/x'; use directories side by side",
        "12:40: 'storage.lustre.data_repositories[3].bucket' must be scripts, datasets, checkpoints or models, got 'my-corpus'; name a bucket of yours by 'bucket_name' in 'storage.buckets', as in its 'datasets', and write datasets",
    ),
    row(
        "existing-lustre",
        [
            (
                "capacity_gib: 1200",
                "file_system_id: fs-12345678\n    mount_name: fsxfsxfsxfsx\n    dns_name: foo\n    security_group_id: sg-12345678",
            )
        ],
        "8:17: 'storage.lustre.mount_name' must be the mount name that the FSx console shows, as fsxabcde, got 'fsxfsxfsxfsx'",
        "9:15: 'storage.lustre.dns_name' must be the DNS name that the FSx console shows, as fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com, got 'foo'",
    ),
    row(
        "repositories that all policies of a role have no room for",
        [
            (
                "cluster:\n",
                f"cluster:\n  image_repositories: [{', '.join(f'team/{number:0>245}' for number in range(407))}]\n",
            )
        ],
        "10:3: 'cluster.image_repositories' must have ARNs of at most 120000 characters together, all that the managed policies of a role have room for, got 407 with 120472; use '*' for all of the account",
    ),
    row(
        "image-repositories",
        [("cluster:", "cluster:\n  image_repositories: [Team/Train]")],
        "10:24: 'cluster.image_repositories[0]' must be the name of an ECR repository in lowercase letters, digits, '.', '_' and '-' between slashes, or its ARN, or '*', as training/nemo, got 'Team/Train'",
    ),
    row(
        "workspace",
        [("cluster:", "cluster:\n  prometheus_workspace_arn: ws-1")],
        "10:29: 'cluster.prometheus_workspace_arn' must be the ARN of a workspace of Amazon Managed Service for Prometheus, arn:aws:aps:<region>:<account>:workspace/<id>, got 'ws-1'",
    ),
    row(
        "accounting",
        [("cluster:", "cluster:\n  accounting: {storage_gb: 5, port: 3}")],
        "3:1: 'network.service_zones' must be in at least 2 zones […]",
        "10:3: 'cluster.accounting' needs 'provisioning' Continuous, or 'on_create' in the lifecycle of one controller, of the scripts that come with cdk-trainyard: they alone set it up",
        "10:28: 'cluster.accounting.storage_gb' must be 20 to 65536 GB, got 5",
        "10:37: 'cluster.accounting.port' must be 1150 to 65535, got 3",
    ),
    row(
        "a file system where HyperPod has its configuration",
        [("  lustre:\n", "  lustre:\n    at: /opt/ml\n")],
        "7:9: 'storage.lustre.at' must not be in a directory of the system, got '/opt/ml'",
    ),
    row(
        "accounting2",
        [("cluster:", "cluster:\n  accounting: {endpoint: x..y, port: 70000}")],
        "10:3: 'cluster.accounting' needs 'provisioning' Continuous, or 'on_create' in the lifecycle of one controller, of the scripts that come with cdk-trainyard: they alone set it up",
        "10:3: 'cluster.accounting.secret_arn' is missing",
        "10:3: 'cluster.accounting.security_group_id' is missing",
        "10:26: 'cluster.accounting.endpoint' must be a host name or an IPv4 address, and no more, as slurm.example.internal, got 'x..y'",
        "10:38: 'cluster.accounting.port' must be 1 to 65535, got 70000",
    ),
    row(
        "subnet-too-small",
        [("zone: use1-az4", "zone: use1-az4\n  cidr: 10.1.0.0/24\n  accelerator_cidr: 10.1.0.128/27")],
        "12:3: 'cluster.groups' must take at most the 27 addresses of the subnet 10.1.0.128/27, got 35 (head 1 x m5.large x 1 = 1, workers 4 x trn1.32xlarge x 8 = 32, Lustre file servers = 2); use a /26 or larger, EFA-only interfaces, or fewer nodes",
    ),
    row(
        "more than half of the largest network",
        [("count: 4", "count: 4200")],
        "10:3: 'cluster.groups' must take at most the 32763 addresses of the subnet 10.1.128.0/17, got 33603 (head 1 x m5.large x 1 = 1, workers 4200 x trn1.32xlarge x 8 = 33600, Lustre file servers = 2); use a /16, as 'secondary_cidr' of a new network may be, EFA-only interfaces, or fewer nodes",
    ),
    row(
        "subnet-too-small-for-any-cluster",
        [("zone: use1-az4", "zone: use1-az4\n  cidr: 10.1.0.0/24\n  accelerator_cidr: 10.1.0.128/28")],
        "6:21: 'network.accelerator_cidr' must hold 35 addresses (head 1 x m5.large x 1 = 1, workers 4 x trn1.32xlarge x 8 = 32, Lustre file servers = 2), got 10.1.0.128/28 with 11; use a /26 or larger",
    ),
    row(
        "file-system-fills-the-subnet",
        [
            ("zone: use1-az4", "zone: use1-az4\n  cidr: 10.1.0.0/24\n  accelerator_cidr: 10.1.0.128/26"),
            ("1200", "120000"),
        ],
        "9:19: 'storage.lustre.capacity_gib' must leave the nodes addresses of the 59 of the subnet 10.1.0.128/26, got 88 (head 1 x m5.large x 1 = 1, workers 4 x trn1.32xlarge x 8 = 32, Lustre file servers = 55); use a /25 or larger, or less capacity",
    ),
    row(
        "a folder of scripts in a bucket",
        [("cluster:", "cluster:\n  lifecycle: {on_create: own.sh, folder: s3://bucket/scripts}")],
        "10:42: 'cluster.lifecycle.folder' must be an existing folder beside this file, got 's3://bucket/scripts'; scripts are uploaded from here, so copy that prefix into a folder",
    ),
    row(
        "folder-missing",
        [("cluster:", "cluster:\n  lifecycle: {on_create: own.sh, folder: nothing}")],
        "10:42: 'cluster.lifecycle.folder' must be an existing folder beside this file, got 'nothing'",
    ),
    row(
        "folder-of-no-disk",
        [("cluster:", f"cluster:\n  lifecycle: {{on_create: own.sh, folder: {'x' * 300}}}")],
        f"10:42: 'cluster.lifecycle.folder' must be an existing folder beside this file, got '{'x' * 99}…'",
    ),
    row(
        "script-missing",
        [("cluster:", "cluster:\n  lifecycle: {on_create: on_craete.sh}")],
        "10:26: 'cluster.lifecycle.on_create' must be a file at the top of the folder, got 'on_craete.sh'; did you mean 'on_create.sh' or 'on_init_complete.sh'?",
    ),
    row(
        "two-file-systems-at-one-path",
        [("1200", "1200\n  open_zfs: {dns_name: fs-12345678.fsx.us-east-1.amazonaws.com, at: /fsx}")],
        "8:69: 'storage.open_zfs.at' must not be /fsx, in it or […]",
    ),
    row(
        "accounting-without-zones",
        [("cluster:", "cluster:\n  provisioning: Continuous\n  accounting: {}")],
        "3:1: 'network.service_zones' must be in at least 2 zones […]",
    ),
    row(
        "accounting-of-another-region",
        [("cluster:", DATABASE.replace("ENDPOINT", "db.abcdefghijkl.eu-west-1.rds.amazonaws.com"))],
        "12:15: 'cluster.accounting.endpoint' must be of us-east-1, where its security group must be that lets the cluster in, got 'db.abcdefghijkl.eu-west-1.rds.amazonaws.com'",
    ),
    *(
        row(
            f"accounting at {endpoint}",
            [("cluster:", DATABASE.replace("ENDPOINT", endpoint))],
            f"12:15: 'cluster.accounting.endpoint' must be of {wanted}, got '{endpoint}'{more}",
        )
        for endpoint, wanted, more in (
            ("abcdef.dsql.us-east-1.on.aws", "a database that speaks MySQL's protocol", ""),
            ("my.abc.0001.use1.cache.amazonaws.com", "a database that speaks MySQL's protocol", ""),
            ("my.abc.us-east-1.redshift.amazonaws.com", "a database that speaks MySQL's protocol", ""),
            ("fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com", "a database that speaks MySQL's protocol", ""),
            ("my-bucket.s3.amazonaws.com", "a database that speaks MySQL's protocol", ""),
            ("my.cluster-abc.us-east-1.docdb.amazonaws.com", "a database that speaks MySQL's protocol", ""),
            ("db.cluster-ro-abc.us-east-1.rds.amazonaws.com", "the database's writer", ", which is of its readers"),
            (
                "db.abc.rds.cn-north-1.amazonaws.com.cn",
                "us-east-1, where its security group must be that lets the cluster in",
                "",
            ),
        )
    ),
    *(
        row(
            f"accounting at {endpoint}",
            [("cluster:", DATABASE.replace("ENDPOINT", endpoint))],
            f"12:15: 'cluster.accounting.endpoint' must end with .us-east-1.rds.amazonaws.com, as RDS names databases there, got '{endpoint}'",
        )
        for endpoint in ("db.abc.us-east-1.rds.amazonaws.com.cn", "db.abc.rds.us-east-1.amazonaws.com")
    ),
    *(
        row(
            f"accounting at {endpoint}",
            [("cluster:", DATABASE.replace("ENDPOINT", endpoint))],
            f"12:15: 'cluster.accounting.endpoint' must be as RDS names databases, with the Region, as mydb.abcdefghijkl.us-east-1.rds.amazonaws.com, got '{endpoint}'",
        )
        for endpoint in ("mydb.rds.amazonaws.com", "db.abc.us-east1.rds.amazonaws.com", "rds.us-east-1.amazonaws.com")
    ),
    row(
        "an image for the metrics of GPUs in another partition",
        [
            (
                "cluster:\n",
                (
                    "cluster:\n  lifecycle: {on_create: on_create.sh}\n  node_setup:\n    exporters:\n      gpu: true\n"
                    f"      gpu_image: 111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn/dcgm@sha256:{'a' * 64}\n"
                ),
            ),
            ("ml.trn1.32xlarge", "ml.p5.48xlarge"),
        ],
        "14:18: 'cluster.node_setup.exporters.gpu_image' must be in a registry of partition aws, got […]",
    ),
    row(
        "accounting-with-one-role-for-all",
        [
            ("zone: use1-az4", "zone: use1-az4\n  service_zones: [use1-az1, use1-az2]"),
            (
                "cluster:",
                "cluster:\n  provisioning: Continuous\n  accounting: {}\n  role_arn: arn:aws:iam::111111111111:role/nodes",
            ),
        ],
        "13:13: 'cluster.role_arn' must have 'controller_role_arn' beside it when there is an accounting database; with one role for all, every node could read its password",
    ),
    row(
        "arns-of-two-accounts",
        [
            (
                "cluster:",
                "cluster:\n  role_arn: arn:aws:iam::111111111111:role/nodes\n  controller_role_arn: arn:aws:iam::444444444444:role/head",
            ),
            (
                "      count: 4",
                "      count: 4\n      training_plan_arn: arn:aws:sagemaker:us-east-1:111111111111:training-plan/mine",
            ),
        ],
        "11:24: 'cluster.controller_role_arn' must be of the account of 'arn:aws:sagemaker:us-east-1:111111111111:training-plan/mine', got 'arn:aws:iam::444444444444:role/head': a deployment is in one account",
    ),
    row(
        "node-setup-that-nobody-heeds",
        [("cluster:", "cluster:\n  node_setup: {ssh: false}")],
        "10:3: 'cluster.node_setup' must be left out when no 'lifecycle' of a group runs the scripts that come with cdk-trainyard: they alone heed it; "
        "give 'on_create' of the cluster's 'lifecycle' on_create.sh, which is one",
    ),
    row(
        "node-setup-beside-scripts-of-ones-own",
        [("cluster:", "cluster:\n  lifecycle: {on_create: own.sh, folder: nothing}\n  node_setup: {motd: false}")],
        "10:42: 'cluster.lifecycle.folder' must be an existing folder beside this file, got 'nothing'",
        "11:3: 'cluster.node_setup' must be left out when no 'lifecycle' of a group runs the scripts that come with cdk-trainyard: they alone heed it",
    ),
    row(
        "a volume of a key alone, and a name where none is",
        [
            (
                "      count: 4",
                (
                    "      count: 4\n      lifecycle: {name: own}\n      volumes:\n        - name: data\n"
                    "          key_arn: arn:aws:kms:us-east-1:111111111111:key/12345678-1234-1234-1234-123456789012"
                ),
            )
        ],
        "19:19: 'cluster.groups.workers.lifecycle.name' is no key here; there are folder, on_create or on_init_complete",
        "21:11: 'cluster.groups.workers.volumes[0].name' is no key here; it has none here; leave it out",
        "21:11: 'cluster.groups.workers.volumes[0].size_gb' must be 1 to 16384 GB, got none; give 'root' true for the root volume",
        "22:20: 'cluster.groups.workers.volumes[0].key_arn' needs 'provisioning' Continuous of the cluster",
    ),
    row(
        "names-that-are-keys-too",
        [
            ("    head:", "    key:"),
            ("    workers:", "    strategy:"),
            ("count: 4", "count: 4\n      partition: a.b"),
            ("count: 1\n", "count: 1\n      min_count: 2\n"),
        ],
        "15:18: 'cluster.groups.key.min_count' must be at most the 'count' of 1, got 2",
        "15:18: 'cluster.groups.key.min_count' needs 'provisioning' Continuous of the cluster",
        "20:18: 'cluster.groups.strategy.partition' must be 1 to 1024 letters, digits and inner hyphens, got 'a.b'; use 'a-b'",
    ),
    row(
        "the-second-of-two-tools",
        [
            (
                "cluster:",
                f"cluster:\n  lifecycle: {{on_create: on_create.sh}}\n  node_setup:\n    tools:\n      - {{tool: enroot, sha256: {'a' * 64}, key: enroot.deb}}\n      - {{tool: pyxis, sha256: {'a' * 64}}}\n    containers: {{}}",
            )
        ],
        "14:9: 'cluster.node_setup.tools[1]' must have 'url' or 'key', got neither",
    ),
    row(
        "a-tool-that-no-node-would-fetch",
        [
            (
                "cluster:",
                f"cluster:\n  lifecycle: {{on_create: on_create.sh}}\n  node_setup:\n    tools:\n      - {{tool: vmagent, sha256: {'a' * 64}, key: a.tar.gz}}\n      - {{tool: pyxis, sha256: {'a' * 64}, key: b.tar.gz}}",
            )
        ],
        "13:9: 'cluster.node_setup.tools[0]' must be left out without metrics that go to a workspace: no node would fetch it",
        "14:9: 'cluster.node_setup.tools[1]' must be left out without 'containers': no node would fetch it",
    ),
    row(
        "storage-and-node-setup-in-one-run",
        [
            ("1200", "1200\n    data_repositories:\n      - {file_system_path: /data, bucket: datasets, chunk_mib: 0}"),
            (
                "cluster:",
                "cluster:\n  lifecycle: {on_create: on_create.sh}\n  node_setup:\n    s3_mounts:\n      - {bucket: datasets, path: /data, prefix: /v1}",
            ),
        ],
        "9:64: 'storage.lustre.data_repositories[0].chunk_mib' must be 1 to 512000 MiB, got 0",
        "15:49: 'cluster.node_setup.s3_mounts[0].prefix' must be a key prefix of letters, digits and any of !_.()=- with a slash at its end, none at its beginning, and no part that is '.' or '..', as tokenized/, got '/v1'",
    ),
]


@pytest.mark.parametrize(
    "endpoint",
    [
        "slurm.example.com",
        "p.proxy-abc.us-east-1.rds.amazonaws.com",
        "db.cluster-custom-abc.us-east-1.rds.amazonaws.com",
        "cluster-ro-db.abc.us-east-1.rds.amazonaws.com",
        "gdb.global-abcdefghijkl.global.rds.amazonaws.com",
    ],
)
def test_a_database_may_be_behind_a_proxy_or_a_name_of_yours(endpoint: str, write: Callable[[str], Path]) -> None:
    assert problems_of(write(edited(("cluster:", DATABASE.replace("ENDPOINT", endpoint))))) == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "db.abc.rds.cn-north-1.amazonaws.com.cn",
        "db.abc.cn-north-1.rds.amazonaws.com.cn",
        "db.abc.rds.us-gov-west-1.amazonaws.com",
        "db.abc.us-gov-west-1.rds.amazonaws.com",
    ],
)
def test_a_database_of_another_partition_has_its_names(endpoint: str) -> None:
    database = SimpleNamespace(endpoint=endpoint, security_group=None)
    assert list(existing_accounting_problems(database, None, ("accounting",))) == []


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    assert_refused(write(edited(*edits)), says)


SMALL: list[tuple[str, Edit, Edit]] = [
    (GOOD, ("zone: use1-az4", "zone: use1-az4\n  accelerator_mask: 26"), ("count: 4", "count: 7")),
    (
        GOOD_PARALLELCLUSTER,
        ("zone: us-east-1a", "zone: us-east-1a\n  accelerator_mask: 27"),
        ("max_count: 8", "max_count: 9"),
    ),
    (GOOD_FLEET, ("zone: usw2-az2", "zone: usw2-az2\n  accelerator_mask: 27"), ("count: 8", "count: 24")),
]
"""Subnets that have an address for every node and file server, and no further one."""

_EIGHT = "\n  interface_endpoints: [ssm, ssmmessages, ec2messages, ecr.api, ecr.dkr, sts, logs, ec2, dynamodb]"
_FEWER = ("count: 6", "max_count: 1", "count: 16")
_ENDPOINTS: list[tuple[str, Edit, Edit]] = [
    (good, (zone, f"{there}{_EIGHT}"), (nodes, fewer))
    for (good, (zone, there), (nodes, _)), fewer in zip(SMALL, _FEWER, strict=True)
]
_SERVICES = ("[use1-az4, use1-az1]", "[us-east-1a, us-east-1b]", "[usw2-az2, usw2-az1]")
_ELSEWHERE: list[tuple[str, Edit, Edit]] = [
    (good, (zone, f"{there}{_EIGHT}\n  service_zones: {services}"), nodes)
    for (good, (zone, there), nodes), services in zip(SMALL, _SERVICES, strict=True)
]
"""As above with eight interface endpoints, which a service subnet of the zone holds instead."""
_ORCHESTRATORS = ("hyperpod", "parallelcluster", "fleet")


@pytest.mark.parametrize(
    ("good", "network", "nodes"),
    [*SMALL, *_ENDPOINTS, *_ELSEWHERE],
    ids=[f"{name}{what}" for what in ("", "-with-endpoints", "-with-endpoints-elsewhere") for name in _ORCHESTRATORS],
)
def test_a_subnet_whose_last_address_is_taken_holds_all(
    good: str, network: Edit, nodes: Edit, write: Callable[[str], Path]
) -> None:
    assert problems_of(write(edited(network, nodes, good=good))) == []
    count = int(nodes[1].split()[-1])
    more = (nodes[0], nodes[1].replace(str(count), str(count + 1)))
    (refused,) = problems_of(write(edited(network, more, good=good)))
    assert "addresses" in refused


@pytest.mark.parametrize("good", [GOOD, GOOD_PARALLELCLUSTER, GOOD_FLEET, GOOD_SERVING])
def test_a_good_file_is_good(good: str, write: Callable[[str], Path]) -> None:
    assert problems_of(write(good)) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty; a deployment has at least 'name', 'region' and 'network'"),
        ("- name: demo\n", "the file must be a mapping ('name: …', 'region: …'), got a list"),
        ("name demo\n", "the file must be a mapping ('name: …', 'region: …'), got the text 'name demo'"),
        (
            "name: demo\n\tregion: us-east-1\n",
            "2:1: a tab stands where the file's reader wants spaces; indent with spaces",
        ),
    ],
)
def test_fails_for_what_is_no_deployment_file(text: str, says: str, write: Callable[[str], Path]) -> None:
    assert problems_of(write(text)) == [says]


def test_fails_for_a_missing_file_with_the_names_of_others(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(edited()).parent)
    assert problems_of(Path("y.yml")) == ["the file does not exist; did you mean 'x.yaml'?"]


def test_problems_of_form_and_problems_of_rules_come_together(write: Callable[[str], Path]) -> None:
    path = write(
        edited(
            ("zone: use1-az4", "zone: us-west-2a"),
            ("1200", "1300"),
            ("count: 1\n", "count: one\n"),
            ("ml.trn1.32xlarge", "ml.inf2.xlarge"),
            ("count: 4", "count: 7000"),
        )
    )
    assert [problem.split(": ")[0] for problem in problems_of(path)] == ["4:9", "7:19", "14:14", "17:22", "18:14"]


@pytest.mark.parametrize("key", ["deployment", "spec"])
def test_a_section_around_the_file_is_told_once_and_its_keys_at_their_places(
    key: str, write: Callable[[str], Path]
) -> None:
    inside = indent(edited(("count: 4", "count: x"), ("role: controller", "role: login")), "  ")
    assert problems_of(write(f"{key}:\n{inside}")) == [
        f"1:1: '{key}' is no key here; its keys stand at the top of the file; leave it out",
        "11:5: 'cluster.groups' must hold exactly one controller group, got none",
        "19:16: 'cluster.groups.workers.count' must be a whole number, got 'x'",
    ]
    assert problems_of(write(f"{key}: 1\n{GOOD}")) == [
        f"1:1: '{key}' is no key here; its keys stand at the top of the file; leave it out"
    ]


def test_sections_around_the_file_may_stand_in_each_other(write: Callable[[str], Path]) -> None:
    inside = indent(edited(("count: 4", "count: x")), "    ")
    for outer, inner in (("deployment", "spec"), ("spec", "deployment")):
        assert problems_of(write(f"{outer}:\n  {inner}:\n{inside}")) == [
            f"1:1: '{outer}' is no key here; its keys stand at the top of the file; leave it out",
            f"2:3: '{inner}' is no key here; its keys stand at the top of the file; leave it out",
            "20:18: 'cluster.groups.workers.count' must be a whole number, got 'x'",
        ]
    assert [each[:4] for each in problems_of(write(f"deployment: {{name: demo}}\nspec:\n{inside}"))] == [
        "1:1:",
        "2:1:",
        "20:1",
    ]


def test_what_is_in_a_section_of_another_kind_is_not_asked_about(write: Callable[[str], Path]) -> None:
    assert problems_of(write(f"deployment: {{environment: prod, name: me}}\n{GOOD}")) == [
        "1:1: 'deployment' is no key here; its keys stand at the top of the file; leave it out"
    ]
