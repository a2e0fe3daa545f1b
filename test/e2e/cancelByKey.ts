/** What psql does on Ctrl-C: a second connection with the first one's key. Resolves when it is closed. */
import pg from "pg";

export async function cancelByKey(
  client: pg.Client,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const { Connection } = pg as unknown as {
    Connection: new () => {
      connect(port: number, host: string): void;
      cancel(pid: number, key: number): void;
      on(event: string, handle: () => void): void;
    };
  };
  const connection = new Connection();
  const closed = new Promise<void>((resolve) => connection.on("end", resolve));
  connection.on("connect", () => connection.cancel(processID, secretKey));
  connection.connect(port, host);
  await closed;
}
