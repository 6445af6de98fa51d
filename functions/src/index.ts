import { jsonLogger } from './adapters/json-logger.ts';
import { parseConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { endOnSignal } from './end-on-signal.ts';
import { registerFunctions } from './register.ts';
import { guardEveryServer } from './server-guard.ts';
import { logStrayRejections } from './stray-rejections.ts';
import { runWithoutDomains } from './without-domains.ts';

guardEveryServer();
runWithoutDomains();
logStrayRejections(process, jsonLogger);

const shutdown = new AbortController();
const functions = registerFunctions(
  createDependencies(parseConfig(process.env), { shutdown: shutdown.signal }),
);
endOnSignal(process, () => {
  shutdown.abort();
  return functions.drain();
});
