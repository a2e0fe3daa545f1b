/**
 * Commands by chance to a server of MySQL's family and through the gateway in front of it, in orders that no driver would
 * pick: every packet that comes back is the same. `npm run test:real` says where the server is.
 */
import { connect } from "node:net";
import { ascii, packetOf, RawClient, responseHex } from "@gateway/frontends/mysql/rig/raw.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { made, opening } from "./mysqlCommandTexts.ts";
import { commandsOf, type Command, type Reading } from "./mysqlCommands.ts";
import { openBefore, port } from "./mysqlGateway.ts";
import { seed } from "./seed.ts";

const nightly = process.env["GATEWAY_NIGHTLY"] === "1" ? 10_000 : 150;
const scripts = Number(process.env["SAME_SCRIPTS"] ?? nightly);
/** Only ends what hangs: how long a busy machine takes says nothing. */
const endMs = 30_000;
const flags =
  capability.protocol41 |
  capability.secureConnection |
  capability.pluginAuth |
  capability.transactions |
  capability.multiStatements |
  capability.multiResults |
  capability.psMultiResults;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openBefore(20);
  using client = new RawClient(connect(port, "127.0.0.1"));
  await loggedIn(client);
  for (const sql of made) {
    const answers = await asked(client, `03${ascii(sql)}`, "result");
    if (answers.at(-1)?.startsWith("ff") === true) throw new Error(`${sql}: ${answers.join()}`);
  }
});
afterAll(() => gateway[Symbol.asyncDispose]());

it(
  "gives a client in every state what the server gives",
  { timeout: scripts * 4_000 },
  async () => {
    const differences: string[] = [];
    let compared = 0;
    for (let at = seed; at < seed + scripts && differences.length < 5; at += 1) {
      const commands = commandsOf(at);
      const expected = await played(port, commands);
      const found = await played(portOf(gateway, "mysqlWire"), commands);
      const place = expected.findIndex((answer, index) => answer !== found[index]);
      compared += place < 0 ? expected.length : place;
      // An execution with wrong values ends the statement's cursor here.
      if (place < 0 || found[place]?.includes("has no open cursor") === true) continue;
      // A MariaDB refuses JSON among values, which reaches it from here as the string that it is.
      const json = commands[place]?.shown.includes("json") === true;
      if (json && expected[place] === "wrong values") continue;
      if (isAfterFailedEnd(commands.slice(0, place), expected)) continue;
      const said = commands.slice(0, place + 1).map(({ shown }) => shown);
      differences.push(
        `script ${at}:\n  ${said.join("\n  ")}\nserver: ${expected[place]}\nthrough: ${found[place]}`,
      );
    }
    expect(differences.join("\n\n")).toBe("");
    process.stdout.write(`seed ${seed}: ${compared} answers compared\n`);
    expect(compared).toBeGreaterThan(scripts * 3);
  },
);

/** What would have ended the transaction ended it also where it failed: the error says nothing of it, the next statement's end does. */
function isAfterFailedEnd(commands: readonly Command[], answers: readonly string[]): boolean {
  return commands.some(
    ({ shown }, at) =>
      /^query (?:alter|create|drop|truncate|rename|analyze|optimize|lock)\b/i.test(shown) &&
      answers[at]?.includes("error ") === true,
  );
}

/** The answer to each command; after the end of the connection none. */
async function played(at: number, commands: readonly Command[]): Promise<readonly string[]> {
  using client = new RawClient(connect(at, "127.0.0.1"));
  const late = setTimeout(() => client.socket.destroy(), endMs);
  const answers: string[] = [];
  const ids: number[] = [];
  try {
    await loggedIn(client);
    for (const sql of opening) await asked(client, `03${ascii(sql)}`, "result");
    for (const { bytes, reading } of commands) {
      const packets = await asked(client, bytes(ids).toString("hex"), reading);
      const [first = ""] = packets;
      if (reading === "prepared" && first.startsWith("00")) {
        ids.push(Buffer.from(first, "hex").readUInt32LE(1));
      }
      // Ids are each server's own.
      const shown =
        reading === "prepared"
          ? [first.slice(0, 2) + first.slice(10), ...packets.slice(1)]
          : packets;
      answers.push((first.startsWith("ff") ? packets : shown).map(shownOf).join(" | "));
    }
  } catch (error) {
    answers.push(`the end: ${String(error)}`);
  } finally {
    clearTimeout(late);
  }
  return answers;
}

