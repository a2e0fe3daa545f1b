-- A program of before this version knows nothing of limits of users, and leaves them as they are. True when the limits were applied, null when newer ones hold.
CREATE OR REPLACE FUNCTION capacity_limit(p jsonb) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_now bigint;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  INSERT INTO capacity_state AS o (epoch, sequence) VALUES ((p ->> 'epoch')::bigint, (p ->> 'sequence')::bigint)
  ON CONFLICT (only_row) DO UPDATE SET epoch = excluded.epoch, sequence = excluded.sequence
  WHERE (o.epoch, o.sequence) <= (excluded.epoch, excluded.sequence);
  IF NOT FOUND THEN RETURN NULL; END IF;

  INSERT INTO capacity_groups AS o (cluster_group, weight, max_queued, wait_ms)
  SELECT x.cluster_group, x.weight, x.max_queued, x.wait_ms FROM jsonb_to_recordset(p -> 'groups')
    AS x (cluster_group text, weight double precision, max_queued integer, wait_ms bigint)
  ON CONFLICT (cluster_group) DO UPDATE SET weight = excluded.weight, max_queued = excluded.max_queued,
    wait_ms = excluded.wait_ms;
  DELETE FROM capacity_groups o WHERE NOT EXISTS (
    SELECT FROM jsonb_to_recordset(p -> 'groups') AS x (cluster_group text) WHERE x.cluster_group = o.cluster_group);

  INSERT INTO capacity_scopes AS o (cluster, cluster_group, max_running, max_execution_ms, max_running_per_user)
  SELECT x.cluster, x.cluster_group, x.max_running, x.max_execution_ms, x.max_running_per_user
  FROM jsonb_to_recordset(p -> 'scopes') AS x (cluster text, cluster_group text, max_running integer,
    max_execution_ms bigint, max_running_per_user integer)
  ON CONFLICT (cluster, cluster_group) DO UPDATE SET max_running = excluded.max_running,
    max_execution_ms = excluded.max_execution_ms, complete = false, max_running_per_user =
      CASE WHEN p ? 'users' THEN excluded.max_running_per_user ELSE o.max_running_per_user END
  WHERE o.max_running IS DISTINCT FROM excluded.max_running
    OR o.max_execution_ms IS DISTINCT FROM excluded.max_execution_ms
    OR o.max_running_per_user IS DISTINCT FROM excluded.max_running_per_user;
  UPDATE capacity_scopes o SET max_running = CASE WHEN o.cluster_group <> '' THEN 0 END, complete = false,
    max_running_per_user = NULL
  WHERE NOT EXISTS (
    SELECT FROM jsonb_to_recordset(p -> 'scopes') AS x (cluster text, cluster_group text)
    WHERE x.cluster = o.cluster AND x.cluster_group = o.cluster_group);
  -- A cluster without a cap of its own has no rows.
  UPDATE capacity_slots s SET cluster_slot = NULL
  FROM capacity_scopes n JOIN capacity_scopes c
    ON c.cluster = n.cluster AND c.cluster_group = '' AND c.max_running IS NULL
  WHERE s.scope = n.id AND s.cluster_slot IS NOT NULL;
  DELETE FROM capacity_slots s USING capacity_scopes c
  WHERE s.scope = c.id AND c.cluster_group = '' AND c.max_running IS NULL;
  -- One that got a cap has one for each lease that was given without.
  WITH bare AS (
    SELECT s.scope, s.slot, s.lease, c.id AS cluster_scope,
      row_number() OVER (PARTITION BY c.id ORDER BY s.scope, s.slot) + coalesce(
        (SELECT max(m.slot) FROM capacity_slots m WHERE m.scope = c.id), -1) AS cluster_slot
    FROM capacity_scopes c
    JOIN capacity_scopes n ON n.cluster = c.cluster AND n.cluster_group <> ''
    JOIN capacity_slots s ON s.scope = n.id AND s.state <> 'free' AND s.cluster_slot IS NULL
    WHERE c.cluster_group = '' AND c.max_running IS NOT NULL
  ), made AS (
    INSERT INTO capacity_slots (scope, slot, state, lease)
    SELECT cluster_scope, cluster_slot, 'held', lease FROM bare
  )
  UPDATE capacity_slots s SET cluster_slot = b.cluster_slot FROM bare b
  WHERE s.scope = b.scope AND s.slot = b.slot;
  PERFORM capacity_fit(id) FROM capacity_scopes WHERE draining OR NOT complete;
  PERFORM capacity_shut();
  -- Without it the first minutes know nothing of the rows, and a slot is looked for in its whole scope.
  ANALYZE capacity_slots;
  RETURN capacity_hand_over_all(array(SELECT DISTINCT cluster FROM capacity_scopes), p ->> 'process',
    v_now, (p ->> 'leaseMs')::bigint, (p ->> 'handOverMs')::bigint);
END
$$;
