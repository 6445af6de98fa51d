import { join } from 'node:path';
import { compiledModules } from './compiled.ts';
import { nameSources } from './source-lines.ts';

/* What the framework loads in a deployment. `warm.ts` has its code kept when the image is built. */
const modules = compiledModules(__dirname, ['index.cjs', 'sdk.cjs']);
nameSources(join(__dirname, 'index.cjs'));
// It registers the functions.
modules.load('index.cjs');

export const { load, keep } = modules;
