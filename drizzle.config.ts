/**
 * Drizzle Kit drafts migrations; our own runner applies them (packages/control/src/store/migrate).
 *
 * After `drizzle-kit generate --name V022__what_it_does` three names need a hand, because the tool has
 * no prefix of our form: the file and its `tag` in `meta/_journal.json` lose their leading underscore,
 * and `meta/_snapshot.json` becomes `meta/V022_snapshot.json`. `drift.test.ts` fails until that is done.
 */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./packages/control/src/store/*.sql.ts",
  out: "./migrations",
  migrations: { prefix: "none" },
});
