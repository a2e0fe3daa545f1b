{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}
select id, name || '-{{ var("round") }}' as label, score from {{ ref('people') }}
{% if is_incremental() %} where id > (select max(id) - 2 from {{ this }}) {% endif %}
