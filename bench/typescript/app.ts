// The default training environment (deployments/hyperpod-cpu-ddp.yaml), written by hand with CDK in TypeScript: the same
// resources in the same three stacks. It is here to be measured against, and for nothing else.
import * as cdk from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as fsx from 'aws-cdk-lib/aws-fsx';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as path from 'node:path';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as s3deploy from 'aws-cdk-lib/aws-s3-deployment';
import * as sagemaker from 'aws-cdk-lib/aws-sagemaker';
import { Construct } from 'constructs';

const NAME = 'hyperpod-cpu-ddp';
const ENV = { region: 'us-east-1' };

class NetworkStack extends cdk.Stack {
  readonly subnet: ec2.PrivateSubnet;
  readonly securityGroup: ec2.SecurityGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id, { env: ENV, stackName: `${NAME}-network` });
    const vpc = new ec2.CfnVPC(this, 'Vpc', {
      cidrBlock: '10.1.0.0/16',
      enableDnsHostnames: true,
      enableDnsSupport: true,
    });
    const gateway = new ec2.CfnInternetGateway(this, 'InternetGateway');
    const attachment = new ec2.CfnVPCGatewayAttachment(this, 'Attachment', {
      vpcId: vpc.ref,
      internetGatewayId: gateway.ref,
    });
    const open = new ec2.PublicSubnet(this, 'Public', {
      vpcId: vpc.ref,
      availabilityZone: 'us-east-1a',
      cidrBlock: '10.1.0.0/24',
      mapPublicIpOnLaunch: false,
    });
    open.addDefaultInternetRoute(gateway.ref, attachment);
    const nat = open.addNatGateway();
    this.subnet = new ec2.PrivateSubnet(this, 'Accelerator', {
      vpcId: vpc.ref,
      availabilityZone: 'us-east-1a',
      cidrBlock: '10.1.128.0/17',
    });
    this.subnet.addDefaultNatRoute(nat.ref);
    for (const subnet of [open, this.subnet]) {
      const resource = subnet.node.defaultChild as ec2.CfnSubnet;
      resource.availabilityZone = undefined;
      resource.availabilityZoneId = 'use1-az4';
    }
    new ec2.CfnVPCEndpoint(this, 'S3', {
      vpcId: vpc.ref,
      serviceName: `com.amazonaws.${this.region}.s3`,
      routeTableIds: [open.routeTable.routeTableId, this.subnet.routeTable.routeTableId],
      policyDocument: new iam.PolicyDocument({
        statements: [
          new iam.PolicyStatement({
            actions: ['s3:*'],
            principals: [new iam.AnyPrincipal()],
            resources: ['*'],
            conditions: { StringEquals: { 'aws:PrincipalAccount': this.account } },
          }),
          new iam.PolicyStatement({
            actions: ['s3:GetObject'],
            principals: [new iam.AnyPrincipal()],
            resources: ['amazon-ssm', 'al2023-repos', 'prod-starport'].map((name) => `arn:aws:s3:::${name}-us-east-1/*`),
          }),
        ],
      }),
    });

    const flowLogs = new logs.LogGroup(this, 'FlowLogs', { retention: logs.RetentionDays.THREE_MONTHS });
    const flowRole = new iam.Role(this, 'FlowRole', {
      assumedBy: new iam.ServicePrincipal('vpc-flow-logs.amazonaws.com'),
      managedPolicies: [
        new iam.ManagedPolicy(this, 'FlowPolicy', {
          statements: [
            new iam.PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:DescribeLogStreams', 'logs:PutLogEvents'],
              resources: [flowLogs.logGroupArn],
            }),
          ],
        }),
      ],
    });
    new ec2.CfnFlowLog(this, 'FlowLog', {
      resourceId: vpc.ref,
      resourceType: 'VPC',
      trafficType: 'ALL',
      logGroupName: flowLogs.logGroupName,
      deliverLogsPermissionArn: flowRole.roleArn,
    });

    const closerLogs = new logs.LogGroup(this, 'CloserLogs', { retention: logs.RetentionDays.THREE_MONTHS });
    const closerRole = new iam.Role(this, 'CloserRole', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      managedPolicies: [
        new iam.ManagedPolicy(this, 'CloserPolicy', {
          statements: [
            new iam.PolicyStatement({
              actions: ['ec2:RevokeSecurityGroupEgress', 'ec2:RevokeSecurityGroupIngress'],
              resources: [`arn:aws:ec2:us-east-1:${this.account}:security-group/${vpc.attrDefaultSecurityGroup}`],
            }),
            new iam.PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [closerLogs.logGroupArn],
            }),
          ],
        }),
      ],
    });
    const closer = new lambda.Function(this, 'Closer', {
      runtime: lambda.Runtime.PYTHON_3_13,
      handler: 'index.handler',
      code: lambda.Code.fromInline('def handler(event, context):\n    pass\n'),
      role: closerRole.withoutPolicyUpdates(),
      logGroup: closerLogs,
    });
    new cdk.CustomResource(this, 'DefaultSecurityGroup', {
      serviceToken: closer.functionArn,
      resourceType: 'Custom::VpcRestrictDefaultSG',
      properties: { DefaultSecurityGroupId: vpc.attrDefaultSecurityGroup, Account: this.account },
    });

    const imported = ec2.Vpc.fromVpcAttributes(this, 'Imported', { vpcId: vpc.ref, availabilityZones: ['us-east-1a'] });
    this.securityGroup = new ec2.SecurityGroup(this, 'Efa', { vpc: imported, allowAllOutbound: true });
    const group = this.securityGroup.securityGroupId;
    new ec2.CfnSecurityGroupIngress(this, 'FromItself', {
      groupId: group,
      sourceSecurityGroupId: group,
      ipProtocol: '-1',
    });
    new ec2.CfnSecurityGroupEgress(this, 'ToItself', {
      groupId: group,
      destinationSecurityGroupId: group,
      ipProtocol: '-1',
    });
    new cdk.CfnOutput(this, 'VpcId', { value: vpc.ref });
  }
}

