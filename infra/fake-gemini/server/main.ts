import { parseArgs } from 'node:util';
import { startFakeGemini } from './start-fake-gemini.ts';

/*
 * The fake Gemini as a process: `node infra/fake-gemini/server/main.ts [--port 8790] [--window tokens]`,
 * or STAND_IN_PORT. Prints one line with its URL, then serves until it is ended.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: process.env['STAND_IN_PORT'] ?? '0' },
    window: { type: 'string', default: '1048576' },
    'time-to-first-token-ms': { type: 'string', default: '0' },
    'tokens-per-second': { type: 'string', default: '0' },
  },
});

const fakeGemini = await startFakeGemini({
  port: Number(values.port),
  defaultWindowTokens: Number(values.window),
  timeToFirstTokenMs: Number(values['time-to-first-token-ms']),
  tokensPerSecond: Number(values['tokens-per-second']),
});
console.log(fakeGemini.url);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void fakeGemini.close().then(() => process.exit(0)));
}
