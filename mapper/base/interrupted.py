"""Whether an exception is that of a signal, which compiled code may have replaced by one of its own."""


def by_signal(error: BaseException | None, *kinds: type[BaseException]) -> bool:
    """Whether an exception, or one that it was raised from or in place of, is of these kinds; by default Ctrl-C or an exit.

    numba, as all code in C that returns a result while an exception waits, raises a SystemError from it.

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