class StorageStack extends cdk.Stack {
  readonly fileSystem: fsx.CfnFileSystem;
  readonly scripts: s3.Bucket;

  constructor(scope: Construct, id: string, network: NetworkStack) {
    super(scope, id, { env: ENV, stackName: `${NAME}-storage` });
    const common: s3.BucketProps = {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: cdk.RemovalPolicy.RETAIN,
    };
    const housekeeping = { abortIncompleteMultipartUploadAfter: cdk.Duration.days(7) };
    const key = new kms.Key(this, 'Key', { enableKeyRotation: true, removalPolicy: cdk.RemovalPolicy.RETAIN });
    const accessLogs = new s3.Bucket(this, 'AccessLogs', {
      ...common,
      encryption: s3.BucketEncryption.S3_MANAGED,
      lifecycleRules: [housekeeping, { expiration: cdk.Duration.days(365) }],
    });
    const buckets = ['Scripts', 'Datasets', 'Checkpoints', 'Models'].map((purpose) => {
      const bucket = new s3.Bucket(this, purpose, {
        ...common,
        encryption: s3.BucketEncryption.KMS,
        encryptionKey: key,
        bucketKeyEnabled: true,
        versioned: true,
        serverAccessLogsBucket: accessLogs,
        serverAccessLogsPrefix: `${purpose.toLowerCase()}/`,
        lifecycleRules: [{ ...housekeeping, noncurrentVersionExpiration: cdk.Duration.days(90) }],
      });
      new cdk.CfnOutput(this, `${purpose}Bucket`, { value: bucket.bucketName });
      return bucket;
    });
    this.scripts = buckets[0];
    const events = new logs.LogGroup(this, 'LustreLogs', {
      logGroupName: `/aws/fsx/${NAME}`,
      retention: logs.RetentionDays.THREE_MONTHS,
    });
    this.fileSystem = new fsx.CfnFileSystem(this, 'Lustre', {
      fileSystemType: 'LUSTRE',
      fileSystemTypeVersion: '2.15',
      storageCapacity: 1200,
      storageType: 'SSD',
      subnetIds: [network.subnet.subnetId],
      securityGroupIds: [network.securityGroup.securityGroupId],
      lustreConfiguration: {
        deploymentType: 'PERSISTENT_2',
        perUnitStorageThroughput: 250,
        dataCompressionType: 'LZ4',
        automaticBackupRetentionDays: 7,
        metadataConfiguration: { mode: 'AUTOMATIC' },
        logConfiguration: { level: 'WARN_ERROR', destination: events.logGroupArn },
      },
    });
    this.fileSystem.applyRemovalPolicy(cdk.RemovalPolicy.RETAIN);
  }
}

