/**
 * Performs the commands of one connection, one at a time: what the frontend answers itself, what the
 * engine answers, and prepared statements.
 *
 * When `run` resolves the whole answer has been written and sent. It rejects only for a bug.
 */
import { ok } from "@gateway/core/result.ts";
import { classifyStatement } from "@gateway/core/sql/classify.ts";
import { splitStatements } from "@gateway/core/sql/split.ts";
import { withSchema, type ClientSession } from "./clientSession.ts";
import type { AnswerForm, Conversation } from "./conversation.ts";
import { putFieldList, putRowsEnd } from "./encode.ts";
import { errorReply, ownErrors } from "./errors.ts";
import { statementsPerTextMax } from "./limits.ts";
import { forwardedSql } from "./forward.ts";
import { answerLocally } from "./local.ts";
import type { LocalAnswer } from "./local/answer.ts";
import { isLike } from "./local/filter.ts";
import type { ShowContext } from "./local/show.ts";
import type { RunnableCommand } from "./machine.ts";
import type { Members } from "./members.ts";
import type { PreparedStatements } from "./prepared.ts";
import { executePrepared, prepare, type BoundStatement, type PreparedParts } from "./preparing.ts";
import { abandon, beforeStatement, commitOpen } from "./transaction.ts";

export interface RunnerParts {
  readonly talk: Conversation;
  readonly prepared: PreparedStatements;
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

const textForm: AnswerForm = { rows: "text", moreFollow: false };
const binaryForm: AnswerForm = { rows: "binary", moreFollow: false };

export class Runner {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Performs one command and sends its answer. */
  async run(command: RunnableCommand): Promise<void> {
    await this.#perform(command);
    await this.#parts.talk.finish();
  }

  async #perform(command: RunnableCommand): Promise<void> {
    const { talk, prepared } = this.#parts;
    switch (command.kind) {
      case "ping":
        return talk.putOk();
      case "query":
        return await this.#query(command.sql);
      case "initDb":
        return await this.#useDatabase(command.database);
      case "fieldList":
        return await this.#fieldList(command.table, command.wildcard);
      case "statistics":
        return this.#statistics();
      case "processInfo":
        return void (await this.#statement("SHOW FULL PROCESSLIST", textForm));
      case "processKill":
        return void this.#kill(command.connectionId, true, textForm);
      case "prepare":
        return await prepare(this.#preparedParts(), command.sql);
      case "execute":
        return await executePrepared(this.#preparedParts(), command);
      case "sendLongData":
        return prepared.append(command.statementId, command.parameter, command.bytes);
      case "closeStatement":
        return prepared.close(command.statementId);
      case "resetStatement":
        if (prepared.reset(command.statementId)) return talk.putOk();
        return this.#refuse(ownErrors.unknownStatement(command.statementId, "mysqld_stmt_reset"));
      case "fetch":
        return this.#refuse(ownErrors.noCursor(command.statementId));
      case "setOption":
        return this.#setOption(command.option);
      case "resetConnection":
        return await this.#reset();
    }
  }

  #preparedParts(): PreparedParts {
    const { talk, prepared } = this.#parts;
    return {
      talk,
      prepared,
      answerLocally: (sql) => answerLocally(sql, this.#context()),
      run: (source, bound) => this.#statement(source, binaryForm, bound),
    };
  }

  #refuse(reply: ReturnType<typeof errorReply>): void {
    this.#parts.talk.putError(reply);
  }

  /** COM_QUERY: every statement of the text, until one fails. */
  async #query(bytes: Uint8Array): Promise<void> {
    const { talk } = this.#parts;
    const sql = talk.client.charset.decode(bytes);
    if (sql === undefined) return this.#refuse(ownErrors.notUtf8());
    const slices = splitStatements(sql, "mysql", statementsPerTextMax);
    if (!slices.ok) return this.#refuse(ownErrors.notSupported("so many statements in one text"));
    const [first, second] = slices.value;
    if (first === undefined) return this.#refuse(ownErrors.emptyQuery());
    if (second !== undefined && !talk.client.multiStatements) {
      return this.#refuse(ownErrors.syntax(sql.slice(second.start)));
    }
    let left = slices.value.length;
    for (const { start, end } of slices.value) {
      left -= 1;
      const form: AnswerForm = { rows: "text", moreFollow: left > 0 };
      if (!(await this.#statement(sql.slice(start, end), form))) return;
    }
  }

  /** One statement with its whole answer. False when it failed. `bound` is what a prepared one became. */
  async #statement(sql: string, form: AnswerForm, bound?: BoundStatement): Promise<boolean> {
    const { talk } = this.#parts;
    const local = bound === undefined ? answerLocally(sql, this.#context()) : undefined;
    if (local !== undefined) return await this.#local(local, form);

    const text = bound === undefined ? forwardedSql(sql) : ok(bound.sql);
    if (!text.ok) return talk.putError(text.error);
    const statement = classifyStatement(sql, "mysql");
    const failed = await beforeStatement(talk, statement);
    if (failed !== undefined) return talk.putError(failed);
    const isSelect = statement.kind === "select";
    const done = await talk.answer(
      {
        sql: text.value,
        parameters: bound?.parameters ?? [],
        rowLimit: isSelect ? talk.client.rowLimit : undefined,
        timeMs: isSelect ? executionMs(talk.client) : undefined,
      },
      form,
    );
    if (done && statement.kind === "begin" && /\bREAD\s+ONLY\b/i.test(sql)) {
      talk.client = { ...talk.client, readOnlyTransaction: true };
    }
    return done;
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
      case "rewritten":
        return await talk.answer({ ...answer, rowLimit: undefined, timeMs: undefined }, form);
      case "use":
        return await this.#use(answer, form);
      case "kill":
        return this.#kill(answer.connectionId, answer.whole, form);
      case "error":
        return talk.putError(answer.reply);
    }
  }

  #kill(id: number, whole: boolean, form: AnswerForm): boolean {
    const { talk, members } = this.#parts;
    switch (members.kill(id, talk.client.session.identity.user, whole)) {
      case "done":
        talk.putOk(form.moreFollow);
        return true;
      case "unknown":
        return talk.putError(ownErrors.unknownThread(id));
      case "notOwner":
        return talk.putError(ownErrors.notOwner(id));
    }
  }

