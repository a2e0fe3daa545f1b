import { gatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Packet } from "@gateway/wire/mysql/packetReader.ts";
import { capability, violation } from "@gateway/wire/mysql/protocol.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownErrors } from "./errors.ts";
import {
  advance,
  awaitsPacket,
  busyWith,
  commandIn,
  greeted,
  type Claim,
  type Effect,
  type MachineContext,
  type Message,
  type State,
} from "./machine.ts";

const flags =
  capability.protocol41 |
  capability.secureConnection |
  capability.pluginAuth |
  capability.multiStatements;

const asking: MachineContext = contextOf({ asksPassword: true });
const open: MachineContext = contextOf({ asksPassword: false });
const scramble = `20${"ab".repeat(32)}`;

describe("advance before the login", () => {
  it("lets everybody in under provider none, in the way the client's plugin expects", () => {
    const [native, effects] = advance(greeted, responseOf("mysql_native_password"), open);
    expect(native).toMatchObject({ kind: "verifying" });
    expect(kindsOf(effects)).toEqual(["authenticate"]);

    // This plugin waits for a word of its own before the OK.
    const [, sha2] = advance(greeted, responseOf("caching_sha2_password"), open);
    expect(sha2[0]).toEqual({ kind: "sendMoreData", bytes: Uint8Array.of(3) });
    expect(sha2[1]).toMatchObject({ presented: { kind: "nothing", user: "ann", asked: true } });
  });

  it("always asks for the password itself, never trusts the hash", () => {
    const [state, effects] = advance(greeted, responseOf("caching_sha2_password"), asking);
    expect(state).toMatchObject({ kind: "challenged", sequence: 3 });
    expect(effects).toEqual([{ kind: "sendMoreData", bytes: Uint8Array.of(4) }]);
  });

  it("judges a client by its certificate and asks for no password then", () => {
    const certified = { ...asking, certificateNames: ["ann", "bob"] };
    const certificate = { kind: "certificate", user: "ann", names: ["ann", "bob"] };
    for (const plugin of ["caching_sha2_password", "mysql_native_password"]) {
      const [state, effects] = advance(greeted, responseOf(plugin), certified);
      expect(state.kind).toBe("verifying");
      expect(effects.at(-1)).toEqual({ kind: "authenticate", presented: certificate });
    }
    const [state] = advance(greeted, responseOf("client_ed25519"), certified);
    const [, shown] = advance(state, packetOf(scramble, 3), certified);
    expect(shown.at(-1)).toEqual({ kind: "authenticate", presented: certificate });
  });

  it("switches clients of every other plugin", () => {
    for (const plugin of ["mysql_native_password", "sha256_password", "dialog", "client_ed25519"]) {
      const [state, effects] = advance(greeted, responseOf(plugin), asking);
      expect([plugin, state.kind]).toEqual([plugin, "switching"]);
      expect(kindsOf(effects)).toEqual(["sendAuthSwitch"]);
    }
  });

  it("shows nothing to the door when the client has no password", () => {
    for (const empty of ["00", "0100"]) {
      const [, effects] = advance(greeted, responseOf("caching_sha2_password", empty), asking);
      expect(effects).toMatchObject([{ kind: "authenticate", presented: { kind: "nothing" } }]);
    }
  });

  it("takes a password in clear over TLS, and without it only where the context says so", () => {
    const clear = responseOf("mysql_clear_password", `07${ascii("secret\0")}`);
    const secured: State = { kind: "greeted", secure: true, sequence: 1 };
    expect(presentedBy(advance(secured, clear, asking)[1])).toBe("secret");
    expect(codeOf(advance(greeted, clear, asking)[1])).toBe(1045);
    expect(presentedBy(advance(greeted, clear, { ...asking, takesCleartext: true })[1])).toBe(
      "secret",
    );
  });

  it("sends its key to a client without TLS and has the answer opened", () => {
    const challenged: State = { kind: "challenged", claim: claimOf(), sequence: 3 };
    const [sent, effects] = advance(challenged, packetOf("02", 3), asking);
    expect(kindsOf(effects)).toEqual(["sendPublicKey"]);
    const ciphertext = packetOf("cd".repeat(256), 5);
    const [opening, open256] = advance(sent, ciphertext, asking);
    expect(open256).toEqual([{ kind: "open", ciphertext: ciphertext.payload }]);

    const [verifying, shown] = advance(opening, { kind: "opened", password: "secret" }, asking);
    expect(verifying.kind).toBe("verifying");
    expect(presentedBy(shown)).toBe("secret");
    const [refused, told] = advance(opening, { kind: "opened", password: undefined }, asking);
    expect(refused.kind).toBe("closed");
    expect(told).toContainEqual({ kind: "noteRefusal", code: "auth.refused", user: "ann" });
  });

  it("opens the answer of a client that has the key already", () => {
    const challenged: State = { kind: "challenged", claim: claimOf(), sequence: 3 };
    const [state] = advance(challenged, packetOf("cd".repeat(256), 3), asking);
    expect(state.kind).toBe("opening");
  });

  it("refuses a password sent in clear where clear text is not taken", () => {
    const challenged: State = { kind: "challenged", claim: claimOf(), sequence: 3 };
    const [state, effects] = advance(challenged, packetOf(ascii("secret\0"), 3), asking);
    expect(state.kind).toBe("closed");
    expect(messageOf(effects)).toContain("TLS");
  });

  it("starts TLS on request, once, and not where there is none", () => {
    const request = packetOf(headOf(flags | capability.ssl), 1);
    const [state, effects] = advance(greeted, request, asking);
    expect(state).toEqual({ kind: "securing", sequence: 2 });
    expect(kindsOf(effects)).toEqual(["upgrade"]);
    expect(advance(state, { kind: "secured" }, asking)[0]).toEqual({
      kind: "greeted",
      secure: true,
      sequence: 2,
    });
    const again: State = { kind: "greeted", secure: true, sequence: 1 };
    expect(codeOf(advance(again, request, asking)[1])).toBe(1043);
    const withoutTls = { ...asking, capabilities: asking.capabilities & ~capability.ssl };
    expect(codeOf(advance(greeted, request, withoutTls)[1])).toBe(1043);
  });

  it("refuses a response that promises TLS and does not start it", () => {
    const promised = packetOf(bodyOf("caching_sha2_password", scramble, capability.ssl), 1);
    expect(codeOf(advance(greeted, promised, asking)[1])).toBe(1043);
  });

  it("tells why nobody may enter behind the handshake", () => {
    const draining = { ...asking, refusal: gatewayError("gateway.draining") };
    const [state, effects] = advance(greeted, responseOf("caching_sha2_password"), draining);
    expect(state.kind).toBe("closed");
    expect(codeOf(effects)).toBe(1053);
  });

  it("refuses a client that can not be asked for another plugin", () => {
    const old = packetOf(`${headOf(flags & ~capability.pluginAuth)}${ascii("ann")}0000`, 1);
    expect(codeOf(advance(greeted, old, asking)[1])).toBe(1251);
  });

  it("refuses a name that is no text", () => {
    const broken = packetOf(`${headOf(flags)}ff0000${ascii("caching_sha2_password")}00`, 1);
    expect(codeOf(advance(greeted, broken, open)[1])).toBe(1043);
  });

  it("closes on a packet that is out of order", () => {
    const late = packetOf(bodyOf("caching_sha2_password", scramble), 2);
    expect(codeOf(advance(greeted, late, asking)[1])).toBe(1156);
  });

  it("closes behind a refused login and enters behind a good one", () => {
    const verifying: State = { kind: "verifying", claim: claimOf() };
    const refused = { kind: "verified", result: err(gatewayError("auth.refused")) } as const;
    const [closed, effects] = advance(verifying, refused, asking);
    expect(closed.kind).toBe("closed");
    expect(kindsOf(effects)).toEqual(["sendError", "close"]);
    const [entering, begun] = advance(verifying, { kind: "verified", result: ok(login) }, asking);
    expect(kindsOf(begun)).toEqual(["enter"]);
    const [ready, welcomed] = advance(entering, { kind: "entered", refusal: undefined }, asking);
    expect([ready.kind, kindsOf(welcomed)]).toEqual(["ready", ["welcome"]]);
    const [unknown, told] = advance(
      entering,
      { kind: "entered", refusal: unknownDatabase },
      asking,
    );
    expect([unknown.kind, codeOf(told)]).toEqual(["closed", 1049]);
  });
});

