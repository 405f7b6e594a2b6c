#!/usr/bin/env python3
"""Ask PAM whether an account may log in by a service, as that service would: pam_account.py SERVICE USER.

Nobody is authenticated and no session is opened. Exits with 0 when the account may, with 1 when not, and says what PAM
said. Written for the Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import ctypes
import sys

_SUCCESS = 0
_SILENT = 0x8000
_CONVERSATION_ERROR = 19


class _Conversation(ctypes.Structure):
    """How a module would talk to the user: there is none."""


_TALK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_Conversation._fields_ = [("talk", _TALK), ("data", ctypes.c_void_p)]


def _say_nothing(_count: int, _messages: int | None, _replies: int | None, _data: int | None) -> int:
    return _CONVERSATION_ERROR


def ask(service: str, user: str) -> tuple[bool, str]:
    """Return whether the account may log in, and PAM's words for it."""
    library = ctypes.CDLL("libpam.so.0", mode=ctypes.RTLD_GLOBAL)  # Slurm's module looks for it among what is loaded
    library.pam_strerror.restype = ctypes.c_char_p
    handle = ctypes.c_void_p()
    conversation = _Conversation(_TALK(_say_nothing), None)
    code = library.pam_start(service.encode(), user.encode(), ctypes.byref(conversation), ctypes.byref(handle))
    if code == _SUCCESS:
        code = library.pam_acct_mgmt(handle, _SILENT)
    words = library.pam_strerror(handle, code).decode(errors="replace")
    library.pam_end(handle, code)
    return code == _SUCCESS, words


def main(arguments: list[str]) -> int:
    """Ask about one account."""
    service, user = arguments
    admitted, words = ask(service, user)
    sys.stdout.write(f"{service}, {user}: {words}\n")
    return 0 if admitted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
