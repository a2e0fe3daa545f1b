"""fakesnow with a door: it checks who logs in, remembers who asked what, and speaks JSON to Node.

fakesnow alone accepts every credential, answers CURRENT_USER() with "duckdb", and returns every
SELECT as Arrow, which the Node driver (snowflake-sdk) cannot read. This wrapper adds:

  login    password, OAuth token, programmatic access token and key pair (RS256) are checked
           against a JSON file; wrong ones get Snowflake's code and message in a 200 answer
  user     CURRENT_USER() is the login's name in upper case, so a test sees as whom a query ran
  json     SELECT results go out as a JSON rowset to clients that log in as "JavaScript"
  abort    cancelling really ends the running statement, with Snowflake's code 000604
  log      GET /test/log lists every login, query and abort of this process; DELETE empties it

Users file: {"alice": {"password": "...", "oauth": "...", "pat": "...", "public_key": "PEM"}}

Usage: python fakesnowChecked.py PORT USERS.json
"""

import base64
import gzip
import hashlib
import hmac
import importlib
import json
import re
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import pyarrow as pa
import uvicorn
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

# The package hides this module behind a function of the same name.
inner = importlib.import_module("fakesnow.server")

USERS = {}
SESSIONS = {}  # session token -> {"user": name, "json": bool}
LOG = []
TIMEOUT = re.compile(r"ALTER SESSION (SET STATEMENT_TIMEOUT_IN_SECONDS = \d+|UNSET STATEMENT_TIMEOUT_IN_SECONDS)$")
CURRENT_USER = re.compile(r"\bcurrent_user\b(\s*\(\s*\))?", re.IGNORECASE)

# Codes and texts as Snowflake sends them.
BAD_PASSWORD = ("390100", "Incorrect username or password was specified.")
BAD_OAUTH = ("390303", "Invalid OAuth access token.")
BAD_JWT = ("390144", "JWT token is invalid.")
BAD_PAT = ("394400", "Programmatic access token is invalid.")


def same(given, kept):
    return bool(given) and bool(kept) and hmac.compare_digest(str(given).encode(), str(kept).encode())


