import { runFunctions } from './function-host.ts';

/* One function over the emulators: `node infra/local/stack/function-main.ts chat=8080`. */
await runFunctions();
