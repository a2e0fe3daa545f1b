-- Leases that their holders give back. Answers whose were held, by their place in the list, and who got the slots.
CREATE OR REPLACE FUNCTION capacity_release(p_releases jsonb, p_callers text[], p_process text, p_now bigint,
  p_lease bigint, p_hand_over bigint, OUT released integer[], OUT handed jsonb) LANGUAGE plpgsql AS $$
DECLARE
  v_scopes integer[];
  v_slots integer[];
  v_clusters text[];
BEGIN
  SELECT array_agg(f.op), array_agg(f.scope), array_agg(f.slot), array_agg(DISTINCT f.cluster)
  INTO released, v_scopes, v_slots, v_clusters FROM (
    SELECT DISTINCT ON (s.scope, s.slot) x.op, s.scope, s.slot, n.cluster
    FROM jsonb_to_recordset(p_releases) AS x (op integer, caller integer, cluster text, slot integer, lease text)
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group <> ''
    JOIN capacity_slots s ON s.scope = n.id AND s.slot = x.slot AND s.lease = x.lease
      AND s.instance = p_callers[x.caller]
    ORDER BY s.scope, s.slot
  ) AS f;
  handed := '[]';
  IF v_scopes IS NOT NULL THEN
    PERFORM capacity_free(v_scopes, v_slots);
    handed := capacity_hand_over_all(v_clusters, p_process, p_now, p_lease, p_hand_over);
  END IF;
END
$$;
