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
