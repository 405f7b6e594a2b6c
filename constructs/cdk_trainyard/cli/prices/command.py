"""``trainyard prices refresh REGION…``: what AWS asks for today, kept for reviews."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from cdk_trainyard.cli._cdk import NO_CREDENTIALS
from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli._folders import make_kept
from cdk_trainyard.cli._progress import working
from cdk_trainyard.places import cache_folder

_TITLE: Final = "AWS Price List API, on demand"
_REFUSED: Final = {"AccessDeniedException", "AccessDenied", "UnauthorizedOperation"}
_NOT_LET_IN: Final = {"UnrecognizedClientException", "InvalidClientTokenId", "ExpiredTokenException", "ExpiredToken"}
_SLOWED: Final = {"ThrottlingException", "Throttling"}


def kept_prices() -> Path:
    """Return the file that reviews read before the shipped snapshot; it need not be there."""
    return cache_folder() / "prices.json"


@click.group("prices")
def command() -> None:
    """Ask AWS for its prices, for reviews."""


@command.command("refresh")
@click.argument("regions", nargs=-1, required=True, metavar="REGION...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file of your own instead of the kept one.")
def _refresh(regions: tuple[str, ...], output: Path | None) -> None:
    """Ask AWS's price list for what machines, gateways, databases, file systems and metrics cost in Regions.

    Takes credentials that may pricing:GetProducts; AWS asks nothing for it. Reviews read what is kept here before the
    snapshot that they bring, Region by Region.
    """
    file = output or kept_prices()
    make_kept(file.parent)
    content = _kept(file)
    for region in regions:
        with working(f"asking AWS for the prices of {region}"):
            found = _asked(region)
        if not found:
            raise Wrong(f"AWS's price list has nothing for the Region {region!r}")
        name = f"price list of {region}"
        content["sources"][name] = {"title": _TITLE, "date": datetime.now(UTC).date().isoformat()}
        content["regions"][region] = {name: found}
        try:
            file.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        except OSError as error:
            raise Wrong(f"{file} cannot be written: {error.strerror}") from None
        click.echo(f"{region}: {len(found)} prices")
    click.echo(str(file))


def _kept(file: Path) -> dict[str, Any]:
    """Return what a file has already of other Regions."""
    from cdk_trainyard.errors import ConfigurationError
    from cdk_trainyard.report.prices import read_prices

    if not file.exists():
        return {"currency": "USD", "sources": {}, "regions": {}}
    try:
        content: Mapping[str, Any] = read_prices(file)
    except ConfigurationError as error:
        raise Wrong("\n".join(f"{error.path}: {problem}" for problem in error.problems)) from None
    return {**content, "sources": dict(content["sources"]), "regions": dict(content["regions"])}


def _asked(region: str) -> dict[str, str]:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

    from cdk_trainyard.cli.prices.price_list import ENDPOINT, prices_of

    try:
        client = boto3.Session().client("pricing", region_name=ENDPOINT, config=Config(retries={"mode": "standard"}))
        return prices_of(client, region)
    except (NoCredentialsError, PartialCredentialsError):
        raise Missing(NO_CREDENTIALS) from None
    except ClientError as error:
        raise _said(error.response["Error"]) from None
    except BotoCoreError as error:
        raise Wrong(f"AWS's price list cannot be asked: {error}") from None


def _said(error: Mapping[str, str]) -> Wrong:
    code, message = error.get("Code", ""), error.get("Message", "")
    if code in _NOT_LET_IN:
        return Missing(f"{code}: {message}\n{NO_CREDENTIALS}")
    if code in _REFUSED:
        return Wrong(f"{message}\nthese credentials need the permission pricing:GetProducts")
    if code in _SLOWED:
        return Wrong(f"AWS slows these requests down ({code}), also after waiting: try again in a few minutes")
    return Wrong(f"AWS's price list refuses: {code}: {message}")
