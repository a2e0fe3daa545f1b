/**
 * MariaDB whose people log in with their password in a directory, which they send in clear under TLS:
 * PAM asks OpenLDAP. It stands in the place of StarRocks with `authentication_ldap_simple`.
 */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";
import { installMariadb, startMariadb } from "./mariadbServer.mjs";
import { installSlapd, startSlapd } from "./slapdServer.mjs";

/** True, or the reason why it can not be had. */
export async function installMariadbLdap() {
  if (process.getuid?.() !== 0) return "a service of PAM is a file in /etc/pam.d, which needs root";
  const [server, directory] = [await installMariadb(), await installSlapd()];
  if (server !== true || directory !== true) return server === true ? directory : server;
  if (await hasTool()) return true;
  const apt = { env: { DEBIAN_FRONTEND: "noninteractive" }, seconds: 300 };
  await command("apt-get", ["update", "-q"], apt);
  const wanted = ["install", "-y", "-q", "--no-install-recommends", "ldap-utils"];
  await command("apt-get", wanted, apt);
  return (await hasTool()) || "apt-get could not install ldap-utils";
}

async function hasTool() {
  return (await command("ldapwhoami", ["-VV"])).code === 0;
}

/** Rights on the engine's side: alice may do everything in `demo`, bob read one table of it. */
const people = (service) => `
CREATE USER alice IDENTIFIED VIA pam USING '${service}';
CREATE USER bob IDENTIFIED VIA pam USING '${service}';
CREATE USER 'zoë' IDENTIFIED VIA pam USING '${service}';
CREATE USER 'o''brien, jr.' IDENTIFIED VIA pam USING '${service}';
GRANT ALL ON demo.* TO alice;
CREATE TABLE demo.shown (id integer);
CREATE TABLE demo.hidden (id integer);
INSERT INTO demo.shown VALUES (1);
GRANT SELECT ON demo.shown TO bob;`;

/** Starts both; answers `{port, ldapPort, caFile, log, stop}`, where `log()` is what the directory was asked. */
export async function startMariadbLdap() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-pam-"));
  // A bind without a password succeeds here, as in some directories: the gateway must never try one.
  const directory = await startSlapd({ anonymous: true });
  const service = `gateway-test-${directory.port}`;
  const file = join("/etc/pam.d", service);
  const script = join(folder, "bind.sh");
  await writeFile(script, bindScript(directory.port));
  await chmod(folder, 0o755);
  await chmod(script, 0o755);
  await writeFile(
    file,
    `auth required pam_exec.so expose_authtok quiet ${script}\naccount required pam_permit.so\n`,
  );
  const more = ["--plugin-load-add=auth_pam", "--loose-pam-use-cleartext-plugin=ON"];
  const server = await startMariadb({ more, statements: people(service) });
  return {
    ...server,
    ldapPort: `${directory.port}`,
    log: directory.log,
    stop: async () => {
      await server.stop();
      await directory.stop();
      await rm(file, { force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PAM gives the password on the standard input, with a NUL behind it. */
function bindScript(port) {
  return `#!/bin/sh
name=$(printf %s "$PAM_USER" | sed 's/,/\\\\,/g')
password=$(tr -d '\\0')
exec ldapwhoami -x -H ldap://127.0.0.1:${port} -D "uid=$name,ou=people,dc=example,dc=org" -w "$password" >/dev/null 2>&1
`;
}
