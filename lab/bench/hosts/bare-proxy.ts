/*
 * The least that can stand between an app and a model: takes a POST, fetches the model's stream, parses its events
 * and passes the texts on. `node bare-proxy.ts MODEL_URL`; prints its own URL.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { MODEL_PATH } from './script.ts';
import { serveHost } from './serve-host.ts';

const [modelUrl = ''] = process.argv.slice(2);
const eventSchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z
          .looseObject({
            parts: z.array(z.looseObject({ text: z.string().optional() })).optional(),
          })
          .optional(),
      }),
    )
    .optional(),
});

async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const said = await text(request);
  const answer = await fetch(`${modelUrl}${MODEL_PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: said }] }] }),
  });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const parser = createParser({
    onEvent: ({ data }) => {
      const { candidates } = eventSchema.parse(JSON.parse(data));
      const delta = candidates?.[0]?.content?.parts?.map((part) => part.text ?? '').join('') ?? '';
      response.write(`data: ${JSON.stringify({ type: 'text-delta', delta })}\n\n`);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of answer.body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
  response.end('data: [DONE]\n\n');
}

await serveHost((request, response) => {
  pass(request, response).catch(() => response.destroy());
});
