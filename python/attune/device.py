"""Machines that networks are tuned for and measured on."""
from __future__ import annotations

from . import _core
from ._values import Unpicklable


class Device(Unpicklable):
    """A machine that networks are tuned for and measured on: this one, or one of a fleet."""

    _instead = "give its key to the other process, and call attune.Device.in_fleet(key) there"

    def __init__(self, core: _core.Device) -> None:
        self._core = core

    @classmethod
    def here(cls) -> Device:
        """Returns this machine."""
        return cls(_core.Device.here())

    @classmethod
    def in_fleet(cls, key: str, server: str = "") -> Device:
        """Returns the device with this key in the fleet that you have joined (`attune fleet join`), or whose server you
        run on this machine. server: the address "host:port" that the fleet's server must have; empty: any.
        The key "cpu" is this machine."""
        return cls(_core.Device.in_fleet(key, server))

    @property
    def is_here(self) -> bool:
        """Whether it is this machine."""
        return self._core.is_here()

    @property
    def fingerprint(self) -> str:
        """The kind of machine: devices with the same one share their records."""
        return self._core.fingerprint()

    @property
    def cpu(self) -> str:
        """Its processor, as `Network.compile(cpus=[…])` names it."""
        return self._core.cpu()

    @property
    def processors(self) -> int:
        """The number of processors that kernels may run on."""
        return self._core.processors()

    def __repr__(self) -> str:
        return f"<attune.Device({self.fingerprint!r}, {self.processors} x {self.cpu})>"


def as_device(device: str | Device) -> Device:
    """Returns the device itself, or that of the fleet with this key; an empty key is this machine."""
    if isinstance(device, Device):
        return device
    if not isinstance(device, str):
        raise TypeError(f"device: must be a key or a Device, and is a {type(device).__name__}")
    return Device.in_fleet(device) if device else Device.here()
