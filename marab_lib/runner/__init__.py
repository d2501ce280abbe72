"""What runs the notebooks: find, run, save and sweep, their outputs, the report, the commands."""

import sys

# A checker of international web addresses, of which notebooks have none: jsonschema does without
# it, and every process that reads a notebook starts a second sooner.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
