-- Changes whenever something does that a verdict about a suspect rests on.
CREATE OR REPLACE FUNCTION capacity_version(p_slot capacity_slots) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('/', p_slot.expires_at, coalesce(p_slot.absent_at, 0),
    coalesce(p_slot.heard_at, 0), coalesce(
    (SELECT concat(i.seen_at, i.dead) FROM capacity_instances i WHERE i.instance = p_slot.instance), ''))
$$;
