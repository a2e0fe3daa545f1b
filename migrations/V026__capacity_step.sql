-- V026: capacity_step is divided by what is asked, into functions that can be read one by one. Its parameter and its
-- answer stay as they are, so that older replicas go on beside newer ones.
-- Callees come first; each is the file of its name in functions/.
-- The callers of a step by their place: registered under their token, and not proven dead. NULL for any other.
CREATE OR REPLACE FUNCTION capacity_callers(p_callers jsonb, p_now bigint) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  v_callers text[];
BEGIN
  SELECT array_agg(CASE WHEN (x.token IS NULL OR EXISTS (
      SELECT FROM worker_registry w WHERE w.instance_id = x.instance AND w.token_hash = x.token))
    AND NOT EXISTS (SELECT FROM capacity_instances i WHERE i.instance = x.instance AND i.dead)
    THEN x.instance END ORDER BY x.n)
  INTO v_callers FROM jsonb_to_recordset(p_callers) AS x (n integer, instance text, token text);

  -- Limits count from the first question on in which the caller says that it sends them.
  INSERT INTO capacity_instances AS i (instance, seen_at, sends_limits)
  SELECT x.instance, p_now, true FROM jsonb_to_recordset(p_callers)
    AS x (n integer, instance text, limits boolean)
  WHERE x.limits AND v_callers[x.n] IS NOT NULL AND NOT EXISTS (
    SELECT FROM capacity_instances k WHERE k.instance = x.instance AND k.sends_limits)
  ON CONFLICT (instance) DO UPDATE SET sends_limits = true;
  RETURN v_callers;
