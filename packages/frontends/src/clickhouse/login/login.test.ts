/** What was read of a request's headers, and is read no more behind the next that brings the same. */
import { gatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import { err } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { LinesMemo } from "../../listener/http/plain/sameLines.ts";
import { logIn, type Sender } from "./login.ts";

const ann: Login = {
  identity: { user: "ann", groups: [], roles: [], method: "static" },
  credential: { kind: "none" },
};

describe("a login by headers that came before", () => {
  it("is judged anew each time, by the credential that was read once", () => {
    const door = doorOf();
    const sender = senderOf();
    expect([logIn(door, sender), logIn(door, sender)]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(door.asked).toHaveLength(2);
    expect(door.asked[1]).toBe(door.asked[0]);
    door.known = false;
    expect(logIn(door, sender)).toBeInstanceOf(Promise);
  });

  it("is not the one of an address that shows somebody too", () => {
    const door = doorOf();
    const sender = senderOf();
    void logIn(door, sender);
    const refused = { ok: false, error: { code: "auth.refused" } };
    expect(logIn(door, { ...sender, user: "eve" })).toMatchObject(refused);
    expect(logIn(door, { ...sender, password: "" })).toMatchObject(refused);
    expect(door.asked).toHaveLength(1);
  });

  it("does not pass where no secret may", () => {
    const door = doorOf();
    const sender = senderOf();
    void logIn(door, sender);
    const cleartext = { ok: false, error: { code: "auth.cleartext" } };
    expect(logIn(door, { ...sender, mayTakeCredentials: false })).toMatchObject(cleartext);
  });
});

function senderOf(): Sender {
  return {
    headers: { authorization: `Basic ${Buffer.from("ann:secret").toString("base64")}` },
    user: undefined,
    password: undefined,
    address: "192.0.2.1",
    certificateNames: [],
    mayTakeCredentials: true,
    memo: new LinesMemo(),
  };
}

function doorOf() {
  const door = {
    asked: [] as Presented[],
    known: true,
    recall: (presented: Presented): Login | undefined => {
      door.asked.push(presented);
      return door.known ? ann : undefined;
    },
    authenticate: async () => err(gatewayError("auth.refused")),
    refused: () => {},
  };
  return door;
}
