/** What snowflake-sdk can not be made to do with a certificate of a test. */
import { request } from "node:https";
import { describe, expect, it } from "vitest";
import { OpenSuite } from "../rig/subject.ts";
import { snowflakeConfig } from "./config.ts";
import { listen } from "./listen.ts";

describe("a login over TLS", () => {
  it("takes a password", async () => {
    await using suite = new OpenSuite(
      () => Promise.reject(new Error("no client is made")),
      (more, door, host) => listen(snowflakeConfig.parse(more), door, host),
    );
    const { tls, ca } = await suite.tls();
    const { port } = await suite.listen({ answers: {}, passwords: { bob: "battery" } }, { tls });
    const answer = await logIn(port, ca, { LOGIN_NAME: "bob", PASSWORD: "battery" });
    expect(answer).toMatchObject({ success: true, data: { displayUserName: "bob" } });
  });
});

function logIn(port: number, ca: string, data: Readonly<Record<string, string>>): Promise<unknown> {
  const path = "/session/v1/login-request";
  return new Promise((resolve, reject) => {
    const asked = request({ host: "localhost", port, ca, path, method: "POST" }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => resolve(JSON.parse(text)));
    });
    asked.on("error", reject);
    asked.end(JSON.stringify({ data }));
  });
}
