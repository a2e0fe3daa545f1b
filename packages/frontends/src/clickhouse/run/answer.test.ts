import { giveBack, lend } from "@gateway/core/tool/socket/lent.ts";
import { describe, expect, it } from "vitest";
import type { HttpRequest, HttpResponse } from "../../listener/http/exchange.ts";
import { Answer } from "./answer.ts";
import { unpackedBytes } from "./packing.ts";

describe("rows of an engine", () => {
  it("are given back once the client's connection has them, and not before", async () => {
    const { answer, written } = relaying();
    void answer.rows(new Uint8Array(1));
    written.splice(0);
    const backs: string[] = [];
    for (const name of ["first", "second"]) {
      const piece = new Uint8Array(64);
      lend(piece, () => backs.push(name));
      void answer.rows(piece);
    }
    expect(backs).toEqual([]);
    written[1]?.();
    expect(backs).toEqual(["second"]);
    written[0]?.();
    written[0]?.();
    expect(backs).toEqual(["second", "first"]);
  });

  it("are copied before they are given back where they wait for the head", () => {
    const { answer, bodies } = relaying();
    const piece = new Uint8Array([1, 2, 3]);
    lend(piece, () => piece.fill(0));
    void answer.rows(piece);
    giveBack(piece);
    expect(bodies).toEqual([Buffer.from([1, 2, 3])]);
  });
});

/** An answer to a client that takes what it is told to: `written` says so for each piece. */
function relaying() {
  const written: (() => void)[] = [];
  const bodies: Uint8Array[] = [];
  const response = {
    destroyed: false,
    setHeader: () => {},
    hasHeader: () => false,
    write: (bytes: Uint8Array, done: () => void) => {
      bodies.push(bytes);
      written.push(done);
      return true;
    },
  };
  const answer = new Answer({
    request: { complete: true } as HttpRequest,
    response: response as unknown as HttpResponse,
    queryId: "",
    whole: false,
    packing: unpackedBytes,
    tag: () => "",
    held: { bytes: 0 },
  });
  answer.relays({});
  return { answer, written, bodies };
}
