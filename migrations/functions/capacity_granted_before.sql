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
