import pytest
from sqlalchemy import CheckConstraint
from sqlalchemy.dialects import registry
from sqlalchemy.ext.compiler import compiles

# The wheel of the dialect registers itself as `trino` only, and the suite asks by driver.
registry.register("trino.rest", "trino.sqlalchemy.dialect", "TrinoDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403
from sqlalchemy.testing.provision import delete_from_all_tables  # noqa: E402


@compiles(CheckConstraint, "trino")
def _unchecked(_constraint, _compiler, **_options):
    """Trino's tables have none, as its dialect says of keys only."""


@delete_from_all_tables.for_db("trino")
def _truncated(connection, cfg, metadata):
    """Tables of Trino's memory catalog can be emptied, and no row of them deleted."""
    name_of = connection.dialect.identifier_preparer.format_table
    for table in reversed(metadata.sorted_tables):
        connection.exec_driver_sql(f"TRUNCATE TABLE {name_of(table)}")
