import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';

/**
 * The compaction worker as a process that a test can kill at an exact place: it tells its parent when
 * it reaches the crash point it was given, and stays there for ever.
 * Arguments: port, and the crash point or nothing.
 */
const [port, holdAt] = process.argv.slice(2);

registerFunctions(
  createDependencies(localConfig(process.env), {
    atCrashPoint: async (point) => {
      if (point !== holdAt) return;
      process.send?.({ reached: point });
      await new Promise(() => undefined);
    },
  }),
);
await serveFunctions([{ target: 'compaction', port: Number(port) }]);
process.send?.({ ready: true });
