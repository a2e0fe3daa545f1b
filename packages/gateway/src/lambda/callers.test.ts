import { describe, expect, it } from "vitest";
import { platformCallers } from "./callers.ts";

describe("platformCallers", () => {
  it("believes the platform's event and no header", () => {
    const callers = platformCallers();
    const headers = { "x-forwarded-for": "198.51.100.1", forwarded: "for=198.51.100.1" };
    const request = new Request("https://control.example/", { headers });
    callers.arrived(request, { http: { sourceIp: "203.0.113.7" } });
    expect(callers.of(request)).toEqual({ address: "203.0.113.7", secure: true });
  });

  it("reads the event of a REST API too", () => {
    const callers = platformCallers();
    const request = new Request("https://control.example/");
    callers.arrived(request, { identity: { sourceIp: "2001:db8::1" } });
    expect(callers.of(request)).toEqual({ address: "2001:db8::1", secure: true });
  });

  it.each([[undefined], [{}], [{ elb: { targetGroupArn: "arn" } }], [{ http: { sourceIp: "" } }]])(
    "knows nobody behind %j, and takes that for clear text",
    (context) => {
      const callers = platformCallers();
      const request = new Request("https://control.example/", {
        headers: { "x-forwarded-for": "198.51.100.1", "x-forwarded-proto": "https" },
      });
      callers.arrived(request, context);
      expect(callers.of(request)).toEqual({ address: "unknown", secure: false });
    },
  );
});
