/*
 * One instance of chat in the pipeline of production. `node chat-instance.ts STAND_IN_URL`, with the emulators in the
 * environment; prints its own URL.
 */
import { createDependencies } from '#functions/dependencies.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';
import { hostConfig } from './host-environment.ts';

const [fakeGeminiUrl = ''] = process.argv.slice(2);
const port = await chooseFreePort(0, new Set());
registerFunctions(
  createDependencies(hostConfig(fakeGeminiUrl), { logger: { log: () => undefined } }),
);
await serveFunctions([{ target: 'chat', port }]);
process.stdout.write(`http://127.0.0.1:${port}\n`);
