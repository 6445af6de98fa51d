import { describe } from 'vitest';
import { playShare } from './play-share.ts';

describe('the client for TypeScript in Node', () => {
  playShare('typescript');
});
