CREATE OR REPLACE FUNCTION capacity_seen(p_instance text) RETURNS jsonb LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
  INSERT INTO capacity_instances AS i (instance, seen_at) VALUES (p_instance, capacity_now())
  ON CONFLICT (instance) DO UPDATE SET seen_at = excluded.seen_at WHERE NOT i.dead;
  SELECT coalesce(jsonb_agg(lease ORDER BY at), '[]') FROM capacity_lost WHERE instance = p_instance
$$;