class TrainingStack extends cdk.Stack {
  constructor(scope: Construct, id: string, network: NetworkStack, storage: StorageStack) {
    super(scope, id, { env: ENV, stackName: `${NAME}-training` });
    const any = (sid: string, actions: string[]) => new iam.PolicyStatement({ sid, actions, resources: ['*'] });
    const policy = new iam.ManagedPolicy(this, 'Policy', {
      statements: [
        any('Logs', ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents']),
        any('Sessions', ['ssmmessages:CreateControlChannel', 'ssmmessages:OpenControlChannel']),
        any('Describe', ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets', 'ec2:DescribeVpcs']),
        any('Interfaces', ['ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface']),
        any('FileSystems', ['fsx:DescribeFileSystems']),
      ],
    });
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('sagemaker.amazonaws.com'),
      managedPolicies: [policy],
    });
    const prefix = 'lifecycle-scripts/cluster';
    const scripts = new s3deploy.BucketDeployment(this, 'Scripts', {
      sources: [
        s3deploy.Source.asset(path.join(__dirname, '..', '..', 'lifecycle_scripts', 'hyperpod')),
        s3deploy.Source.jsonData('settings.json', { lustre: { dns_name: storage.fileSystem.attrDnsName } }),
      ],
      destinationBucket: s3.Bucket.fromBucketName(this, 'ScriptsBucket', storage.scripts.bucketName),
      destinationKeyPrefix: prefix,
      prune: false,
      logGroup: new logs.LogGroup(this, 'ScriptsLogs', { retention: logs.RetentionDays.THREE_MONTHS }),
    });
    const group = (
      name: string,
      type: string,
      count: number,
      slurm: sagemaker.CfnCluster.ClusterSlurmConfigProperty,
    ): sagemaker.CfnCluster.ClusterInstanceGroupProperty => ({
      instanceGroupName: name,
      instanceType: type,
      instanceCount: count,
      executionRole: role.roleArn,
      slurmConfig: slurm,
      lifeCycleConfig: {
        onCreate: 'on_create.sh',
        sourceS3Uri: `s3://${storage.scripts.bucketName}/${prefix}/`,
      },
      instanceStorageConfigs: [
        { ebsVolumeConfig: { volumeSizeInGb: 500 } },
        {
          fsxLustreConfig: {
            dnsName: storage.fileSystem.attrDnsName,
            mountName: storage.fileSystem.attrLustreMountName,
            mountPath: '/fsx',
          },
        },
      ],
    });
    const cluster = new sagemaker.CfnCluster(this, 'Cluster', {
      clusterName: `${NAME}-cluster`,
      nodeRecovery: 'Automatic',
      orchestrator: { slurm: { slurmConfigStrategy: 'Merge' } },
      vpcConfig: {
        subnets: [network.subnet.subnetId],
        securityGroupIds: [network.securityGroup.securityGroupId],
      },
      instanceGroups: [
        group('controller-machine', 'ml.m5.large', 1, { nodeType: 'Controller' }),
        group('worker-group-1', 'ml.c5.4xlarge', 2, { nodeType: 'Compute', partitionNames: ['worker-group-1'] }),
      ],
    });
    cluster.node.addDependency(policy, scripts);
    new cdk.CfnOutput(this, 'ClusterArn', { value: cluster.attrClusterArn });
  }
}

const app = new cdk.App();
const network = new NetworkStack(app, 'NetworkStack');
const storage = new StorageStack(app, 'StorageStack', network);
new TrainingStack(app, 'TrainingStack', network, storage);
app.synth();
