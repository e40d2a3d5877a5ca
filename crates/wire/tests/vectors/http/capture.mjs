// Captures the vectors of this directory: from the HTTP server of Node.js, and from the one that is
// built into PHP. `node capture.mjs` starts both on loopback ports that are free and ends them.
// Each NAME.request is what was sent on one connection, NAME.reply what came back.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

const take = (name, port, request) =>
  new Promise((done, failed) => {
    const said = [];
    const socket = net.connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("data", (bytes) => said.push(bytes));
    socket.on("error", failed);
    socket.on("close", () => {
      writeFileSync(join(here, `${name}.request`), request);
      writeFileSync(join(here, `${name}.reply`), Buffer.concat(said));
      done();
    });
    setTimeout(() => socket.destroy(), 700);
  });

const server = http.createServer((request, response) => {
  const body = [];
  request.on("data", (bytes) => body.push(bytes));
  request.on("end", () => {
    if (request.url === "/chunks") {
      response.setHeader("Trailer", "X-Sum");
      for (const piece of ["one", "two\r\n", "x".repeat(300)]) response.write(piece);
      response.addTrailers({ "X-Sum": "5" });
      return response.end();
    }
    if (request.url === "/nothing") return response.writeHead(204).end();
    if (request.url === "/same") return response.writeHead(304, { ETag: '"a"' }).end();
    const text = `${request.method} ${request.url} ${Buffer.concat(body)}`;
    response.setHeader("Content-Length", Buffer.byteLength(text));
    response.end(text);
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const node = server.address().port;

const head = "Host: 127.0.0.1\r\n";
await take("get", node, `GET /a?b=c HTTP/1.1\r\n${head}\r\n`);
await take("head", node, `HEAD /a HTTP/1.1\r\n${head}\r\n`);
await take("post", node, `POST /p HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nhello`);
await take(
  "post_chunks",
  node,
  `POST /p HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`,
);
await take("chunks", node, `GET /chunks HTTP/1.1\r\n${head}\r\n`);
await take("pipeline", node, `GET /1 HTTP/1.1\r\n${head}\r\nGET /nothing HTTP/1.1\r\n${head}\r\nGET /same HTTP/1.1\r\n${head}\r\nGET /2 HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
await take("old", node, "GET /old HTTP/1.0\r\n\r\n");
await take("old_kept", node, "GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
await take("bad_two_lengths", node, `POST /p HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
await take("bad_no_host", node, "GET / HTTP/1.1\r\n\r\n");
await take("bad_version", node, "GET / HTTP/3.7\r\n\r\n");
server.closeAllConnections();
server.close();

const folder = mkdtempSync(join(tmpdir(), "http-vectors-"));
writeFileSync(join(folder, "index.php"), "<?php header('X-Kind: page'); echo 'hello';");
const probe = net.createServer();
await new Promise((ready) => probe.listen(0, "127.0.0.1", ready));
const php = probe.address().port;
await new Promise((closed) => probe.close(closed));
const child = spawn("php", ["-S", `127.0.0.1:${php}`, "-t", folder], { stdio: "ignore" });
await new Promise((ready) => setTimeout(ready, 1000));
await take("php_until_close", php, `GET /index.php HTTP/1.1\r\n${head}\r\n`);
child.kill();
rmSync(folder, { recursive: true });
