"""What a cursor and its connection tell beside the rows."""

import pytest
import trino
from trino.dbapi import DescribeOutput
from trino.exceptions import NotSupportedError, TrinoUserError
from trino.transaction import IsolationLevel

CUSTOMERS = "SELECT * FROM tpch.tiny.customer LIMIT 1000"
TABLE = "memory.default.counted"


def test_nodes(cursor):
    cursor.execute("SELECT * FROM system.runtime.nodes")
    kinds = {column[0]: column[1] for column in cursor.description}
    assert list(kinds) == ["node_id", "http_uri", "node_version", "coordinator", "state"]
    assert kinds["coordinator"] == "boolean"
    assert len(cursor.fetchall()) == 1


def test_description_comes_before_the_rows(cursor):
    cursor.execute("SELECT CHAR 'trino' AS c, DECIMAL '1.20' AS d, TIMESTAMP '2001-08-22 03:04:05.321000' AS t")
    before = cursor.description
    assert [tuple(column) for column in before] == [
        ("c", "char(5)", None, 5, None, None, None),
        ("d", "decimal(3, 2)", None, None, 3, 2, None),
        ("t", "timestamp(6)", None, None, 6, None, None),
    ]
    cursor.fetchall()
    assert cursor.description == before


def test_fetches(cursor):
    cursor.execute(CUSTOMERS)
    for _ in range(100):
        cursor.fetchone()
    assert len(cursor.fetchmany(400)) == 400
    assert len(cursor.fetchall()) == 500


def test_stats_only_grow(cursor):
    cursor.execute(CUSTOMERS)
    names = ["completedSplits", "cpuTimeMillis", "processedBytes", "processedRows", "wallTimeMillis"]
    before = {name: cursor.stats[name] for name in ["queryId", *names]}
    while cursor.fetchone() is not None:
        assert cursor.stats["queryId"] == before["queryId"]
        assert all(cursor.stats[name] >= before[name] for name in names)
        before = dict(cursor.stats)


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_ends_early(cursor, end):
    cursor.execute("SELECT * FROM tpch.sf1.customer")
    cursor.fetchone()
    getattr(cursor, end)()


def test_no_rows(cursor):
    assert cursor.execute("SELECT * FROM system.runtime.nodes WHERE false").fetchall() == []


def test_info_uri(cursor):
    assert cursor.info_uri is None
    cursor.execute("SELECT 1")
    assert cursor.query_id in cursor.info_uri
    cursor.fetchall()
    assert cursor.query_id in cursor.info_uri


def test_failures_have_their_name(cursor):
    with pytest.raises(TrinoUserError) as failed:
        cursor.execute("SELECT * FROM catalog.schema.do_not_exist").fetchall()
    assert failed.value.error_name == "CATALOG_NOT_FOUND"
    assert failed.value.query_id is not None


@pytest.mark.parametrize("day", ["-0001-01-01", "0000-01-01", "10000-01-01", "5000000-12-31"])
def test_days_that_python_has_not(cursor, day):
    with pytest.raises(trino.exceptions.TrinoDataError):
        cursor.execute(f"SELECT DATE '{day}'").fetchall()


@pytest.mark.parametrize("tags", [["foo"], ["foo", "bar"], ["foo %20", "bar=test"]])
def test_tags_are_the_query_s(connect, tags, place):
    import requests

    cursor = connect(client_tags=tags).cursor()
    cursor.execute("SELECT 1").fetchall()
    asked = f"http://127.0.0.1:{place['port']}/v1/query/{cursor.query_id}"
    told = requests.get(asked, headers={"X-Trino-User": place["user"]}, timeout=30).json()
    assert [tag for tag in told["session"]["clientTags"] if not tag.startswith("gateway/")] == tags


def test_session_properties(connect):
    given = {"query_max_run_time": "10m", "query_priority": "1"}
    rows = connect(session_properties=given).cursor().execute("SHOW SESSION").fetchall()
    assert len(rows) > 100
    assert {name: value for name, value, *_ in rows if name in given} == given


def test_session_property_of_a_catalog(connect):
    cursor = connect(session_properties={"tpch.nothing": "1"}).cursor()
    with pytest.raises(TrinoUserError) as failed:
        cursor.execute("SELECT 1").fetchall()
    assert failed.value.error_name == "INVALID_SESSION_PROPERTY"


