import { join } from 'node:path';
import { createRecap } from '../src/recap.ts';
import { fileStore } from '../src/storage/file.ts';
import { drive } from './drive.ts';

const [control = '', folder = ''] = process.argv.slice(2);
await drive(control, { createRecap, openStore: (name) => fileStore(join(folder, name)) });
