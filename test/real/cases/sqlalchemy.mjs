/** SQLAlchemy over psycopg 2: reflection as Superset and Alembic do it. */
import { deepStrictEqual } from "node:assert/strict";
import { runPython } from "./pythonPostgresTool.mjs";

const prelude = `
import json, sys, sqlalchemy as sa
engine = sa.create_engine(f"postgresql+psycopg2://alice@127.0.0.1:{sys.argv[1]}/memory")
`;

export const sqlalchemyCases = {
  tool: "pythonPostgres",
  cases: {
    "SQLAlchemy: reflects schemas, tables and columns": async (gateway) => {
      const seen = await runPython(
        gateway,
        `${prelude}
i = sa.inspect(engine)
columns = [[c["name"], str(c["type"])] for c in i.get_columns("orders")]
print(json.dumps([i.default_schema_name, sorted(i.get_schema_names()), columns[:3], i.has_table("nowhere")]))`,
      );
      deepStrictEqual(seen, [
        "main",
        ["information_schema", "main"],
        [
          ["order_id", "INTEGER"],
          ["customer_id", "INTEGER"],
          ["ordered_at", "TIMESTAMP"],
        ],
        false,
      ]);
    },
    "SQLAlchemy: sees tables, keys and views that it made, at once": async (gateway) => {
      const seen = await runPython(
        gateway,
        `${prelude}
m = sa.MetaData()
parent = sa.Table("sa_parent", m, sa.Column("id", sa.Integer, primary_key=True, autoincrement=False))
sa.Table("sa_child", m, sa.Column("id", sa.Integer, primary_key=True, autoincrement=False), sa.Column("parent", sa.ForeignKey("sa_parent.id")), sa.Column("name", sa.String, unique=True))
m.create_all(engine)
with engine.begin() as c:
    c.execute(sa.text("create view sa_view as select * from sa_child"))
i = sa.inspect(engine)
found = [i.get_pk_constraint("sa_child")["constrained_columns"], [(k["constrained_columns"], k["referred_table"]) for k in i.get_foreign_keys("sa_child")], [u["column_names"] for u in i.get_unique_constraints("sa_child")], i.get_view_names()]
with engine.begin() as c:
    c.execute(sa.text("drop view sa_view"))
m.drop_all(engine)
print(json.dumps([*found, sa.inspect(engine).has_table("sa_child")]))`,
      );
      deepStrictEqual(seen, [["id"], [[["parent"], "sa_parent"]], [["name"]], ["sa_view"], false]);
    },
  },
};
