#!/usr/bin/env node
/** `npx query-gateway`: the quick start in this folder. With arguments it is the `gateway` command. */
if (process.argv.length === 2) process.argv.push("quickstart");

await import("./gateway.mjs");
