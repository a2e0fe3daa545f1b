/**
 * What may be asked by which method, as tables: every method of the service, every command of Flight SQL, every
 * action. What is not built is named and refused, and a name that no table has is refused as unknown.
 */

/** `serve`; `unbuilt`: a part of the protocol that is refused; `wrong`: the protocol has no such pair. */
export type Standing = "serve" | "unbuilt" | "wrong";

/** The methods of `FlightService`. */
export const methodTable = {
  Handshake: "serve",
  ListFlights: "unbuilt",
  GetFlightInfo: "serve",
  PollFlightInfo: "serve",
  GetSchema: "serve",
  DoGet: "serve",
  DoPut: "serve",
  DoExchange: "unbuilt",
  DoAction: "serve",
  ListActions: "serve",
} as const satisfies Record<string, Standing>;

export type MethodName = keyof typeof methodTable;

/** How a command is given: for a description with a ticket, for the same without waiting for it, for a schema, or with data. */
export type Way = "info" | "poll" | "schema" | "put";

const reads = { info: "serve", poll: "serve", schema: "serve", put: "wrong" } as const;
const puts = { info: "wrong", poll: "wrong", schema: "wrong", put: "serve" } as const;
const unbuilt = { info: "unbuilt", poll: "unbuilt", schema: "unbuilt", put: "unbuilt" } as const;

/** The commands of Flight SQL, by the names of their messages. */
export const commandTable = {
  CommandStatementQuery: reads,
  CommandStatementUpdate: puts,
  CommandStatementSubstraitPlan: unbuilt,
  CommandStatementIngest: puts,
  /** Put: values of its parameters. */
  CommandPreparedStatementQuery: { info: "serve", poll: "serve", schema: "serve", put: "serve" },
  CommandPreparedStatementUpdate: puts,
  CommandGetCatalogs: reads,
  CommandGetDbSchemas: reads,
  CommandGetTables: reads,
  CommandGetTableTypes: reads,
  CommandGetSqlInfo: reads,
  CommandGetXdbcTypeInfo: reads,
  CommandGetPrimaryKeys: reads,
  CommandGetExportedKeys: reads,
  CommandGetImportedKeys: reads,
  CommandGetCrossReference: reads,
  /** Stands in tickets, and in what a client is told to poll again with. */
  TicketStatementQuery: { info: "wrong", poll: "serve", schema: "wrong", put: "wrong" },
} as const satisfies Record<string, Record<Way, Standing>>;

export type CommandName = keyof typeof commandTable;

/** The actions, by the names that clients send. */
export const actionTable = {
  CreatePreparedStatement: "serve",
  ClosePreparedStatement: "serve",
  CreatePreparedSubstraitPlan: "unbuilt",
  BeginTransaction: "serve",
  EndTransaction: "serve",
  BeginSavepoint: "unbuilt",
  EndSavepoint: "unbuilt",
  CancelQuery: "serve",
  CancelFlightInfo: "serve",
  RenewFlightEndpoint: "unbuilt",
  SetSessionOptions: "serve",
  GetSessionOptions: "serve",
  CloseSession: "serve",
} as const satisfies Record<string, Standing>;

export type ActionName = keyof typeof actionTable;
/** The actions that are served. */
export type ServedAction = {
  [Name in ActionName]: (typeof actionTable)[Name] extends "serve" ? Name : never;
}[ActionName];

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

export function isServedAction(name: string): name is ServedAction {
  return Object.hasOwn(actionTable, name) && actionTable[name as ActionName] === "serve";
}
