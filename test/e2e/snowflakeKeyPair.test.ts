/** Logins by key pair: snowflake-sdk's own, and tokens at the SQL API. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import snowflake from "snowflake-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

snowflake.configure({ logLevel: "OFF", disableOCSPChecks: true } as never);

const listener = { host: "127.0.0.1", port: 0 };
const [own, next, foreign] = [pairOf(), pairOf(), pairOf()];
let gateway: TestGateway;

beforeAll(async () => {
  const ann = { rsaPublicKey: own.publicKey, rsaPublicKey2: next.publicKey };
  gateway = await gatewayOf(
    configOf({
      gateway: {
        frontends: { snowflakeHttp: listener },
        adminApi: listener,
        persistence: { type: "inMemory" },
      },
      auth: { provider: "static", staticUsers: { account: "acme", users: { ann } } },
    }),
  );
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

describe("snowflake-sdk with a key pair", () => {
  it("logs in with either of the user's keys, and with no other", async () => {
    expect(await answerTo("ann", own.privateKey)).toBe(42);
    expect(await answerTo("ANN", next.privateKey)).toBe(42);
    const refused = await Promise.all([
      answerTo("ann", foreign.privateKey),
      answerTo("bob", own.privateKey),
      answerTo("ann", own.privateKey, "other"),
    ]);
    expect(new Set(refused)).toEqual(new Set(["390100"]));
  });
});

describe("the SQL API with a token of a key pair", () => {
  it("takes it with its type or without one, and refuses it alike for whatever is wrong", async () => {
    const token = tokenOf(own, "ACME.ANN");
    for (const type of ["KEYPAIR_JWT", undefined]) {
      expect(await ask(token, type)).toMatchObject({ status: 200, data: [["42"]] });
    }
    const refused = await Promise.all([
      ask(tokenOf(foreign, "ACME.ANN"), "KEYPAIR_JWT"),
      ask(tokenOf(own, "OTHER.ANN"), "KEYPAIR_JWT"),
      ask(tokenOf(own, "ACME.ANN", 7_200), "KEYPAIR_JWT"),
      ask(token, "OAUTH"),
      ask(token, "SAML"),
    ]);
    const first = refused[0];
    expect(first).toMatchObject({ status: 401, code: "390100" });
    for (const one of refused) expect(one).toEqual(first);
  });
});

interface Pair {
  readonly publicKey: string;
  readonly privateKey: string;
}

function pairOf(): Pair {
  return generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { format: "pem", type: "spki" },
    privateKeyEncoding: { format: "pem", type: "pkcs8" },
  });
}

/** The cell that the user reads, or the number of the refusal. */
async function answerTo(username: string, privateKey: string, account = "acme"): Promise<unknown> {
  const connection = snowflake.createConnection({
    account,
    accessUrl: `http://127.0.0.1:${portOf(gateway, "snowflakeHttp")}`,
    username,
    authenticator: "SNOWFLAKE_JWT",
    privateKey,
    sfRetryMaxLoginRetries: 0,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
    const rows = await new Promise<unknown[] | undefined>((resolve, reject) => {
      connection.execute({
        sqlText: "select 42 as answer",
        complete: (error, _statement, found) => (error ? reject(error) : resolve(found)),
      });
    });
    return Object.values(rows?.[0] as object)[0];
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

function tokenOf({ publicKey, privateKey }: Pair, subject: string, ageSecs = 0): string {
  const body = publicKey.replaceAll(/-----[^-]+-----|\s/g, "");
  const digest = createHash("sha256").update(Buffer.from(body, "base64")).digest("base64");
  const iat = Math.floor(Date.now() / 1_000) - ageSecs;
  const claims = { iss: `${subject}.SHA256:${digest}`, sub: subject, iat, exp: iat + 86_400 };
  const text = [{ alg: "RS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`;
}

async function ask(token: string, type: string | undefined): Promise<object> {
  const url = `http://127.0.0.1:${portOf(gateway, "snowflakeHttp")}/api/v2/statements`;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(type === undefined ? {} : { "x-snowflake-authorization-token-type": type }),
    },
    body: JSON.stringify({ statement: "select 42 as answer" }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}
