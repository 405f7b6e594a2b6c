"""Access keys, as SDKs take them."""

import secrets
from base64 import b32encode
from dataclasses import dataclass, field

_KEY_BYTES = 10  # 16 characters of base32: with its prefix an access key id has AWS's 20
_SECRET_BYTES = 30  # 40 characters of base64, as AWS's


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    """An access key, and the session that it is of.

    Attributes:
        access_key_id: Said with every request.
        secret_access_key: Signs requests, and is never sent.
        session_token: Sent with every request of a role's session. Default - the key is of no session.
    """

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables in which SDKs look for them."""
        values = {
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_SESSION_TOKEN": self.session_token,
        }
        return {name: value for name, value in values.items() if value}


def new_credentials() -> Credentials:
    """Return an access key that nobody can guess, and that never comes again.

    The cdk CLI remembers, in the user's home, which account an access key is of: a key must not come again for another.
    """
    return Credentials(
        access_key_id="AKIA" + b32encode(secrets.token_bytes(_KEY_BYTES)).decode(),
        secret_access_key=secrets.token_urlsafe(_SECRET_BYTES),
    )
