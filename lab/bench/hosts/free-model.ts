/*
 * A model that costs nothing: it answers every request at once. What it says comes from the fake Gemini, which is asked
 * the first time alone: all conversations of a benchmark hold the same words. `node free-model.ts FAKE_GEMINI_URL`;
 * prints its own URL.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { serveHost } from './serve-host.ts';

const [fakeGeminiUrl = ''] = process.argv.slice(2);

/** Bytes of a request body that make a token, about. */
const BYTES_BY_TOKEN = 5;
const json = { 'content-type': 'application/json; charset=UTF-8' };

async function said({ url = '', headers }: IncomingMessage, body: Buffer): Promise<string> {
  // The fake Gemini answers by what it is asked for.
  const role = String(headers['x-recap-role'] ?? '');
  const answer = await fetch(`${fakeGeminiUrl}${url}`, {
    method: 'POST',
    headers: { ...json, 'x-recap-role': role },
    body: new Uint8Array(body),
  });
  if (!answer.ok) throw new Error(`the fake Gemini answered ${answer.status}`);
  return answer.text();
}

let answer: Promise<string> | undefined;

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const { url = '' } = request;
  const text = url.includes(':countTokens')
    ? JSON.stringify({ totalTokens: Math.ceil(body.length / BYTES_BY_TOKEN) })
    : await (answer ??= said(request, body));
  response.writeHead(200, json).end(text);
}

await serveHost((request, response) => {
  reply(request, response).catch(() => response.destroy());
});
