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
