import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { drillsPath } from "@gateway/contract/drillApi.ts";
import { exitCode, type Terminal } from "@gateway/gateway/command/terminal.ts";
import { describe, expect, it } from "vitest";
import { drillCommand } from "./drillCommand.ts";

describe("gateway drill", () => {
  it("asks a fleet nothing that does not consent", async () => {
    await using target = await targetOf({ consents: false });
    const { code, said } = await target.drill("--restart-worker", "exit 9");
    expect([code, target.statements]).toEqual([exitCode.config, 0]);
    expect(said).toContain("workerRestart: refused: no (409 noDrills)");
  });

  it("reports a fleet that does as it should, and what nobody looked at", async () => {
    await using target = await targetOf();
    const { code, findings } = await target.drill("--restart-worker", "true");
    expect(findings).toEqual([
      ["answers", "held"],
      ["records", "held"],
      ["cap", "notJudged"],
      ["recovery", "held"],
    ]);
    expect(code).toBe(exitCode.clean);
  });

  it("finds a wrong answer, a lost record and a passed cap", async () => {
    await using target = await targetOf({ lies: true, forgets: true });
    const engine = ["--engine-running", "echo 5", "--cap", "4"];
    const { code, findings } = await target.drill("--kill-engine", "true", ...engine);
    expect(findings).toEqual([
      ["answers", "violated"],
      ["records", "violated"],
      ["cap", "violated"],
      ["recovery", "held"],
    ]);
    expect(code).toBe(exitCode.violated);
  });

  it("undoes what failed half-way, and says when it can not", async () => {
    await using target = await targetOf();
    const undone = await target.drill("--stop-control", "exit 9", "--start-control", "true");
    expect(undone.code).toBe(exitCode.startFailed);
    expect(undone.said).toContain("controlPlaneAway: not run: exit 9: ended with 9");
    const left = await target.drill("--stop-control", "true", "--start-control", "exit 7");
    expect(left.code).toBe(exitCode.startFailed);
    expect(left.said).toContain("controlPlaneAway: NOT UNDONE: exit 7: ended with 7");
  });
});

interface Faults {
  readonly consents?: boolean;
  /** One answer, after those that show that it works, is another cell. */
  readonly lies?: boolean;
  /** No query has a record. */
  readonly forgets?: boolean;
}

/** An admin API and a Trino listener in one, as far as a drill asks them. */
async function targetOf({ consents = true, lies = false, forgets = false }: Faults = {}) {
  const ids: string[] = [];
  const answer = (status: number, body: unknown) => ({ status, body });
  const replyTo = (path: string, text: string) => {
    if (path === drillsPath) return consents ? answer(200, {}) : answer(409, noDrills);
    if (path === "/v1/statement") {
      const mark = /'(\w+)'/.exec(text)?.[1];
      const id = `q${ids.push("") - 1}`;
      ids[ids.length - 1] = id;
      const cell = lies && ids.length === liesAt ? "another" : mark;
      return answer(200, { id, data: [[cell]] });
    }
    const kept = path === "/admin/queries" && !forgets ? ids : [];
    return answer(200, { items: kept.map((proxyQueryId) => ({ proxyQueryId })) });
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    request.on("data", (piece) => (text += String(piece)));
    request.on("end", () => {
      const path = new URL(request.url ?? "", "http://target").pathname;
      const { status, body } = replyTo(path, text);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    get statements() {
      return ids.length;
    },
    drill: (...args: readonly string[]) => drilled(["--target", url, "--worker", url, ...args]),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const noDrills = { code: "noDrills", detail: "no" };
/** By then each of two clients was answered, and the fault has begun. */
const liesAt = 12;

async function drilled(args: readonly string[]) {
  let printed = "";
  let said = "";
  const terminal: Terminal = {
    out: (text) => void (printed += text),
    err: (text) => void (said += text),
    stdin: Readable.from([]),
    environment: { PATH: "/usr/bin:/bin" },
    bundle: new URL(".", import.meta.url),
  };
  const quick = ["--clients", "2", "--hold-secs", "1", "--recovery-secs", "2", "--json"];
  const code = await drillCommand([...quick, ...args], terminal);
  const reports = JSON.parse(printed) as readonly {
    readonly findings: readonly { readonly invariant: string; readonly kind: string }[];
  }[];
  const findings = reports.flatMap((report) => report.findings);
  return { code, said, findings: findings.map(({ invariant, kind }) => [invariant, kind]) };
}
