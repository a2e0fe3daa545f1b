{{ config(materialized='table') }}
select id, case when id = {{ var("round") }} then 'changed' else 'kept' end as state
from {{ ref('people') }} where id <> 5 - {{ var("round") }}
