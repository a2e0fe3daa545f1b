{{ config(materialized='ephemeral') }}
select id, score * 2 as doubled from {{ ref('scored') }}
