-- V024: what many records have in common is kept once a day, figures in a column of their own, and
-- indexes grow at their end, which fills their pages. Rows of before stay as they are and are read as ever.
-- History inserts wait while the indexes are built. All of them may be made beforehand, with CREATE INDEX
-- CONCURRENTLY; they are then found and left as they are. During a rolling upgrade an older control plane
-- shows new records without their text, and takes a record that is sent again for another one.
CREATE TABLE "query_record_texts" (
  "id" uuid PRIMARY KEY NOT NULL,
  "day" integer NOT NULL,
  "body" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "query_record_texts_day" ON "query_record_texts" USING btree ("day");
--> statement-breakpoint
ALTER TABLE "query_records" ADD COLUMN "figures" double precision[];
--> statement-breakpoint
ALTER TABLE "query_records" ADD COLUMN "texts" uuid;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_at" ON "query_records" USING btree ("created_at","proxy_query_id");
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_user_at" ON "query_records" USING btree ("user_name","created_at");
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_status_at" ON "query_records" USING btree ("status","created_at") WHERE "query_records"."status" <> 'finished';
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_cluster_group_at" ON "query_records" USING btree ("cluster_group","created_at") WHERE "query_records"."cluster_group" is not null;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_cluster_at" ON "query_records" USING btree ("cluster","created_at") WHERE "query_records"."cluster" is not null;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_frontend_at" ON "query_records" USING btree ("frontend","created_at");
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_error_code_at" ON "query_records" USING btree ("error_code","created_at") WHERE "query_records"."error_code" is not null;
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "query_records_worker_at" ON "query_records" USING btree ("worker","created_at") WHERE "query_records"."worker" is not null;
--> statement-breakpoint
DROP INDEX "query_records_newest";
--> statement-breakpoint
DROP INDEX "query_records_user";
--> statement-breakpoint
DROP INDEX "query_records_status";
--> statement-breakpoint
DROP INDEX "query_records_cluster_group";
--> statement-breakpoint
DROP INDEX "query_records_cluster";
--> statement-breakpoint
DROP INDEX "query_records_frontend";
--> statement-breakpoint
DROP INDEX "query_records_error_code";
--> statement-breakpoint
DROP INDEX "query_records_worker";
