/** What becomes of each setting of PgBouncer that has no place of its own in the gateway's config. */

/** Settings that are read by the import itself. */
export const carried: ReadonlySet<string> = new Set(
  (
    "listen_addr listen_port max_client_conn pool_mode default_pool_size max_db_connections max_user_connections " +
    "auth_type auth_file server_idle_timeout server_connect_timeout server_check_query query_timeout query_wait_timeout " +
    "idle_transaction_timeout transaction_timeout max_packet_size client_tls_sslmode client_tls_key_file " +
    "client_tls_cert_file client_tls_ca_file client_tls_protocols server_tls_sslmode server_tls_ca_file " +
    "server_tls_key_file server_tls_cert_file"
  ).split(" "),
);

const notNeeded = "not needed";
const process = "belongs to how the process is started: see docs/deploy.md";

/** Why a setting is not carried over. `not needed`: the gateway does without, and nothing is lost. */
export const dropped: ReadonlyMap<string, string> = new Map(
  Object.entries({
    logfile: process,
    pidfile: process,
    syslog: process,
    syslog_facility: process,
    syslog_ident: process,
    user: process,
    service_name: process,
    job_name: process,
    resolv_conf: process,
    unix_socket_dir: "the gateway listens on TCP only",
    unix_socket_mode: "the gateway listens on TCP only",
    unix_socket_group: "the gateway listens on TCP only",
    auth_user: "logins are not looked up in a database; use auth.provider static, ldap or oidc",
    auth_query: "logins are not looked up in a database; use auth.provider static, ldap or oidc",
    auth_dbname: "logins are not looked up in a database; use auth.provider static, ldap or oidc",
    auth_hba_file:
      "there are no rules by address; use allowUsers and allowGroups of a cluster group",
    auth_ident_file: "there are no maps of names",
    auth_ldap_options: "write auth.provider ldap by hand: see docs/login.md",
    admin_users: "operators are users of the admin API: see docs/control-plane.md",
    stats_users: "operators are users of the admin API: see docs/control-plane.md",
    stats_period: "counters are at /metrics",
    min_pool_size: "connections are made when they are needed",
    min_pool_size_per_db: "connections are made when they are needed",
    reserve_pool_size: "there is no reserve: raise poolSize",
    reserve_pool_timeout: "there is no reserve: raise poolSize",
    max_db_client_connections: "clients are counted for a listener: maxConnections",
    max_user_client_connections: "clients are counted for a listener and an address",
    server_reset_query: "a connection is cleaned with DISCARD ALL where anything may be left on it",
    server_reset_query_always: "a connection is cleaned where anything may be left on it",
    server_check_delay: "a connection that is gone is not handed out",
    server_fast_close: "a new configuration closes old connections when their statements are done",
    server_lifetime: "connections are closed when idle, and have no longest life",
    server_login_retry: "failures count in the group's circuitBreaker",
    server_round_robin: notNeeded,
    client_idle_timeout: "a client at rest is not closed",
    client_login_timeout: "the gateway has a limit of its own",
    cancel_wait_timeout: notNeeded,
    suspend_timeout: notNeeded,
    autodb_idle_timeout: notNeeded,
    ignore_startup_parameters: notNeeded,
    track_extra_parameters: notNeeded,
    max_prepared_statements: notNeeded,
    disable_pqexec: "policy is written in routers",
    application_name_add_host: "statements carry their own tag, and records the client's address",
    conffile: notNeeded,
    pkt_buf: notNeeded,
    listen_backlog: notNeeded,
    sbuf_loopcnt: notNeeded,
    so_reuseport: "several processes are a fleet: see docs/workers.md",
    peer_id: "several processes are a fleet: see docs/workers.md",
    tcp_defer_accept: notNeeded,
    tcp_socket_buffer: notNeeded,
    tcp_keepalive: notNeeded,
    tcp_keepcnt: notNeeded,
    tcp_keepidle: notNeeded,
    tcp_keepintvl: notNeeded,
    tcp_user_timeout: notNeeded,
    dns_max_ttl: notNeeded,
    dns_nxdomain_ttl: notNeeded,
    dns_zone_check_period: notNeeded,
    log_connections: notNeeded,
    log_disconnections: notNeeded,
    log_pooler_errors: notNeeded,
    log_stats: notNeeded,
    verbose: "gateway.logLevel",
    client_tls_ciphers: "ciphers are those of the program",
    client_tls13_ciphers: "ciphers are those of the program",
    client_tls_ecdhcurve: "curves are those of the program",
    client_tls_dheparams: "curves are those of the program",
    server_tls_protocols: "TLS 1.2 and newer",
    server_tls_ciphers: "ciphers are those of the program",
    server_tls13_ciphers: "ciphers are those of the program",
  }),
);

/** True for one that nobody has to be told of. */
export function isSilent(reason: string): boolean {
  return reason === notNeeded;
}
