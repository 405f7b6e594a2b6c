"""Runs one Lambda invocation, as the main program of a child process: the event comes on standard input."""

import gc
import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path


class Context:
    """What a handler learns about its invocation."""

    def __init__(self) -> None:
        """Read it from the environment."""
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.invoked_function_arn = os.environ["LOCAL_AWS_FUNCTION_ARN"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = "local"
        self.aws_request_id = "00000000-0000-0000-0000-000000000000"
        self.identity = None
        self.client_context = None
        self._end = time.monotonic() + float(os.environ["LOCAL_AWS_TIMEOUT_S"])

    def get_remaining_time_in_millis(self) -> int:
        """Return the time left until the function's timeout."""
        return max(0, int((self._end - time.monotonic()) * 1000))


def main() -> None:
    """Call the handler and write down what it returned or raised."""
    sys.path.pop(0)  # this file's own folder
    module, _, name = os.environ["_HANDLER"].rpartition(".")
    answer: dict[str, object]
    try:
        handler = getattr(importlib.import_module(module.replace("/", ".")), name)
        answer = {"result": handler(json.load(sys.stdin), Context())}
    except Exception as error:  # noqa: BLE001  whatever the function raises is its answer
        traceback.print_exc()
        lines = traceback.format_exception(error)
        answer = {"error": {"errorType": type(error).__name__, "errorMessage": str(error), "stackTrace": lines}}
    Path(os.environ["LOCAL_AWS_RESULT"]).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
    gc.freeze()  # or Python would search everything for garbage before it ends
