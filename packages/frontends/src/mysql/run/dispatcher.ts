/**
 * Performs the commands of one connection, one at a time: each is answered here or by the engine.
 *
 * When `run` is over, the whole answer has been written, and all of it but its end was sent. It rejects only for a bug.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import { allRead } from "@gateway/core/query/reached.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { hasPlainBackslashes, type ClientSession } from "../session/clientSession.ts";
import type { Responder } from "./responder.ts";
import { putResult, putRows, settled, type AnswerForm, type AskedResult } from "./resultSet.ts";
import { initDatabase, putFields, useDatabase } from "./database.ts";
import { collect } from "./collect.ts";
import type { Cursors } from "./cursor.ts";
import { putRowsEnd } from "../encode.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { answerLocally, setsServer } from "../commands/local.ts";
import { answerInstead } from "./instead.ts";
import type { AskedRows, Changed, LocalAnswer, RewrittenRows } from "../commands/answer.ts";
import { catalogSql } from "../catalog/informationSchema.ts";
import type { ServerFacts, ShowContext } from "../commands/show.ts";
import { leavesTransaction } from "../read/besideCursors.ts";
import { otherwiseOf, withOtherIsolation } from "../read/isolation.ts";
import type { RunnableCommand } from "../machine.ts";
import type { Members } from "./members.ts";
import type { PreparedStatements } from "./prepared.ts";
import {
  closePrepared,
  executePrepared,
  fetchPrepared,
  prepare,
  resetPrepared,
  type PreparedParts,
} from "./preparedCommands.ts";
import { readOne, type ReadStatement, type TextReader } from "../read/reading.ts";
import { packetBytesMax, relayedOf, relays, takeAttributes, underSettings } from "./relaying.ts";
import { tellsFoundRows } from "../read/rowCount.ts";
import { namesServerVariables, refreshVariables, setsThemOnly } from "./userVariables.ts";
import { plainly } from "./plain.ts";
import { boundAsIs, runPlain, runStatement, type BoundStatement } from "./statement.ts";
import { textOf, type Text } from "./text.ts";
import { abandon, commitOpen, inTransaction } from "./transaction.ts";

export interface DispatcherParts {
  readonly responder: Responder;
  readonly read: TextReader;
  readonly prepared: PreparedStatements;
  readonly cursors: Cursors;
  readonly members: Members;
  /** As at the login; COM_RESET_CONNECTION goes back to it. */
  readonly initial: ClientSession;
  readonly server: ServerFacts;
}

/** The end of a command, or the statement that is all of it: a promise only where it takes time. */
type Waited = AskedResult | Promise<unknown> | boolean | undefined;

const textForm: AnswerForm = { rows: "text", moreFollow: false };
const binaryForm: AnswerForm = { rows: "binary", moreFollow: false };

