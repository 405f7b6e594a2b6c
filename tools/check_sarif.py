"""Hold SARIF logs against the schema of SARIF 2.1.0: ``.venv-browser/bin/python -m tools.check_sarif FILE…``.

The models of pydantic-sarif are generated from OASIS's schema: members that it does not know are refused.
"""

import sys
from pathlib import Path

from pydantic import ValidationError
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Log


def main() -> int:
    """Say what is wrong with the logs that the command line names."""
    found = 0
    for name in sys.argv[1:]:
        try:
            Log.model_validate_json(Path(name).read_bytes())
        except ValidationError as error:
            for each in error.errors():
                print(f"{name}: {'.'.join(map(str, each['loc']))}: {each['msg']}")
                found += 1
    print(f"{len(sys.argv) - 1} logs: {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
