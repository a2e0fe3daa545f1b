/*
 * An ADBC driver (adbc.h 1.1.0) that connects to nothing: it writes down every option, connection and
 * statement with the process and the database they belong to, one line each, into `<library>.log`, and
 * answers every query with one row that holds the login it was opened with.
 *
 * It lists no tables. A user or token that begins with `refused` is refused with the codes that Snowflake's driver gives.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_OK 0
#define STATUS_NOT_IMPLEMENTED 2
#define STATUS_IO 10
#define FUNCTIONS 56

struct Error {
  char *message;
  int32_t vendor_code;
  char sqlstate[5];
  void (*release)(struct Error *);
};
struct Handle {
  void *private_data;
  void *private_driver;
};
struct Database {
  char login[512];
};
struct Statement {
  struct Database *database;
  char sql[4096];
};
struct Schema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct Schema **children, *dictionary;
  void (*release)(struct Schema *);
  void *private_data;
};
struct Array {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct Array **children, *dictionary;
  void (*release)(struct Array *);
  void *private_data;
};
struct Stream {
  int (*get_schema)(struct Stream *, struct Schema *);
  int (*get_next)(struct Stream *, struct Array *);
  const char *(*get_last_error)(struct Stream *);
  void (*release)(struct Stream *);
  void *private_data;
};
struct Rows {
  char text[512];
  int32_t offsets[2];
  const void *buffers[3];
  const void *root_buffers[1];
  struct Array child, *children[1];
  int sent;
};

static void note(const void *database, const char *what, const char *key, const char *value) {
  Dl_info info;
  char path[4096], line[8192];
  if (!dladdr((void *)note, &info)) return;
  snprintf(path, sizeof path, "%s.log", info.dli_fname);
  int length = snprintf(line, sizeof line, "%d\t%p\t%s\t%s\t%s\n", getpid(), database, what, key, value);
  if (length >= (int)sizeof line) length = sizeof line - 1;
  for (char *at = line; at < line + length - 1; at += 1)
    if (*at == '\n') *at = ' ';
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return;
  if (write(file, line, length) < 0) abort();
  close(file);
}

static void release_error(struct Error *error) {
  free(error->message);
  error->release = NULL;
}

static uint8_t refuse(struct Error *error, const char *login) {
  char text[1024];
  /* A driver's text may hold whatever it was given. */
  snprintf(text, sizeof text, "390100 (08004): Incorrect username or password was specified: %s", login);
  error->message = strdup(text);
  error->vendor_code = 390100;
  memcpy(error->sqlstate, "08004", 5);
  error->release = release_error;
  return STATUS_IO;
}

static uint8_t release_driver(void *driver, struct Error *error) { return STATUS_OK; }

static uint8_t database_new(struct Handle *database, struct Error *error) {
  database->private_data = calloc(1, sizeof(struct Database));
  note(database->private_data, "database", "", "");
  return STATUS_OK;
}

static uint8_t database_set(struct Handle *database, const char *key, const char *value, struct Error *error) {
  struct Database *data = database->private_data;
  note(data, "option", key, value);
  if (!strcmp(key, "username") || strstr(key, "auth_token")) snprintf(data->login, sizeof data->login, "%s", value);
  return STATUS_OK;
}

static uint8_t database_init(struct Handle *database, struct Error *error) { return STATUS_OK; }

static uint8_t database_release(struct Handle *database, struct Error *error) {
  free(database->private_data);
  return STATUS_OK;
}

static uint8_t connection_new(struct Handle *connection, struct Error *error) { return STATUS_OK; }

static uint8_t connection_set(struct Handle *connection, const char *key, const char *value, struct Error *error) {
  note(connection->private_data, "connectionOption", key, value);
  return STATUS_OK;
}

static uint8_t connection_init(struct Handle *connection, struct Handle *database, struct Error *error) {
  struct Database *data = database->private_data;
  note(data, "connection", "", data->login);
  connection->private_data = data;
  return strncmp(data->login, "refused", 7) ? STATUS_OK : refuse(error, data->login);
}

static uint8_t connection_release(struct Handle *connection, struct Error *error) {
  note(connection->private_data, "closed", "", "");
  return STATUS_OK;
}

