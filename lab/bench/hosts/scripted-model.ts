/*
 * A model that says the same to everybody, one event a write, and does next to nothing else: what is measured before
 * it is never its own work. `node scripted-model.ts`; prints its URL. `POST /script` says how it speaks from then on.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { scriptSchema, sentenceOf, type Script } from './script.ts';
import { serveHost } from './serve-host.ts';

interface Role {
  script: Script;
  /** As they are sent. */
  events: readonly Buffer[];
}

interface Speaker extends Role {
  response: ServerResponse;
  said: number;
  /** When its next event is due, ms of `performance.now()`. */
  dueAtMs: number;
}

const speakers = new Set<Speaker>();

function eventOf(index: number, { events }: Script): string {
  const isLast = index === events - 1;
  const usage = { promptTokenCount: 9, candidatesTokenCount: 8 * (index + 1) };
  const candidate = { content: { parts: [{ text: sentenceOf(index) }], role: 'model' }, index: 0 };
  const event = {
    candidates: [{ ...candidate, ...(isLast && { finishReason: 'STOP' }) }],
    usageMetadata: { ...usage, totalTokenCount: 9 + usage.candidatesTokenCount },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'scripted',
  };
  return `data: ${JSON.stringify(event)}\r\n\r\n`;
}

const roleOf = (script: Script): Role => ({
  script,
  events: Array.from({ length: script.events }, (_, index) => Buffer.from(eventOf(index, script))),
});

let role = roleOf(scriptSchema.parse({}));

/** Says one event of each speaker whose time has come and whose reader keeps up. */
function speak(): void {
  const nowMs = performance.now();
  for (const speaker of speakers) {
    const { response, events, script, dueAtMs } = speaker;
    if (dueAtMs > nowMs || response.writableNeedDrain) continue;
    response.write(events[speaker.said]);
    speaker.said += 1;
    speaker.dueAtMs = dueAtMs + script.eventMs;
    if (speaker.said < events.length) continue;
    speakers.delete(speaker);
    response.end();
  }
  if (speakers.size === 0) return;
  if (role.script.eventMs === 0) setImmediate(speak);
  else setTimeout(speak, 1);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: unknown = await json(request);
  if (request.url === '/script') {
    role = roleOf(scriptSchema.parse(body));
    response.end(JSON.stringify(role.script));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  const dueAtMs = performance.now() + role.script.firstMs;
  const speaker = { ...role, response, said: 0, dueAtMs };
  response.once('close', () => speakers.delete(speaker));
  speakers.add(speaker);
  if (speakers.size === 1) setImmediate(speak);
}

await serveHost((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
