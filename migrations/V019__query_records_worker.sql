-- V019: which worker ran a query. History inserts wait while the index is built. Column and index may
-- be made beforehand, the index with CREATE INDEX CONCURRENTLY; both are then found and left as they are.
ALTER TABLE "query_records" ADD COLUMN IF NOT EXISTS "worker" text;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_worker" ON "query_records" USING btree ("worker","created_at" DESC NULLS FIRST) WHERE "query_records"."worker" is not null;
