-- Does what was decided about a suspect, if it is still the one that was looked at.
CREATE OR REPLACE FUNCTION capacity_settle(p jsonb) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_now bigint;
  v_slot record;
BEGIN
  PERFORM capacity_turn();
  v_now := capacity_now();
  IF NOT EXISTS (SELECT FROM sweep_locks WHERE name = p ->> 'name' AND token = (p ->> 'token')::bigint) THEN
    RETURN '{"kind": "fenced"}';
  END IF;
  SELECT s.scope, s.slot, s.instance, s.lease INTO v_slot
  FROM capacity_scopes n JOIN capacity_slots s ON s.scope = n.id
  WHERE n.cluster = p ->> 'cluster' AND n.cluster_group <> '' AND s.slot = (p ->> 'slot')::integer
    AND s.lease = p ->> 'lease' AND s.state = 'suspect' AND capacity_version(s) = p ->> 'version'
  FOR UPDATE OF s;
  IF NOT FOUND THEN RETURN '{"kind": "moved"}'; END IF;
  IF p ->> 'advice' <> 'freed' THEN
    UPDATE capacity_slots SET absent_at = CASE p ->> 'absent'
      WHEN 'begins' THEN v_now WHEN 'stays' THEN absent_at END,
      heard_at = greatest(heard_at, (p ->> 'listing')::bigint)
    WHERE scope = v_slot.scope AND slot = v_slot.slot;
    RETURN '{"kind": "settled", "handed": []}';
  END IF;
  INSERT INTO capacity_lost (instance, lease, at) VALUES (v_slot.instance, v_slot.lease, v_now)
  ON CONFLICT DO NOTHING;
  PERFORM capacity_free(ARRAY[v_slot.scope], ARRAY[v_slot.slot]);
  RETURN jsonb_build_object('kind', 'settled', 'handed', capacity_hand_over_all(
    ARRAY[p ->> 'cluster'], p ->> 'process', v_now, (p ->> 'leaseMs')::bigint, (p ->> 'handOverMs')::bigint));
END
$$;
