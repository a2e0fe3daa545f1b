-- Frees leases by the rows of their groups, and the rows of their clusters with them.
CREATE OR REPLACE FUNCTION capacity_free(p_scopes integer[], p_slots integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH own AS (
    SELECT s.scope, s.slot, s.lease, s.cluster_slot, c.id AS cluster_scope
    FROM unnest(p_scopes, p_slots) AS n (scope, slot)
    JOIN capacity_slots s ON s.scope = n.scope AND s.slot = n.slot
    JOIN capacity_scopes g ON g.id = s.scope
    LEFT JOIN capacity_scopes c ON c.cluster = g.cluster AND c.cluster_group = ''
  ), gone AS (
    SELECT scope, slot, lease FROM own
    UNION ALL
    SELECT cluster_scope, cluster_slot, lease FROM own WHERE cluster_slot IS NOT NULL
  )
  UPDATE capacity_slots s SET state = 'free', lease = NULL, instance = NULL, request_id = NULL,
    query_id = NULL, cluster_slot = NULL, granted_at = NULL, expires_at = NULL, absent_at = NULL,
    heard_at = NULL, max_execution_ms = NULL, user_name = NULL
  FROM gone g WHERE s.scope = g.scope AND s.slot = g.slot AND s.lease = g.lease;
  PERFORM capacity_fit(id) FROM capacity_scopes WHERE draining;
END
$$;
