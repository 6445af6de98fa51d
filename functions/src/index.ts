import { parseConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { registerFunctions } from './register.ts';

registerFunctions(createDependencies(parseConfig(process.env)));
