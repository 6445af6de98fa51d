import { registerFunctions } from '#functions/bootstrap/register.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { withAppModel } from '#functions/app-steps.ts';
import { runApp } from '#infra/local/load-app.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { type ServedFunction, serveFunctions } from './function-host.ts';

/** Reads `chat=8080` arguments. Throws an Error that names the one that is wrong. */
function parseServed(text: string): ServedFunction {
  const [target, port] = text.split('=');
  if ((target !== 'chat' && target !== 'compaction') || !/^\d+$/.test(port ?? ''))
    throw new Error(`expected chat=PORT or compaction=PORT, not ${JSON.stringify(text)}`);
  return { target, port: Number(port) };
}

/* One function over the emulators: `node infra/local/stack/function-main.ts chat=8080`. */
await runApp(async (app, shutdown) => {
  const config = localConfig(withAppModel(process.env, app));
  const functions = registerFunctions(createDependencies(config, { shutdown }, app));
  await serveFunctions(process.argv.slice(2).map(parseServed), process.env);
  return functions;
});
