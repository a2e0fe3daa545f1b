-- Everything that waited at one moment in one process: what frees comes first, so that what asks finds it.
CREATE OR REPLACE FUNCTION capacity_step(p jsonb) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  v_process text := p ->> 'process';
  v_lease bigint := (p ->> 'leaseMs')::bigint;
  v_hand_over bigint := (p ->> 'handOverMs')::bigint;
  v_waiter_ms bigint := (p ->> 'waiterMs')::bigint;
  v_now bigint;
  v_callers text[];
  v_who text;
  v_ops integer[];
  v_scopes integer[];
  v_slots integer[];
  v_clusters text[];
  v_left jsonb := '[]';
  v_answer jsonb;
  v_answers jsonb[] := '{}';
  v_free boolean;
  v_done integer[] := '{}';
  v_handed jsonb := '[]';
  v_granted jsonb;
  v_taken jsonb;
  v_waiter record;
  v_earlier jsonb;
  v_count integer;
  v_room bigint;
  r record;
  g record;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  SELECT array_agg(CASE WHEN (x.token IS NULL OR EXISTS (
      SELECT FROM worker_registry w WHERE w.instance_id = x.instance AND w.token_hash = x.token))
    AND NOT EXISTS (SELECT FROM capacity_instances i WHERE i.instance = x.instance AND i.dead)
    THEN x.instance END ORDER BY x.n)
  INTO v_callers FROM jsonb_to_recordset(p -> 'callers') AS x (n integer, instance text, token text);

  -- Limits count from the first question on in which the caller says that it sends them.
  INSERT INTO capacity_instances AS i (instance, seen_at, sends_limits)
  SELECT x.instance, v_now, true FROM jsonb_to_recordset(p -> 'callers')
    AS x (n integer, instance text, limits boolean)
  WHERE x.limits AND v_callers[x.n] IS NOT NULL AND NOT EXISTS (
    SELECT FROM capacity_instances k WHERE k.instance = x.instance AND k.sends_limits)
  ON CONFLICT (instance) DO UPDATE SET sends_limits = true;

  IF p ? 'taken' THEN
    DELETE FROM capacity_waiters w USING jsonb_to_recordset(p -> 'taken') AS x (instance text, query text)
    WHERE w.instance = x.instance AND w.query_id = x.query AND w.lease IS NOT NULL;
  END IF;
  IF p ? 'missed' THEN
    UPDATE capacity_slots s SET expires_at = least(s.expires_at, v_now + v_hand_over)
    FROM jsonb_to_recordset(p -> 'missed') AS x (instance text, query text)
    JOIN capacity_waiters w ON w.instance = x.instance AND w.query_id = x.query
    WHERE s.scope = w.scope AND s.slot = w.slot AND s.lease = w.lease;
  END IF;
  IF p ? 'unheld' THEN
    UPDATE capacity_waiters w SET expires_at = least(w.expires_at, v_now + 2000), held_by = ''
    FROM jsonb_to_recordset(p -> 'unheld') AS x (instance text, query text)
    WHERE w.instance = x.instance AND w.query_id = x.query AND w.held_by = v_process;
  END IF;

  FOR r IN SELECT * FROM jsonb_to_recordset(p -> 'leaves') AS x (op integer, caller integer, query text) LOOP
    DELETE FROM capacity_waiters w WHERE w.instance = v_callers[r.caller] AND w.query_id = r.query
    RETURNING w.lease, w.scope, w.slot INTO v_waiter;
    CONTINUE WHEN NOT FOUND;
    v_left := v_left || to_jsonb(r.op);
    -- It was given a lease, and nobody can say whether somebody heard of that: the engine is asked.
    IF v_waiter.lease IS NOT NULL THEN
      UPDATE capacity_slots SET expires_at = least(expires_at, v_now)
      WHERE scope = v_waiter.scope AND slot = v_waiter.slot AND lease = v_waiter.lease;
    END IF;
  END LOOP;

  IF p ? 'releases' THEN
    SELECT array_agg(f.op), array_agg(f.scope), array_agg(f.slot), array_agg(DISTINCT f.cluster)
    INTO v_ops, v_scopes, v_slots, v_clusters FROM (
      SELECT DISTINCT ON (s.scope, s.slot) x.op, s.scope, s.slot, n.cluster
      FROM jsonb_to_recordset(p -> 'releases') AS x (op integer, caller integer, cluster text, slot integer, lease text)
      JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group <> ''
      JOIN capacity_slots s ON s.scope = n.id AND s.slot = x.slot AND s.lease = x.lease
        AND s.instance = v_callers[x.caller]
      ORDER BY s.scope, s.slot
    ) AS f;
    IF v_scopes IS NOT NULL THEN
      PERFORM capacity_free(v_scopes, v_slots);
      v_handed := capacity_hand_over_all(v_clusters, v_process, v_now, v_lease, v_hand_over);
    END IF;
  END IF;

  -- New questions whose best candidate has room: all of them at once. Leases ahead are for nobody's
  -- query yet, and not taken while somebody waits. Where users have a limit each is looked at alone, below.
  v_free := NOT EXISTS (SELECT FROM capacity_waiters WHERE lease IS NULL AND NOT shut);
  FOR r IN
    SELECT n.id, array_agg(x.op ORDER BY x.op) AS ops, array_agg(x.who ORDER BY x.op) AS instances,
      array_agg(x.request ORDER BY x.op) AS requests, array_agg(x.query ORDER BY x.op) AS queries
    FROM (
      SELECT a.op, a.request, a.query, a.cluster_group, a.candidates[1] AS cluster, v_callers[a.caller] AS who
      FROM jsonb_to_recordset(p -> 'acquires') AS a (op integer, caller integer, request text,
        cluster_group text, candidates text[], query text, want integer), generate_series(1, a.want)
    ) AS x
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group = x.cluster_group
    WHERE x.who IS NOT NULL AND n.max_running_per_user IS NULL AND (v_free OR x.query IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM capacity_answers o WHERE o.instance = x.who AND o.request_id = x.request)
      AND NOT EXISTS (SELECT FROM capacity_waiters w WHERE w.instance = x.who AND w.query_id = x.query)
    GROUP BY n.id ORDER BY n.id
  LOOP
    v_taken := capacity_take(r.id, r.instances, r.requests, r.queries, NULL, v_now, v_now + v_lease);
    CONTINUE WHEN v_taken = '[]';
    WITH got AS MATERIALIZED (
      SELECT t.n, r.ops[t.n] AS op, jsonb_build_object('cluster', t.cluster, 'scope', t.scope,
        'slot', t.slot, 'lease', t.lease, 'maxExecutionMs', t."maxExecutionMs") AS lease
      FROM jsonb_to_recordset(v_taken) AS t (n integer, cluster text, scope integer, slot integer,
        lease text, "maxExecutionMs" bigint)
    ), answer AS MATERIALIZED (
      SELECT op, min(n) AS n, jsonb_agg(lease) AS leases FROM got GROUP BY op
    ), kept AS (
      INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
      SELECT r.instances[n], r.requests[n], leases, v_now + v_lease FROM answer ON CONFLICT DO NOTHING
    )
    SELECT v_answers || array_agg(jsonb_build_object('op', op, 'granted', leases)), v_done || array_agg(op)
    INTO v_answers, v_done FROM answer;
  END LOOP;

  FOR r IN SELECT * FROM jsonb_to_recordset(p -> 'acquires') AS x (op integer, caller integer,
    request text, cluster_group text, candidates text[], query text, user_name text, age bigint,
    want integer, waits boolean) WHERE x.op <> ALL (v_done)
  LOOP
    v_who := v_callers[r.caller];
    IF v_who IS NULL THEN
      v_answers := v_answers || jsonb_build_object('op', r.op, 'refused', true);
      CONTINUE;
    END IF;
    -- A repeated question gets the first answer, as far as that still holds.
    SELECT leases INTO v_earlier FROM capacity_answers WHERE instance = v_who AND request_id = r.request;
    IF FOUND THEN
      v_granted := capacity_still(v_earlier, v_who, v_now);
      DELETE FROM capacity_waiters WHERE instance = v_who AND query_id = r.query AND lease IS NOT NULL
        AND request_id = r.request;
      v_answers := v_answers || jsonb_build_object('op', r.op, 'granted', v_granted);
      CONTINUE;
    END IF;
    -- Something was handed to it between two of its calls.
    IF r.query IS NOT NULL THEN
      DELETE FROM capacity_waiters WHERE instance = v_who AND query_id = r.query AND lease IS NOT NULL
      RETURNING lease, scope, slot INTO v_waiter;
      IF FOUND THEN
        UPDATE capacity_slots s SET expires_at = v_now + v_lease, state = 'held', absent_at = NULL
        FROM capacity_scopes n
        WHERE s.scope = v_waiter.scope AND s.slot = v_waiter.slot AND s.lease = v_waiter.lease
          AND n.id = s.scope
        RETURNING jsonb_build_array(jsonb_build_object('cluster', n.cluster, 'scope', s.scope,
          'slot', s.slot, 'lease', s.lease, 'maxExecutionMs', s.max_execution_ms)) INTO v_taken;
        IF FOUND THEN
          INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
          VALUES (v_who, r.request, v_taken, v_now + v_lease) ON CONFLICT DO NOTHING;
          v_answers := v_answers || jsonb_build_object('op', r.op, 'granted', v_taken);
          CONTINUE;
        END IF;
      END IF;
    END IF;
    v_granted := '[]';
    v_scopes := '{}';
    v_room := NULL;
    FOR g IN
      SELECT n.id, n.max_running_per_user FROM unnest(r.candidates) WITH ORDINALITY AS c (cluster, place)
      JOIN capacity_scopes n ON n.cluster = c.cluster AND n.cluster_group = r.cluster_group
      ORDER BY c.place
    LOOP
      v_scopes := v_scopes || g.id;
      CONTINUE WHEN jsonb_array_length(v_granted) >= r.want;
      IF g.max_running_per_user IS NOT NULL THEN
        -- A lease for nobody's query would be somebody's, uncounted.
        CONTINUE WHEN r.query IS NULL;
        v_room := capacity_user_room(r.cluster_group, r.user_name);
        CONTINUE WHEN v_room <= 0;
      END IF;
      -- Leases ahead are for nobody's query yet, and not taken where one waits.
      CONTINUE WHEN r.query IS NULL AND EXISTS (
        SELECT FROM capacity_waiters w WHERE w.lease IS NULL AND NOT w.shut AND w.expires_at > v_now
          AND w.scopes && array(SELECT o.id FROM capacity_scopes o JOIN capacity_scopes t
            ON t.cluster = o.cluster WHERE t.id = g.id));
      v_count := least(r.want - jsonb_array_length(v_granted), v_room);
      v_granted := v_granted || capacity_take(g.id, array_fill(v_who, ARRAY[v_count]),
        array_fill(r.request, ARRAY[v_count]), array_fill(r.query, ARRAY[v_count]),
        array_fill(r.user_name, ARRAY[v_count]), v_now, v_now + v_lease);
    END LOOP;
    IF v_granted <> '[]' THEN
      INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
      VALUES (v_who, r.request, v_granted, v_now + v_lease) ON CONFLICT DO NOTHING;
      IF r.query IS NOT NULL THEN
        DELETE FROM capacity_waiters WHERE instance = v_who AND query_id = r.query;
      END IF;
      v_answer := jsonb_build_object('op', r.op, 'granted', v_granted);
    ELSIF r.query IS NULL OR NOT r.waits THEN
      v_answer := jsonb_build_object('op', r.op);
    ELSE
      v_answer := capacity_wait(v_who, r.request, r.query, r.cluster_group, v_scopes, r.user_name,
        coalesce(v_room <= 0, false), r.age, v_process, v_now, v_waiter_ms);
      v_answer := coalesce(v_answer, '{"queueFull": true}') || jsonb_build_object('op', r.op, 'userFull',
        coalesce(v_room <= 0, false));
    END IF;
    v_answers := v_answers || v_answer;
  END LOOP;

  RETURN jsonb_build_object('callers', to_jsonb(v_callers), 'left', v_left,
    'released', to_jsonb(v_ops), 'acquired', to_jsonb(v_answers), 'handed', v_handed);
END
$$;