describe("advance after the login", () => {
  const ready: State = { kind: "ready", claim: claimOf() };

  it("runs one command at a time", () => {
    const [busy, effects] = advance(ready, packetOf("0e", 0), asking);
    expect(busy.kind).toBe("busy");
    expect(effects).toEqual([{ kind: "run", command: { kind: "ping" } }]);
    expect(awaitsPacket(busy)).toBe(false);
    expect(advance(busy, { kind: "finished" }, asking)[0].kind).toBe("ready");
  });

  it("answers what it does not know and goes on", () => {
    const [state, effects] = advance(ready, packetOf("7f", 0), asking);
    expect(state.kind).toBe("ready");
    expect(codeOf(effects)).toBe(1047);
    expect(codeOf(advance(ready, packetOf("0c00", 0), asking)[1])).toBe(1835);
  });

  it("closes without a word when the client quits", () => {
    expect(advance(ready, packetOf("01", 0), asking)).toEqual([
      { kind: "closed" },
      [{ kind: "close" }],
    ]);
  });

  it("leaves the old session before another user's login begins", () => {
    const change = `11${ascii("bob")}0000${ascii("db")}002d00${ascii("mysql_native_password")}00`;
    const [state, effects] = advance(ready, packetOf(change, 0), asking);
    expect(state).toMatchObject({ kind: "switching", claim: { user: "bob", database: "db" } });
    expect(kindsOf(effects)).toEqual(["leave", "sendAuthSwitch"]);
  });

  it("tells a message over the limit and closes", () => {
    const [state, effects] = advance(ready, violation("tooLarge", ""), asking);
    expect(state.kind).toBe("closed");
    expect(codeOf(effects)).toBe(1153);
  });

  it("does not take a command that is numbered as an answer", () => {
    expect(codeOf(advance(ready, packetOf("0e", 1), asking)[1])).toBe(1156);
  });
});