def test_use(cursor):
    asked = "SELECT current_catalog, current_schema"
    cursor.execute("USE tpch.tiny").fetchall()
    assert cursor.execute(asked).fetchall() == [["tpch", "tiny"]]
    cursor.execute("USE sf1").fetchall()
    assert cursor.execute(asked).fetchall() == [["tpch", "sf1"]]


@pytest.mark.parametrize("roles", [{"system": "ALL"}, "ALL"], ids=["by catalog", "one"])
def test_roles_of_a_connection(connect, roles):
    cursor = connect(roles=roles, catalog="tpch").cursor()
    cursor.execute("SHOW TABLES FROM information_schema").fetchall()
    assert cursor._request.http_headers["X-Trino-Role"] == "system=ALL"


def test_set_role(connect):
    cursor = connect(catalog="tpch").cursor()
    cursor.execute("SET ROLE ALL").fetchall()
    assert cursor._request.http_headers["X-Trino-Role"] == "system=ALL"


@pytest.mark.parametrize("zone", ["Europe/Brussels", "UTC", "Asia/Kolkata"])
def test_zone(connect, zone):
    cursor = connect(timezone=zone).cursor()
    assert cursor.execute("SELECT current_timezone()").fetchall() == [[zone]]


def test_describe(cursor):
    assert cursor.describe("SELECT 1, DECIMAL '1.0' AS a") == [
        DescribeOutput("_col0", "", "", "", "integer", 4, False),
        DescribeOutput("a", "", "", "", "decimal(2,1)", 8, True),
    ]
    name = cursor.describe("SELECT * FROM tpch.tiny.nation")[1]
    assert name == DescribeOutput("n_name", "tpch", "tiny", "nation", "varchar(25)", 0, False)


def test_counts(cursor):
    cursor.execute("SELECT 1").fetchall()
    assert cursor.rowcount == -1
    cursor.execute(f"CREATE TABLE {TABLE} AS SELECT 1 a UNION ALL SELECT 2").fetchall()
    try:
        assert (cursor.rowcount, cursor.update_type) == (2, "CREATE TABLE")
        cursor.execute(f"INSERT INTO {TABLE} VALUES (3)").fetchall()
        assert (cursor.rowcount, cursor.update_type) == (1, "INSERT")
    finally:
        cursor.execute(f"DROP TABLE {TABLE}").fetchall()


def test_many_that_return_rows(cursor):
    with pytest.raises(NotSupportedError):
        cursor.executemany("SELECT ?, ?", [(1, "one"), (2, "two")])


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_transactions(connect, end):
    connection = connect(isolation_level=IsolationLevel.READ_UNCOMMITTED)
    for _ in range(3):
        assert len(connection.cursor().execute(CUSTOMERS).fetchall()) == 1000
        assert len(connection.cursor().execute(CUSTOMERS).fetchall()) == 1000
        getattr(connection, end)()


def test_a_catalog_that_writes_outside_transactions(connect):
    connection = connect(isolation_level=IsolationLevel.AUTOCOMMIT)
    connection.start_transaction()
    with pytest.raises(TrinoUserError, match="Catalog only supports writes using autocommit: memory"):
        connection.cursor().execute(f"CREATE TABLE {TABLE} AS SELECT 1 a").fetchall()
    connection.rollback()


def test_identity_of_the_server(cursor):
    info = cursor.execute("SELECT node_version FROM system.runtime.nodes").fetchone()
    assert cursor.execute("SELECT version()").fetchone() == info


LISTED = [
    "SHOW CATALOGS",
    "SHOW SCHEMAS FROM tpch",
    "SHOW TABLES FROM tpch.tiny",
    "SHOW FUNCTIONS LIKE 'arr%'",
    "SELECT * FROM system.jdbc.catalogs",
    "SELECT * FROM system.jdbc.columns WHERE table_cat = 'tpch' AND table_schem = 'tiny'",
    "SELECT * FROM system.metadata.table_comments WHERE catalog_name = 'tpch' AND schema_name = 'tiny'",
    "SELECT * FROM tpch.information_schema.tables",
    "DESCRIBE tpch.tiny.orders",
    "SHOW CREATE TABLE tpch.tiny.orders",
    "SHOW STATS FOR tpch.tiny.nation",
]


@pytest.mark.parametrize("sql", LISTED)
def test_lists_what_the_server_lists(cursor, connect_server, sql):
    wanted = connect_server().cursor().execute(sql)
    found = cursor.execute(sql)
    assert sorted(map(repr, found.fetchall())) == sorted(map(repr, wanted.fetchall()))
    assert found.description == wanted.description
