import os

import pytest
import trino

PREPARING = {"headers": True, "immediate": False, "detected": None}
ENCODINGS = {"inline": None, "json": "json", "json+lz4": "json+lz4", "json+zstd": "json+zstd"}


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


@pytest.fixture(params=[False, True], ids=["types", "texts"])
def legacy(request):
    return request.param


@pytest.fixture(params=ENCODINGS.values(), ids=ENCODINGS.keys())
def encoded(request, connect, legacy):
    """A cursor for each encoding of rows, with values of Python's types and as texts."""
    return connect(encoding=request.param, legacy_primitive_types=legacy).cursor()
