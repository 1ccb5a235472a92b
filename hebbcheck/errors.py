"""What a user is told when something cannot be used."""


class HebbcheckError(Exception):
    """One line: what was observed; what is needed; what to try.  The command line exits with code 2."""
