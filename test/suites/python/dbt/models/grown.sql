{{ config(materialized='incremental', incremental_strategy='append', on_schema_change='append_new_columns') }}
select id, {{ var("round") }} as round
{% if var("round") == 2 %} , cast('new' as varchar(10)) as added {% endif %}
from {{ ref('people') }}
