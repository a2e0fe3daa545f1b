-- Takes a free slot of a scope for each of the arrays' places, as far as they go, each with one of its
-- cluster where that has a cap. Who can not lock a row at once takes the next. Rows are updated by where
-- they lie: tables this small and busy have no statistics to choose an index by. Where users have a limit all
-- places are of one user, for whom there is room.
CREATE OR REPLACE FUNCTION capacity_take(p_scope integer, p_instances text[], p_requests text[], p_queries text[],
  p_users text[], p_now bigint, p_until bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_scope capacity_scopes%ROWTYPE;
  v_cluster capacity_scopes%ROWTYPE;
  v_own tid[];
  v_shared tid[];
  v_shared_slots integer[];
  v_leases text[];
  v_count integer;
  v_taken jsonb;
BEGIN
  SELECT * INTO v_scope FROM capacity_scopes WHERE id = p_scope;
  SELECT * INTO v_cluster FROM capacity_scopes
  WHERE cluster = v_scope.cluster AND cluster_group = '' AND max_running IS NOT NULL;
  FOR v_try IN 1..2 LOOP
    SELECT array_agg(f.ctid), count(*) INTO v_own, v_count FROM (
      SELECT ctid FROM capacity_slots WHERE scope = p_scope AND state = 'free'
      ORDER BY slot LIMIT cardinality(p_instances) FOR UPDATE SKIP LOCKED) AS f;
    IF v_count > 0 AND v_cluster.id IS NOT NULL THEN
      SELECT array_agg(f.ctid), array_agg(f.slot), count(*) INTO v_shared, v_shared_slots, v_count FROM (
        SELECT ctid, slot FROM capacity_slots WHERE scope = v_cluster.id AND state = 'free'
        ORDER BY slot LIMIT v_count FOR UPDATE SKIP LOCKED) AS f;
    END IF;
    EXIT WHEN v_count > 0 OR (v_scope.complete AND coalesce(v_cluster.complete, true));
    -- Rows that were not made yet.
    PERFORM capacity_fit(p_scope);
    IF v_cluster.id IS NOT NULL THEN PERFORM capacity_fit(v_cluster.id); END IF;
  END LOOP;
  IF v_count = 0 THEN RETURN '[]'; END IF;
  SELECT array_agg(replace(gen_random_uuid()::text, '-', '')) INTO v_leases FROM generate_series(1, v_count);
  IF v_shared IS NOT NULL THEN
    UPDATE capacity_slots s SET state = 'held', lease = u.lease
    FROM unnest(v_shared, v_leases) AS u (place, lease) WHERE s.ctid = u.place;
  END IF;
  WITH one AS (
    UPDATE capacity_slots s SET state = 'held', lease = v_leases[u.n], instance = p_instances[u.n],
      request_id = p_requests[u.n], query_id = p_queries[u.n], cluster_slot = v_shared_slots[u.n],
      granted_at = p_now, expires_at = p_until,
      user_name = CASE WHEN v_scope.max_running_per_user IS NOT NULL THEN p_users[u.n] END, max_execution_ms = CASE WHEN EXISTS (
        SELECT FROM capacity_instances i WHERE i.instance = p_instances[u.n] AND i.sends_limits)
        THEN v_scope.max_execution_ms END
    FROM unnest(v_own[1:v_count]) WITH ORDINALITY AS u (place, n)
    WHERE s.ctid = u.place RETURNING u.n, s.slot, s.lease, s.max_execution_ms
  )
  SELECT jsonb_agg(jsonb_build_object('n', n, 'cluster', v_scope.cluster, 'scope', p_scope,
    'slot', slot, 'lease', lease, 'maxExecutionMs', max_execution_ms)) INTO v_taken FROM one;
  IF v_scope.max_running_per_user IS NOT NULL
    AND capacity_user_room(v_scope.cluster_group, p_users[1]) <= 0 THEN
    UPDATE capacity_waiters SET shut = true WHERE cluster_group = v_scope.cluster_group
      AND user_name = p_users[1] AND lease IS NULL AND NOT shut;
  END IF;
  RETURN v_taken;
END
$$;
