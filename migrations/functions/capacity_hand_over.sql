-- Gives the free slots of a cluster to waiters while one fits: those past half of their wait first, then
-- the group with the least virtual time, in it by turn (one of each user per round), then age. Who is shut is passed.
CREATE OR REPLACE FUNCTION capacity_hand_over(p_cluster text, p_process text, p_now bigint, p_lease bigint,
  p_hand_over bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_waiter record;
  v_taken jsonb;
  v_handed jsonb := '[]';
  v_least double precision;
BEGIN
  LOOP
    EXIT WHEN EXISTS (
      SELECT FROM capacity_scopes c WHERE c.cluster = p_cluster AND c.cluster_group = ''
        AND c.max_running IS NOT NULL AND c.complete AND NOT EXISTS (
          SELECT FROM capacity_slots s WHERE s.scope = c.id AND s.state = 'free'));
    SELECT w.instance, w.query_id, w.request_id, w.cluster_group, w.user_name, w.held_by, g.id AS target
    INTO v_waiter
    FROM capacity_waiters w
    JOIN capacity_scopes g ON g.cluster = p_cluster AND g.cluster_group = w.cluster_group
    WHERE w.lease IS NULL AND NOT w.shut AND w.urgent_at <= p_now AND w.expires_at > p_now AND g.id = ANY (w.scopes)
      AND (NOT g.complete OR EXISTS (
        SELECT FROM capacity_slots s WHERE s.scope = g.id AND s.state = 'free'))
    ORDER BY w.urgent_at, w.sequence LIMIT 1;
    IF NOT FOUND THEN
      SELECT w.instance, w.query_id, w.request_id, w.cluster_group, w.user_name, w.held_by, g.id AS target
      INTO v_waiter
      FROM capacity_scopes g
      JOIN capacity_groups o ON o.cluster_group = g.cluster_group
      CROSS JOIN LATERAL (
        SELECT f.* FROM capacity_waiters f
        WHERE f.cluster_group = g.cluster_group AND f.lease IS NULL AND NOT f.shut AND f.expires_at > p_now
          AND g.id = ANY (f.scopes)
        ORDER BY f.turn, f.sequence LIMIT 1
      ) AS w
      WHERE g.cluster = p_cluster AND g.cluster_group <> ''
        AND (NOT g.complete OR EXISTS (
          SELECT FROM capacity_slots s WHERE s.scope = g.id AND s.state = 'free'))
      ORDER BY o.virtual_time, w.turn, w.sequence LIMIT 1;
    END IF;
    EXIT WHEN NOT FOUND;
    v_taken := capacity_take(v_waiter.target, ARRAY[v_waiter.instance], ARRAY[v_waiter.request_id],
      ARRAY[v_waiter.query_id], ARRAY[v_waiter.user_name], p_now, p_now + CASE WHEN v_waiter.held_by = p_process THEN p_lease ELSE p_hand_over END);
    EXIT WHEN v_taken = '[]';
    UPDATE capacity_waiters SET lease = v_taken -> 0 ->> 'lease', scope = v_waiter.target,
      slot = (v_taken -> 0 ->> 'slot')::integer
    WHERE instance = v_waiter.instance AND query_id = v_waiter.query_id;
    INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
    VALUES (v_waiter.instance, v_waiter.request_id, v_taken, p_now + p_lease)
    ON CONFLICT (instance, request_id) DO UPDATE SET leases = excluded.leases, expires_at = excluded.expires_at;
    SELECT min(o.virtual_time) INTO v_least FROM capacity_groups o
    WHERE o.cluster_group <> v_waiter.cluster_group AND EXISTS (
      SELECT FROM capacity_waiters w WHERE w.cluster_group = o.cluster_group AND w.lease IS NULL);
    UPDATE capacity_groups SET virtual_time = least(virtual_time, v_least) + 1 / weight,
      gap_ms = coalesce(0.8 * gap_ms + 0.2 * (p_now - served_at), p_now - served_at),
      served_at = p_now
    WHERE cluster_group = v_waiter.cluster_group;
    IF v_waiter.held_by = p_process THEN
      v_handed := v_handed || jsonb_build_object('instance', v_waiter.instance,
        'query', v_waiter.query_id, 'granted', v_taken);
    ELSIF v_waiter.held_by <> '' THEN
      -- Its process is elsewhere. Equal notifications of one step become one.
      PERFORM pg_notify('capacity_given', '');
    END IF;
  END LOOP;
  RETURN v_handed;
END
$$;
