{{ config(materialized='incremental', unique_key='id', incremental_strategy='delete+insert') }}
select d.id, d.doubled from {{ ref('doubled') }} d
