import { indexedDbStore } from '../../typescript/src/index.ts';
import { driveHooks } from './drive-hooks.ts';

await driveHooks(indexedDbStore);
