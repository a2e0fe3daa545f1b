"""Makes a database and the queries of TPC-H or TPC-DS: tpcData.py tpch|tpcds FOLDER."""

import glob
import json
import sys

import duckdb

name, folder = sys.argv[1:]
maker = {"tpch": "dbgen", "tpcds": "dsdgen"}[name]
package = __import__(f"duckdb_extension_{name}").__path__[0]
(extension,) = glob.glob(f"{package}/extensions/*/*.duckdb_extension")
connection = duckdb.connect(f"{folder}/{name}.duckdb")
connection.execute(f"load '{extension}'")
connection.execute(f"call {maker}(sf = 0.01)")
queries = connection.execute(f"select query_nr, query from {name}_queries()").fetchall()
with open(f"{folder}/{name}.json", "w") as file:
    json.dump([{"name": f"{name} {number}", "sql": sql} for number, sql in queries], file)
