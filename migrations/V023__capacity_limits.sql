-- V023: a lease says how long its statements may run, the slot remembers it, and each listing of an engine
-- counts once. Quick: two columns on small tables, and functions anew.
ALTER TABLE "capacity_instances" ADD COLUMN "sends_limits" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE "capacity_slots" ADD COLUMN "heard_at" bigint;
--> statement-breakpoint
-- Whoever holds these was not told of their limits.
UPDATE "capacity_slots" SET "max_execution_ms" = NULL WHERE "max_execution_ms" IS NOT NULL;
--> statement-breakpoint
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
    heard_at = NULL, max_execution_ms = NULL
  FROM gone g WHERE s.scope = g.scope AND s.slot = g.slot AND s.lease = g.lease;
  PERFORM capacity_fit(id) FROM capacity_scopes WHERE draining;
END
$$;
--> statement-breakpoint
-- Takes a free slot of a scope for each of the arrays' places, as far as they go, each with one of its
-- cluster where that has a cap. Who can not lock a row at once takes the next. Rows are updated by where
-- they lie: tables this small and busy have no statistics to choose an index by.
CREATE OR REPLACE FUNCTION capacity_take(p_scope integer, p_instances text[], p_requests text[], p_queries text[],
  p_now bigint, p_until bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
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
      granted_at = p_now, expires_at = p_until, max_execution_ms = CASE WHEN EXISTS (
        SELECT FROM capacity_instances i WHERE i.instance = p_instances[u.n] AND i.sends_limits)
        THEN v_scope.max_execution_ms END
    FROM unnest(v_own[1:v_count]) WITH ORDINALITY AS u (place, n)
    WHERE s.ctid = u.place RETURNING u.n, s.slot, s.lease, s.max_execution_ms
  )
  SELECT jsonb_agg(jsonb_build_object('n', n, 'cluster', v_scope.cluster, 'scope', p_scope,
    'slot', slot, 'lease', lease, 'maxExecutionMs', max_execution_ms)) INTO v_taken FROM one;
  RETURN v_taken;
END
$$;
--> statement-breakpoint
-- What of an earlier answer is still held, with the time it has left.
CREATE OR REPLACE FUNCTION capacity_still(p_leases jsonb, p_instance text, p_now bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('cluster', l.cluster, 'slot', l.slot, 'lease', l.lease,
    'expiresInMs', greatest(0, s.expires_at - p_now), 'maxExecutionMs', s.max_execution_ms)), '[]')
  FROM jsonb_to_recordset(p_leases) AS l (cluster text, scope integer, slot integer, lease text)
  JOIN capacity_slots s ON s.scope = l.scope AND s.slot = l.slot AND s.lease = l.lease
    AND s.instance = p_instance AND s.state = 'held'
$$;
--> statement-breakpoint
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
  -- query yet, and not taken while somebody waits.
  v_free := NOT EXISTS (SELECT FROM capacity_waiters WHERE lease IS NULL);
  FOR r IN
    SELECT n.id, array_agg(x.op ORDER BY x.op) AS ops, array_agg(x.who ORDER BY x.op) AS instances,
      array_agg(x.request ORDER BY x.op) AS requests, array_agg(x.query ORDER BY x.op) AS queries
    FROM (
      SELECT a.op, a.request, a.query, a.cluster_group, a.candidates[1] AS cluster, v_callers[a.caller] AS who
      FROM jsonb_to_recordset(p -> 'acquires') AS a (op integer, caller integer, request text,
        cluster_group text, candidates text[], query text, want integer), generate_series(1, a.want)
    ) AS x
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group = x.cluster_group
    WHERE x.who IS NOT NULL AND (v_free OR x.query IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM capacity_answers o WHERE o.instance = x.who AND o.request_id = x.request)
      AND NOT EXISTS (SELECT FROM capacity_waiters w WHERE w.instance = x.who AND w.query_id = x.query)
    GROUP BY n.id ORDER BY n.id
  LOOP
    v_taken := capacity_take(r.id, r.instances, r.requests, r.queries, v_now, v_now + v_lease);
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
    FOR g IN
      SELECT n.id FROM unnest(r.candidates) WITH ORDINALITY AS c (cluster, place)
      JOIN capacity_scopes n ON n.cluster = c.cluster AND n.cluster_group = r.cluster_group
      ORDER BY c.place
    LOOP
      v_scopes := v_scopes || g.id;
      CONTINUE WHEN jsonb_array_length(v_granted) >= r.want;
      -- Leases ahead are for nobody's query yet, and not taken where one waits.
      CONTINUE WHEN r.query IS NULL AND EXISTS (
        SELECT FROM capacity_waiters w WHERE w.lease IS NULL AND w.expires_at > v_now
          AND w.scopes && array(SELECT o.id FROM capacity_scopes o JOIN capacity_scopes t
            ON t.cluster = o.cluster WHERE t.id = g.id));
      v_count := r.want - jsonb_array_length(v_granted);
      v_granted := v_granted || capacity_take(g.id, array_fill(v_who, ARRAY[v_count]),
        array_fill(r.request, ARRAY[v_count]), array_fill(r.query, ARRAY[v_count]), v_now, v_now + v_lease);
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
        r.age, v_process, v_now, v_waiter_ms);
      v_answer := coalesce(v_answer, '{"queueFull": true}') || jsonb_build_object('op', r.op);
    END IF;
    v_answers := v_answers || v_answer;
  END LOOP;

  RETURN jsonb_build_object('callers', to_jsonb(v_callers), 'left', v_left,
    'released', to_jsonb(v_ops), 'acquired', to_jsonb(v_answers), 'handed', v_handed);
