-- V001: the configuration. Objects as documents, one row that says which revision is the newest, and
-- every snapshot that was built.
CREATE TABLE "config_documents" (
  "kind" text COLLATE "C" NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "body" jsonb NOT NULL,
  "version" bigint NOT NULL,
  "key_ids" text[] NOT NULL,
  "updated_at" bigint NOT NULL,
  "updated_by" text NOT NULL,
  CONSTRAINT "config_documents_kind_name_pk" PRIMARY KEY("kind","name")
);
--> statement-breakpoint
CREATE TABLE "config_head" (
  "only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
  "epoch" bigint NOT NULL,
  "sequence" bigint NOT NULL,
  "revision" text NOT NULL,
  CONSTRAINT "config_head_only_row" CHECK ("config_head"."only_row")
);
--> statement-breakpoint
CREATE TABLE "config_revisions" (
  "epoch" bigint NOT NULL,
  "sequence" bigint NOT NULL,
  "revision" text NOT NULL,
  "schema_version" integer NOT NULL,
  "sealed" bytea NOT NULL,
  "key_id" text NOT NULL,
  "created_at" bigint NOT NULL,
  "created_by" text NOT NULL,
  "summary" text NOT NULL,
  CONSTRAINT "config_revisions_epoch_sequence_pk" PRIMARY KEY("epoch","sequence")
);
