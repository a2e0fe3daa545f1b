-- Of several clusters, one after the other. What a user gave back on one may make room for it on another.
CREATE OR REPLACE FUNCTION capacity_hand_over_all(p_clusters text[], p_process text, p_now bigint, p_lease bigint,
  p_hand_over bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_cluster text;
  v_handed jsonb := '[]';
BEGIN
  IF NOT EXISTS (SELECT FROM capacity_waiters WHERE lease IS NULL) THEN RETURN v_handed; END IF;
  IF EXISTS (SELECT FROM capacity_scopes WHERE max_running_per_user IS NOT NULL) THEN
    PERFORM capacity_shut();
    p_clusters := p_clusters || array(
      SELECT cluster FROM capacity_scopes WHERE max_running_per_user IS NOT NULL);
  END IF;
  FOR v_cluster IN SELECT DISTINCT c FROM unnest(p_clusters) AS c ORDER BY c LOOP
    v_handed := v_handed || capacity_hand_over(v_cluster, p_process, p_now, p_lease, p_hand_over);
  END LOOP;
  RETURN v_handed;
END
$$;
