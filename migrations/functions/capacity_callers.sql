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
