/**
 * LISTEN on a connection of its own, made anew whenever it is lost.
 *
 * A notification that falls into a gap is lost for good, so each new connection wakes once. A
 * connection that is silently cut looks like an idle one; a question from time to
 * time tells them apart.
 */
import type { Client } from "pg";
import type { Host } from "@gateway/core/port/host.ts";
import { listenSql } from "./connection.ts";
import { databaseErrorOf } from "./pgError.ts";

export interface Listening {
  readonly channel: string;
  readonly wake: () => void;
  readonly host: Pick<Host, "clock" | "random" | "log">;
  /** A client that is not connected yet. */
  readonly connect: () => Client;
}

const beatMs = 30_000;
const beatAnswerMs = 5_000;
const pauseMsMin = 100;
const pauseMsMax = 10_000;

/** Listens until disposed; never fails. */
export function listenTo(listening: Listening): AsyncDisposable {
  const listener = new Listener(listening);
  return listener;
}

class Listener implements AsyncDisposable {
  readonly #listening: Listening;
  readonly #done: Promise<void>;
  #stopped = false;
  /** Ends what the loop waits for. */
  #interrupt = (): void => {};

  constructor(listening: Listening) {
    this.#listening = listening;
    this.#done = this.#loop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#interrupt();
    await this.#done;
  }

  async #loop(): Promise<void> {
    const { host, channel } = this.#listening;
    let failures = 0;
    while (!this.#stopped) {
      const client = this.#listening.connect();
      const broken = brokenOf(client);
      try {
        await client.connect();
        client.on("notification", () => this.#listening.wake());
        await client.query(listenSql(channel));
        failures = 0;
        this.#listening.wake();
        await this.#until(client, broken);
      } catch (error) {
        const { code } = databaseErrorOf(error);
        host.log.write("warn", "database.listenFailed", { code });
      }
      // Not awaited: a connection that is cut does not answer its farewell.
      client.end().catch(() => {});
      failures += 1;
      if (!this.#stopped) await this.#pause(failures);
    }
  }

  /** Waits for the end of the connection, or of the listener. */
  async #until(client: Client, broken: Promise<void>): Promise<void> {
    const { clock } = this.#listening.host;
    let timer: Disposable | undefined;
    const silent = new Promise<void>((resolve) => {
      const beat = (): void => {
        timer = clock.timer(beatMs, () => {
          const question = { text: "select 1", query_timeout: beatAnswerMs };
          client.query(question).then(beat, () => resolve());
        });
      };
      beat();
    });
    const interrupted = new Promise<void>((resolve) => {
      this.#interrupt = resolve;
    });
    if (!this.#stopped) await Promise.race([broken, silent, interrupted]);
    timer?.[Symbol.dispose]();
  }

  async #pause(failures: number): Promise<void> {
    const { clock, random } = this.#listening.host;
    const capMs = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failures, 10));
    let timer: Disposable | undefined;
    await new Promise<void>((resolve) => {
      this.#interrupt = resolve;
      timer = clock.timer(random() * capMs, resolve);
    });
    timer?.[Symbol.dispose]();
  }
}

/** Fulfilled when the connection is gone, whoever ended it. */
function brokenOf(client: Client): Promise<void> {
  return new Promise((resolve) => {
    client.on("error", () => resolve());
    client.on("end", () => resolve());
  });
}
