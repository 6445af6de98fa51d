import { createRecap } from '../src/recap.ts';
import { indexedDbStore } from '../src/storage/indexed-db.ts';
import { drive } from './drive.ts';

await drive(location.hash.slice(1), { createRecap, openStore: (name) => indexedDbStore(name) });
