-- Shuts the waiters whose user holds all that it may, and opens the others. Who is opened comes after those
-- who waited open meanwhile: otherwise its old turns would take each slot that its user gives back.
CREATE OR REPLACE FUNCTION capacity_shut() RETURNS void LANGUAGE sql VOLATILE AS $$
  WITH capped AS (
    SELECT cluster_group, max(max_running_per_user) AS most FROM capacity_scopes
    WHERE max_running_per_user IS NOT NULL GROUP BY cluster_group
  ), held AS (
    SELECT n.cluster_group, s.user_name, count(*) AS held
    FROM capacity_scopes n JOIN capacity_slots s ON s.scope = n.id AND s.user_name IS NOT NULL
    WHERE n.cluster_group IN (SELECT cluster_group FROM capped) GROUP BY n.cluster_group, s.user_name
  ), open AS (
    SELECT cluster_group, min(turn) AS turn FROM capacity_waiters
    WHERE lease IS NULL AND NOT shut GROUP BY cluster_group
  ), due AS (
    SELECT w.instance, w.query_id, coalesce(h.held >= c.most, false) AS shut,
      greatest(0, o.turn + 1 - min(w.turn) OVER (PARTITION BY w.cluster_group, w.user_name)) AS later
    FROM capacity_waiters w
    LEFT JOIN capped c ON c.cluster_group = w.cluster_group
    LEFT JOIN held h ON h.cluster_group = w.cluster_group AND h.user_name = w.user_name
    LEFT JOIN open o ON o.cluster_group = w.cluster_group
    WHERE w.lease IS NULL
  )
  UPDATE capacity_waiters w SET shut = d.shut, turn = w.turn + CASE WHEN d.shut THEN 0 ELSE d.later END
  FROM due d WHERE w.instance = d.instance AND w.query_id = d.query_id AND w.shut <> d.shut
$$;
