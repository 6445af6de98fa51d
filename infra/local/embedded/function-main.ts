import { jsonLogger } from '#functions/adapters/system/json-logger.ts';
import { parseConfig } from '#functions/config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { endOnSignal } from '#functions/bootstrap/end-on-signal.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { logUnhandledRejections } from '#functions/bootstrap/unhandled-rejections.ts';
import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { parseServed, serveFunctions } from '../stack/function-host.ts';
import { createRemoteStore } from './remote-store.ts';

/*
 * One function over the store and the bus of `store-main.ts`: `node infra/local/embedded/function-main.ts chat=8080`,
 * with RECAP_STORE_URL and RECAP_STORE_TOKEN.
 */
const address = {
  url: process.env['RECAP_STORE_URL'] ?? '',
  token: process.env['RECAP_STORE_TOKEN'] ?? '',
};
disableNodeDomains();
logUnhandledRejections(process, jsonLogger);
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
