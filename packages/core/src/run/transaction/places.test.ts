import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import { Places, type Place } from "./places.ts";

describe("Places", () => {
  it("tells each that it is first when those before it are over, and none twice", () => {
    const { places, first, join } = placesOf();
    const [one, two, three] = [join("one"), join("two"), join("three")];
    expect(first).toEqual(["one"]);
    places.leave(two);
    expect(first).toEqual(["one"]);
    places.leave(one);
    places.leave(one);
    expect(first).toEqual(["one", "three"]);
    places.leave(three);
    expect(places.taken).toBe(false);
  });

  it("lets each be sent behind the one before it, in their order", async () => {
    const { join, order } = placesOf();
    const [one, two, three] = [join("one"), join("two"), join("three")];
    expect(one.toSend()).toBeUndefined();
    const sent = [three, two].map((place) => order(place));
    expect(await settledNow(sent)).toEqual([]);
    one.sent();
    expect(await settledNow(sent)).toEqual([two]);
    two.sent();
    expect(await settledNow(sent)).toEqual([three, two]);
  });

  it("sends one behind another that ends unsent only where what is before that was sent", async () => {
    const { places, join, order } = placesOf();
    const [one, two, three] = [join("one"), join("two"), join("three")];
    const sent = [order(three)];
    places.leave(two);
    expect(await settledNow(sent)).toEqual([]);
    one.sent();
    expect(await settledNow(sent)).toEqual([three]);
  });

  it("waits for all before it to be over, whatever was sent", async () => {
    const { places, join } = placesOf();
    const [one, two] = [join("one"), join("two")];
    one.sent();
    const alone = [two.alone()?.then(() => two)];
    expect(await settledNow(alone)).toEqual([]);
    places.leave(one);
    expect(await settledNow(alone)).toEqual([two]);
    expect(two.alone()).toBeUndefined();
  });

  it("cancels all", () => {
    const { places, join, cancelled } = placesOf();
    join("one");
    join("two");
    places.cancel(gatewayError("query.cancelled"));
    expect(cancelled).toEqual(["one", "two"]);
  });
});

function placesOf() {
  const places = new Places();
  const first: string[] = [];
  const cancelled: string[] = [];
  return {
    places,
    first,
    cancelled,
    join: (name: string): Place =>
      places.join({ cancel: () => cancelled.push(name), first: () => first.push(name) }),
    order: (place: Place) => place.toSend()?.then(() => place),
  };
}

/** Those that are settled once all that is ready has run. */
async function settledNow<Value>(
  promises: readonly (Promise<Value> | undefined)[],
): Promise<readonly Value[]> {
  const settled: (Value | undefined)[] = promises.map(() => undefined);
  for (const [index, promise] of promises.entries())
    void promise?.then((value) => (settled[index] = value));
  await new Promise((resolve) => setImmediate(resolve));
  return settled.filter((value) => value !== undefined);
}
