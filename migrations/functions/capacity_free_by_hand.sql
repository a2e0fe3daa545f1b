-- Frees a suspect on somebody's word. Null when there is no such suspect.
CREATE OR REPLACE FUNCTION capacity_free_by_hand(p jsonb) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_now bigint;
  v_slot record;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  SELECT s.scope, s.slot, s.instance, s.lease INTO v_slot
  FROM capacity_scopes n JOIN capacity_slots s ON s.scope = n.id
  WHERE n.cluster = p ->> 'cluster' AND n.cluster_group <> '' AND s.slot = (p ->> 'slot')::integer
    AND s.lease = p ->> 'lease' AND s.state = 'suspect'
  FOR UPDATE OF s;
  IF NOT FOUND THEN RETURN NULL; END IF;
  INSERT INTO capacity_lost (instance, lease, at) VALUES (v_slot.instance, v_slot.lease, v_now)
  ON CONFLICT DO NOTHING;
  PERFORM capacity_free(ARRAY[v_slot.scope], ARRAY[v_slot.slot]);
  RETURN capacity_hand_over_all(ARRAY[p ->> 'cluster'], p ->> 'process', v_now,
    (p ->> 'leaseMs')::bigint, (p ->> 'handOverMs')::bigint);
END
$$;
