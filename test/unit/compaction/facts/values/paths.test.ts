import { describe, expect, test } from 'vitest';
import { findPaths } from '#shared/compaction/facts/values/paths.ts';

const found = (text: string) => findPaths(text).map(({ readings }) => readings[0]);

describe('findPaths', () => {
  test.each([
    'config.ts',
    'next.config.js',
    'server.log',
    'error.log',
    'README.md',
    'logger.ts',
    'package-lock.json',
    'src/console.log',
  ])('findPaths finds the path %j', (path) => {
    expect(found(`Open ${path} now`)).toEqual([path]);
  });

  test('a file location is no function call', () => {
    expect(found('src/a.ts(12,3): error')).toEqual(['src/a.ts']);
  });

  test.each([
    'console.log',
    'console.log("x")',
    'process.env',
    'import.meta.env',
    'Math.log',
    'np.log',
    'this.log',
    'self.cfg',
    'res.json()',
    'store.lock(key)',
    'Node.js',
    'and/or',
  ])('findPaths does not take %j for a path', (text) => {
    expect(found(`Leave ${text} there`)).toEqual([]);
  });
});
