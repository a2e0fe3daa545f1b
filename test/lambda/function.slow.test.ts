/** In front of PGlite. */
import { startPgliteServer } from "../neon/pgliteServer.ts";
import { stepInProcess } from "./deployment.ts";
import { functionSuite } from "./function.suite.ts";

functionSuite({ server: "PGlite", open: startPgliteServer, step: stepInProcess });
