-- Makes the rows of a scope as many as its cap says, or as many as are in use where that is more. Of a
-- large cap a thousand are made at a time.
CREATE OR REPLACE FUNCTION capacity_fit(p_scope integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_max integer;
  v_rows integer;
  v_gone integer;
BEGIN
  SELECT max_running INTO v_max FROM capacity_scopes WHERE id = p_scope;
  IF v_max IS NULL THEN RETURN; END IF;
  SELECT count(*) INTO v_rows FROM capacity_slots WHERE scope = p_scope;
  IF v_rows > v_max THEN
    DELETE FROM capacity_slots s WHERE s.scope = p_scope AND s.slot IN (
      SELECT f.slot FROM capacity_slots f WHERE f.scope = p_scope AND f.state = 'free'
      ORDER BY f.slot DESC LIMIT v_rows - v_max);
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    v_rows := v_rows - v_gone;
  ELSIF v_rows < v_max AND NOT EXISTS (
    SELECT FROM capacity_slots WHERE scope = p_scope AND state = 'free') THEN
    INSERT INTO capacity_slots (scope, slot, state)
    SELECT p_scope, n, 'free' FROM generate_series(0, least(v_max, v_rows + 1000) - 1) AS n
    WHERE NOT EXISTS (SELECT FROM capacity_slots s WHERE s.scope = p_scope AND s.slot = n)
    ORDER BY n LIMIT v_max - v_rows;
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    v_rows := v_rows + v_gone;
  END IF;
  UPDATE capacity_scopes SET complete = v_rows >= v_max, draining = v_rows > v_max
  WHERE id = p_scope AND (complete <> (v_rows >= v_max) OR draining <> (v_rows > v_max));
END
$$;
