/** Sends what a statement asks for to connections of its client's own user. */
import type { PostgresCall, SignalName } from "@gateway/core/query/query.ts";
import { processIn, type Signal } from "../read/signalStatement.ts";

/** Who can signal. */
export interface Signaller {
  /** Process number of the connection's cancel key. */
  readonly process: number;
  /**
   * Signals the connection with this process number, if it is this one or another of the same user. `cluster`: whose server
   * gave the number; unless said, that of the session's own connection.
   */
  signal(process: number, name: SignalName, cluster?: string): boolean | Promise<boolean>;
}

/**
 * Signals a connection of the client's own user. False where the number is none of theirs: it may be one of a server's,
 * which then says who may.
 */
export function sendSignal(
  signaller: Signaller,
  { name, process: of }: Signal,
  call: PostgresCall,
): boolean | Promise<boolean> {
  const process = of === "own" ? signaller.process : processIn({ process: of }, call);
  return process !== undefined && signaller.signal(process, name);
}

/** The call of a query that signals whatever it finds, as far as that is the client's own user's. */
export function signalling(call: PostgresCall, signaller: Signaller): PostgresCall {
  const to: PostgresCall["signal"] = ({ process, name, cluster }) =>
    signaller.signal(process, name, cluster);
  return { ...call, signal: to };
}
