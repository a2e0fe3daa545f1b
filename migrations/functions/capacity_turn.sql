-- Whoever gives, frees or queues does it alone: otherwise a slot that becomes free while a waiter is
-- being written would find no waiter, and the waiter no slot. Held until the commit.
CREATE OR REPLACE FUNCTION capacity_turn() RETURNS void LANGUAGE sql VOLATILE AS $$
  SELECT pg_advisory_xact_lock(7404812, 22)
$$;