END
$$;
--> statement-breakpoint
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
--> statement-breakpoint
-- Changes whenever something does that a verdict about a suspect rests on.
CREATE OR REPLACE FUNCTION capacity_version(p_slot capacity_slots) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('/', p_slot.expires_at, coalesce(p_slot.absent_at, 0),
    coalesce(p_slot.heard_at, 0), coalesce(
    (SELECT concat(i.seen_at, i.dead) FROM capacity_instances i WHERE i.instance = p_slot.instance), ''))
$$;
--> statement-breakpoint
-- Does what was decided about a suspect, if it is still the one that was looked at.
CREATE OR REPLACE FUNCTION capacity_settle(p jsonb) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_now bigint;
  v_slot record;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  IF NOT EXISTS (SELECT FROM sweep_locks WHERE name = p ->> 'name' AND token = (p ->> 'token')::bigint) THEN
    RETURN '{"kind": "fenced"}';
  END IF;
  SELECT s.scope, s.slot, s.instance, s.lease INTO v_slot
  FROM capacity_scopes n JOIN capacity_slots s ON s.scope = n.id
  WHERE n.cluster = p ->> 'cluster' AND n.cluster_group <> '' AND s.slot = (p ->> 'slot')::integer
    AND s.lease = p ->> 'lease' AND s.state = 'suspect' AND capacity_version(s) = p ->> 'version'
  FOR UPDATE OF s;
  IF NOT FOUND THEN RETURN '{"kind": "moved"}'; END IF;
  IF p ->> 'advice' <> 'freed' THEN
    UPDATE capacity_slots SET absent_at = CASE p ->> 'absent'
      WHEN 'begins' THEN v_now WHEN 'stays' THEN absent_at END,
      heard_at = greatest(heard_at, (p ->> 'listing')::bigint)
    WHERE scope = v_slot.scope AND slot = v_slot.slot;
    RETURN '{"kind": "settled", "handed": []}';
  END IF;
  INSERT INTO capacity_lost (instance, lease, at) VALUES (v_slot.instance, v_slot.lease, v_now)
  ON CONFLICT DO NOTHING;
  PERFORM capacity_free(ARRAY[v_slot.scope], ARRAY[v_slot.slot]);
  RETURN jsonb_build_object('kind', 'settled', 'handed', capacity_hand_over_all(
    ARRAY[p ->> 'cluster'], p ->> 'process', v_now, (p ->> 'leaseMs')::bigint, (p ->> 'handOverMs')::bigint));
END
$$;
--> statement-breakpoint
-- Frees a suspect on somebody's word. Null when there is no such suspect.
CREATE FUNCTION capacity_free_by_hand(p jsonb) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_now bigint;
  v_slot record;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  SELECT s.scope, s.slot, s.instance, s.lease INTO v_slot
  FROM capacity_scopes n JOIN capacity_slots s ON s.scope = n.id
  WHERE n.cluster = p ->> 'cluster' AND n.cluster_group <> '' AND s.slot = (p ->> 'slot')::integer
    AND s.lease = p ->> 'lease' AND s.state = 'suspect'
  FOR UPDATE OF s;
  IF NOT FOUND THEN RETURN NULL; END IF;
  INSERT INTO capacity_lost (instance, lease, at) VALUES (v_slot.instance, v_slot.lease, v_now)
  ON CONFLICT DO NOTHING;
  PERFORM capacity_free(ARRAY[v_slot.scope], ARRAY[v_slot.slot]);
  RETURN capacity_hand_over_all(ARRAY[p ->> 'cluster'], p ->> 'process', v_now,
    (p ->> 'leaseMs')::bigint, (p ->> 'handOverMs')::bigint);
END
$$;
