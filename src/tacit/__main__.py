"""``python -m tacit`` is the command line ``tacit``."""

from tacit.cli import main

if __name__ == "__main__":
    main()
