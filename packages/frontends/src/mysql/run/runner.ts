/**
 * Performs the commands of one connection, one at a time: what the frontend answers itself, what the
 * engine answers, and prepared statements.
 *
 * When `run` resolves the whole answer has been written and sent. It rejects only for a bug.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { withSchema, type ClientSession } from "../session/clientSession.ts";
import type { AnswerForm, Conversation } from "./conversation.ts";
import { collect } from "./collect.ts";
import { Cursor, type Cursors } from "./cursor.ts";
import { putFieldList, putRowsEnd } from "../encode.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedSql } from "../read/forward.ts";
import { answerLocally } from "../commands/local.ts";
import { answerInstead } from "./instead.ts";
import type { AskedRows, LocalAnswer, RewrittenRows } from "../commands/answer.ts";
import { isLike } from "../commands/filter.ts";
import { catalogSql } from "../catalog/informationSchema.ts";
import type { ShowContext } from "../commands/show.ts";
import type { RunnableCommand } from "../machine.ts";
import type { Members } from "./members.ts";
import type { PreparedStatements } from "./prepared.ts";
import { executePrepared, prepare, type PreparedParts } from "./preparing.ts";
import {
  forwardedStatement,
  readOne,
  type ReadStatement,
  type TextReader,
} from "../read/reading.ts";
import { engineStatement, runStatement, type BoundStatement } from "./statement.ts";
import { textOf, useStatement, type Text } from "./text.ts";
import { abandon, beforeStatement, commitOpen, inTransaction } from "./transaction.ts";

export interface RunnerParts {
  readonly talk: Conversation;
  readonly read: TextReader;
  readonly prepared: PreparedStatements;
  readonly cursors: Cursors;
  readonly members: Members;
  /** As at the login; COM_RESET_CONNECTION goes back to it. */
  readonly initial: ClientSession;
  readonly server: ServerFacts;
}

type UseWish = Pick<Extract<LocalAnswer, { kind: "use" }>, "sql" | "catalog" | "schema">;

/** What clients may ask about the listener. */
export interface ServerFacts {
  readonly port: number;
  readonly tls: boolean;
  readonly startedMs: number;
  readonly cipher: { readonly name: string; readonly protocol: string };
}

/** What a command leaves to wait for: a promise only where it takes time. */
type Waited = Promise<unknown> | boolean | undefined;

const textForm: AnswerForm = { rows: "text", moreFollow: false };
const binaryForm: AnswerForm = { rows: "binary", moreFollow: false };

export class Runner {
  readonly #parts: RunnerParts;
  #madeParts: PreparedParts | undefined;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Performs one command and sends its answer. */
  async run(command: RunnableCommand): Promise<void> {
    const { talk, cursors } = this.#parts;
    // The engine runs one statement of a transaction at a time.
    const waiting = cursors.size > 0 && inTransaction(talk) && command.kind !== "fetch";
    if (waiting) await cursors.hold(talk.connection.config.maxMessageBytes);
    const performing = this.#perform(command);
    if (performing instanceof Promise) await performing;
    const leaving = talk.finish();
    if (leaving !== undefined) await leaving;
  }