def unpad(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def jwt_user(token):
    """The user a key-pair token stands for, or None. iss = ACCOUNT.USER.SHA256:fingerprint."""
    try:
        head, body, signature = token.split(".")
        claims = json.loads(unpad(body))
        name = claims["sub"].split(".")[-1].lower()
        key = serialization.load_pem_public_key(USERS[name]["public_key"].encode())
        der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        mark = "SHA256:" + base64.b64encode(hashlib.sha256(der).digest()).decode()
        if json.loads(unpad(head))["alg"] != "RS256" or not claims["iss"].endswith("." + mark):
            return None
        key.verify(unpad(signature), f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
        return name if claims["exp"] > time.time() else None
    except (KeyError, ValueError, InvalidSignature):
        return None


def judge(data):
    """(user, None) for a good login, (None, (code, message)) for a bad one."""
    name = (data.get("LOGIN_NAME") or "").lower()
    how = (data.get("AUTHENTICATOR") or "SNOWFLAKE").upper()
    token = data.get("TOKEN")
    if how == "OAUTH":
        # The token alone decides; a login name, when sent, must fit.
        owner = next((u for u, v in USERS.items() if same(token, v.get("oauth"))), None)
        return (owner, None) if owner and name in ("", owner) else (None, BAD_OAUTH)
    if how == "SNOWFLAKE_JWT":
        owner = jwt_user(token or "")
        return (owner, None) if owner and name in ("", owner) else (None, BAD_JWT)
    if how == "PROGRAMMATIC_ACCESS_TOKEN":
        return (name, None) if same(token, USERS.get(name, {}).get("pat")) else (None, BAD_PAT)
    kept = USERS.get(name, {})
    # Snowflake also takes a programmatic access token where a password is expected.
    if same(data.get("PASSWORD"), kept.get("password")) or same(data.get("PASSWORD"), kept.get("pat")):
        return name, None
    return None, BAD_PASSWORD


async def body_of(request):
    raw = await request.body()
    return json.loads(gzip.decompress(raw) if request.headers.get("content-encoding") == "gzip" else raw)


def replay(request, body):
    """The same request with another JSON body."""
    raw = json.dumps(body).encode()
    headers = [(k, v) for k, v in request.scope["headers"] if k not in (b"content-encoding", b"content-length")]
    headers.append((b"content-length", str(len(raw)).encode()))

    async def receive():
        return {"type": "http.request", "body": raw, "more_body": False}

    return Request({**request.scope, "headers": headers}, receive)


async def login(request):
    body = await body_of(request)
    data = body["data"]
    data.setdefault("SESSION_PARAMETERS", {})
    user, refusal = judge(data)
    LOG.append({
        "event": "login", "ok": refusal is None, "user": user, "claimed": data.get("LOGIN_NAME"),
        "authenticator": data.get("AUTHENTICATOR") or "SNOWFLAKE", "client": data.get("CLIENT_APP_ID"),
        "account": data.get("ACCOUNT_NAME"), "role": request.query_params.get("roleName"),
        "warehouse": request.query_params.get("warehouse"),
    })
    if refusal:
        code, message = refusal
        return JSONResponse({"data": {"nextAction": "RETRY_LOGIN", "authnMethod": "USERNAME_PASSWORD"},
                             "code": code, "message": message, "success": False, "headers": None})
    answer = json.loads((await inner.login_request(replay(request, body))).body)
    answer["data"]["sessionInfo"]["roleName"] = request.query_params.get("roleName")
    SESSIONS[answer["data"]["token"]] = {"user": user, "json": data.get("CLIENT_APP_ID") == "JavaScript",
                                          "aborted": False}
    return JSONResponse(answer)


def text(value, kind):
    """One value as Snowflake writes it in a JSON rowset."""
    if value is None:
        return None
    if kind.startswith("TIMESTAMP"):
        seconds = f"{value['epoch']}.{value['fraction']:09d}"
        return f"{seconds} {value['timezone']}" if kind == "TIMESTAMP_TZ" else seconds
    if kind == "TIME":
        return f"{value // 10**9}.{value % 10**9:09d}"
    if kind == "DATE":
        return str((value - type(value)(1970, 1, 1)).days)
    if kind == "BOOLEAN":
        return "true" if value else "false"
    if kind == "BINARY":
        return value.hex().upper()
    return str(value)


def to_json(data):
    table = pa.ipc.open_stream(base64.b64decode(data.pop("rowsetBase64"))).read_all()
    kinds = [column["type"].upper() for column in data["rowtype"]]
    columns = [[text(v, k) for v in c.to_pylist()] for c, k in zip(table.columns, kinds)]
    data["rowset"] = [list(row) for row in zip(*columns)]
    data["queryResultFormat"] = "json"
    data["returned"] = len(data["rowset"])


async def query(request):
    token = request.headers.get("authorization", "")[17:-1]
    session = SESSIONS.get(token)
    body = await body_of(request)
    if session:
        LOG.append({"event": "query", "user": session["user"], "sql": body["sqlText"]})
        body["sqlText"] = TIMEOUT.sub("SELECT 'Statement executed successfully.' AS status", body["sqlText"])
        body["sqlText"] = CURRENT_USER.sub("'" + session["user"].upper() + "'", body["sqlText"])
        session["aborted"] = False
    response = await inner.query_request(replay(request, body))
    if session and session["aborted"]:
        return JSONResponse({"data": {"errorCode": "000604", "sqlState": "57014"}, "code": "000604",
                             "message": "SQL execution canceled", "success": False})
    if not session or not session["json"]:
        return response
    answer = json.loads(response.body)
    data = answer.get("data") or {}
    if data.get("rowsetBase64"):
        to_json(data)
    elif data.get("queryResultFormat") == "arrow":
        data.pop("rowsetBase64", None)
        data.update(queryResultFormat="json", rowset=[], returned=0)
    elif "rowset" in data:
        data["returned"] = len(data["rowset"])  # without it the Node driver waits for ever
    return JSONResponse(answer, status_code=response.status_code)


async def abort(request):
    token = request.headers.get("authorization", "")[17:-1]
    session = SESSIONS.get(token)
    if session:
        LOG.append({"event": "abort", "user": session["user"]})
        session["aborted"] = True
        inner.sessions[token]._duck_conn.interrupt()
    return JSONResponse({"success": True})


async def log(request):
    if request.method == "DELETE":
        LOG.clear()
        return Response(status_code=204)
    return JSONResponse(LOG)


async def telemetry(_request):
    return JSONResponse({"success": True})


own = {"/session/v1/login-request", "/queries/v1/query-request", "/queries/v1/abort-request"}
app = Starlette(routes=[
    Route("/session/v1/login-request", login, methods=["POST"]),
    Route("/queries/v1/query-request", query, methods=["POST"]),
    Route("/queries/v1/abort-request", abort, methods=["POST"]),
    Route("/telemetry/send", telemetry, methods=["POST"]),
    Route("/test/log", log, methods=["GET", "DELETE"]),
    *[route for route in inner.routes if route.path not in own],
])

if __name__ == "__main__":
    with open(sys.argv[2]) as file:
        USERS.update(json.load(file))
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
