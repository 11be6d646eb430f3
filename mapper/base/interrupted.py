"""Test if an exception comes from a signal, although compiled code may have replaced the signal's exception."""


def by_signal(error: BaseException | None, *kinds: type[BaseException]) -> bool:
    """Return whether an exception, or one of its causes or contexts, is of these kinds; by default Ctrl-C or an exit.

    If C code such as numba's returns a result while an exception waits, Python raises a SystemError from this exception.

    >>> error = SystemError("returned a result with an exception set")
    >>> error.__cause__ = KeyboardInterrupt()
    >>> by_signal(error, KeyboardInterrupt), by_signal(SystemError("of another cause"))
    (True, False)
    """
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, kinds or (KeyboardInterrupt, SystemExit)):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
