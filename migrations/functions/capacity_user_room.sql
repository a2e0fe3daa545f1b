-- How many more slots of the group the user may hold, on all clusters together. Null where its users have no
-- limit. The rows are counted each time: whoever gives or frees one has the turn.
CREATE OR REPLACE FUNCTION capacity_user_room(p_group text, p_user text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT max(n.max_running_per_user) - count(s.slot)
  FROM capacity_scopes n LEFT JOIN capacity_slots s ON s.scope = n.id AND s.user_name = p_user
  WHERE n.cluster_group = p_group
$$;
