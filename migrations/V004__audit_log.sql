-- V004: who did what in the admin API.
CREATE TABLE "audit_log" (
  "id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
  "at" bigint NOT NULL,
  "by_name" text NOT NULL,
  "address" text,
  "action" text NOT NULL,
  "target" text NOT NULL,
  "detail" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_log_newest" ON "audit_log" USING btree ("at" DESC NULLS FIRST,"id" DESC NULLS FIRST);
