"""pyarrow and ADBC's driver of Flight SQL, as people use them. Prints one line for each thing it saw."""

import decimal
import sys
import threading

import adbc_driver_flightsql.dbapi as dbapi
import pyarrow
import pyarrow.compute
import pyarrow.flight as flight

uri = sys.argv[1]
login = {"username": "alice", "password": "x"}

name, token = flight.FlightClient(uri).authenticate_basic_token("alice", "x")
print("token", name.decode(), token.decode().startswith("Bearer "))

with dbapi.connect(uri, db_kwargs=login, autocommit=True) as c, c.cursor() as cur:
    print("info", c.adbc_get_info()["vendor_name"])
    cur.execute(
        """select 1 as n, 'ä' as t, 1.5::decimal(10,2) as d, timestamp '2024-02-29 12:34:56.123456' as ts,
        [1, null] as l, sum(i) as s, date '2024-02-29' as dt, {'a': 1} as st, null::integer as z,
        '0190163d-8694-739b-aea5-966c26f8ad91'::uuid as u from range(10) r(i)"""
    )
    table = cur.fetch_arrow_table()
    print("schema", [str(f.type) for f in table.schema])
    row = table.to_pylist()[0]
    print("row", *[str(v) for v in row.values()])
    cur.execute("create or replace table flight_py (id integer primary key, label varchar)")
    cur.execute("insert into flight_py values (?, ?)", (1, "one"))
    cur.executemany("insert into flight_py values (?, ?)", [(2, "two"), (3, None)])
    print("many", cur.rowcount)
    cur.execute("select id, label from flight_py where id > ? order by id", (1,))
    print("bound", cur.fetchall())
    for one in c.adbc_get_objects(depth="columns", table_name_filter="flight_py").read_all().to_pylist():
        for schema in one["catalog_db_schemas"]:
            for found in schema["db_schema_tables"]:
                columns = [column["column_name"] for column in found["table_columns"]]
                print("objects", one["catalog_name"], schema["db_schema_name"], found["table_name"], columns)
    print("table", c.adbc_get_table_schema("flight_py").names)
    print("types", c.adbc_get_table_types())
    print("described", cur.adbc_execute_schema("select 1::smallint as a").field("a").type)
    print("prepared", cur.adbc_prepare("select ?::integer + 1 as a").field(0).type)
    try:
        cur.execute("select * from nowhere")
    except dbapi.ProgrammingError as error:
        print("error", "nowhere" in str(error))
    fresh = pyarrow.table({
        "a": pyarrow.array([1, None, 3], pyarrow.int64()),
        "t": ["x", "ä", None],
        "d": pyarrow.array([decimal.Decimal("1.50"), None, None], pyarrow.decimal128(10, 2)),
        "ts": pyarrow.array([0, 1, None], pyarrow.timestamp("us")),
    })
    modes = [cur.adbc_ingest("flight_new", fresh, mode=mode) for mode in ("replace", "append", "create_append")]
    cur.execute("select count(*), sum(a)::bigint, min(t), max(d), max(ts) from flight_new")
    print("ingested", modes, *map(str, cur.fetchone()))
    try:
        cur.adbc_ingest("flight_new", fresh, mode="create")
    except dbapi.Error:
        print("ingest refused")
    many = pyarrow.table({"i": range(100_000), "t": ["x"] * 100_000})
    cur.adbc_ingest("flight_many", many, mode="replace")
    cur.execute("select count(*), sum(i)::bigint from flight_many")
    print("ingested many", *cur.fetchone())
    cur.execute("select i, i::double as d, 'x' || i as t from range(1000000) r(i)")
    total = rows = 0
    for batch in cur.fetch_record_batch():
        rows += batch.num_rows
        total += pyarrow.compute.sum(batch.column(0)).as_py()
    print("rows", rows, total)

with dbapi.connect(uri, db_kwargs=login) as c, c.cursor() as cur:
    cur.execute("insert into flight_py values (4, 'four')")
    c.rollback()
    cur.execute("select count(*) from flight_py")
    print("after rollback", cur.fetchone()[0])
    cur.execute("insert into flight_py values (5, 'five')")
    c.commit()
    cur.execute("select count(*) from flight_py")
    print("after commit", cur.fetchone()[0])
    # The driver names no transaction with it, so it stands for itself.
    cur.adbc_ingest("flight_new", fresh, mode="append")
    c.rollback()
    cur.execute("select count(*) from flight_new")
    print("ingest without a transaction", cur.fetchone()[0])
    c.rollback()

with dbapi.connect(uri, db_kwargs=login, autocommit=True) as c, c.cursor() as cur:
    def cancel():
        sys.stdin.readline()
        cur.adbc_cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        cur.execute(sys.argv[2])
        cur.fetchall()
        print("it ended by itself")
    except dbapi.Error:
        print("cancelled")
    thread.join()
