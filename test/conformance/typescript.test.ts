import { describe } from 'vitest';
import { playAll } from './play-all.ts';

describe('the client for TypeScript in Node', () => {
  playAll('typescript');
});
