import { jsonLogger } from '../../../functions/src/adapters/json-logger.ts';
import { parseConfig } from '../../../functions/src/config.ts';
import { createDependencies } from '../../../functions/src/dependencies.ts';
import { endOnSignal } from '../../../functions/src/end-on-signal.ts';
import { registerFunctions } from '../../../functions/src/register.ts';
import { logStrayRejections } from '../../../functions/src/stray-rejections.ts';
import { runWithoutDomains } from '../../../functions/src/without-domains.ts';
import { parseServed, serveFunctions } from '../function-host.ts';
import { createRemoteStore } from './remote-store.ts';

/*
 * One function over the store and the bus of `store-main.ts`: `node infra/local/embedded/function-main.ts chat=8080`,
 * with RECAP_STORE_URL and RECAP_STORE_TOKEN.
 */
const address = {
  url: process.env['RECAP_STORE_URL'] ?? '',
  token: process.env['RECAP_STORE_TOKEN'] ?? '',
};
runWithoutDomains();
logStrayRejections(process, jsonLogger);
const shutdown = new AbortController();
const functions = registerFunctions(
  createDependencies(parseConfig(process.env), {
    ...createRemoteStore(() => Promise.resolve(address)),
    shutdown: shutdown.signal,
  }),
);
await serveFunctions(process.argv.slice(2).map(parseServed), process.env);
endOnSignal(process, () => {
  shutdown.abort();
  return functions.drain();
});
