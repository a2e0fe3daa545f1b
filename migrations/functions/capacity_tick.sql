-- Rows that are being renewed at this moment are left out.
CREATE OR REPLACE FUNCTION capacity_tick(p_lease bigint, p_grace_after bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint;
  v_grace bigint;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  INSERT INTO capacity_state AS o (tick_at, grace_until) VALUES (v_now, v_now + p_lease)
  ON CONFLICT (only_row) DO UPDATE SET tick_at = v_now, grace_until = CASE
    WHEN v_now - o.tick_at > p_grace_after THEN v_now + p_lease ELSE o.grace_until END
  RETURNING grace_until INTO v_grace;
  IF v_now >= v_grace THEN
    UPDATE capacity_slots s SET state = 'suspect', absent_at = NULL
    WHERE (s.scope, s.slot) IN (
      SELECT o.scope, o.slot FROM capacity_slots o
      WHERE o.state = 'held' AND o.instance IS NOT NULL AND o.expires_at < v_now
      ORDER BY o.scope, o.slot FOR UPDATE SKIP LOCKED);
  END IF;
  DELETE FROM capacity_waiters WHERE expires_at < v_now AND lease IS NULL;
  -- Given, and never asked for: the lease runs out by itself.
  DELETE FROM capacity_waiters w WHERE w.lease IS NOT NULL AND NOT EXISTS (
    SELECT FROM capacity_slots s WHERE s.scope = w.scope AND s.slot = w.slot AND s.lease = w.lease AND s.state = 'held');
  DELETE FROM capacity_answers WHERE expires_at < v_now;
  DELETE FROM capacity_lost WHERE at < v_now - 600000;
  DELETE FROM capacity_instances i WHERE i.seen_at < v_now - 86400000 AND NOT EXISTS (
    SELECT FROM capacity_slots s WHERE s.instance = i.instance);
  RETURN (SELECT count(*) FROM capacity_slots WHERE state = 'suspect');
END
$$;
