import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { endOnSignal } from '#functions/bootstrap/end-on-signal.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { createDependencies, type Overrides } from '#functions/dependencies.ts';
import { localConfig } from '../local-config.ts';
import { parseServed, serveFunctions } from './function-host.ts';

/** Serves the functions that the arguments of this process name, `chat=8080`, until it is told to end. */
export async function runFunctions(overrides: Overrides = {}): Promise<void> {
  disableNodeDomains();
  const shutdown = new AbortController();
  const dependencies = createDependencies(localConfig(process.env), {
    ...overrides,
    shutdown: shutdown.signal,
  });
  const functions = registerFunctions(dependencies);
  await serveFunctions(process.argv.slice(2).map(parseServed), process.env);
  endOnSignal(process, () => {
    shutdown.abort();
    return functions.drain();
  });
}
