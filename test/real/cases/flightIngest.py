"""Rows that ADBC's driver of Flight SQL takes in bulk into a PostgreSQL. Prints one line for each thing it saw."""

import datetime
import decimal
import sys

import adbc_driver_flightsql.dbapi as dbapi
import pyarrow

login = {"username": "alice", "password": "x"}
fresh = pyarrow.table({
    "a": pyarrow.array([1, None, 3], pyarrow.int64()),
    "small": pyarrow.array([-1, 2, None], pyarrow.int16()),
    "f": pyarrow.array([0.5, None, -2.25]),
    "b": [True, False, None],
    "t": ["x", "ä", None],
    "bin": [b"\x00\xff", None, b""],
    "d": pyarrow.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")], pyarrow.decimal128(10, 2)),
    "day": [datetime.date(2024, 2, 29), None, datetime.date(1970, 1, 1)],
    "ts": pyarrow.array([0, 1, None], pyarrow.timestamp("us")),
    "tz": pyarrow.array([1_000, None, 0], pyarrow.timestamp("ns", "UTC")),
})

with dbapi.connect(sys.argv[1], db_kwargs=login, autocommit=True) as c, c.cursor() as cur:
    modes = [cur.adbc_ingest("flight_new", fresh, mode=mode) for mode in ("replace", "append", "create_append")]
    cur.execute("""select count(*), sum(a)::bigint, sum(small)::bigint, sum(f), count(b), min(t), count(bin), sum(d)::text,
        max(day)::text, to_char(max(ts), 'US'), to_char(max(tz), 'US') from flight_new""")
    print("ingested", modes, *cur.fetchone())
    cur.execute("""select string_agg(data_type, ',' order by ordinal_position)
        from information_schema.columns where table_name = 'flight_new'""")
    print(cur.fetchone()[0])
    try:
        cur.adbc_ingest("flight_new", fresh, mode="create")
    except dbapi.Error:
        print("a table that is there is refused")
    fine = pyarrow.table({"ts": pyarrow.array([1_000, 1_001], pyarrow.timestamp("ns"))})
    try:
        cur.adbc_ingest("flight_fine", fine, mode="create")
    except dbapi.Error as error:
        print("nanoseconds are refused", "microseconds" in str(error))
    cur.execute("select count(*) from information_schema.tables where table_name = 'flight_fine'")
    print("tables left", cur.fetchone()[0])
    many = pyarrow.table({"i": range(20_000), "t": ["x"] * 20_000})
    cur.adbc_ingest("flight_many", many, mode="replace")
    cur.execute("select count(*), sum(i)::bigint from flight_many")
    print("many", *cur.fetchone())
