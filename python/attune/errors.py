"""The errors of Attune, with the sentences that the command line prints."""


class Error(Exception):
    """Any error of Attune: one sentence that names the file, what is wrong and what to do."""


class InvalidError(Error, ValueError):
    """An argument, a file or a damaged model."""


class NotFoundError(Error, LookupError):
    """A file, an input or a device that is not there."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file that is not there."""


class UnsupportedError(Error, NotImplementedError):
    """The model needs what Attune lacks: a line "not supported: ..." for each operator."""


class CancelledError(Error):
    """The caller has cancelled it."""


class ResourceError(Error, MemoryError):
    """Memory, threads or disk cannot be had."""


class UnavailableError(Error):
    """It may work later, for example once another process has released the records."""


class AccessError(Error):
    """A server does not know the token, or the token may not do this."""


class JobFailedError(Error):
    """A job on a server has failed or was cancelled."""


class WaitTimeoutError(Error, TimeoutError):
    """The wait has taken too long; the job continues."""


class InternalError(Error):
    """A bug of Attune."""