describe("advance as a table", () => {
  it("has an answer for every state and message, and none leaves the closed state", () => {
    for (const state of allStates()) {
      for (const message of allMessages()) {
        const [next, effects] = advance(state, message, asking);
        const wanted = state.kind === "closed" ? [state, []] : [next, effects];
        expect([next, effects]).toEqual(wanted);
        expect(kindsOf(effects).filter((kind) => kind === "close").length).toBe(
          next.kind === "closed" && state.kind !== "closed" ? 1 : 0,
        );
      }
    }
  });

  it("has a short way for texts that leads where it does", () => {
    const text = packetOf(`03${ascii("select 1")}`, 0);
    const late = { ...text, sequence: 1 };
    let found = 0;
    for (const state of allStates()) {
      for (const message of [...allMessages(), text, late]) {
        const command = commandIn(state, message);
        if (command === undefined || state.kind !== "ready") continue;
        found += 1;
        const led = [busyWith(state), [{ kind: "run", command }]];
        expect(advance(state, message, asking)).toEqual(led);
      }
    }
    expect(found).toBe(1);
  });

  it("never lets a client in that the door has not verified", () => {
    const bytes = fc.uint8Array({ maxLength: 120 });
    const step = fc.record({ bytes, sequence: fc.nat(4), secure: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let state: State = greeted;
        for (const { bytes: payload, sequence } of steps) {
          const packet = { kind: "packet", payload, sequence, lastSequence: sequence } as const;
          const [next, effects] = advance(state, packet, asking);
          expect(kindsOf(effects)).not.toContain("enter");
          expect(kindsOf(effects)).not.toContain("run");
          state = next.kind === "securing" ? { kind: "greeted", secure: true, sequence: 2 } : next;
        }
      }),
    );
  });
});

