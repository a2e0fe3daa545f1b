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
