-- V021: queries that an operator ended, until the worker that runs them has heard it.
CREATE TABLE "worker_cancels" (
  "query_id" text COLLATE "C" PRIMARY KEY NOT NULL,
  "requested_by" text NOT NULL,
  "requested_at" bigint NOT NULL
);
