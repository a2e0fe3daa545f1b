{{ config(materialized='table') }}
select extract(year from born) as year, count(*) as people, sum(score) as total
from {{ ref('scored') }}
group by extract(year from born)
