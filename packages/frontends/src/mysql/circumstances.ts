/** What is known of one connection when a message comes: asked for as it is needed, because most messages need none of it. */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Greeting } from "@gateway/wire/mysql/handshake.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { mayTakeCredentials } from "../listener/tls.ts";
import type { MachineContext } from "./machine.ts";

export class Circumstances implements MachineContext {
  readonly capabilities: number;
  readonly mariadbCapabilities: number;
  readonly #door: Door;
  readonly #connection: FollowedConnection;
  #certificateNames: readonly string[] = [];

  constructor(greeting: Greeting, door: Door, connection: FollowedConnection) {
    this.capabilities = greeting.capabilities;
    this.mariadbCapabilities = greeting.mariadbCapabilities ?? 0;
    this.#door = door;
    this.#connection = connection;
  }

  get asksPassword(): boolean {
    return this.#door.asksPassword;
  }

  get takesCleartext(): boolean {
    return mayTakeCredentials(this.#connection);
  }

  get certificateNames(): readonly string[] {
    return this.#certificateNames;
  }

  get refusal(): GatewayError | undefined {
    return this.#connection.draining ? gatewayError("gateway.draining") : undefined;
  }

  /** TLS is up. */
  secured(): void {
    this.#certificateNames = this.#connection.certificateNames();
  }
}
