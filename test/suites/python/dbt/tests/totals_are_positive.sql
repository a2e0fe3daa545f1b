select * from {{ ref('by_year') }} where total <= 0
