/**
 * A provider of identities that signs whatever a test asks for, and can misbehave: be slow, be down,
 * answer nonsense, redirect, or change its keys. Which addresses it was asked at is remembered.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK, SignJWT, type JWK } from "jose";

export type FakeMood =
  | "well"
  /** Accepts and never answers. */
  | "silent"
  /** Answers a page of text. */
  | "nonsense"
  /** Answers more than anybody should read. */
  | "endless"
  /** Sends to another place. */
  | "redirecting"
  /** The document names another issuer. */
  | "lying"
  | "failing";

interface Pair {
  readonly keyId: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  readonly jwk: JWK;
}

export interface TokenOptions {
  readonly header?: Readonly<Record<string, unknown>>;
  /** Added over the usual claims; undefined leaves one out. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Which key of the provider signs; the newest unless said. */
  readonly key?: number;
}

export class FakeOidc implements AsyncDisposable {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly pairs: Pair[] = [];
  /** Keys that are published but not this provider's own to sign with. */
  readonly extraKeys: JWK[] = [];
  mood: FakeMood = "well";
  readonly asked: string[] = [];
  /** Where Unix seconds come from. */
  nowSecs: () => number = () => Math.floor(Date.now() / 1_000);
  #port = 0;

  static async start(algorithm = "RS256"): Promise<FakeOidc> {
    const fake = new FakeOidc();
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    fake.#port = (fake.#server.address() as AddressInfo).port;
    await fake.addKey(algorithm);
    return fake;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}/realm`;
  }

  get port(): number {
    return this.#port;
  }

  async addKey(algorithm = "RS256", keyId = `key-${this.pairs.length + 1}`): Promise<Pair> {
    const { privateKey, publicKey } = keyPairOf(algorithm);
    const jwk = { ...(await exportJWK(publicKey)), kid: keyId, alg: algorithm, use: "sig" };
    const pair = { keyId, algorithm, privateKey, jwk };
    this.pairs.push(pair);
    return pair;
  }

  /** Withdraws every key and signs with a new one from now on. */
  async rotate(): Promise<void> {
    const count = this.pairs.length;
    this.pairs.length = 0;
    await this.addKey("RS256", `key-${count + 1}-${this.asked.length}`);
  }

  /** Claims of an access token that is right in everything. */
  claims(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const now = this.nowSecs();
    const usual = { iss: this.issuer, aud: "gateway", sub: "alice", iat: now, exp: now + 300 };
    const all = Object.entries({ ...usual, ...more });
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  }

  async token({ header = {}, claims = {}, key = this.pairs.length - 1 }: TokenOptions = {}) {
    const pair = this.pairs[key];
    if (pair === undefined) throw new Error(`no key ${key}`);
    return new SignJWT(this.claims(claims))
      .setProtectedHeader({ alg: pair.algorithm, kid: pair.keyId, ...header })
      .sign(pair.privateKey, { crit: { "x-known": true } });
  }

  /** Hangs up on everybody and takes nobody. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  /** Comes back at the same place. */
  async restart(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(this.#port, "127.0.0.1", resolve);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.stop();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.asked.push(request.url ?? "");
    switch (this.mood) {
      case "silent":
        return;
      case "nonsense":
        return void response.end("<html>maintenance</html>");
      case "endless":
        return void response.end("x".repeat(3 << 20));
      case "failing":
        return void response.writeHead(503).end("{}");
      case "redirecting":
        return void response.writeHead(302, { location: `${this.issuer}/elsewhere` }).end();
      case "well":
      case "lying":
        return this.#serve(request, response);
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("content-type", "application/json");
    if (request.url === "/realm/.well-known/openid-configuration") {
      const issuer = this.mood === "lying" ? `${this.issuer}/other` : this.issuer;
      response.end(JSON.stringify({ issuer, jwks_uri: `${this.issuer}/keys` }));
      return;
    }
    if (request.url !== "/realm/keys") return void response.writeHead(404).end("{}");
    const keys = [...this.pairs.map(({ jwk }) => jwk), ...this.extraKeys];
    response.end(JSON.stringify({ keys }));
  }
}

function keyPairOf(algorithm: string) {
  if (algorithm.startsWith("ES")) return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("rsa", { modulusLength: 2_048 });
}
