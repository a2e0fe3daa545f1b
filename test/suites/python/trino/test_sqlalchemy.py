"""The client's dialect for SQLAlchemy: what it reflects and what its types carry."""

import datetime
import uuid
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import NoSuchTableError
from trino.sqlalchemy import URL
from trino.sqlalchemy.datatype import JSON, MAP, TIME, TIMESTAMP

WHEN = datetime.datetime(2020, 1, 1, 16, 43, 22, 320000)
VALUES = {
    "boolean": (sa.Boolean(), True),
    "integer": (sa.Integer(), 7),
    "bigint": (sa.BigInteger(), 1 << 40),
    "float": (sa.Float(), 1.5),
    "numeric": (sa.Numeric(20, 2), Decimal("123456789012345678.12")),
    "varchar": (sa.String(), "it's"),
    "char": (sa.CHAR(4), "four"),
    "binary": (sa.LargeBinary(), b"\x00\xff"),
    "date": (sa.Date(), datetime.date(2001, 8, 22)),
    "time": (TIME(6), datetime.time(1, 2, 3, 400000)),
    "timestamp": (TIMESTAMP(6), WHEN),
    "timestamp utc": (TIMESTAMP(6, timezone=True), WHEN.replace(tzinfo=datetime.timezone.utc)),
    "json": (JSON(), {"a": [1, None, {"b": "c"}]}),
    "json null": (JSON(), None),
    "array": (sa.ARRAY(sa.Integer()), [1, None, 3]),
    "map": (MAP(sa.String(), sa.Integer()), {"a": 1, "b": None}),
    "uuid": (sa.Uuid(), uuid.UUID("12151fd2-7586-11e9-8f9e-2a86e4085a59")),
}


@pytest.fixture
def engine_of(place):
    made = []

    def one(**options):
        url = URL(host=place["host"], port=place["port"], user=place["user"], **options)
        made.append(sa.create_engine(url))
        return made[-1]

    yield one
    for engine in made:
        engine.dispose()


@pytest.mark.parametrize("given", VALUES.values(), ids=VALUES.keys())
def test_round_trip(engine_of, given):
    kind, value = given
    engine = engine_of(catalog="memory", schema="default")
    table = sa.Table("round_trip", sa.MetaData(), sa.Column("v", kind))
    with engine.begin() as connection:
        table.create(connection)
        try:
            connection.execute(table.insert(), {"v": value})
            assert connection.execute(table.select()).fetchall() == [(value,)]
            reflected = sa.Table("round_trip", sa.MetaData(), autoload_with=connection)
            assert repr(reflected.c.v.type).startswith(type(reflected.c.v.type).__name__)
        finally:
            table.drop(connection)


@pytest.mark.parametrize("catalog", ["tpch", "memory", "system"])
def test_schemas(engine_of, catalog):
    inspected = sa.inspect(engine_of(catalog=catalog))
    assert "information_schema" in inspected.get_schema_names()


def test_tables_and_columns(engine_of):
    inspected = sa.inspect(engine_of(catalog="tpch", schema="tiny"))
    assert "nation" in inspected.get_table_names()
    assert inspected.has_table("nation") and not inspected.has_table("nowhere")
    columns = {column["name"]: str(column["type"]) for column in inspected.get_columns("nation")}
    assert columns["n_name"] == "VARCHAR(25)" and columns["n_nationkey"] == "BIGINT"
    assert inspected.get_table_names(schema="sf1")


def test_no_such_table(engine_of):
    with pytest.raises(NoSuchTableError):
        sa.Table("nowhere", sa.MetaData(), autoload_with=engine_of(catalog="tpch", schema="tiny"))


def test_views_comments_and_properties(engine_of):
    engine = engine_of(catalog="memory", schema="default")
    run = [
        "CREATE TABLE shown (a integer COMMENT 'of a') COMMENT 'of it'",
        "CREATE VIEW seen AS SELECT a FROM shown",
    ]
    with engine.begin() as connection:
        for sql in run:
            connection.execute(sa.text(sql))
        try:
            inspected = sa.inspect(connection)
            assert inspected.get_view_names() == ["seen"]
            assert "SELECT" in inspected.get_view_definition("seen")
            assert inspected.get_table_comment("shown") == {"text": "of it"}
            assert inspected.get_columns("shown")[0]["comment"] == "of a"
        finally:
            connection.execute(sa.text("DROP VIEW seen"))
            connection.execute(sa.text("DROP TABLE shown"))


@pytest.mark.parametrize("isolation", ["AUTOCOMMIT", "READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE"])
def test_isolation(engine_of, isolation):
    with engine_of(catalog="tpch").connect().execution_options(isolation_level=isolation) as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM tpch.tiny.nation")).scalar() == 25


def test_cte_limit_and_names(engine_of):
    engine = engine_of(catalog="tpch", schema="tiny")
    nation = sa.Table("nation", sa.MetaData(), autoload_with=engine)
    inner = sa.select(nation.c.n_name).where(nation.c.n_nationkey < sa.bindparam("most")).cte("few")
    asked = sa.select(sa.func.max(inner.c.n_name).label("last one")).offset(0).limit(1)
    with engine.connect() as connection:
        assert connection.execute(asked, {"most": 3}).mappings().all() == [{"last one": "BRAZIL"}]


def test_catalog_of_a_table(engine_of):
    nation = sa.Table("region", sa.MetaData(), sa.Column("r_name"), schema="tiny", trino_catalog="tpch")
    with engine_of(catalog="memory").connect() as connection:
        assert len(connection.execute(sa.select(nation)).fetchall()) == 5
