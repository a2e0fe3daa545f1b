{{ config(materialized='view') }}
select id, name, born, score from {{ ref('people') }} where score is not null
