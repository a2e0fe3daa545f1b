"""Values of every type, in every encoding of rows, as Python's and as texts."""

import pytest


def _each(kind, *values):
    """The values in each precision of a type."""
    kinds = [kind.format(n=n) for n in [0, 3, 6, 9, 12]]
    return ", ".join(f"CAST({value} AS {one})" for one in kinds for value in values)


ASKED = {
    "boolean": "CAST(null AS BOOLEAN), false, true",
    "tinyint": "CAST(null AS TINYINT), CAST(-128 AS TINYINT), CAST(127 AS TINYINT)",
    "smallint": "CAST(null AS SMALLINT), CAST(-32768 AS SMALLINT), CAST(32767 AS SMALLINT)",
    "integer": "CAST(null AS INTEGER), CAST(-2147483648 AS INTEGER), 2147483647",
    "bigint": "CAST(null AS BIGINT), CAST(-9223372036854775808 AS BIGINT), 9223372036854775807",
    "real": "CAST(null AS REAL), CAST('-Infinity' AS REAL), CAST(3.4028235E38 AS REAL), CAST(1.4E-45 AS REAL)",
    "double": "CAST(null AS DOUBLE), CAST('Infinity' AS DOUBLE), 1.7976931348623157E308, 4.9E-324, -0e0",
    "nan": "CAST('NaN' AS REAL), CAST('NaN' AS DOUBLE)",
    "decimal": "CAST(null AS DECIMAL(38,0)), DECIMAL '10.3', CAST('0.123456789123456789' AS DECIMAL(18,18)), CAST('0.3123' AS DECIMAL(38,38)), CAST('12345678901234567890123456789' AS DECIMAL(38,1))",
    "varchar": "CAST(null AS VARCHAR), 'aaa', U&'winter \\2603 !', CAST('bbb' AS VARCHAR(1)), ''",
    "char": "CAST(null AS CHAR), CAST('ccc' AS CHAR), CAST('a' AS CHAR(4)), CAST('\U0001f602' AS CHAR(1)), CHAR 'trino'",
    "varbinary": "CAST(null AS VARBINARY), X'65683F', X'', X'000000FF'",
    "json": "CAST(null AS JSON), CAST('{}' AS JSON), JSON 'null', JSON '3.14', JSON '{\"a\": [1, {\"b\": null}]}', CAST('a \" complex '' string :' AS JSON)",
    "date": "CAST(null AS DATE), DATE '0001-01-01', DATE '1752-09-04', DATE '1970-01-01', DATE '9999-12-31'",
    "time": _each("TIME({n})", "null", "TIME '00:00:00'", "TIME '01:23:45.123456789123'"),
    "time with zone": _each(
        "TIME({n}) WITH TIME ZONE",
        "null",
        "TIME '01:23:45.123456789123 -08:00'",
        "TIME '23:59:59.999 +14:00'",
    ),
    "timestamp": _each(
        "TIMESTAMP({n})",
        "null",
        "TIMESTAMP '2001-08-22 01:23:45.123456789123'",
        "TIMESTAMP '1582-10-15 00:00:00'",
    ),
    "timestamp with zone": _each(
        "TIMESTAMP({n}) WITH TIME ZONE",
        "null",
        "TIMESTAMP '2001-08-22 01:23:45.123456789123 -08:00'",
        "TIMESTAMP '2001-08-22 01:23:45.123456 America/Los_Angeles'",
        "TIMESTAMP '2001-08-22 11:23:45 UTC'",
    ),
    "interval months": "CAST(null AS INTERVAL YEAR TO MONTH), INTERVAL '3' MONTH, INTERVAL '-13' MONTH",
    "interval days": "CAST(null AS INTERVAL DAY TO SECOND), INTERVAL '2' DAY, INTERVAL '-2' DAY, INTERVAL '1.5' SECOND",
    "array": "CAST(null AS ARRAY(VARCHAR)), ARRAY['a', null], ARRAY[1.2, null], ARRAY[4.9E-324, null], ARRAY[]",
    "array of arrays": "ARRAY[ARRAY[1, null], null], ARRAY[ARRAY[TIMESTAMP '2001-08-22 01:23:45.1 UTC']]",
    "array of dates": "ARRAY[DATE '2001-08-22', null], ARRAY[TIME '01:02:03', null], ARRAY[X'00FF', null]",
    "map": "CAST(null AS MAP(VARCHAR, INTEGER)), MAP(ARRAY['a', 'b'], ARRAY[1, null]), MAP(ARRAY[2.4], ARRAY[4.9E-324]), MAP()",
    "map of maps": "MAP(ARRAY['k'], ARRAY[MAP(ARRAY[DATE '2001-08-22'], ARRAY[TIMESTAMP '2001-08-22 01:02:03'])])",
    "row": "CAST(null AS ROW(x BIGINT)), CAST(ROW(1, 2e0, null) AS ROW(x BIGINT, y DOUBLE, z DOUBLE)), ROW(1, 'a')",
    "row of rows": "CAST(ROW(DECIMAL '2.3', ROW(1, 'test')) AS ROW(x DECIMAL(3,2), y ROW(x BIGINT, y VARCHAR)))",
    "row of lists": "ROW(ARRAY[1, null], MAP(ARRAY['a'], ARRAY[ROW(1)]), TIMESTAMP '2001-08-22 01:02:03.4 +02:00')",
    "array of rows": "ARRAY[CAST(ROW(1, 'a') AS ROW(\"X y\" BIGINT, b VARCHAR)), null]",
    "ipaddress": "CAST(null AS IPADDRESS), IPADDRESS '2001:db8::1', IPADDRESS '10.0.0.1'",
    "uuid": "CAST(null AS UUID), UUID '12151fd2-7586-11e9-8f9e-2a86e4085a59'",
    "unknown": "null, ARRAY[null]",
    "digests": "CAST(null AS HyperLogLog), CAST(null AS P4HyperLogLog), CAST(null AS SetDigest), CAST(null AS QDigest(BIGINT)), CAST(null AS TDigest)",
    "digests of one": "approx_set(1), make_set_digest(1), tdigest_agg(1), CAST(approx_set(1) AS P4HyperLogLog)",
}


def _told(cursor):
    rows = cursor.fetchall()
    kinds = [column[1:] for column in cursor.description]
    annotated = [getattr(value, "__annotations__", None) for value in rows[0]]
    return repr((kinds, rows, annotated))


@pytest.mark.parametrize("sql", ASKED.values(), ids=ASKED.keys())
def test_as_the_server_tells(encoded, reading, connect_server, sql):
    """The same as a client right at the server is told."""
    wanted = connect_server(legacy_primitive_types=reading[1]).cursor().execute(f"SELECT {sql}")
    assert _told(encoded.execute(f"SELECT {sql}")) == _told(wanted)


@pytest.mark.parametrize("rows", [0, 1, 1000, 20000])
def test_rows_arrive_whole(encoded, rows):
    encoded.execute(f"SELECT o_orderkey, o_comment FROM tpch.tiny.orders ORDER BY 1 LIMIT {rows}")
    found = encoded.fetchall()
    assert len(found) == min(rows, 15000)
    assert found == sorted(found)
