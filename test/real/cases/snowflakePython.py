"""snowflake-connector-python and its SQLAlchemy dialect, as people use them. Prints one line for each thing it saw."""

import sys
import threading

import snowflake.connector as sf
import sqlalchemy as sa
from snowflake.connector.errors import DatabaseError, ProgrammingError

port, token_port, token, key_file, foreign_key_file, endless = sys.argv[1:7]
place = {"account": "acme", "host": "127.0.0.1", "port": int(port), "protocol": "http"}
password = {"user": "ann", "password": "ann-secret"}
quick = {"login_timeout": 5, "network_timeout": 30}


def connect(**more):
    return sf.connect(**{**place, **password, **quick, **more})


def key_pair(file, user="ann"):
    return sf.connect(
        **place, **quick, user=user, authenticator="SNOWFLAKE_JWT", private_key_file=file
    )


def number(action):
    try:
        action()
    except sf.errors.Error as error:
        return error.errno
    return None


for name, opened in (
    ("password", connect),
    ("key pair", lambda: key_pair(key_file)),
    ("token", lambda: connect(port=int(token_port), user="ann", authenticator="oauth", token=token)),
):
    with opened() as c:
        print(name, c.cursor().execute("select 42").fetchone())
print(
    "refused",
    number(lambda: connect(password="wrong")),
    number(lambda: key_pair(foreign_key_file)),
    number(lambda: key_pair(key_file, "bob")),
)

types = """select 1::tinyint as i8, 9223372036854775807 as i64, 255::utinyint as u8, 18446744073709551615::ubigint as u64,
'-170141183460469231731687303715884105728'::hugeint as huge, -12.345::decimal(18, 3) as d,
0.1::double as f, true as b, 'né😀' as t, unhex('00FF') as x, date '1969-12-31' as dt, time '23:59:59.123456' as tm,
timestamp '2024-02-29 12:34:56.123456' as ts, timestamp_ns '1969-12-31 23:59:59.999999' as ns,
timestamptz '2024-02-29 12:34:56+02' as tz, [1, null] as l, {'a': 1} as o, '0190163d-8694-739b-aea5-966c26f8ad91'::uuid as u,
null as z"""


def read(form):
    with connect(session_parameters={"PYTHON_CONNECTOR_QUERY_RESULT_FORMAT": form}) as c:
        cur = c.cursor().execute(types)
        return cur._query_result_format, cur.fetchone(), [d.name + str(d.type_code) for d in cur.description]


arrow, json = read("ARROW"), read("JSON")
print("forms", arrow[0], json[0])
print("row", *[str(value) for value in arrow[1]])
print("alike", arrow[1] == json[1], arrow[2] == json[2])

