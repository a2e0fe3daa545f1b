"""Parameters of Python's types, in each way that the client has of sending them."""

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
from trino.exceptions import TrinoQueryError, TrinoUserError

WEST = timezone(-timedelta(hours=5, minutes=30))
DAYS = [date(1, 1, 1), date(1500, 1, 1), date(1752, 9, 4), date(1970, 1, 1), date(9999, 12, 31)]
BIG = Decimal("99999999999999999999999999999999999999")
# The sign of a Decimal is not changed exactly beyond 28 digits.
SMALL = Decimal("-99999999999999999999999999999999999999")
WHEN = datetime(2020, 1, 1, 16, 43, 22, 320000)

# A value, the type that Trino gives it, and what comes back where that is not the same.
VALUES = {
    "null": (None, "unknown"),
    "true": (True, "boolean"),
    "false": (False, "boolean"),
    "integer": (3, "integer"),
    "bigint": (9223372036854775807, "bigint"),
    "double": (1.1, "double"),
    "infinity": (float("inf"), "double"),
    "minus infinity": (float("-inf"), "double"),
    "decimal": (Decimal("0.142857"), "decimal(6,6)"),
    "big decimal": (BIG, "decimal(38,0)"),
    "small decimal": (SMALL, "decimal(38,0)"),
    "exact decimal": (Decimal("0.99999999999999999999999999999999999999"), "decimal(38,38)"),
    "quote": ("six'", "varchar(4)"),
    "question": ("a ? -- b", "varchar(8)"),
    "emoji": ("\U0001f602", "varchar(1)"),
    "empty": ("", "varchar(0)"),
    "bytes": (bytearray(b"\x00\x01\xff"), "varbinary"),
    "no bytes": (bytearray(), "varbinary"),
    "uuid": (UUID("12151fd2-7586-11e9-8f9e-2a86e4085a59"), "uuid"),
    "time": (time(12, 3, 44, 333000), "time(6)"),
    "time west": (time(16, 43, tzinfo=timezone(-timedelta(hours=8))), "time(6) with time zone"),
    "timestamp": (WHEN, "timestamp(6)"),
    "timestamp utc": (WHEN.replace(tzinfo=ZoneInfo("UTC")), "timestamp(6) with time zone"),
    "timestamp west": (WHEN.replace(tzinfo=WEST), "timestamp(6) with time zone"),
    "timestamp of a place": (
        WHEN.replace(tzinfo=ZoneInfo("America/Los_Angeles")),
        "timestamp(6) with time zone",
    ),
    "array": ([1, 2, 3], "array(integer)"),
    "nested array": ([[1, 2, 3], [4, 5, 6]], "array(array(integer))"),
    "array of nulls": ([None, None], "array(unknown)"),
    "array with a null": ([None, 1], "array(integer)"),
    "array of timestamps": ([WHEN, WHEN], "array(timestamp(6))"),
    "array of zones": ([WHEN.replace(tzinfo=WEST)], "array(timestamp(6) with time zone)"),
    "map": ({"foo": "bar"}, "map(varchar(3), varchar(3))"),
    "map of timestamps": ({"foo": WHEN}, "map(varchar(3), timestamp(6))"),
    "row": ((1, Decimal("2.0"), WHEN), "row(integer, decimal(2,1), timestamp(6))"),
    "nested row": (
        ((1, "test", Decimal("3.1")), Decimal("2.0")),
        "row(row(integer, varchar(4), decimal(2,1)), decimal(2,1))",
    ),
    **{f"day {day}": (day, "date") for day in DAYS},
}


@pytest.mark.parametrize("given", VALUES.values(), ids=VALUES.keys())
def test_value_and_type(preparing, given):
    value, kind = given
    preparing.execute("SELECT ?, TYPEOF(?)", (value, value))
    described = preparing.description[0][1]
    ((found, told),) = preparing.fetchall()
    assert found == value
    assert told.replace(", ", ",") == described.replace(", ", ",") == kind.replace(", ", ",")


