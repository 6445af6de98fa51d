import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { nameSources } from './source-lines.ts';

/* What the framework loads in a deployment. `warm.ts` filled the cache when the image was built. */
enableCompileCache(join(__dirname, 'compile-cache'));
nameSources(join(__dirname, 'index.cjs'));
// oxlint-disable-next-line import/no-unassigned-import -- it registers the functions
require('./index.cjs');
