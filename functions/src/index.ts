import { parseConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { registerFunctions } from './register.ts';
import { guardEveryServer } from './server-guard.ts';

// The worker takes its bodies as the framework reads them; they come from Pub/Sub alone.
if (process.env.FUNCTION_TARGET === 'chat') guardEveryServer();

registerFunctions(createDependencies(parseConfig(process.env)));
