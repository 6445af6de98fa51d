import { parseArgs } from 'node:util';
import { startFakeGemini } from './start-fake-gemini.ts';

/*
 * The fake Gemini as a process: `node infra/fake-gemini/server/main.ts [--port 8790]`.
 * Prints one line with its URL, then serves until it is ended.
 */
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });

const fakeGemini = await startFakeGemini(Number(values.port));
console.log(fakeGemini.url);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void fakeGemini.close().then(() => process.exit(0)));
}
