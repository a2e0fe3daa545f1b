-- Leases that others handed to waiters of this process. From now on they live as long as any.
CREATE OR REPLACE FUNCTION capacity_collect(p_process text, p_lease bigint) RETURNS jsonb LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
  WITH mine AS (
    UPDATE capacity_slots s SET expires_at = capacity_now() + p_lease
    FROM capacity_waiters w JOIN capacity_scopes n ON n.id = w.scope
    WHERE w.held_by = p_process AND w.lease IS NOT NULL
      AND s.scope = w.scope AND s.slot = w.slot AND s.lease = w.lease AND s.state = 'held'
    RETURNING w.instance, w.query_id, n.cluster, s.slot, s.lease, s.max_execution_ms
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('instance', instance, 'query', query_id, 'granted',
    jsonb_build_array(jsonb_build_object('cluster', cluster, 'slot', slot, 'lease', lease,
      'maxExecutionMs', max_execution_ms)))), '[]')
  FROM mine
$$;
