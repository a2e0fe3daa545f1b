-- V025: a group may limit the slots of each user over the fleet. Its slots say whose they are, and waiters
-- whose user holds all that it may are passed. Quick: three columns on small tables, and functions anew.
ALTER TABLE "capacity_scopes" ADD COLUMN "max_running_per_user" integer;
--> statement-breakpoint
ALTER TABLE "capacity_slots" ADD COLUMN "user_name" text COLLATE "C";
--> statement-breakpoint
ALTER TABLE "capacity_waiters" ADD COLUMN "shut" boolean DEFAULT false NOT NULL;
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
    heard_at = NULL, max_execution_ms = NULL, user_name = NULL
  FROM gone g WHERE s.scope = g.scope AND s.slot = g.slot AND s.lease = g.lease;
  PERFORM capacity_fit(id) FROM capacity_scopes WHERE draining;
END
$$;
--> statement-breakpoint
-- How many more slots of the group the user may hold, on all clusters together. Null where its users have no
-- limit. The rows are counted each time: whoever gives or frees one has the turn.
CREATE FUNCTION capacity_user_room(p_group text, p_user text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT max(n.max_running_per_user) - count(s.slot)
  FROM capacity_scopes n LEFT JOIN capacity_slots s ON s.scope = n.id AND s.user_name = p_user
  WHERE n.cluster_group = p_group
$$;
--> statement-breakpoint
-- Shuts the waiters whose user holds all that it may, and opens the others. Who is opened comes after those
-- who waited open meanwhile: otherwise its old turns would take each slot that its user gives back.
CREATE FUNCTION capacity_shut() RETURNS void LANGUAGE sql VOLATILE AS $$
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
--> statement-breakpoint
DROP FUNCTION capacity_take(integer, text[], text[], text[], bigint, bigint);
--> statement-breakpoint
-- Takes a free slot of a scope for each of the arrays' places, as far as they go, each with one of its
-- cluster where that has a cap. Who can not lock a row at once takes the next. Rows are updated by where
-- they lie: tables this small and busy have no statistics to choose an index by. Where users have a limit all
-- places are of one user, for whom there is room.
CREATE FUNCTION capacity_take(p_scope integer, p_instances text[], p_requests text[], p_queries text[],
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
--> statement-breakpoint
-- Gives the free slots of a cluster to waiters while one fits: those past half of their wait first, then
-- the group with the least virtual time, in it by turn (one of each user per round), then age. Who is shut is passed.
CREATE OR REPLACE FUNCTION capacity_hand_over(p_cluster text, p_process text, p_now bigint, p_lease bigint,
  p_hand_over bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_waiter record;
  v_taken jsonb;
  v_handed jsonb := '[]';
  v_least double precision;
BEGIN
  LOOP
    EXIT WHEN EXISTS (
      SELECT FROM capacity_scopes c WHERE c.cluster = p_cluster AND c.cluster_group = ''
        AND c.max_running IS NOT NULL AND c.complete AND NOT EXISTS (
          SELECT FROM capacity_slots s WHERE s.scope = c.id AND s.state = 'free'));
    SELECT w.instance, w.query_id, w.request_id, w.cluster_group, w.user_name, w.held_by, g.id AS target
    INTO v_waiter
    FROM capacity_waiters w
    JOIN capacity_scopes g ON g.cluster = p_cluster AND g.cluster_group = w.cluster_group
    WHERE w.lease IS NULL AND NOT w.shut AND w.urgent_at <= p_now AND w.expires_at > p_now AND g.id = ANY (w.scopes)
      AND (NOT g.complete OR EXISTS (
        SELECT FROM capacity_slots s WHERE s.scope = g.id AND s.state = 'free'))
    ORDER BY w.urgent_at, w.sequence LIMIT 1;
    IF NOT FOUND THEN
      SELECT w.instance, w.query_id, w.request_id, w.cluster_group, w.user_name, w.held_by, g.id AS target
      INTO v_waiter
      FROM capacity_scopes g
      JOIN capacity_groups o ON o.cluster_group = g.cluster_group
      CROSS JOIN LATERAL (
        SELECT f.* FROM capacity_waiters f
        WHERE f.cluster_group = g.cluster_group AND f.lease IS NULL AND NOT f.shut AND f.expires_at > p_now
          AND g.id = ANY (f.scopes)
        ORDER BY f.turn, f.sequence LIMIT 1
      ) AS w
      WHERE g.cluster = p_cluster AND g.cluster_group <> ''
        AND (NOT g.complete OR EXISTS (
          SELECT FROM capacity_slots s WHERE s.scope = g.id AND s.state = 'free'))
      ORDER BY o.virtual_time, w.turn, w.sequence LIMIT 1;
    END IF;
    EXIT WHEN NOT FOUND;
    v_taken := capacity_take(v_waiter.target, ARRAY[v_waiter.instance], ARRAY[v_waiter.request_id],
      ARRAY[v_waiter.query_id], ARRAY[v_waiter.user_name], p_now, p_now + CASE WHEN v_waiter.held_by = p_process THEN p_lease ELSE p_hand_over END);
    EXIT WHEN v_taken = '[]';
    UPDATE capacity_waiters SET lease = v_taken -> 0 ->> 'lease', scope = v_waiter.target,
      slot = (v_taken -> 0 ->> 'slot')::integer
    WHERE instance = v_waiter.instance AND query_id = v_waiter.query_id;
    INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
    VALUES (v_waiter.instance, v_waiter.request_id, v_taken, p_now + p_lease)
    ON CONFLICT (instance, request_id) DO UPDATE SET leases = excluded.leases, expires_at = excluded.expires_at;
    SELECT min(o.virtual_time) INTO v_least FROM capacity_groups o
    WHERE o.cluster_group <> v_waiter.cluster_group AND EXISTS (
      SELECT FROM capacity_waiters w WHERE w.cluster_group = o.cluster_group AND w.lease IS NULL);
    UPDATE capacity_groups SET virtual_time = least(virtual_time, v_least) + 1 / weight,
      gap_ms = coalesce(0.8 * gap_ms + 0.2 * (p_now - served_at), p_now - served_at),
      served_at = p_now
    WHERE cluster_group = v_waiter.cluster_group;
    IF v_waiter.held_by = p_process THEN
      v_handed := v_handed || jsonb_build_object('instance', v_waiter.instance,
        'query', v_waiter.query_id, 'granted', v_taken);
    ELSIF v_waiter.held_by <> '' THEN
      -- Its process is elsewhere. Equal notifications of one step become one.
      PERFORM pg_notify('capacity_given', '');
    END IF;
  END LOOP;
  RETURN v_handed;
END
$$;
--> statement-breakpoint
-- Of several clusters, one after the other. What a user gave back on one may make room for it on another.
CREATE OR REPLACE FUNCTION capacity_hand_over_all(p_clusters text[], p_process text, p_now bigint, p_lease bigint,
  p_hand_over bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_cluster text;
  v_handed jsonb := '[]';
BEGIN
  IF NOT EXISTS (SELECT FROM capacity_waiters WHERE lease IS NULL) THEN RETURN v_handed; END IF;
  IF EXISTS (SELECT FROM capacity_scopes WHERE max_running_per_user IS NOT NULL) THEN
    PERFORM capacity_shut();
    p_clusters := p_clusters || array(
      SELECT cluster FROM capacity_scopes WHERE max_running_per_user IS NOT NULL);
  END IF;
  FOR v_cluster IN SELECT DISTINCT c FROM unnest(p_clusters) AS c ORDER BY c LOOP
    v_handed := v_handed || capacity_hand_over(v_cluster, p_process, p_now, p_lease, p_hand_over);
  END LOOP;
  RETURN v_handed;
END
$$;
--> statement-breakpoint
DROP FUNCTION capacity_wait(text, text, text, text, integer[], text, bigint, text, bigint, bigint);
--> statement-breakpoint
-- Writes a waiter, or keeps it alive, and says where it stands. Null when the queue of its group is full.
CREATE FUNCTION capacity_wait(p_instance text, p_request text, p_query text, p_group text,
  p_scopes integer[], p_user text, p_shut boolean, p_age bigint, p_process text, p_now bigint, p_waiter bigint)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_group capacity_groups%ROWTYPE;
  v_waiter capacity_waiters%ROWTYPE;
  v_waiting bigint;
  v_least double precision;
  v_turn bigint;
  v_age bigint;
BEGIN
  SELECT * INTO v_group FROM capacity_groups WHERE cluster_group = p_group;
  IF NOT FOUND THEN RETURN '{}'; END IF;
  UPDATE capacity_waiters SET request_id = p_request, scopes = p_scopes, expires_at = p_now + p_waiter,
    held_by = p_process
  WHERE instance = p_instance AND query_id = p_query RETURNING * INTO v_waiter;
  IF NOT FOUND THEN
    IF v_group.max_queued IS NOT NULL THEN
      SELECT count(*) INTO v_waiting FROM (
        SELECT FROM capacity_waiters
        WHERE cluster_group = p_group AND lease IS NULL AND expires_at > p_now
        LIMIT v_group.max_queued) AS w;
      IF v_waiting >= v_group.max_queued THEN RETURN NULL; END IF;
    END IF;
    SELECT min(turn) INTO v_turn FROM capacity_waiters
    WHERE cluster_group = p_group AND lease IS NULL AND NOT shut AND expires_at > p_now;
    IF v_turn IS NULL THEN
      -- An idle group begins level with those who wait; with nobody waiting there is nothing to remember.
      SELECT min(o.virtual_time) INTO v_least FROM capacity_groups o WHERE EXISTS (
        SELECT FROM capacity_waiters w
        WHERE w.cluster_group = o.cluster_group AND w.lease IS NULL AND NOT w.shut AND w.expires_at > p_now);
      IF v_least IS NULL THEN
        UPDATE capacity_groups SET virtual_time = 0 WHERE virtual_time <> 0;
      END IF;
      UPDATE capacity_groups SET virtual_time = greatest(virtual_time, v_least), served_at = p_now
      WHERE cluster_group = p_group;
      v_turn := 0;
    END IF;
    -- A user's next one is served in the round after its last one.
    SELECT greatest(v_turn, max(turn) + 1) INTO v_turn FROM capacity_waiters
    WHERE cluster_group = p_group AND user_name = p_user AND lease IS NULL AND expires_at > p_now;
    v_age := least(p_age, v_group.wait_ms);
    INSERT INTO capacity_waiters (instance, query_id, request_id, cluster_group, scopes, user_name,
      turn, urgent_at, expires_at, held_by, shut)
    VALUES (p_instance, p_query, p_request, p_group, p_scopes, p_user, v_turn,
      p_now - v_age + v_group.wait_ms / 2, p_now + p_waiter, p_process, p_shut)
    RETURNING * INTO v_waiter;
  END IF;
  SELECT 1 + count(*) INTO v_waiting FROM (
    SELECT FROM capacity_waiters w WHERE w.cluster_group = p_group AND w.lease IS NULL
      AND (w.turn, w.sequence) < (v_waiter.turn, v_waiter.sequence) LIMIT 10000) AS before;
  RETURN jsonb_strip_nulls(jsonb_build_object('position', v_waiting,
    'estimateMs', round(v_group.gap_ms * v_waiting)));
END
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
--> statement-breakpoint
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
