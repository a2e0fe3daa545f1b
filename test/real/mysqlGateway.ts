/** A gateway before the server of MySQL's family that `npm run test:real` started. */
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";

/** The server itself. */
export const port = Number(process.env["GATEWAY_TEST_MYSQL_FAMILY"] ?? "0");
export const user = process.env["GATEWAY_TEST_MYSQL_USER"] ?? "alice";
export const password = `${user}-secret`;

/** Opens it; the server's account is its own. */
export async function openBefore(): Promise<TestGateway> {
  const auth = { type: "basic", username: user, password };
  const endpoint = `mysql://127.0.0.1:${port}`;
  const local = { engine: "starRocks", endpoint, auth, database: "demo", poolSize: 2 };
  return await gatewayOf(configOf({ clusters: { local } }));
}
