import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const run = promisify(execFile);

const commands = Object.entries(manifest.scripts).flatMap(([name, line]) => {
  const file = /^node (\S+\.ts)$/u.exec(line)?.[1];
  return file === undefined ? [] : [[name, file] as const];
});

test.each(commands)('npm run %s -- --help prints its usage', async (_, file) => {
  const { stdout, stderr } = await run(process.execPath, [file, '--help']);

  expect(stdout).toMatch(/^usage:? npm (?:run|start|test)/imu);
  expect(stderr).toBe('');
});

test('a command names an unknown option without a stack trace', async () => {
  const given = run(process.execPath, ['lab/bench/bench.ts', '--loud']);

  const { code, stderr } = await given.catch((error) => error);

  expect(code).toBe(2);
  expect(stderr).toContain('--loud');
  expect(stderr).not.toMatch(/^ {4}at /mu);
});
