CREATE OR REPLACE FUNCTION capacity_dead(p_instance text) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  v_now bigint;
  v_count bigint;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  INSERT INTO capacity_instances AS i (instance, seen_at, dead) VALUES (p_instance, v_now, true)
  ON CONFLICT (instance) DO UPDATE SET dead = true;
  DELETE FROM capacity_waiters WHERE instance = p_instance;
  UPDATE capacity_slots s SET state = 'suspect', expires_at = least(s.expires_at, v_now), absent_at = NULL
  WHERE (s.scope, s.slot) IN (
    SELECT o.scope, o.slot FROM capacity_slots o WHERE o.instance = p_instance AND o.state = 'held'
    ORDER BY o.scope, o.slot FOR UPDATE) AND s.instance = p_instance AND s.state = 'held';
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END
$$;
