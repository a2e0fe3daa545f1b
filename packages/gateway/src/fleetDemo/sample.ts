/** The files that the demo fleet's workers all read: a small shop as CSV, the same on every machine. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const countries = ["AT", "BR", "CA", "DE", "FR", "IN", "JP", "US"];
const products = ["lamp", "desk", "chair", "shelf", "rug", "mirror"];
const customers = 1_000;
const orders = 10_000;

/** Writes them into `folder`; answers a query over both, to be pasted. */
export async function writeSample(folder: string): Promise<string> {
  const customersFile = join(folder, "customers.csv");
  const ordersFile = join(folder, "orders.csv");
  await writeFile(
    customersFile,
    linesOf("customer_id,country", customers, (at) => `${at},${pick(countries, at * 7)}`),
  );
  await writeFile(
    ordersFile,
    linesOf(
      "order_id,customer_id,product,quantity",
      orders,
      (at) => `${at},${(at * 31) % customers},${pick(products, at * 11)},${1 + (at % 9)}`,
    ),
  );
  return [
    "select country, sum(quantity) as sold",
    `from '${ordersFile}' join '${customersFile}' using (customer_id)`,
    "group by country order by sold desc",
  ].join(" ");
}

function linesOf(header: string, count: number, line: (at: number) => string): string {
  return `${[header, ...Array.from({ length: count }, (_, at) => line(at))].join("\n")}\n`;
}

function pick(texts: readonly string[], at: number): string {
  // Not simply in turns: the sums should differ.
  return texts[(at + (at >> 3)) % texts.length] ?? "";
}
