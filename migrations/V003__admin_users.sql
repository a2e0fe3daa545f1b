-- V003: users of the admin API, their sessions, and the one-time set-up token.
CREATE TABLE "admin_sessions" (
  "id_hash" text COLLATE "C" PRIMARY KEY NOT NULL,
  "user_name" text COLLATE "C" NOT NULL,
  "created_at" bigint NOT NULL,
  "last_seen_at" bigint NOT NULL,
  "expires_at" bigint NOT NULL,
  "address" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "admin_setup" (
  "only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
  "token_hash" text NOT NULL,
  "created_at" bigint NOT NULL,
  CONSTRAINT "admin_setup_only_row" CHECK ("admin_setup"."only_row")
);
--> statement-breakpoint
CREATE TABLE "admin_users" (
  "name" text COLLATE "C" PRIMARY KEY NOT NULL,
  "role" text NOT NULL,
  "password_hash" text NOT NULL,
  "disabled" boolean NOT NULL,
  "version" bigint NOT NULL,
  "created_at" bigint NOT NULL,
  "updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "admin_sessions" ADD CONSTRAINT "admin_sessions_user_name_admin_users_name_fk" FOREIGN KEY ("user_name") REFERENCES "admin_users"("name") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "admin_sessions_user" ON "admin_sessions" USING btree ("user_name");
--> statement-breakpoint
CREATE INDEX "admin_sessions_expiry" ON "admin_sessions" USING btree ("expires_at");
