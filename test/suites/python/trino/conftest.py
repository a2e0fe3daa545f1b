import os

import pytest
import trino

PREPARING = {"headers": True, "immediate": False, "detected": None}
# Encodings of rows, and whether values come as texts.
READING = {
    "inline": (None, False),
    "inline, texts": (None, True),
    "json": ("json", False),
    "json+zstd": ("json+zstd", False),
}


@pytest.fixture
def place():
    return {"host": "127.0.0.1", "port": int(os.environ["SUITE_TRINO_PORT"]), "user": "alice"}


@pytest.fixture
def connect(place):
    """Makes connections, and closes them."""
    opened = []

    def one(**options):
        connection = trino.dbapi.Connection(**{**place, **options})
        opened.append(connection)
        return connection

    yield one
    for connection in opened:
        connection.close()


@pytest.fixture
def connect_server(place):
    """Makes connections to the server itself, for what it answers there."""
    opened = []

    def one(**options):
        there = {**place, "port": int(os.environ["SUITE_TRINO_SERVER"])}
        opened.append(trino.dbapi.Connection(**{**there, **options}))
        return opened[-1]

    yield one
    for connection in opened:
        connection.close()


@pytest.fixture
def cursor(connect):
    return connect().cursor()


@pytest.fixture(params=PREPARING.values(), ids=PREPARING.keys())
def preparing(request, connect):
    """A cursor for each way that the client has of sending parameters."""
    return connect(legacy_prepared_statements=request.param).cursor()


@pytest.fixture(params=READING.values(), ids=READING.keys())
def reading(request):
    return request.param


@pytest.fixture
def encoded(reading, connect):
    encoding, texts = reading
    return connect(encoding=encoding, legacy_primitive_types=texts).cursor()
