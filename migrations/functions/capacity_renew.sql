-- Null when the caller is not known. Rows are locked in the order of their key.
CREATE OR REPLACE FUNCTION capacity_renew(p_instance text, p_token text, p_leases jsonb, p_lease bigint)
RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  v_now bigint := capacity_now();
  v_renewed jsonb;
BEGIN
  IF p_token IS NOT NULL AND NOT EXISTS (
    SELECT FROM worker_registry WHERE instance_id = p_instance AND token_hash = p_token) THEN
    RETURN NULL;
  END IF;
  INSERT INTO capacity_instances AS i (instance, seen_at) VALUES (p_instance, v_now)
  ON CONFLICT (instance) DO UPDATE SET seen_at = v_now WHERE NOT i.dead;
  IF NOT FOUND THEN RETURN NULL; END IF;
  WITH found AS MATERIALIZED (
    SELECT s.scope, s.slot, x.lease, x.query
    FROM jsonb_to_recordset(p_leases) AS x (cluster text, slot integer, lease text, query text)
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group <> ''
    JOIN capacity_slots s ON s.scope = n.id AND s.slot = x.slot AND s.lease = x.lease
      AND s.instance = p_instance
    ORDER BY s.scope, s.slot FOR UPDATE OF s
  ), renewed AS (
    UPDATE capacity_slots s SET state = 'held', expires_at = v_now + p_lease, absent_at = NULL,
      query_id = coalesce(f.query, s.query_id)
    FROM found f WHERE s.scope = f.scope AND s.slot = f.slot AND s.lease = f.lease RETURNING s.lease
  )
  SELECT coalesce(jsonb_agg(lease), '[]') INTO v_renewed FROM renewed;
  RETURN v_renewed;
END
$$;
