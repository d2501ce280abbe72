"""`python -m marab_lib`: see `marab_lib.runner.command_line`."""

import sys

from .runner.command_line import main

if __name__ == "__main__":
    sys.exit(main())
