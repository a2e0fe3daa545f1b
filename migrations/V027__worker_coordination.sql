-- V027: who counts for a worker, so that those that count alone are seen over all replicas. Quick: no default.
ALTER TABLE "worker_registry" ADD COLUMN "coordination" text;
