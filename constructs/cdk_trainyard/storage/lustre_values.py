"""Settings of an FSx for Lustre file system that travel together, as frozen values."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class LustreCompression(StrEnum):
    """How FSx compresses what is written, without the clients noticing."""

    NONE = "NONE"
    LZ4 = "LZ4"


class LustreLogLevel(StrEnum):
    """Which events of the data repositories go to CloudWatch Logs."""

    DISABLED = "DISABLED"
    WARN_ONLY = "WARN_ONLY"
    ERROR_ONLY = "ERROR_ONLY"
    WARN_ERROR = "WARN_ERROR"


class Weekday(IntEnum):
    """A day of the week by FSx's number."""

    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6
    SUNDAY = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceTime:
    """When FSx may patch the file system, once a week, in UTC.

    Attributes:
        day: The day of the week.
        hour: 0 to 23.
        minute: 0 to 59.
            Default - on the hour.
    """

    day: Weekday
    hour: int
    minute: int = 0

    @property
    def text(self) -> str:
        """The time as FSx reads it: ``7:03:00`` is Sunday at three."""
        return f"{self.day.value}:{self.hour:02}:{self.minute:02}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreBackups:
    """Automatic daily backups. FSx deletes them together with the file system.

    Attributes:
        retention_days: How long a backup is kept, up to 90 days; 0 takes none.
            Default - a week.
        hour: Start of the backup window in UTC, 0 to 23.
            Default - FSx chooses.
        minute: Minute of the start, 0 to 59.
            Default - on the hour.
    """

    retention_days: int = 7
    hour: int | None = None
    minute: int = 0

    @property
    def start(self) -> str | None:
        """The start as FSx reads it: ``03:00``; None when FSx chooses."""
        return None if self.hour is None else f"{self.hour:02}:{self.minute:02}"


@dataclass(frozen=True, kw_only=True, slots=True)
class RootSquash:
    """Whom the root user of a client is on the file system.

    Lifecycle scripts run as root and make home directories: exempt the nodes that do by their address.

    Attributes:
        uid: User id that root becomes, 1 to 4294967294.
        gid: Group id that root becomes, 1 to 4294967294.
        no_squash_nids: Up to 64 clients whose root stays root, as Lustre network ids: ``10.1.0.6@tcp`` or a range,
            ``10.1.[2-10].[1-255]@tcp``.
            Default - none.
    """

    uid: int
    gid: int
    no_squash_nids: tuple[str, ...] = ()

    @classmethod
    def disabled(cls) -> "RootSquash":
        """Root stays root: what switches a root squash off that was on before."""
        return cls(uid=0, gid=0)

    @property
    def text(self) -> str:
        """The ids as FSx reads them: ``365534:65534``."""
        return f"{self.uid}:{self.gid}"
