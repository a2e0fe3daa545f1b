"""
What SQLAlchemy's own suite asks of a server, but for temporary tables: those are refused where sessions share
connections, and the classes that make one beside their other tables would say nothing of anything else.
"""

from sqlalchemy.testing import exclusions
from test.requirements import DefaultRequirements

TEMPORARY = """
create_temp_table_as has_temp_table temp_table_comment_reflection temp_table_names temp_table_reflect_indexes
temp_table_reflection temporary_tables temporary_views
""".split()


class Requirements(DefaultRequirements):
    pass


for name in TEMPORARY:
    setattr(Requirements, name, property(lambda self: exclusions.closed()))
