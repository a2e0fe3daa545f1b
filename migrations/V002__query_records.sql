-- V002: query history. Indexes end with the time, newest first, so that a page of any filter is read
-- in order.
CREATE TABLE "query_record_conflicts" (
  "proxy_query_id" text COLLATE "C" PRIMARY KEY NOT NULL,
  "content_hash" text NOT NULL,
  "worker" text,
  "record" jsonb NOT NULL,
  "count" bigint NOT NULL,
  "first_at" bigint NOT NULL,
  "last_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "query_records" (
  "proxy_query_id" text COLLATE "C" PRIMARY KEY NOT NULL,
  "content_hash" text NOT NULL,
  "created_at" bigint NOT NULL,
  "user_name" text NOT NULL,
  "status" text NOT NULL,
  "cluster_group" text,
  "cluster" text,
  "frontend" text NOT NULL,
  "error_code" text,
  "rest" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "query_record_conflicts_newest" ON "query_record_conflicts" USING btree ("first_at" DESC NULLS FIRST,"proxy_query_id" DESC NULLS FIRST);
--> statement-breakpoint
CREATE INDEX "query_records_newest" ON "query_records" USING btree ("created_at" DESC NULLS FIRST,"proxy_query_id" DESC NULLS FIRST);
--> statement-breakpoint
CREATE INDEX "query_records_user" ON "query_records" USING btree ("user_name","created_at" DESC NULLS FIRST);
--> statement-breakpoint
CREATE INDEX "query_records_status" ON "query_records" USING btree ("status","created_at" DESC NULLS FIRST);
--> statement-breakpoint
CREATE INDEX "query_records_cluster_group" ON "query_records" USING btree ("cluster_group","created_at" DESC NULLS FIRST) WHERE "query_records"."cluster_group" is not null;
--> statement-breakpoint
CREATE INDEX "query_records_cluster" ON "query_records" USING btree ("cluster","created_at" DESC NULLS FIRST) WHERE "query_records"."cluster" is not null;
--> statement-breakpoint
CREATE INDEX "query_records_frontend" ON "query_records" USING btree ("frontend","created_at" DESC NULLS FIRST);
--> statement-breakpoint
CREATE INDEX "query_records_error_code" ON "query_records" USING btree ("error_code","created_at" DESC NULLS FIRST) WHERE "query_records"."error_code" is not null;