END
$$;
--> statement-breakpoint
-- What became of waiters' calls: who was told of a lease, who could not be, and whose call ended early.
CREATE OR REPLACE FUNCTION capacity_heard(p jsonb, p_process text, p_now bigint, p_hand_over bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p ? 'taken' THEN
    DELETE FROM capacity_waiters w USING jsonb_to_recordset(p -> 'taken') AS x (instance text, query text)
    WHERE w.instance = x.instance AND w.query_id = x.query AND w.lease IS NOT NULL;
  END IF;
  IF p ? 'missed' THEN
    UPDATE capacity_slots s SET expires_at = least(s.expires_at, p_now + p_hand_over)
    FROM jsonb_to_recordset(p -> 'missed') AS x (instance text, query text)
    JOIN capacity_waiters w ON w.instance = x.instance AND w.query_id = x.query
    WHERE s.scope = w.scope AND s.slot = w.slot AND s.lease = w.lease;
  END IF;
  IF p ? 'unheld' THEN
    UPDATE capacity_waiters w SET expires_at = least(w.expires_at, p_now + 2000), held_by = ''
    FROM jsonb_to_recordset(p -> 'unheld') AS x (instance text, query text)
    WHERE w.instance = x.instance AND w.query_id = x.query AND w.held_by = p_process;
  END IF;
END
$$;
--> statement-breakpoint
-- Queries that wait no more. Answers which of them did, by their place in the list.
CREATE OR REPLACE FUNCTION capacity_leave(p_leaves jsonb, p_callers text[], p_now bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  v_left jsonb := '[]';
  v_waiter record;
  r record;
BEGIN
  FOR r IN SELECT * FROM jsonb_to_recordset(p_leaves) AS x (op integer, caller integer, query text) LOOP
    DELETE FROM capacity_waiters w WHERE w.instance = p_callers[r.caller] AND w.query_id = r.query
    RETURNING w.lease, w.scope, w.slot INTO v_waiter;
    CONTINUE WHEN NOT FOUND;
    v_left := v_left || to_jsonb(r.op);
    -- It was given a lease, and nobody can say whether somebody heard of that: the engine is asked.
    IF v_waiter.lease IS NOT NULL THEN
      UPDATE capacity_slots SET expires_at = least(expires_at, p_now)
      WHERE scope = v_waiter.scope AND slot = v_waiter.slot AND lease = v_waiter.lease;
    END IF;
  END LOOP;
  RETURN v_left;
END
$$;
--> statement-breakpoint
-- Leases that their holders give back. Answers whose were held, by their place in the list, and who got the slots.
CREATE OR REPLACE FUNCTION capacity_release(p_releases jsonb, p_callers text[], p_process text, p_now bigint,
  p_lease bigint, p_hand_over bigint, OUT released integer[], OUT handed jsonb) LANGUAGE plpgsql AS $$
DECLARE
  v_scopes integer[];
  v_slots integer[];
  v_clusters text[];
BEGIN
  SELECT array_agg(f.op), array_agg(f.scope), array_agg(f.slot), array_agg(DISTINCT f.cluster)
  INTO released, v_scopes, v_slots, v_clusters FROM (
    SELECT DISTINCT ON (s.scope, s.slot) x.op, s.scope, s.slot, n.cluster
    FROM jsonb_to_recordset(p_releases) AS x (op integer, caller integer, cluster text, slot integer, lease text)
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group <> ''
    JOIN capacity_slots s ON s.scope = n.id AND s.slot = x.slot AND s.lease = x.lease
      AND s.instance = p_callers[x.caller]
    ORDER BY s.scope, s.slot
  ) AS f;
  handed := '[]';
  IF v_scopes IS NOT NULL THEN
    PERFORM capacity_free(v_scopes, v_slots);
    handed := capacity_hand_over_all(v_clusters, p_process, p_now, p_lease, p_hand_over);
  END IF;
END
$$;
--> statement-breakpoint
-- New questions whose best candidate has room: all of them at once. Leases ahead are for nobody's query yet, and
-- not taken while somebody waits. Where users have a limit each question is looked at alone (capacity_acquire).
CREATE OR REPLACE FUNCTION capacity_acquire_at_once(p_acquires jsonb, p_callers text[], p_now bigint, p_lease bigint,
  OUT answers jsonb[], OUT done integer[]) LANGUAGE plpgsql AS $$
DECLARE
  v_free boolean := NOT EXISTS (SELECT FROM capacity_waiters WHERE lease IS NULL AND NOT shut);
  v_taken jsonb;
  r record;
BEGIN
  answers := '{}';
  done := '{}';
  FOR r IN
    SELECT n.id, array_agg(x.op ORDER BY x.op) AS ops, array_agg(x.who ORDER BY x.op) AS instances,
      array_agg(x.request ORDER BY x.op) AS requests, array_agg(x.query ORDER BY x.op) AS queries
    FROM (
      SELECT a.op, a.request, a.query, a.cluster_group, a.candidates[1] AS cluster, p_callers[a.caller] AS who
      FROM jsonb_to_recordset(p_acquires) AS a (op integer, caller integer, request text,
        cluster_group text, candidates text[], query text, want integer), generate_series(1, a.want)
    ) AS x
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group = x.cluster_group
    WHERE x.who IS NOT NULL AND n.max_running_per_user IS NULL AND (v_free OR x.query IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM capacity_answers o WHERE o.instance = x.who AND o.request_id = x.request)
      AND NOT EXISTS (SELECT FROM capacity_waiters w WHERE w.instance = x.who AND w.query_id = x.query)
    GROUP BY n.id ORDER BY n.id
  LOOP
    v_taken := capacity_take(r.id, r.instances, r.requests, r.queries, NULL, p_now, p_now + p_lease);
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
      SELECT r.instances[n], r.requests[n], leases, p_now + p_lease FROM answer ON CONFLICT DO NOTHING
    )
    SELECT answers || array_agg(jsonb_build_object('op', op, 'granted', leases)), done || array_agg(op)
    INTO answers, done FROM answer;
  END LOOP;
END
$$;
--> statement-breakpoint
-- The leases that a question has already: it was answered before, or its query was given one between two of its
-- calls. NULL for a new question.
CREATE OR REPLACE FUNCTION capacity_granted_before(p_instance text, p_request text, p_query text, p_now bigint,
  p_lease bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_earlier jsonb;
  v_waiter record;
  v_granted jsonb;
BEGIN
  -- A repeated question gets the first answer, as far as that still holds.
  SELECT leases INTO v_earlier FROM capacity_answers WHERE instance = p_instance AND request_id = p_request;
  IF FOUND THEN
    v_granted := capacity_still(v_earlier, p_instance, p_now);
    DELETE FROM capacity_waiters WHERE instance = p_instance AND query_id = p_query AND lease IS NOT NULL
      AND request_id = p_request;
    RETURN v_granted;
  END IF;
  IF p_query IS NULL THEN
    RETURN NULL;
  END IF;
  DELETE FROM capacity_waiters WHERE instance = p_instance AND query_id = p_query AND lease IS NOT NULL
  RETURNING lease, scope, slot INTO v_waiter;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE capacity_slots s SET expires_at = p_now + p_lease, state = 'held', absent_at = NULL
  FROM capacity_scopes n
  WHERE s.scope = v_waiter.scope AND s.slot = v_waiter.slot AND s.lease = v_waiter.lease AND n.id = s.scope
  RETURNING jsonb_build_array(jsonb_build_object('cluster', n.cluster, 'scope', s.scope,
    'slot', s.slot, 'lease', s.lease, 'maxExecutionMs', s.max_execution_ms)) INTO v_granted;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
  VALUES (p_instance, p_request, v_granted, p_now + p_lease) ON CONFLICT DO NOTHING;
  RETURN v_granted;
END
$$;
--> statement-breakpoint
-- One new question: leases from its candidates in their order, or a place in the queue when there are none.
CREATE OR REPLACE FUNCTION capacity_acquire(p_instance text, p_request text, p_group text, p_candidates text[],
  p_query text, p_user text, p_age bigint, p_want integer, p_waits boolean, p_process text, p_now bigint,
  p_lease bigint, p_waiter_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_granted jsonb := '[]';
  v_scopes integer[] := '{}';
  v_room bigint;
  v_count integer;
  v_place jsonb;
  g record;
BEGIN
  FOR g IN
    SELECT n.id, n.max_running_per_user FROM unnest(p_candidates) WITH ORDINALITY AS c (cluster, place)
    JOIN capacity_scopes n ON n.cluster = c.cluster AND n.cluster_group = p_group
    ORDER BY c.place
  LOOP
    v_scopes := v_scopes || g.id;
    CONTINUE WHEN jsonb_array_length(v_granted) >= p_want;
    IF g.max_running_per_user IS NOT NULL THEN
      -- A lease for nobody's query would be somebody's, uncounted.
      CONTINUE WHEN p_query IS NULL;
      v_room := capacity_user_room(p_group, p_user);
      CONTINUE WHEN v_room <= 0;
    END IF;
    -- Leases ahead are for nobody's query yet, and not taken where one waits.
    CONTINUE WHEN p_query IS NULL AND EXISTS (
      SELECT FROM capacity_waiters w WHERE w.lease IS NULL AND NOT w.shut AND w.expires_at > p_now
        AND w.scopes && array(SELECT o.id FROM capacity_scopes o JOIN capacity_scopes t
          ON t.cluster = o.cluster WHERE t.id = g.id));
    v_count := least(p_want - jsonb_array_length(v_granted), v_room);
    v_granted := v_granted || capacity_take(g.id, array_fill(p_instance, ARRAY[v_count]),
      array_fill(p_request, ARRAY[v_count]), array_fill(p_query, ARRAY[v_count]),
      array_fill(p_user, ARRAY[v_count]), p_now, p_now + p_lease);
  END LOOP;
  IF v_granted <> '[]' THEN
    INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
    VALUES (p_instance, p_request, v_granted, p_now + p_lease) ON CONFLICT DO NOTHING;
    IF p_query IS NOT NULL THEN
      DELETE FROM capacity_waiters WHERE instance = p_instance AND query_id = p_query;
    END IF;
    RETURN jsonb_build_object('granted', v_granted);
  END IF;
  IF p_query IS NULL OR NOT p_waits THEN
    RETURN '{}';
  END IF;
  v_place := capacity_wait(p_instance, p_request, p_query, p_group, v_scopes, p_user,
    coalesce(v_room <= 0, false), p_age, p_process, p_now, p_waiter_ms);
  RETURN coalesce(v_place, '{"queueFull": true}') || jsonb_build_object('userFull', coalesce(v_room <= 0, false));
END
$$;
--> statement-breakpoint
-- Everything that waited at one moment in one process: what frees comes first, so that what asks finds it.
-- The functions it calls are planned under its settings: tables this small and busy have no statistics.
CREATE OR REPLACE FUNCTION capacity_step(p jsonb) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  v_process text := p ->> 'process';
  v_lease bigint := (p ->> 'leaseMs')::bigint;
  v_hand_over bigint := (p ->> 'handOverMs')::bigint;
  v_waiter_ms bigint := (p ->> 'waiterMs')::bigint;
  v_now bigint;
  v_callers text[];
  v_left jsonb;
  v_released integer[];
  v_handed jsonb := '[]';
  v_answers jsonb[] := '{}';
  v_done integer[] := '{}';
  v_who text;
  v_granted jsonb;
  v_answer jsonb;
  r record;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  v_callers := capacity_callers(p -> 'callers', v_now);
  IF p ?| ARRAY['taken', 'missed', 'unheld'] THEN
    PERFORM capacity_heard(p, v_process, v_now, v_hand_over);
  END IF;
  v_left := capacity_leave(p -> 'leaves', v_callers, v_now);
  IF p ? 'releases' THEN
    SELECT * INTO v_released, v_handed
    FROM capacity_release(p -> 'releases', v_callers, v_process, v_now, v_lease, v_hand_over);
  END IF;
  IF p ? 'acquires' THEN
    SELECT * INTO v_answers, v_done FROM capacity_acquire_at_once(p -> 'acquires', v_callers, v_now, v_lease);
  END IF;

  FOR r IN SELECT * FROM jsonb_to_recordset(p -> 'acquires') AS x (op integer, caller integer,
    request text, cluster_group text, candidates text[], query text, user_name text, age bigint,
    want integer, waits boolean) WHERE x.op <> ALL (v_done)
  LOOP
    v_who := v_callers[r.caller];
    IF v_who IS NULL THEN
      v_answer := '{"refused": true}';
    ELSE
      v_granted := capacity_granted_before(v_who, r.request, r.query, v_now, v_lease);
      v_answer := jsonb_build_object('granted', v_granted);
      IF v_granted IS NULL THEN
        v_answer := capacity_acquire(v_who, r.request, r.cluster_group, r.candidates, r.query, r.user_name, r.age,
          r.want, r.waits, v_process, v_now, v_lease, v_waiter_ms);
      END IF;
    END IF;
    v_answers := v_answers || (v_answer || jsonb_build_object('op', r.op));
  END LOOP;

  RETURN jsonb_build_object('callers', to_jsonb(v_callers), 'left', v_left,
    'released', to_jsonb(v_released), 'acquired', to_jsonb(v_answers), 'handed', v_handed);
END
$$;
