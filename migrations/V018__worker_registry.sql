-- V018: the worker registry. From here on a gateway can be a control plane. Quick: a new table.
CREATE TABLE "worker_registry" (
  "instance_id" text COLLATE "C" PRIMARY KEY NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "token_hash" text NOT NULL,
  "labels" jsonb NOT NULL,
  "version" text NOT NULL,
  "schema_versions" jsonb NOT NULL,
  "heartbeat_interval_secs" integer NOT NULL,
  "active_revision" text,
  "downloaded_revision" text,
  "config_source" text,
  "stale" boolean NOT NULL,
  "last_error" text,
  "queries" jsonb NOT NULL,
  "registered_at" bigint NOT NULL,
  "last_seen_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "worker_registry_name" ON "worker_registry" USING btree ("name","instance_id");
--> statement-breakpoint
CREATE INDEX "worker_registry_last_seen" ON "worker_registry" USING btree ("last_seen_at");
