import { parseConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { endOnSignal } from './end-on-signal.ts';
import { registerFunctions } from './register.ts';
import { guardEveryServer } from './server-guard.ts';

guardEveryServer();

const shutdown = new AbortController();
const functions = registerFunctions(
  createDependencies(parseConfig(process.env), { shutdown: shutdown.signal }),
);
endOnSignal(process, () => {
  shutdown.abort();
  return functions.drain();
});
