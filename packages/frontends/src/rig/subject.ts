/** What a frontend's test gives to the shared suite, and the open listener that the suite tries it on. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ListenerConfig, TlsConfig } from "@gateway/contract/config/listener.ts";
import type { Frontend, Listen } from "@gateway/core/port/frontend.ts";
import { certificateOf } from "../listener/rig/certificate.ts";
import { scriptedDoor, type Script } from "./scriptedDoor.ts";
import { suiteHost } from "./host.ts";
import type { SampleName } from "./samples.ts";

/** How the suite's client shows itself. */
export interface SuiteLogin {
  readonly user: string;
  readonly password?: string;
  /** The certificate to trust, PEM; absent means no TLS. */
  readonly ca?: string;
}

export interface SuiteAnswer {
  readonly columns: readonly string[];
  /** Cells as the client's own text, before it converts them. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Rows changed, where the client shows it. */
  readonly updateCount?: number | undefined;
}

/** What `query` and `connect` reject with. */
export interface SuiteFailure extends Error {
  /** Place in the SQL text, counted from 1, where the protocol has one. */
  readonly position?: number | undefined;
}

/** A client of the protocol, made by somebody else. */
export interface SuiteClient {
  /** Rejects with a `SuiteFailure`. */
  query(sql: string): Promise<SuiteAnswer>;
  /** Leaves without a word, in the middle of whatever it is doing. A query that waits may reject. */
  destroy(): void;
  /** Leaves as the protocol wants it. */
  close(): Promise<void>;
}

/** Connects and logs in. Protocols without connections put both off to the first query. */
export type ConnectClient = (port: number, login: SuiteLogin) => Promise<SuiteClient>;

export interface FrontendSubject<Config> {
  readonly listen: Listen<Config>;
  /** The frontend's own schema over the fields that a test sets: `(more) => postgresConfig.parse(more)`. */
  config(more: Partial<ListenerConfig>): Config;
  /** The text that the client gets for each sample (samples). */
  readonly texts: Readonly<Record<SampleName, string>>;
  /** True when errors carry a position in the SQL text. */
  readonly positions: boolean;
  /** First bytes of a connection that announce a message of a gigabyte. */
  readonly lyingLength: Uint8Array;
  /** Guarantees that the protocol or its client can not show, by their titles. */
  readonly skip?: readonly SuiteSkip[];
}

export interface SuiteSkip {
  readonly reason: string;
  readonly tests: readonly string[];
}

/** Opens the frontend by the fields that a test sets. */
export type OpenFrontend = Listen<Partial<ListenerConfig>>;

/** The frontend of one test, closed with everything that is still connected. */
export class OpenSuite implements AsyncDisposable {
  readonly #connect: ConnectClient;
  readonly #open: OpenFrontend;
  readonly #host = suiteHost();
  readonly #clients: SuiteClient[] = [];
  readonly #frontends: Frontend[] = [];
  readonly #folders: string[] = [];

  constructor(connect: ConnectClient, open: OpenFrontend) {
    this.#connect = connect;
    this.#open = open;
  }

  /** Everything the frontend logged as a bug. */
  get bugs(): readonly unknown[] {
    return this.#host.log.bugs;
  }

  /** Opens the frontend over a door that answers from a script. */
  async listen(script: Script, config: Partial<ListenerConfig> = {}) {
    const door = scriptedDoor({ clock: this.#host.clock, ...script });
    const opened = await this.#open({ host: "127.0.0.1", port: 0, ...config }, door, this.#host);
    if (!opened.ok) throw new Error(opened.error.detail);
    const frontend = opened.value;
    this.#frontends.push(frontend);
    return { door, frontend, port: frontend.port };
  }

  async client(port: number, login: SuiteLogin = { user: "ann" }): Promise<SuiteClient> {
    const client = await this.#connect(port, login);
    this.#clients.push(client);
    return client;
  }

  /** Files of a fresh certificate, and the certificate to trust. */
  async tls(): Promise<{ readonly tls: TlsConfig; readonly ca: string }> {
    const folder = await mkdtemp(join(tmpdir(), "gateway-suite-"));
    this.#folders.push(folder);
    const { cert, key } = certificateOf("gateway");
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
    return { tls: { certFile, keyFile, minVersion: "1.2" }, ca: cert };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy();
    for (const frontend of this.#frontends) await frontend.drain(AbortSignal.abort());
    for (const folder of this.#folders) await rm(folder, { recursive: true });
  }
}
