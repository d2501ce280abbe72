"""`python -m marab_lib`: see `marab_lib.runner.command_line`."""

import sys

# A checker of international web addresses, of which notebooks have none: jsonschema does without
# it, and every command, and every process of `reproduce`, starts a second sooner.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from .runner.command_line import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
