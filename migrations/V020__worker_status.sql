-- V020: what a worker says about itself. Quick: a constant default rewrites nothing.
ALTER TABLE "worker_registry" ADD COLUMN "status" text DEFAULT 'starting' NOT NULL;