const unknownDatabase = ownErrors.unknownDatabase("nosuch");

const login: Login = {
  identity: { user: "ann", groups: [], roles: [], method: "static" },
  credential: { kind: "none" },
};

function contextOf(more: { readonly asksPassword: boolean }): MachineContext {
  return {
    capabilities: flags | capability.ssl,
    mariadbCapabilities: 0,
    takesCleartext: false,
    certificateNames: [],
    refusal: undefined,
    ...more,
  };
}

function claimOf(): Claim {
  return {
    capabilities: flags,
    mariadbCapabilities: 0,
    secure: false,
    user: "ann",
    database: undefined,
    collation: 255,
    attributes: new Map(),
    zstdLevel: undefined,
  };
}

function packetOf(hex: string, sequence: number): Packet {
  const payload = Uint8Array.from(Buffer.from(hex, "hex"));
  return { kind: "packet", payload, sequence, lastSequence: sequence };
}

function headOf(capabilities: number): string {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(capabilities >>> 0);
  head[8] = 255;
  return head.toString("hex");
}

function bodyOf(plugin: string, authData: string, more = 0): string {
  return `${headOf(flags | more)}${ascii("ann")}00${authData}${ascii(plugin)}00`;
}

function responseOf(plugin: string, authData = scramble): Packet {
  return packetOf(bodyOf(plugin, authData), 1);
}

function ascii(text: string): string {
  return Buffer.from(text, "latin1").toString("hex");
}

function kindsOf(effects: readonly Effect[]): readonly string[] {
  return effects.map(({ kind }) => kind);
}

function codeOf(effects: readonly Effect[]): number | undefined {
  const [error] = effects;
  return error?.kind === "sendError" ? error.reply.errno : undefined;
}

function messageOf(effects: readonly Effect[]): string {
  const [error] = effects;
  return error?.kind === "sendError" ? error.reply.message : "";
}

/** The password that goes to the door. */
function presentedBy(effects: readonly Effect[]): string | undefined {
  const shown = effects.find(({ kind }) => kind === "authenticate");
  if (shown?.kind !== "authenticate" || shown.presented.kind !== "password") return undefined;
  return shown.presented.password.reveal();
}

function allStates(): readonly State[] {
  const claim = claimOf();
  return [
    greeted,
    { kind: "greeted", secure: true, sequence: 2 },
    { kind: "securing", sequence: 2 },
    { kind: "switching", claim, sequence: 1 },
    { kind: "challenged", claim, sequence: 1 },
    { kind: "keySent", claim, sequence: 1 },
    { kind: "opening", claim },
    { kind: "verifying", claim },
    { kind: "entering", claim },
    { kind: "ready", claim },
    { kind: "busy", claim },
    { kind: "closed" },
  ];
}

function allMessages(): readonly Message[] {
  return [
    packetOf("", 0),
    packetOf("0e", 0),
    packetOf("01", 0),
    packetOf("11", 0),
    packetOf("02", 1),
    packetOf(headOf(flags | capability.ssl), 1),
    responseOf("caching_sha2_password"),
    violation("tooLarge", ""),
    violation("outOfOrder", ""),
    violation("malformed", ""),
    { kind: "secured" },
    { kind: "opened", password: "x" },
    { kind: "opened", password: undefined },
    { kind: "verified", result: ok(login) },
    { kind: "verified", result: err(gatewayError("auth.refused")) },
    { kind: "entered", refusal: undefined },
    { kind: "entered", refusal: unknownDatabase },
    { kind: "idle" },
    { kind: "finished" },
  ];
}
