#!/usr/bin/env node
/**
 * The `gateway` command: brings the bundle up to date in a checkout, then runs it.
 *
 * Source maps stay off: Node's streams read the stack of every connection that breaks, which takes the
 * whole map into memory (80 MB) and makes each collection of a busy relay pay for it. The bundle keeps
 * its names; `NODE_OPTIONS=--enable-source-maps` shows sources.
 */
import { existsSync } from "node:fs";

// The image ships `dist` without sources; there the bundle is always the newest.
if (existsSync(new URL("../src/entry/cli.ts", import.meta.url))) {
  const { buildApartIfStale, makeDataLater } = await import("./build.mjs");
  try {
    await buildApartIfStale();
    makeDataLater();
  } catch (cause) {
    console.error(`The bundle can not be built: ${cause.message}`);
    // The code of a start that failed; 1 is kept for an error in the config.
    process.exit(2);
  }
}

await import("../dist/gateway.js");
