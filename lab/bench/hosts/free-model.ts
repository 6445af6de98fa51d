/*
 * A model that costs nothing: it answers every request at once. What it says comes from the stand-in, which is asked
 * the first time alone: all conversations of a benchmark hold the same words. `node free-model.ts STAND_IN_URL`;
 * prints its own URL.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

const [standInUrl = ''] = process.argv.slice(2);

/** Bytes of a request body that make a token, about. */
const BYTES_BY_TOKEN = 5;
const json = { 'content-type': 'application/json; charset=UTF-8' };

async function said(path: string, body: Buffer): Promise<string> {
  const answer = await fetch(`${standInUrl}${path}`, {
    method: 'POST',
    headers: json,
    body: new Uint8Array(body),
  });
  if (!answer.ok) throw new Error(`the stand-in answered ${answer.status}`);
  return answer.text();
}

let answer: Promise<string> | undefined;

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const { url = '' } = request;
  const text = url.includes(':countTokens')
    ? JSON.stringify({ totalTokens: Math.ceil(body.length / BYTES_BY_TOKEN) })
    : await (answer ??= said(url, body));
  response.writeHead(200, json).end(text);
}

const server = createServer((request, response) => {
  reply(request, response).catch(() => response.destroy());
});
await once(server.listen(0, '127.0.0.1', 1_024), 'listening');
const address = server.address();
process.stdout.write(
  `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}\n`,
);
