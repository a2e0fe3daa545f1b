-- Writes a waiter, or keeps it alive, and says where it stands. Null when the queue of its group is full.
CREATE OR REPLACE FUNCTION capacity_wait(p_instance text, p_request text, p_query text, p_group text,
  p_scopes integer[], p_user text, p_shut boolean, p_age bigint, p_process text, p_now bigint, p_waiter bigint)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_group capacity_groups%ROWTYPE;
  v_waiter capacity_waiters%ROWTYPE;
  v_waiting bigint;
  v_least double precision;
  v_turn bigint;
  v_age bigint;
BEGIN
  SELECT * INTO v_group FROM capacity_groups WHERE cluster_group = p_group;
  IF NOT FOUND THEN RETURN '{}'; END IF;
  UPDATE capacity_waiters SET request_id = p_request, scopes = p_scopes, expires_at = p_now + p_waiter,
    held_by = p_process
  WHERE instance = p_instance AND query_id = p_query RETURNING * INTO v_waiter;
  IF NOT FOUND THEN
    IF v_group.max_queued IS NOT NULL THEN
      SELECT count(*) INTO v_waiting FROM (
        SELECT FROM capacity_waiters
        WHERE cluster_group = p_group AND lease IS NULL AND expires_at > p_now
        LIMIT v_group.max_queued) AS w;
      IF v_waiting >= v_group.max_queued THEN RETURN NULL; END IF;
    END IF;
    SELECT min(turn) INTO v_turn FROM capacity_waiters
    WHERE cluster_group = p_group AND lease IS NULL AND NOT shut AND expires_at > p_now;
    IF v_turn IS NULL THEN
      -- An idle group begins level with those who wait; with nobody waiting there is nothing to remember.
      SELECT min(o.virtual_time) INTO v_least FROM capacity_groups o WHERE EXISTS (
        SELECT FROM capacity_waiters w
        WHERE w.cluster_group = o.cluster_group AND w.lease IS NULL AND NOT w.shut AND w.expires_at > p_now);
      IF v_least IS NULL THEN
        UPDATE capacity_groups SET virtual_time = 0 WHERE virtual_time <> 0;
      END IF;
      UPDATE capacity_groups SET virtual_time = greatest(virtual_time, v_least), served_at = p_now
      WHERE cluster_group = p_group;
      v_turn := 0;
    END IF;
    -- A user's next one is served in the round after its last one.
    SELECT greatest(v_turn, max(turn) + 1) INTO v_turn FROM capacity_waiters
    WHERE cluster_group = p_group AND user_name = p_user AND lease IS NULL AND expires_at > p_now;
    v_age := least(p_age, v_group.wait_ms);
    INSERT INTO capacity_waiters (instance, query_id, request_id, cluster_group, scopes, user_name,
      turn, urgent_at, expires_at, held_by, shut)
    VALUES (p_instance, p_query, p_request, p_group, p_scopes, p_user, v_turn,
      p_now - v_age + v_group.wait_ms / 2, p_now + p_waiter, p_process, p_shut)
    RETURNING * INTO v_waiter;
  END IF;
  SELECT 1 + count(*) INTO v_waiting FROM (
    SELECT FROM capacity_waiters w WHERE w.cluster_group = p_group AND w.lease IS NULL
      AND (w.turn, w.sequence) < (v_waiter.turn, v_waiter.sequence) LIMIT 10000) AS before;
  RETURN jsonb_strip_nulls(jsonb_build_object('position', v_waiting,
    'estimateMs', round(v_group.gap_ms * v_waiting)));
END
$$;