def test_not_a_number(preparing):
    preparing.execute("SELECT ?", (float("nan"),))
    ((found,),) = preparing.fetchall()
    assert found != found


def test_time_of_a_place(preparing):
    preparing.execute("SELECT ?", (time(16, 43, 22, tzinfo=ZoneInfo("Asia/Shanghai")),))
    assert preparing.fetchone()[0].tzinfo == timezone(timedelta(hours=8))


@pytest.mark.parametrize("fold", [0, 1])
def test_hour_that_comes_twice(preparing, fold):
    zone = ZoneInfo("US/Eastern")
    preparing.execute("SELECT ?", (datetime(2002, 10, 27, 1, 30, tzinfo=zone, fold=fold),))
    assert preparing.fetchone()[0] == datetime(2002, 10, 27, 1, 30, tzinfo=zone)


def test_hour_that_is_not(preparing):
    with pytest.raises(TrinoUserError):
        preparing.execute("SELECT ?", (datetime(2021, 3, 28, 2, 30, tzinfo=ZoneInfo("Europe/Brussels")),))
        preparing.fetchall()


def test_too_few(preparing):
    with pytest.raises(TrinoUserError, match="expected 2 but found 1"):
        preparing.execute("SELECT ?, ?", (1,))
        preparing.fetchall()


def test_wrong_statement(preparing):
    with pytest.raises(TrinoQueryError) as failed:
        preparing.execute("SELECT * FRMO foo WHERE x = ?", (3,))
        preparing.fetchall()
    assert failed.value.error_name == "SYNTAX_ERROR"


def test_many_statements_with_parameters(preparing):
    preparing.execute("CREATE TABLE memory.default.many (key integer, value varchar)").fetchall()
    try:
        into = "INSERT INTO memory.default.many (key, value) VALUES (?, ?)"
        preparing.executemany(into, [(1, "one"), (2, None), (3, "it's")])
        preparing.fetchall()
        assert preparing.rowcount == 1
        preparing.execute("SELECT * FROM memory.default.many WHERE key > ? ORDER BY key", (1,))
        assert preparing.fetchall() == [[2, None], [3, "it's"]]
    finally:
        preparing.execute("DROP TABLE memory.default.many").fetchall()


def test_prepared_by_name(connect):
    cursor = connect(legacy_prepared_statements=True).cursor()
    prepared = cursor._request._client_session
    cursor.execute("PREPARE kept FROM SELECT count(1) FROM tpch.tiny.nation WHERE n_nationkey = ?").fetchall()
    assert "kept" in prepared.prepared_statements
    assert cursor.execute("SELECT ?", (1,)).fetchall() == [[1]]
    assert list(prepared.prepared_statements) == ["kept"]
    assert cursor.execute("EXECUTE kept USING 1").fetchall() == [[1]]
    cursor.execute("DEALLOCATE PREPARE kept").fetchall()
    assert prepared.prepared_statements == {}


@pytest.mark.parametrize("legacy", [True, False, None], ids=["headers", "immediate", "detected"])
def test_detection_runs_as_written(connect, legacy):
    """The client tries EXECUTE IMMEDIATE once, and Trino lists it as it was sent."""
    import trino.dbapi
    from trino.dbapi import TimeBoundLRUCache

    trino.dbapi.must_use_legacy_prepared_statements = TimeBoundLRUCache(1024, 3600)
    source = f"detects {uuid4()}"
    connection = connect(source=source, legacy_prepared_statements=legacy)
    for value in [42, 100]:
        assert connection.cursor().execute("SELECT ?", [value]).fetchall() == [[value]]
    asked = "SELECT query FROM system.runtime.queries WHERE source = ?"
    texts = [text for (text,) in connection.cursor().execute(asked, [source]).fetchall()]
    assert texts.count("EXECUTE IMMEDIATE 'SELECT 1'") == (1 if legacy is None else 0)
