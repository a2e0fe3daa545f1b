/** A gateway before the server of MySQL's family that `npm run test:real` started. */
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";

/** The server itself. */
export const port = Number(process.env["GATEWAY_TEST_MYSQL_FAMILY"] ?? "0");
export const user = process.env["GATEWAY_TEST_MYSQL_USER"] ?? "alice";
export const password = `${user}-secret`;

/** By which of the engines that speak to it the gateway does: `starRocks` or `mysql`. */
export const engine = process.env["GATEWAY_TEST_MYSQL_ENGINE"] ?? "starRocks";

/** Opens it; the server's account is its own. An open cursor keeps one of the pool's connections. */
export async function openBefore(poolSize = 2): Promise<TestGateway> {
  const auth = { type: "basic", username: user, password };
  const shared = { auth, database: "demo", poolSize };
  const local =
    engine === "mysql"
      ? { engine, hosts: [`127.0.0.1:${port}`], localFiles: true, ...shared }
      : { engine, endpoint: `mysql://127.0.0.1:${port}`, ...shared };
  return await gatewayOf(configOf({ clusters: { local } }));
}