export class Dispatcher {
  readonly #parts: DispatcherParts;
  #madeParts: PreparedParts | undefined;
  #madeContext: ShowContext | undefined;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Performs one command. Who calls it sends the end of the answer (`Responder.finish`): a promise here would be one more for each query. */
  run(command: RunnableCommand): Waited {
    const { responder, cursors } = this.#parts;
    if (cursors.size > 0 && this.#needsRoom(command))
      return cursors
        .hold(responder.connection.config.maxMessageBytes)
        .then(() => settled(this.#perform(command)));
    return this.#perform(command);
  }

  /** Whether open cursors are in the way: an engine runs one statement of a transaction at a time, and its end is theirs. */
  #needsRoom(command: RunnableCommand): boolean {
    const { responder, prepared } = this.#parts;
    if (command.kind === "fetch") return false;
    if (!inTransaction(responder)) return responder.home.kept !== undefined;
    const kindOf = (id: number) => prepared.get(id)?.statement.kind;
    return !relays(responder) || !leavesTransaction(command, kindOf);
  }

  #perform(command: RunnableCommand): Waited {
    const { responder, prepared } = this.#parts;
    switch (command.kind) {
      case "ping":
        return responder.putDone();
      case "query": {
        const refused = takeAttributes(responder, command.attributes);
        return refused ? this.#refuse(refused) : this.#query(textOf(responder, command.sql));
      }
      case "initDb":
        return initDatabase(responder, command.database);
      case "fieldList":
        return putFields(responder, command.table, command.wildcard);
      case "statistics":
        return this.#statistics();
      case "processInfo":
        return this.#statement(readOne("SHOW FULL PROCESSLIST"), textForm);
      case "processKill":
        return this.#kill(command.connectionId, true, textForm);
      case "prepare":
        return prepare(this.#preparedParts, command.sql);
      case "execute":
        return executePrepared(this.#preparedParts, command);
      case "sendLongData":
        prepared.append(command.statementId, command.parameter, command.bytes);
        return undefined;
      case "closeStatement":
        return closePrepared(this.#preparedParts, command.statementId);
      case "resetStatement":
        return resetPrepared(this.#preparedParts, command.statementId);
      case "fetch":
        return fetchPrepared(this.#preparedParts, command);
      case "setOption":
        return this.#setOption(command.option);
      case "resetConnection":
        return this.#reset();
    }
  }

  get #preparedParts(): PreparedParts {
    const { responder, prepared, cursors } = this.#parts;
    return (this.#madeParts ??= {
      responder,
      prepared,
      cursors,
      answerLocally: (sql) => answerLocally(sql, this.#context()),
      catalogSql: (sql) => catalogSql(sql, this.#context()),
      answerSource: (source) => this.#statement(readOne(source), binaryForm),
    });
  }

  #refuse(reply: ErrorReply): undefined {
    this.#parts.responder.putError(reply);
  }

  /** COM_QUERY: every statement of the text, until one fails. */
  #query(text: Text | Promise<Text>): Waited {
    if (text instanceof Promise) return text.then((read) => settled(this.#query(read)));
    if (!text.ok) return this.#refuse(text.error);
    const { responder } = this.#parts;
    const sql = text.value;
    const statements = this.#parts.read(sql);
    if (!statements.ok)
      return this.#refuse(ownErrors.notSupported("so many statements in one text"));
    const { 0: first, 1: second } = statements.value;
    if (first === undefined) {
      // A comment alone is a statement that does nothing.
      return /^[\s;]*$/.test(sql) ? this.#refuse(ownErrors.emptyQuery()) : responder.putOk();
    }
    if (second === undefined) return this.#begun(first, textForm);
    if (!responder.client.multiStatements) {
      return this.#refuse(ownErrors.syntax(sql.slice(second.start)));
    }
    return this.#several(statements.value);
  }

  async #several(statements: readonly ReadStatement[]): Promise<void> {
    const { responder } = this.#parts;
    const plain = hasPlainBackslashes(responder.client);
    let left = statements.length;
    for (const statement of statements) {
      // All of them were read before the first one ran.
      if (plain !== hasPlainBackslashes(responder.client) && statement.source.includes("\\"))
        return this.#refuse(ownErrors.notSupported("a backslash behind a change of its meaning"));
      left -= 1;
      const form: AnswerForm = { rows: "text", moreFollow: left > 0 };
      if (!(await this.#statement(statement, form))) return;
    }
  }

  /** One statement with its whole answer. False when it failed. */
  #statement(read: ReadStatement, form: AnswerForm): Promise<boolean> | boolean {
    return settled(this.#begun(read, form));
  }

  #begun(read: ReadStatement, form: AnswerForm): AskedResult | Promise<boolean> | boolean {
    const { responder } = this.#parts;
    const plain = plainly(read.source);
    return plain !== "none" && relays(responder)
      ? runPlain(responder, plain, form)
      : this.#looked(read, form);
  }

  #looked(read: ReadStatement, form: AnswerForm): Promise<boolean> | boolean {
    const { responder } = this.#parts;
    const { source } = read;
    const context = this.#context();
    if (read.statement.kind === "unknown") {
      const own = underSettings(responder, read, (sql) => answerLocally(sql, context));
      if (own !== undefined) return this.#underSettings(own, form);
    }
    const server = namesServerVariables(responder, source, read.statement);
    const mixed = !server && read.statement.kind === "set" && !setsServer(source, context);
    if (mixed && responder.variablesOn === responder.home) return this.#mixedSet(read, form);
    const local = server ? undefined : answerLocally(source, context);
    const relayed = relayedOf(responder, read.statement);
    // What is no plain value here may be one on the server.
    const isServers = local?.kind === "error" && relayed !== undefined && setsThemOnly(source);
    if (local !== undefined && !isServers) return this.#local(local, form, source);
    if (relayed !== undefined) {
      const bound = boundAsIs(source, read.statement, relayed, otherwiseOf(read));
      return runStatement(responder, bound, form);
    }
    const text = read.forwarded;
    if (!text.ok) return responder.putError(text.error);
    const catalog = catalogSql(text.value, context);
    const bound: BoundStatement = {
      source,
      statement: read.statement,
      sql: catalog?.sql ?? text.value,
      parameters: [],
      otherwise: catalog?.otherwise ?? withOtherIsolation(text.value),
    };
    return runStatement(responder, bound, form);
  }

  #underSettings(own: NonNullable<ReturnType<typeof underSettings>>, form: AnswerForm) {
    const { responder } = this.#parts;
    if ("refused" in own) return responder.putError(own.refused);
    const { read, relayed, local } = own;
    const { source, statement } = read;
    if (local !== undefined) return this.#local(local, form, source);
    return runStatement(responder, boundAsIs(source, statement, relayed), form);
  }

  /** A SET of other variables, which may read user variables that the server has. */
  async #mixedSet({ source }: ReadStatement, form: AnswerForm): Promise<boolean> {
    const { responder } = this.#parts;
    await refreshVariables(responder, source);
    const local = answerLocally(source, this.#context());
    return local === undefined
      ? responder.putError(ownErrors.syntax(source))
      : await this.#local(local, form, source);
  }

  async #local(answer: LocalAnswer, form: AnswerForm, source = ""): Promise<boolean> {
    const { responder } = this.#parts;
    const { foundRows } = responder.client;
    switch (answer.kind) {
      case "rows":
        await putRows(responder, answer.columns, answer.rows, form);
        if (!tellsFoundRows(source)) responder.client = { ...responder.client, foundRows };
        return true;
      case "changed":
        return await this.#changed(answer, form);
      case "rewritten": {
        const orElse = (error: GatewayError) => this.#instead(answer, error, form);
        const { attributes } = responder;
        const statement = { ...answer, rowLimit: undefined, timeMs: undefined, attributes, orElse };
        return await putResult(responder, statement, form);
      }
      case "asked":
        return await this.#asked(answer, form);
      case "use":
        return await useDatabase(responder, answer, form);
      case "processes": {
        const { user } = responder.client.session.identity;
        const rows = await this.#parts.members.listAnywhere(user);
        return await this.#local(answer.make(rows), form, source);
      }
      case "kill":
        return await this.#kill(answer.connectionId, answer.whole, form);
      case "error":
        return responder.putError(answer.reply);
    }
  }

  async #changed({ client, commit, checks }: Changed, form: AnswerForm): Promise<boolean> {
    const { responder } = this.#parts;
    const { settings } = responder.client.session;
    for (const sql of checks) {
      const refused = await responder.runQuietly(sql);
      // The session is as it was, whatever the engine took before.
      if (refused !== undefined) responder.settle(settings);
      if (refused !== undefined) return responder.putError(errorReply(refused));
    }
    const failed = commit ? await commitOpen(responder) : undefined;
    if (failed !== undefined) return responder.putError(failed);
    const { pin } = responder.client.session;
    const session = { ...client.session, pin };
    responder.client = { ...client, session, warnings: [], rowCount: 0 };
    responder.putOk(form.moreFollow);
    return true;
  }

  /** Asks the engine and makes an answer of ours of its rows. */
  async #asked(asked: AskedRows, form: AnswerForm): Promise<boolean> {
    const { responder } = this.#parts;
    const { attributes } = responder;
    const { warnings } = responder.client;
    const { settings } = responder.client.session;
    if (asked.whole === true) {
      const unlimited = [...settings].filter(([name]) => name !== "sql_select_limit");
      responder.settle(new Map(unlimited));
    }
    const own = { ...asked, attributes };
    const rows = await collect(responder, own, withOtherIsolation(asked.sql));
    if (asked.whole === true) responder.settle(settings);
    if (rows.ok && asked.keepsWarnings === true)
      responder.client = { ...responder.client, warnings };
    if (rows.ok) return await this.#local(asked.make(rows.value), form);
    return (
      (await this.#instead(asked, rows.error, form)) ?? responder.putError(errorReply(rows.error))
    );
  }

  /** Undefined where the engine's error is the answer. */
  async #instead(asked: AskedRows | RewrittenRows, error: GatewayError, form: AnswerForm) {
    const answer = await answerInstead(this.#parts.responder, asked, error);
    return answer && (await this.#local(answer, form));
  }

  async #kill(id: number, whole: boolean, form: AnswerForm): Promise<boolean> {
    const { responder, members } = this.#parts;
    const { identity } = responder.client.session;
    const endForeign = async (query: QueryId) => (await responder.door.cancel(query, identity)).ok;
    switch (await members.killAnywhere(id, { user: identity.user, endForeign }, whole)) {
      case "done":
        responder.putOk(form.moreFollow);
        return true;
      case "unknown":
        return responder.putError(ownErrors.unknownThread(id));
      case "notOwner":
        return responder.putError(ownErrors.notOwner(id));
    }
  }

  /** COM_STATISTICS: one line of text, without a header. */
  #statistics(): undefined {
    const { responder, members } = this.#parts;
    const secs = this.#uptimeSecs();
    responder.out.begin();
    responder.out.text(`Uptime: ${secs}  Threads: ${members.size}`);
    responder.out.end();
  }

  /** COM_SET_OPTION: 0 allows several statements in one text, 1 does not. */
  #setOption(option: number): undefined {
    const { responder } = this.#parts;
    if (option > 1) return this.#refuse(ownErrors.unknownCommand());
    responder.client = { ...responder.client, multiStatements: option === 0 };
    putRowsEnd(responder.out, { ...responder.context(false), warnings: 0 });
  }

