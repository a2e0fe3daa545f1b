-- New questions whose best candidate has room: all of them at once. Leases ahead are for nobody's query yet, and
-- not taken while somebody waits. Where users have a limit each question is looked at alone (capacity_acquire).
CREATE OR REPLACE FUNCTION capacity_acquire_at_once(p_acquires jsonb, p_callers text[], p_now bigint, p_lease bigint,
  OUT answers jsonb[], OUT done integer[]) LANGUAGE plpgsql AS $$
DECLARE
  v_free boolean := NOT EXISTS (SELECT FROM capacity_waiters WHERE lease IS NULL AND NOT shut);
  v_taken jsonb;
  r record;
BEGIN
  answers := '{}';
  done := '{}';
  FOR r IN
    SELECT n.id, array_agg(x.op ORDER BY x.op) AS ops, array_agg(x.who ORDER BY x.op) AS instances,
      array_agg(x.request ORDER BY x.op) AS requests, array_agg(x.query ORDER BY x.op) AS queries
    FROM (
      SELECT a.op, a.request, a.query, a.cluster_group, a.candidates[1] AS cluster, p_callers[a.caller] AS who
      FROM jsonb_to_recordset(p_acquires) AS a (op integer, caller integer, request text,
        cluster_group text, candidates text[], query text, want integer), generate_series(1, a.want)
    ) AS x
    JOIN capacity_scopes n ON n.cluster = x.cluster AND n.cluster_group = x.cluster_group
    WHERE x.who IS NOT NULL AND n.max_running_per_user IS NULL AND (v_free OR x.query IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM capacity_answers o WHERE o.instance = x.who AND o.request_id = x.request)
      AND NOT EXISTS (SELECT FROM capacity_waiters w WHERE w.instance = x.who AND w.query_id = x.query)
    GROUP BY n.id ORDER BY n.id
  LOOP
    v_taken := capacity_take(r.id, r.instances, r.requests, r.queries, NULL, p_now, p_now + p_lease);
    CONTINUE WHEN v_taken = '[]';
    WITH got AS MATERIALIZED (
      SELECT t.n, r.ops[t.n] AS op, jsonb_build_object('cluster', t.cluster, 'scope', t.scope,
        'slot', t.slot, 'lease', t.lease, 'maxExecutionMs', t."maxExecutionMs") AS lease
      FROM jsonb_to_recordset(v_taken) AS t (n integer, cluster text, scope integer, slot integer,
        lease text, "maxExecutionMs" bigint)
    ), answer AS MATERIALIZED (
      SELECT op, min(n) AS n, jsonb_agg(lease) AS leases FROM got GROUP BY op
    ), kept AS (
      INSERT INTO capacity_answers (instance, request_id, leases, expires_at)
      SELECT r.instances[n], r.requests[n], leases, p_now + p_lease FROM answer ON CONFLICT DO NOTHING
    )
    SELECT answers || array_agg(jsonb_build_object('op', op, 'granted', leases)), done || array_agg(op)
    INTO answers, done FROM answer;
  END LOOP;
END
$$;
