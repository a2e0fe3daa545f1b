/**
 * Connections of callers: what finding them again costs, what 600 of them do to the memory of a cluster
 * that keeps 500, and what a process of one weighs.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { compileRecording, recordingTool } from "../real/recordingDriver.mjs";
import { spread } from "./figures.mjs";

const program = fileURLToPath(new URL("identityScopes.mjs", import.meta.url));

export async function identityRows() {
  const reason = await recordingTool();
  const recording = reason === true ? await compileRecording() : undefined;
  try {
    const { hits, exchanged, held, processes } = await measured(recording?.folder ?? "");
    return [
      { what: "scope found again", µs: spread(hits.lookup, 2) },
      { what: "scope found again, and a connection of it", µs: spread(hits.taken, 2) },
      { what: "token of an exchange found again", µs: spread(exchanged, 2) },
      {
        what: `${held.identities} callers in turn, ${held.limit} kept`,
        children: `${held.open} open, ${held.ended} ended`,
        "heap MB, after each round": held.heapMb.map((one) => one.toFixed(1)).join(" "),
      },
      ...(processes ?? []).map((one) => ({
        what: `${one.identities} callers in turn, ${one.limit} kept, ${one.perProcess} in a process`,
        children: `${one.most} at most, ${one.left} left`,
        "PSS MB of a caller": (one.pssMb / one.limit).toFixed(1),
        "ms to the first answer": spread(one.firstMs, 0),
      })),
      ...(processes === undefined ? [{ what: "a caller's process", skipped: reason }] : []),
    ];
  } finally {
    await recording?.stop();
  }
}

function measured(folder) {
  return new Promise((resolve, reject) => {
    const child = fork(program, [folder], { execArgv: ["--import", "tsx", "--expose-gc"] });
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Error(`the scopes ended with ${code}`)));
  });
}