/* Lists nothing; for a login that begins with `hangs` it never comes back, whatever is cancelled. */
static uint8_t get_objects(struct Handle *connection, int depth, const char *catalog, const char *schema,
                           const char *table, const char **types, const char *column, struct Stream *out,
                           struct Error *error) {
  struct Database *data = connection->private_data;
  char text[16];
  snprintf(text, sizeof text, "%d", depth);
  note(data, "objects", text, data->login);
  /* 1 is a listing of catalogs alone. */
  while (depth != 1 && !strncmp(data->login, "hangs", 5)) pause();
  return STATUS_NOT_IMPLEMENTED;
}

static uint8_t statement_new(struct Handle *connection, struct Handle *statement, struct Error *error) {
  struct Statement *data = calloc(1, sizeof *data);
  data->database = connection->private_data;
  statement->private_data = data;
  return STATUS_OK;
}

static uint8_t statement_set(struct Handle *statement, const char *key, const char *value, struct Error *error) {
  return STATUS_OK;
}

static uint8_t statement_sql(struct Handle *statement, const char *sql, struct Error *error) {
  struct Statement *data = statement->private_data;
  snprintf(data->sql, sizeof data->sql, "%s", sql);
  return STATUS_OK;
}

static uint8_t statement_release(struct Handle *statement, struct Error *error) {
  free(statement->private_data);
  return STATUS_OK;
}

static void release_child_schema(struct Schema *schema) { schema->release = NULL; }

static void release_schema(struct Schema *schema) {
  free(schema->children[0]);
  free(schema->children);
  schema->release = NULL;
}

static int get_schema(struct Stream *stream, struct Schema *out) {
  struct Schema *child = calloc(1, sizeof *child);
  *child = (struct Schema){.format = "u", .name = "LOGIN", .flags = 2, .release = release_child_schema};
  struct Schema **children = calloc(1, sizeof *children);
  children[0] = child;
  *out = (struct Schema){.format = "+s", .name = "", .n_children = 1, .children = children, .release = release_schema};
  return 0;
}

static void release_array(struct Array *array) { array->release = NULL; }

static int get_next(struct Stream *stream, struct Array *out) {
  struct Rows *rows = stream->private_data;
  if (rows->sent) {
    out->release = NULL;
    return 0;
  }
  rows->sent = 1;
  rows->offsets[1] = (int32_t)strlen(rows->text);
  rows->buffers[1] = rows->offsets;
  rows->buffers[2] = rows->text;
  rows->child = (struct Array){.length = 1, .n_buffers = 3, .buffers = rows->buffers, .release = release_array};
  rows->children[0] = &rows->child;
  *out = (struct Array){.length = 1, .n_buffers = 1, .n_children = 1, .buffers = rows->root_buffers,
                        .children = rows->children, .release = release_array};
  return 0;
}

static const char *get_last_error(struct Stream *stream) { return NULL; }

static void release_stream(struct Stream *stream) {
  free(stream->private_data);
  stream->release = NULL;
}

static uint8_t statement_execute(struct Handle *statement, struct Stream *out, int64_t *affected, struct Error *error) {
  struct Statement *data = statement->private_data;
  note(data->database, "statement", data->database->login, data->sql);
  if (strstr(data->sql, "NOWHERE")) {
    error->message = strdup("Object does not exist");
    error->vendor_code = 2043;
    memcpy(error->sqlstate, "02000", 5);
    error->release = release_error;
    return STATUS_IO;
  }
  if (affected) *affected = -1;
  if (!out) return STATUS_OK;
  struct Rows *rows = calloc(1, sizeof *rows);
  snprintf(rows->text, sizeof rows->text, "%s", data->database->login);
  *out = (struct Stream){get_schema, get_next, get_last_error, release_stream, rows};
  return STATUS_OK;
}

/* Places in `struct AdbcDriver`, behind its two pointers. */
uint8_t AdbcDriverInit(int version, void *driver, struct Error *error) {
  void **table = (void **)driver + 2;
  if (version != 1001000) return STATUS_NOT_IMPLEMENTED;
  memset(table, 0, FUNCTIONS * sizeof *table);
  table[0] = release_driver;
  table[1] = database_init;
  table[2] = database_new;
  table[3] = database_set;
  table[4] = database_release;
  table[7] = get_objects;
  table[10] = connection_init;
  table[11] = connection_new;
  table[12] = connection_set;
  table[14] = connection_release;
  table[18] = statement_execute;
  table[21] = statement_new;
  table[23] = statement_release;
  table[24] = statement_set;
  table[25] = statement_sql;
  return STATUS_OK;
}
