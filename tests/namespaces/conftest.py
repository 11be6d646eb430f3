"""Networks of namespaces for tests, and the reason if this machine cannot make such networks."""

import pytest

from pencilmap.model.kinds import network_named
from pencilmap.scripts.networks.namespaces.experiment import UnavailableError, check_available
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork


@pytest.fixture(scope="session")
def namespaces():
    """Skip with a clear message if networks of namespaces cannot be made."""
    try:
        check_available()
    except UnavailableError as error:
        pytest.skip(f"NOT TESTED: a real network, for {error}")


@pytest.fixture
def network():
    """Return a function that describes a network, as in ``network("4x4:mesh")``, and starts nothing."""
    return lambda shape, **options: EmulatedNetwork(network_named(shape), **{"rate_bits_per_s": 10**7, **options})
