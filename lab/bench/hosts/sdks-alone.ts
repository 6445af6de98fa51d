/*
 * A function that answers from the model by Google's parts alone: the functions framework takes the request, the SDK asks
 * the model. What these cost, every function has that leaves the work to them. `node sdks-alone.ts MODEL_URL`; prints its own URL.
 */
import { text } from 'node:stream/consumers';
import { http } from '@google-cloud/functions-framework';
import { GoogleGenAI } from '@google/genai';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';

const [modelUrl = ''] = process.argv.slice(2);
const { models } = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: modelUrl } });

http('chat', async (request, response) => {
  const contents = await text(request);
  const answer = await models.generateContentStream({ model: 'gemini-2.5-flash', contents });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const { text: delta = '' } of answer)
    response.write(`data: ${JSON.stringify({ type: 'text-delta', delta })}\n\n`);
  response.end('data: [DONE]\n\n');
});

const port = await chooseFreePort(0, new Set());
await serveFunctions([{ target: 'chat', port }]);
process.stdout.write(`http://127.0.0.1:${port}\n`);
