"""A quota of Service Quotas, and how much of it is needed."""

from dataclasses import dataclass

from cdk_trainyard.data_files import load


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """A quota of Service Quotas, in one account and Region. Source: ``data/quotas.json``.

    Attributes:
        service: The service's code, as ``"ec2"``.
        name: Its name as Service Quotas spells it.
        code: Its code. None: public answers disagree about it, and it is looked up by name.
        unit: What is counted: ``"vCPUs"``, ``"instances"``, ``"GiB"`` and the like.
        first: Its value in new accounts. None: not known.
    """

    service: str
    name: str
    code: str | None
    unit: str
    first: int | None

    @classmethod
    def of(cls, key: str, **words: str) -> "Quota":
        """Return the quota of a key of ``data/quotas.json``.

        Args:
            key: The key.
            words: What its name leaves open, as ``type``.

        Raises:
            KeyError: There is no such key.
        """
        data = load("quotas", "quotas")
        service, name, code, unit, first, _ = data["quotas"][key]
        return cls(service=service, name=name.format(**words), code=code, unit=unit, first=first)

    def __str__(self) -> str:
        """Its name in quotes, with its code where that is known."""
        return f"{self.name!r}" + (f" ({self.code})" if self.code else "")


@dataclass(frozen=True, slots=True)
class QuotaNeed:
    """How much of a quota is needed, beside what the account uses already.

    Attributes:
        quota: The quota.
        amount: How much, in the quota's unit.
    """

    quota: Quota
    amount: int

    @classmethod
    def of(cls, key: str, amount: int = 1, **words: str) -> "QuotaNeed":
        """Return the need of a quota by its key, as :meth:`Quota.of` takes it.

        Args:
            key: The key.
            amount: How much. Default: 1.
            words: What the quota's name leaves open.
        """
        return cls(Quota.of(key, **words), amount)

    @property
    def exceeds_first(self) -> bool:
        """Whether a new account lacks it, as far as is known: then somebody must ask for it, which takes days."""
        return self.quota.first is None or self.amount > self.quota.first

    def request_command(self, region: str) -> str:
        """Return the AWS CLI's command that asks for so much, or that finds the quota where its code is not known.

        Args:
            region: The Region.
        """
        service = f"--service-code {self.quota.service}"
        if self.quota.code:
            wanted = f"--quota-code {self.quota.code} --desired-value {self.amount} --region {region}"
            return f"aws service-quotas request-service-quota-increase {service} {wanted}"
        named = f"--query \"Quotas[?QuotaName=='{self.quota.name}'].[QuotaCode,Value]\""
        return f"aws service-quotas list-service-quotas {service} --region {region} {named}"

    @property
    def measure(self) -> str:
        """The amount with its unit."""
        return f"{self.amount:,} {self.quota.unit}" if self.amount > 1 else "1"

    def __str__(self) -> str:
        """Which quota, how much of it, and what a new account has."""
        first = "" if self.quota.first is None else f", a new account has {self.quota.first:,}"
        return f"{self.quota.service} {self.quota}: {self.measure}{first}"