  #perform(command: RunnableCommand): Waited {
    const { talk, prepared, cursors } = this.#parts;
    switch (command.kind) {
      case "ping":
        return talk.putOk();
      case "query":
        return this.#query(textOf(talk, command.sql));
      case "initDb":
        return this.#useDatabase(command.database);
      case "fieldList":
        return this.#fieldList(command.table, command.wildcard);
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
        prepared.close(command.statementId);
        return cursors.close(command.statementId);
      case "resetStatement":
        return this.#resetStatement(command.statementId);
      case "fetch":
        return this.#fetch(command.statementId, command.rows);
      case "setOption":
        return this.#setOption(command.option);
      case "resetConnection":
        return this.#reset();
    }
  }

  get #preparedParts(): PreparedParts {
    const { talk, prepared, cursors } = this.#parts;
    return (this.#madeParts ??= {
      talk,
      prepared,
      answerLocally: (sql) => answerLocally(sql, this.#context()),
      catalogSql: (sql) => catalogSql(sql, this.#context()),
      answerSource: (source) => this.#statement(readOne(source), binaryForm),
      openCursor: (id, bound) => this.#openCursor(id, bound),
      closeCursor: (id) => cursors.close(id),
    });
  }

  #resetStatement(id: number): Waited {
    const closing = this.#parts.cursors.close(id);
    return closing === undefined ? this.#forget(id) : closing.then(() => this.#forget(id));
  }

  /** What was sent ahead for a statement. */
  #forget(id: number): undefined {
    const { talk, prepared } = this.#parts;
    if (prepared.reset(id)) return talk.putOk();
    return this.#refuse(ownErrors.unknownStatement(id, "mysqld_stmt_reset"));
  }

  /** COM_STMT_FETCH. */
  async #fetch(id: number, rows: number): Promise<void> {
    const { prepared, cursors } = this.#parts;
    const cursor = cursors.get(id);
    if (cursor !== undefined) {
      if (!(await cursor.fetch(rows))) await cursors.close(id);
      return;
    }
    const known = prepared.get(id) !== undefined;
    this.#refuse(
      known ? ownErrors.noCursor(id) : ownErrors.unknownStatement(id, "mysqld_stmt_fetch"),
    );
  }

  /** Runs a bound statement as far as its columns; rows come when they are fetched. */
  async #openCursor(id: number, bound: BoundStatement): Promise<void> {
    const { talk, cursors } = this.#parts;
    const failed = await beforeStatement(talk, bound.statement);
    if (failed !== undefined) return void talk.putError(failed);
    const cursor = new Cursor(talk, engineStatement(talk.client, bound));
    if (await cursor.open()) cursors.put(id, cursor);
  }

  #refuse(reply: ErrorReply): undefined {
    this.#parts.talk.putError(reply);
  }

  /** COM_QUERY: every statement of the text, until one fails. */
  #query(text: Text | Promise<Text>): Waited {
    if (text instanceof Promise) return text.then((read) => this.#query(read));
    if (!text.ok) return this.#refuse(text.error);
    const { talk } = this.#parts;
    const sql = text.value;
    const statements = this.#parts.read(sql);
    if (!statements.ok)
      return this.#refuse(ownErrors.notSupported("so many statements in one text"));
    const [first, second] = statements.value;
    if (first === undefined) {
      // A comment alone is a statement that does nothing.
      return /^[\s;]*$/.test(sql) ? this.#refuse(ownErrors.emptyQuery()) : talk.putOk();
    }
    if (second === undefined) return this.#statement(first, textForm);
    if (!talk.client.multiStatements) {
      return this.#refuse(ownErrors.syntax(sql.slice(second.start)));
    }
    return this.#several(statements.value);
  }

  async #several(statements: readonly ReadStatement[]): Promise<void> {
    let left = statements.length;
    for (const statement of statements) {
      left -= 1;
      const form: AnswerForm = { rows: "text", moreFollow: left > 0 };
      if (!(await this.#statement(statement, form))) return;
    }
  }

  /** One statement with its whole answer. False when it failed. */
  #statement(read: ReadStatement, form: AnswerForm): Promise<boolean> | boolean {
    const { talk } = this.#parts;
    const { source } = read;
    const context = this.#context();
    const local = answerLocally(source, context);
    if (local !== undefined) return this.#local(local, form);
    const text = read.forwarded;
    if (!text.ok) return talk.putError(text.error);
    const catalog = catalogSql(text.value, context);
    const bound: BoundStatement = {
      source,
      statement: read.statement,
      sql: catalog?.sql ?? text.value,
      parameters: [],
      otherwise: catalog?.otherwise,
    };
    return runStatement(talk, bound, form);
  }

  async #local(answer: LocalAnswer, form: AnswerForm): Promise<boolean> {
    const { talk } = this.#parts;
    switch (answer.kind) {
      case "rows":
        return await talk.putRows(answer.columns, answer.rows, form);
      case "changed": {
        const failed = answer.commit ? await commitOpen(talk) : undefined;
        if (failed !== undefined) return talk.putError(failed);
        const { pin } = talk.client.session;
        const session = { ...answer.client.session, pin };
        talk.client = { ...answer.client, session, warnings: [], rowCount: 0 };
        talk.putOk(form.moreFollow);
        return true;
      }
      case "rewritten": {
        const orElse = (error: GatewayError) => this.#instead(answer, error, form);
        const statement = { ...answer, rowLimit: undefined, timeMs: undefined, orElse };
        return await talk.answer(statement, form);
      }
      case "asked":
        return await this.#asked(answer, form);
      case "use":
        return await this.#use(answer, form);
      case "kill":
        return await this.#kill(answer.connectionId, answer.whole, form);
      case "error":
        return talk.putError(answer.reply);
    }
  }

  /** What the engine knows becomes an answer of ours. */
  async #asked(asked: AskedRows, form: AnswerForm): Promise<boolean> {
    const { talk } = this.#parts;
    const rows = await collect(talk, asked);
    if (rows.ok) return await this.#local(asked.make(rows.value), form);
    return (await this.#instead(asked, rows.error, form)) ?? talk.putError(errorReply(rows.error));
  }

  /** Undefined where the engine's error is the answer. */
  async #instead(asked: AskedRows | RewrittenRows, error: GatewayError, form: AnswerForm) {
    const answer = await answerInstead(this.#parts.talk, asked, error);
    return answer && (await this.#local(answer, form));
  }

  async #kill(id: number, whole: boolean, form: AnswerForm): Promise<boolean> {
    const { talk, members } = this.#parts;
    const { identity } = talk.client.session;
    const endForeign = async (query: QueryId) => (await talk.door.cancel(query, identity)).ok;
    switch (await members.kill(id, { user: identity.user, endForeign }, whole)) {
      case "done":
        talk.putOk(form.moreFollow);
        return true;
      case "unknown":
        return talk.putError(ownErrors.unknownThread(id));
      case "notOwner":
        return talk.putError(ownErrors.notOwner(id));
    }
  }

  /**
   * Goes to the database named in the login. The error where the engine says that there is none; any
   * other failure, and an engine that takes too long, is told by the first statement that needs it.
   */
  async findDatabase(): Promise<ErrorReply | undefined> {
    const { talk } = this.#parts;
    const { schema } = talk.client.session;
    const text = forwardedSql(useStatement(schema ?? ""));
    if (schema === undefined || !text.ok) return undefined;
    const stop = () => talk.cancel(gatewayError("query.timeout"));
    using _limit = talk.host.clock.timer(loginUseMsMax, stop);
    const error = await talk.runQuietly(text.value);
    talk.told();
    return error?.code === "query.unknownObject" ? ownErrors.unknownDatabase(schema) : undefined;
  }

  /** COM_INIT_DB. */
  async #useDatabase(bytes: Uint8Array): Promise<void> {
    const { talk } = this.#parts;
    const schema = talk.client.charset.decode(bytes);
    if (schema === undefined || schema === "") return this.#refuse(ownErrors.noDatabase());
    const sql = useStatement(schema);
    const { catalog } = talk.client.session;
    await this.#use({ sql, catalog, schema }, textForm);
  }

  /** The engine says where the session then stands; an engine that can not is told with each statement. */
  async #use(wish: UseWish, form: AnswerForm): Promise<boolean> {
    const { talk } = this.#parts;
    const text = forwardedSql(wish.sql);
    if (!text.ok) return talk.putError(text.error);
    const error = await talk.runQuietly(text.value);
    if (error?.code === "query.unknownObject") {
      return talk.putError(ownErrors.unknownDatabase(wish.schema));
    }
    if (error !== undefined && error.code !== "query.unsupported") {
      return talk.putError(errorReply(error));
    }
    if (error !== undefined) talk.client = withSchema(talk.client, wish.catalog, wish.schema);
    talk.client = { ...talk.client, rowCount: 0 };
    talk.putOk(form.moreFollow);
    return true;
  }

  /** COM_FIELD_LIST: the columns of a table, found without running anything. */
  async #fieldList(tableBytes: Uint8Array, wildcardBytes: Uint8Array): Promise<void> {
    const { talk } = this.#parts;
    const { decode } = talk.client.charset;
    const table = decode(tableBytes);
    const wildcard = decode(wildcardBytes);
    if (table === undefined || wildcard === undefined) return this.#refuse(ownErrors.notUtf8());
    const sql = `SELECT * FROM "${table.replaceAll('"', '""')}"`;
    using running = talk.interruptible(sql);
    const query = talk.door.query(forwardedStatement(sql), [], talk.client.session);
    const described = await talk.door.describe(query, running.signal);
    if (!described.ok) return this.#refuse(errorReply(described.error, query.id));
    const pattern = wildcard === "" ? "%" : wildcard;
    const columns = described.value.columns.filter(({ name }) =>
      isLike(name.toLowerCase(), pattern.toLowerCase()),
    );
    putFieldList(talk.out, columns, table, talk.context(false));
  }

  /** COM_STATISTICS: one line of text, without a header. */
  #statistics(): undefined {
    const { talk, members } = this.#parts;
    const secs = this.#uptimeSecs();
    talk.out.begin();
    talk.out.text(`Uptime: ${secs}  Threads: ${members.size}`);
    talk.out.end();
  }

  /** COM_SET_OPTION: 0 allows several statements in one text, 1 does not. */
  #setOption(option: number): undefined {
    const { talk } = this.#parts;
    if (option > 1) return this.#refuse(ownErrors.unknownCommand());
    talk.client = { ...talk.client, multiStatements: option === 0 };
    putRowsEnd(talk.out, talk.context(false));
  }

  /** COM_RESET_CONNECTION: as right after the login, but where the session stands, as on a MySQL server. */
  async #reset(): Promise<void> {
    const { talk, prepared, cursors, initial } = this.#parts;
    await cursors.clear();
    await abandon(talk);
    prepared.clear();
    const { catalog, schema } = talk.client.session;
    talk.client = { ...initial, session: { ...initial.session, catalog, schema } };
    talk.putOk();
  }

  #uptimeSecs(): number {
    const { talk, server } = this.#parts;
    return Math.floor((talk.host.clock.nowMs() - server.startedMs) / 1000);
  }

  #context(): ShowContext {
    const { talk, members, server } = this.#parts;
    const { client, host, connection } = talk;
    return {
      client,
      maxMessageBytes: connection.config.maxMessageBytes,
      maxConnections: connection.config.maxConnections,
      port: server.port,
      tls: server.tls,
      nowMs: host.clock.unixMs(),
      catalog: () => client.session.catalog ?? talk.door.catalogs(client.session)[0],
      processes: () => members.list(client.session.identity.user, host.clock.nowMs()),
      uptimeSecs: this.#uptimeSecs(),
      threads: members.size,
      cipher: server.cipher,
    };
  }
}

/** Less than a client waits for its login, enough for an engine that is awake. */
const loginUseMsMax = 3000;
