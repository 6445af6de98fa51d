import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { lastWordsOf, scriptSchema } from '#lab/bench/hosts/script.ts';
import { startHost } from '#lab/bench/hosts/start-host.ts';
import { sendRequest } from '#lab/bench/worlds/send-request.ts';
import { reuseConnections, type ReuseFigures } from './reuse-connections.ts';

const help = `Usage: npm run connections -- [--streams N] [--minutes M]

Holds N streams at once (default 256) for M minutes (default 3) on connections that are reused, with pauses around the
time after which Node closes an idle connection by itself, and counts connections that were closed under a request.

Exit code: 0 none was; 1 some were, or an answer was not complete; 2 wrong arguments.`;

const script = scriptSchema.parse({ events: 16, firstMs: 300, eventMs: 100 });

/** Node closes after 5 s, and allows another one before it does. */
const PAUSE_MS = { from: 4_500, to: 6_500 };

const modelScript = fileURLToPath(new URL('../bench/hosts/scripted-model.ts', import.meta.url));

async function measure(streams: number, minutes: number): Promise<ReuseFigures> {
  const model = await startHost(modelScript);
  const stack = await startStack({
    embedded: true,
    shell: { PATH: process.env['PATH'] },
    sweepSeconds: 0,
    environment: { GEMINI_BASE_URL: model.url },
    log: () => undefined,
  });
  await fetch(`${model.url}/script`, { method: 'POST', body: JSON.stringify(script) });
  const conversations = { text: 'Tell me about the harbour.' };
  const figures = await reuseConnections({
    clients: streams,
    durationMs: minutes * 60_000,
    pauseMs: PAUSE_MS,
    call: () => sendRequest(stack.chatUrl, { ...conversations, conversationId: randomUUID() }),
    lastWords: lastWordsOf(script),
  });
  await stack.stop();
  await model.close();
  return figures;
}

const readArguments = () =>
  parseArgs({
    options: {
      streams: { type: 'string', default: '256' },
      minutes: { type: 'string', default: '3' },
      help: { type: 'boolean', default: false },
    },
  }).values;

async function main(): Promise<number> {
  const { streams, minutes, help: wantsHelp } = readArguments();
  if (wantsHelp) {
    console.log(help);
    return 0;
  }
  const figures = await measure(Number(streams), Number(minutes));
  console.log(JSON.stringify({ streams: Number(streams), minutes: Number(minutes), ...figures }));
  return figures.incomplete + Object.keys(figures.resets).length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
