"""
What SQLAlchemy's suite may ask of Trino. Trino has no keys, indexes, sequences or generated values, and its memory
catalog neither updates nor deletes; a test that asks for one would say nothing about who stands between.
"""

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

CLOSED = """
autoincrement_insert empty_inserts foreign_key_constraint_reflection index_reflection
has_temp_table named_constraints implicitly_named_constraints on_update_cascade
primary_key_constraint_reflection reflect_indexes_with_ascdesc indexes_with_ascdesc sane_rowcount savepoints
self_referential_foreign_keys temp_table_reflection temporary_tables temp_table_reflect_indexes
unique_constraint_reflection duplicate_key_raises_integrity_error date_coerces_from_datetime
""".split()

OPEN = """
array_type binary_comparisons create_or_replace_view create_table_as ctes comment_reflection datetime_historic
date_historic datetime_interval datetime_literals datetime_timezone except_ fetch_first fetch_no_order_by
implements_get_lastrowid infinity_floats intersect isolation_level json_type nullsordering
order_by_label_with_expression precision_numerics_enotation_large precision_numerics_many_significant_digits
regexp_match schemas schema_reflection supports_is_distinct_from table_ddl_if_exists table_value_constructor
time_timezone timestamp_microseconds tuple_in unicode_ddl update_where_target_in_subquery uuid_data_type views
view_reflection view_column_reflection window_functions window_range
""".split()


class Requirements(SuiteRequirements):
    def get_order_by_collation(self, config):
        raise NotImplementedError()

    def get_isolation_levels(self, config):
        levels = ["AUTOCOMMIT", "READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE"]
        return {"default": "AUTOCOMMIT", "supported": levels}


def _fixed(rule):
    return property(lambda self: rule())


for name in CLOSED:
    setattr(Requirements, name, _fixed(exclusions.closed))
for name in OPEN:
    setattr(Requirements, name, _fixed(exclusions.open))