  /** COM_INIT_DB. */
  async #useDatabase(bytes: Uint8Array): Promise<void> {
    const { talk } = this.#parts;
    const schema = talk.client.charset.decode(bytes);
    if (schema === undefined || schema === "") return this.#refuse(ownErrors.noDatabase());
    const sql = `USE \`${schema.replaceAll("`", "``")}\``;
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
    const query = talk.door.query(sql, [], talk.client.session);
    const described = await talk.door.describe(query, running.signal);
    if (!described.ok) return this.#refuse(errorReply(described.error, query.id));
    const pattern = wildcard === "" ? "%" : wildcard;
    const columns = described.value.columns.filter(({ name }) =>
      isLike(name.toLowerCase(), pattern.toLowerCase()),
    );
    putFieldList(talk.out, columns, table, talk.context(false));
  }

  /** COM_STATISTICS: one line of text, without a header. */
  #statistics(): void {
    const { talk, members } = this.#parts;
    const secs = this.#uptimeSecs();
    talk.out.begin();
    talk.out.text(`Uptime: ${secs}  Threads: ${members.size}`);
    talk.out.end();
  }

  /** COM_SET_OPTION: 0 allows several statements in one text, 1 does not. */
  #setOption(option: number): void {
    const { talk } = this.#parts;
    if (option > 1) return this.#refuse(ownErrors.unknownCommand());
    talk.client = { ...talk.client, multiStatements: option === 0 };
    putRowsEnd(talk.out, talk.context(false));
  }

  /** COM_RESET_CONNECTION: as right after the login. */
  async #reset(): Promise<void> {
    const { talk, prepared, initial } = this.#parts;
    await abandon(talk);
    prepared.clear();
    talk.client = initial;
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

function executionMs({ settings }: ClientSession): number | undefined {
  const value = settings.get("max_execution_time");
  return typeof value === "bigint" && value > 0n ? Number(value) : undefined;
}
