/** OpenLDAP on free ports with a few people and groups, and a log of every filter it was asked with. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, expectCode } from "./command.mjs";

const env = { PATH: `${process.env["PATH"]}:/usr/sbin` };
const startTries = 100;
const base = "dc=example,dc=org";

/** True, or the reason why it can not be had. */
export async function installSlapd() {
  if (await present()) return true;
  if (process.getuid?.() !== 0) return "slapd is not installed, and installing needs root";
  const apt = { env: { DEBIAN_FRONTEND: "noninteractive" }, seconds: 300 };
  await command("apt-get", ["update", "-q"], apt);
  const wanted = ["install", "-y", "-q", "--no-install-recommends", "slapd"];
  const installed = await command("apt-get", wanted, apt);
  return installed.code === 0 && (await present()) ? true : "apt-get could not install slapd";
}

async function present() {
  return (await command("sh", ["-c", "command -v slapadd"], { env })).code === 0;
}

/**
 * `anonymous`: a bind with a name and no password succeeds, as in some directories. Answers `{port,
 * tlsPort, caFile, log, stop}`; `log()` is what the directory wrote about its requests.
 */
export async function startSlapd({ anonymous }) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-slapd-"));
  const [port, tlsPort] = [await freePort(), await freePort()];
  await certificate(folder);
  const config = join(folder, "slapd.conf");
  await writeFile(config, configOf(folder, anonymous));
  await writeFile(join(folder, "init.ldif"), entries());
  await command("mkdir", [join(folder, "data")]);
  const filled = ["-f", config, "-l", join(folder, "init.ldif")];
  expectCode(await command("slapadd", filled, { env, seconds: 60 }));
  const urls = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`;
  // Level 256 writes each connection, request and filter.
  const child = spawn("slapd", ["-f", config, "-h", urls, "-d", "256"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (piece) => (log += piece));
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  for (let tries = 0; !log.includes("slapd starting"); tries += 1) {
    if (tries === startTries || child.exitCode !== null) {
      throw new Error(`slapd did not start: ${log}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  return {
    port,
    tlsPort,
    caFile: join(folder, "ca.pem"),
    log: () => log,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configOf(folder, anonymous) {
  return `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/pid
${anonymous ? "allow bind_anon_cred" : ""}
TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/server.crt
TLSCertificateKeyFile ${folder}/server.key
database mdb
suffix ${base}
rootdn cn=admin,${base}
rootpw admin-secret
directory ${folder}/data
`;
}

function entries() {
  const people = ["alice", "bob", "zoë", "o'brien, jr."].map((name) => {
    const escaped = name.replaceAll(",", "\\,");
    const dn = Buffer.from(`uid=${escaped},ou=people,${base}`).toString("base64");
    const text = Buffer.from(name).toString("base64");
    return `dn:: ${dn}\nobjectClass: inetOrgPerson\nuid:: ${text}\ncn:: ${text}\nsn:: ${text}\nuserPassword: ${name === "bob" ? "bob" : "right"}-secret\n`;
  });
  const memberOf = (uid) => {
    const dn = Buffer.from(`uid=${uid},ou=people,${base}`).toString("base64");
    return `member:: ${dn}\n`;
  };
  return [
    `dn: ${base}\nobjectClass: dcObject\nobjectClass: organization\no: example\n`,
    `dn: ou=people,${base}\nobjectClass: organizationalUnit\n`,
    `dn: ou=groups,${base}\nobjectClass: organizationalUnit\n`,
    ...people,
    `dn: cn=readers,ou=groups,${base}\nobjectClass: groupOfNames\n${["alice", "zoë", "o'brien\\, jr."].map(memberOf).join("")}`,
  ].join("\n");
}

/** An authority, and a certificate for this machine under it. */
async function certificate(folder) {
  const openssl = async (text) =>
    expectCode(await command("openssl", text.split(" "), { cwd: folder }));
  const key = "-newkey rsa:2048 -nodes -days 2";
  await openssl(`req -x509 ${key} -subj /CN=authority -keyout ca.key -out ca.pem`);
  await openssl(
    "req -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.csr",
  );
  await openssl(
    "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out server.crt",
  );
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
