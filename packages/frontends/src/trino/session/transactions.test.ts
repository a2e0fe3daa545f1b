import { gatewayError } from "@gateway/core/error.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { describe, expect, it } from "vitest";
import { Transactions } from "./transactions.ts";

describe("Transactions", () => {
  it("finds a transaction for its owner only", () => {
    const transactions = new Transactions(virtualHost(1));
    const pin = pinOf();
    const id = transactions.begin(pin, "alice");
    expect(transactions.find(id, "alice")).toEqual({ ok: true, value: pin });
    expect(transactions.find(id, "bob").ok).toBe(false);
    expect(transactions.find("other", "alice").ok).toBe(false);
  });

  it("answers one that ended by itself as unknown, and forgets it when the next begins", () => {
    const transactions = new Transactions(virtualHost(1));
    const pin = pinOf();
    const id = transactions.begin(pin, "alice");
    pin.state = "ended";
    expect(transactions.find(id, "alice")).toMatchObject({
      ok: false,
      error: { code: "query.idleInTransaction" },
    });
    transactions.begin(pinOf(), "alice");
    expect(transactions.count).toBe(1);
  });

  it("says of one that lived for too long why it is over", () => {
    const transactions = new Transactions(virtualHost(1));
    const endedBy = gatewayError("query.transactionTimeout");
    const id = transactions.begin({ ...pinOf(), state: "ended", endedBy }, "alice");
    expect(transactions.find(id, "alice")).toMatchObject({
      ok: false,
      error: { code: endedBy.code },
    });
    expect(transactions.find(id, "bob")).toMatchObject({
      error: { code: "query.idleInTransaction" },
    });
  });

  it("rolls back what is open when it closes", async () => {
    const transactions = new Transactions(virtualHost(1));
    const pin = pinOf();
    transactions.begin(pin, "alice");
    await transactions.close();
    expect(pin.state).toBe("ended");
    expect(transactions.count).toBe(0);
  });
});

function pinOf() {
  const pin = {
    cluster: "c",
    group: "g",
    state: "open" as Pin["state"],
    end: async () => {
      pin.state = "ended";
    },
  };
  return pin;
}