with connect(session_parameters={"QUERY_TAG": "nightly"}) as c:
    cur = c.cursor()
    table = cur.execute("select i, i::double / 2 as half, 'x' || i as t, (i / 100)::decimal(12, 2) as d from range(200000) r(i)").fetch_arrow_all()
    print("table", table.num_rows, [str(f.type) for f in table.schema], sum(table.column(0).to_pylist()))
    cur.execute("select i from range(100000) r(i)")
    print("rows", cur.rowcount, sum(row[0] for row in cur))
    cur.execute("select i from range(10) r(i)")
    print("many", cur.fetchmany(3), cur.fetchone(), len(cur.fetchall()))
    print("empty", cur.execute("select 1 as n where false").fetchall(), cur.execute("select 1 as n where false").fetch_arrow_all())
    cur.execute("create or replace table py_things (id integer, label varchar, seen timestamp)")
    cur.execute("insert into py_things values (%s, %s, %s)", (1, "it's", "2024-02-29 12:34:56"))
    print("inserted", cur.rowcount)
    value = "\\' or 1=1; drop table py_things; -- it's\\"
    print("hostile", cur.execute("select %s", (value,)).fetchone() == (value,))
    cur.execute("update py_things set label = 'one' where id = 1")
    print("updated", cur.rowcount)
    print("dictionary", c.cursor(sf.DictCursor).execute("select id, label from py_things").fetchall())
    print("several", [r.fetchall() for r in c.execute_string("select 1; select 2")])
    cur.execute("select 1 as a; select 'two' as b", num_statements=2)
    first = cur.fetchall()
    print("sets", first, bool(cur.nextset()), cur.fetchall(), cur.nextset())
    cur.execute("alter session set TIMEZONE = 'Europe/Berlin'")
    print("zone", cur.execute("select timestamptz '2024-07-01 12:00:00+00' as tz").fetchone()[0].isoformat())
    cur.execute("use schema memory.main")
    print("place", c.database, c.schema)
    print("numbers", *[number(lambda: cur.execute(sql)) for sql in ("selec 1", "select * from nowhere", "use role admin")])
    try:
        cur.execute("select * from nowhere")
    except ProgrammingError as error:
        print("state", error.sqlstate, len(error.sfqid))
    print("described", [d.name for d in cur.describe("select 1 as a, 'x' as b")])
    cur.execute_async("select sum(i) from range(1000) r(i)")
    query = cur.sfqid
    later = c.cursor()
    later.get_results_from_sfqid(query)
    print("later", later.fetchall(), c.get_query_status(query).name)

with sf.connect(**place, **password, **quick, paramstyle="qmark") as c:
    cur = c.cursor()
    cur.execute("insert into py_things values (?, ?, ?)", (2, None, None))
    cur.executemany("insert into py_things values (?, ?, ?)", [(i, f"n{i}", None) for i in range(3, 2503)])
    print("bound", cur.rowcount, cur.execute("select count(*), count(label) from py_things where id > ?", (1,)).fetchone())

with connect(autocommit=False) as c:
    c.cursor().execute("delete from py_things")
    c.rollback()
    c.cursor().execute("delete from py_things where id > 2")
    c.commit()
with connect() as c:
    print("transactions", c.cursor().execute("select count(*) from py_things").fetchone())

engine = sa.create_engine(
    "snowflake://ann:ann-secret@acme/memory/main",
    connect_args={**place, **quick},
)
with engine.begin() as connection:
    print("version", connection.dialect.server_version_info, connection.dialect.default_schema_name)
    items = sa.Table("py_items", sa.MetaData(), sa.Column("id", sa.Integer), sa.Column("name", sa.String), sa.Column("price", sa.Numeric(10, 2)))
    connection.execute(sa.text("create or replace table py_items (id integer primary key, name varchar, price decimal(10, 2))"))
    connection.execute(items.insert(), [{"id": 1, "name": "a", "price": 1.5}, {"id": 2, "name": "b", "price": 2}])
    print("selected", connection.execute(sa.select(items).where(items.c.price > 1.75)).fetchall())
inspector = sa.inspect(engine)
print("tables", sorted(inspector.get_table_names()), inspector.get_schema_names(), inspector.has_table("py_items"), inspector.has_table("nowhere"))
print("columns", [(c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns("py_items")])
reflected = sa.Table("py_items", sa.MetaData(), autoload_with=engine)
print("keys", reflected.columns.keys(), [c.name for c in reflected.primary_key], [c.type for c in reflected.columns][2].precision)
with engine.connect() as connection:
    print("reflected", connection.execute(sa.select(reflected.c.name).order_by(reflected.c.id)).scalars().all())
    connection.execute(items.delete())
    connection.rollback()
    print("kept", connection.execute(sa.select(sa.func.count()).select_from(items)).scalar())

with connect() as c:
    cur = c.cursor()

    def run():
        try:
            cur.execute(endless)
        except DatabaseError as error:
            print("cancelled", error.errno)

    running = threading.Thread(target=run)
    running.start()
    sys.stdin.readline()
    c._cancel_query(endless, cur._request_id)
    running.join()
