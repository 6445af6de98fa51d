import { enableCompileCache, setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';

/*
 * What the framework loads in a deployment. `warm.ts` filled the cache when the image was built; stack traces
 * name the sources that index.cjs was made of.
 */
enableCompileCache(join(__dirname, 'compile-cache'));
setSourceMapsSupport(true, { nodeModules: false });
// oxlint-disable-next-line import/no-unassigned-import -- it registers the functions
require('./index.cjs');
