-- What of an earlier answer is still held, with the time it has left.
CREATE OR REPLACE FUNCTION capacity_still(p_leases jsonb, p_instance text, p_now bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('cluster', l.cluster, 'slot', l.slot, 'lease', l.lease,
    'expiresInMs', greatest(0, s.expires_at - p_now), 'maxExecutionMs', s.max_execution_ms)), '[]')
  FROM jsonb_to_recordset(p_leases) AS l (cluster text, scope integer, slot integer, lease text)
  JOIN capacity_slots s ON s.scope = l.scope AND s.slot = l.slot AND s.lease = l.lease
    AND s.instance = p_instance AND s.state = 'held'
$$;
