import { parseConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { registerFunctions } from './register.ts';
import { guardEveryServer } from './server-guard.ts';

guardEveryServer();

registerFunctions(createDependencies(parseConfig(process.env)));