/** `utf8mb4_general_ci`, which every server of the family knows. */
const utf8mb4 = "2d";

async function loggedIn(client: RawClient): Promise<void> {
  await client.answer();
  const response = responseHex("mysql_native_password", flags | capability.connectWithDb);
  const head = `${response.slice(0, 16)}${utf8mb4}${response.slice(18, 72)}`;
  const tail = response.slice(72);
  client.socket.write(packetOf(`${head}${tail.slice(0, 2)}${ascii("demo")}00${tail.slice(2)}`, 1));
  const answer = await client.answer();
  if (!answer.startsWith("00")) throw new Error(`the login was refused: ${answer}`);
}

async function asked(client: RawClient, hex: string, reading: Reading): Promise<readonly string[]> {
  client.send(hex);
  switch (reading) {
    case "none":
      return [];
    case "text":
    case "listed":
      return [await client.answer()];
    case "prepared":
      return await preparation(client);
    case "fetched":
      return await upToEnd(client);
    case "result":
      return await results(client);
  }
}

async function preparation(client: RawClient): Promise<readonly string[]> {
  const first = await client.answer();
  if (!first.startsWith("00")) return [first];
  const head = Buffer.from(first, "hex");
  const packets = [first];
  for (const count of [head.readUInt16LE(7), head.readUInt16LE(5)]) {
    if (count > 0) packets.push(...(await client.answers(count + 1)));
  }
  return packets;
}

const moreResults = 8;
const cursorExists = 64;

async function results(client: RawClient): Promise<readonly string[]> {
  const packets: string[] = [];
  for (;;) {
    const result = await oneResult(client);
    packets.push(...result);
    const last = result.at(-1) ?? "";
    if (last.startsWith("ff") || (statusOf(last) & moreResults) === 0) return packets;
  }
}

/** An OK or an error alone, or a result up to its end. */
async function oneResult(client: RawClient): Promise<readonly string[]> {
  const first = await client.answer();
  if (first.startsWith("ff") || first.startsWith("00")) return [first];
  const columns = await client.answers(Number.parseInt(first.slice(0, 2), 16) + 1);
  // What it has warned of by then is told with the end of the rows.
  const counted = columns.map((hex) => (isShortEnd(hex) ? `fe0000${hex.slice(6)}` : hex));
  const packets = [first, ...counted];
  const isOpen = (statusOf(columns.at(-1) ?? "") & cursorExists) !== 0;
  return isOpen ? packets : [...packets, ...(await upToEnd(client))];
}

async function upToEnd(client: RawClient): Promise<readonly string[]> {
  const packets: string[] = [];
  for (;;) {
    const packet = await client.answer();
    packets.push(packet);
    if (packet.startsWith("ff") || (packet.startsWith("fe") && packet.length < 18)) return packets;
  }
}

/** Of an OK, before whose status two small counts stand, a byte each here; of an end of rows the same place. */
function statusOf(hex: string): number {
  return Buffer.from(hex, "hex").readUInt16LE(3);
}

/** Not told by the gateway: what a server thinks of the plan, and what it has warned of when a cursor opens. */
function withoutAdvice(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  const status = bytes.readUInt16LE(3) & ~0x30;
  bytes.writeUInt16LE(status, 3);
  if ((status & cursorExists) !== 0) bytes.writeUInt16LE(0, 1);
  return bytes.toString("hex");
}

function isShortEnd(hex: string): boolean {
  return hex.startsWith("fe") && hex.length === 10;
}

/** Errors as text, without the query's id, which the gateway writes behind messages. */
function shownOf(hex: string): string {
  if (isShortEnd(hex)) return withoutAdvice(hex);
  if (!hex.startsWith("ff")) return hex.replace(/2851756572792069643a20[0-9a-f]*$/, "");
  const text = Buffer.from(hex.slice(6), "hex").toString("utf8");
  const errno = Buffer.from(hex, "hex").readUInt16LE(1);
  // MySQL and MariaDB number wrong values of an Execute in their own ways.
  if (errno === 1210 || errno === 1835) return "wrong values";
  // How much of a text stands in it depends on where a text of several statements is cut.
  if (errno === 1064) return "a syntax error";
  // The number of a row is that of a statement before, where a procedure's value is wrong.
  const plain = text.replaceAll(/\(\d+\)|'\w+'@'[^']*'|at row \d+/g, "…").replace(/\.$/, "");
  return `error ${errno} ${plain.replaceAll(/ \(query \w+\)|(?: {2})?Query id: \w+/g, "")}`;
}