  /** COM_RESET_CONNECTION: everything is as right after the login but the database and COM_SET_OPTION, as on a MySQL server. */
  async #reset(): Promise<void> {
    const { responder, prepared, cursors, initial } = this.#parts;
    await cursors.clear();
    await abandon(responder);
    await responder.leaveHome();
    prepared.clear();
    const { session, multiStatements } = responder.client;
    const { catalog, schema } = session;
    const fresh = { ...initial.session, catalog, schema };
    responder.client = { ...initial, multiStatements, session: fresh };
    responder.putDone();
  }

  #uptimeSecs(): number {
    const { responder, server } = this.#parts;
    return Math.floor((responder.host.clock.nowMs() - server.startedMs) / 1000);
  }

  /** Made anew where the session is another: what is the same for statement after statement takes time to make. */
  #context(): ShowContext {
    const { responder, members, server } = this.#parts;
    const { client, host, connection } = responder;
    if (this.#madeContext?.client !== client)
      this.#madeContext = {
        client,
        packetBytesMax: () => packetBytesMax(responder),
        maxConnections: connection.config.maxConnections,
        port: server.port,
        tls: server.tls,
        nowMs: 0,
        catalog: () => client.session.catalog ?? responder.door.catalogs(client.session)[0],
        ownWords: () => allRead("mysql", responder.door.engines(client.session)),
        relays: () => relays(responder),
        uptimeSecs: 0,
        threads: 0,
        cipher: server.cipher,
      };
    const context = this.#madeContext;
    context.nowMs = host.clock.unixMs();
    context.uptimeSecs = this.#uptimeSecs();
    context.threads = members.size;
    return context;
  }
}
