import { parseConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { endOnSignal, guardEveryServer } from './bootstrap/framework.ts';
import { disableNodeDomains } from './bootstrap/disable-node-domains.ts';
import { warmUp, messageModules } from './bootstrap/warm-up.ts';
import { registerFunctions } from './bootstrap/register.ts';

/** An instance that nobody has asked by then was not started for a request. */
const STARTED_AHEAD_MS = 500;

guardEveryServer();
disableNodeDomains();

const shutdown = new AbortController();
const functions = registerFunctions(
  createDependencies(parseConfig(process.env), { shutdown: shutdown.signal }),
);
if (process.env['FUNCTION_TARGET'] === 'chat')
  void warmUp([functions.loadChat, ...messageModules], { afterMs: STARTED_AHEAD_MS });
endOnSignal(process, () => {
  shutdown.abort();
  return functions.drain();
});
