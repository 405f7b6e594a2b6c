"""Storage: file systems, buckets and databases."""

from collections import Counter
from collections.abc import Iterator

from cdk_trainyard.cli.inventory.account import Account, Row, row

_DEPTH = 3  # lifecycle-scripts/<whose>/<hash of the content>


def file_systems(aws: Account) -> Iterator[Row]:
    """FSx: size, throughput, how to mount it."""
    for found in aws.found("FSx::FileSystem", "fsx", "describe_file_systems", "FileSystemIds", "FileSystems"):
        size, state = f"{found['StorageCapacity']} GiB", found["Lifecycle"]
        if lustre := found.get("LustreConfiguration"):
            throughput = f"{lustre.get('PerUnitStorageThroughput', '-')} MB/s/TiB"
            compression = f"compression {lustre.get('DataCompressionType', 'NONE')}"
            facts = (size, lustre["DeploymentType"], throughput, compression, state)
            yield row("FSx for Lustre", found["FileSystemId"], *facts)
            yield row("  mount", f"{found['DNSName']}@tcp:/{lustre['MountName']}", *found["SubnetIds"])
        else:
            yield row(f"FSx {found['FileSystemType']}", found["FileSystemId"], size, state)
            yield row("  mount", found["DNSName"], *found["SubnetIds"])


def buckets(aws: Account) -> Iterator[Row]:
    """Buckets: encryption, versions, what is in the one that nodes boot from."""
    s3 = aws.client("s3")
    for bucket in aws.ids("S3::Bucket"):
        rules = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
        encryption = rules[0]["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"]
        versions = f"versions {s3.get_bucket_versioning(Bucket=bucket).get('Status', 'off').lower()}"
        keys = [item["Key"] for item in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
        yield row("bucket", bucket, encryption, versions, f"{len(keys)} objects")
        scripts = Counter("/".join(key.split("/")[:_DEPTH]) for key in keys if key.endswith(".sh"))
        yield from (
            row("  scripts", folder, f"{count} {'file' if count == 1 else 'files'}")
            for folder, count in scripts.items()
        )


def databases(aws: Account) -> Iterator[Row]:
    """RDS: engine, size, whether a standby runs, where clusters reach it."""
    for name in aws.ids("RDS::DBInstance"):
        (found,) = aws.client("rds").describe_db_instances(DBInstanceIdentifier=name)["DBInstances"]
        engine, size = f"{found['Engine']} {found['EngineVersion']}", f"{found['AllocatedStorage']} GB"
        zones = "a standby in a second zone" if found["MultiAZ"] else "one zone"
        yield row("database", name, engine, found["DBInstanceClass"], size, zones, found["DBInstanceStatus"])
        if endpoint := found.get("Endpoint"):  # it has none until it stands
            yield row("  endpoint", f"{endpoint['Address']}:{endpoint['Port']}")
