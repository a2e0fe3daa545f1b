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
