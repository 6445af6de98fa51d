import { flushCompileCache } from 'node:module';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';

/**
 * Both functions as one process that a test can kill at an exact place: its parent names a crash point;
 * the process says when it has come there, and stays there for ever. Arguments: the ports of chat and of
 * the worker.
 */
const [chatPort, workerPort] = process.argv.slice(2).map(Number);
if (!chatPort || !workerPort) throw new Error('expected the ports of chat and of the worker');

let holdAt: string | undefined;
process.on('message', (message) => {
  if (typeof message === 'string') holdAt = message;
});

registerFunctions(
  createDependencies(localConfig(process.env), {
    logger: { log: () => undefined },
    atCrashPoint: async (point) => {
      if (point !== holdAt) return;
      // Who is killed keeps nothing that it has compiled: a fifth of the processor time of the next one.
      flushCompileCache();
      process.send?.({ reached: point });
      await new Promise(() => undefined);
    },
  }),
);
await serveFunctions([
  { target: 'chat', port: chatPort },
  { target: 'compaction', port: workerPort },
]);
process.send?.({ ready: true });
